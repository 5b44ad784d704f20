"""What is to be built for an environment, and the box that builds it."""

import re
import shlex
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from astra.adapters.package_registries import list_hosts, make_variables
from astra.adapters.workspaces import PLACE
from astra.adoption import target_command
from astra.adoption.environment_steps import Recipe, write_recipe
from astra.adoption.repository_files import RepositoryFiles
from astra.trusted.kernel.errors import Refused
from astra.trusted.kernel.text import one_line, printable
from astra.trusted.policy.manifest import GIB, Limits, Manifest
from astra.trusted.sandbox import machine, toolchain
from astra.trusted.sandbox.ports import BoxRequest, Outcome, Workspace
from astra.trusted.sandbox.toolchain import NO_TOOLCHAIN, Toolchain
from astra.trusted.settings.configuration import Target

_LIMITS = Limits(
    wall_seconds=1800,
    cpu_seconds=3600,
    disk_bytes=8 * GIB,
    scratch_bytes=GIB,
    network_bytes=8 * GIB,
    connections=20_000,
)
_ERROR_LINE = re.compile(r"(?:npm )?(?:error|err!)(?![\w-])[ :]*(.*)", re.IGNORECASE)


def _ignore_output(_data: bytes) -> None:
    """Take output that nobody watches."""


class EnvironmentFailed(Refused):
    code = "environment_failed"


@dataclass(frozen=True, kw_only=True)
class Purpose:
    """On whose behalf an environment is built, and who watches."""

    actor: str
    correlation: str
    label: str = ""
    show: Callable[[bytes], None] = _ignore_output


@dataclass(frozen=True, kw_only=True)
class Order:
    """What is to be built, under which name."""

    name: str
    recipe: Recipe
    python: Path
    registries: tuple[str, ...]

    def find_base(self) -> Toolchain:
        """Find what the environment was made from; the interpreter is Astra's choice, not its."""
        if self.recipe.kind == "npm":
            return NO_TOOLCHAIN
        base = toolchain.find(self.python, homes=machine.own_homes())
        return Toolchain(read_paths=base.read_paths, links=base.links)

    def make_request(self, folder: Path, files: Workspace, purpose: Purpose) -> BoxRequest:
        names = {"python": str(self.python), "environment": str(folder)}
        script = "\n".join(
            shlex.join(word.format_map(names) for word in step) for step in self.recipe.steps
        )
        hosts = list_hosts(self.registries)
        return BoxRequest(
            command=("/bin/sh", "-e", "-c", script),
            manifest=Manifest(
                write_paths=(str(folder),),
                network_domains=hosts,
                limits=_LIMITS,
                environment={
                    "ENVIRONMENT_FOLDER": str(folder),
                    **make_variables(self.registries, self.recipe.kind),
                },
            ),
            workdir=PLACE,
            actor=purpose.actor,
            correlation=purpose.correlation,
            programs=(self.python,),
            workspace=files,
            label=purpose.label,
            on_output=lambda _stream, data: purpose.show(data),
            inner_hosts=tuple(host.partition(":")[0] for host in hosts),
        )


def choose_recipe(kind: str, files: RepositoryFiles, target: Target) -> Recipe:
    if kind == "command":
        return Recipe(kind=kind, steps=(tuple(shlex.split(target.environment_command)),))
    is_pytest = (
        bool(target.test_command) and target_command.parse(target.test_command).pytest is not None
    )
    runner = "pytest" if is_pytest else ""
    return write_recipe(kind, files, runner=runner, packages=target.packages)


def build_error(outcome: Outcome) -> EnvironmentFailed:
    output = (outcome.stderr.strip() or outcome.stdout.strip()).decode("utf-8", "replace")
    denied = outcome.egress.ungranted
    step = "mend the lock files, or name a ready-made environment in [target] environment"
    if denied:
        step = f"name the registry in [target] registries; it asked for {', '.join(denied[:3])}"
    return EnvironmentFailed(
        f"the environment could not be built ({outcome.reason}): {_find_cause(output)}",
        next_step=step,
    )


def _find_cause(output: str) -> str:
    r"""Find what pip or npm call an error; else what was printed last.

    >>> _find_cause("npm error code EUSAGE\nnpm error\nnpm error not in sync\nnpm notice new")
    'code EUSAGE not in sync'
    """
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    causes = [match[1] for line in lines if (match := _ERROR_LINE.fullmatch(line))]
    return one_line(printable(" ".join(filter(None, causes)) or " ".join(lines[-3:])), 500)
