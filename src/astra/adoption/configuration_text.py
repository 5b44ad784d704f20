"""Writes an `astra.toml` for a person to read: what was found, why, and what is left to say.

Everything in it may come from a hostile repository, so values are quoted and comments are one line.
"""

import json
from dataclasses import dataclass

from astra.adoption.detected import Detected
from astra.adoption.other_locks import OtherLock
from astra.trusted.kernel.text import one_line

_HEAD = "# What Astra may do with the target. Sign every change: astra config sign"
FIRST_PORT = 8000


def render_target(repo: str, branch: str) -> str:
    """Write the least that a data root needs: which repository, which branch."""
    repo_line = f"repo = {_quote(repo)}\n" if repo else ""
    return f"{_HEAD}\n[target]\n{repo_line}branch = {_quote(branch)}\n"


@dataclass(frozen=True, kw_only=True)
class OfMachine:
    """What this machine has for the target, beside what the repository says."""

    registries: tuple[str, ...] = ()
    toolchain: tuple[str, ...] = ()
    port: int = FIRST_PORT


UNKNOWN_MACHINE = OfMachine()


def render_configuration(
    repo: str, branch: str, detected: Detected, machine: OfMachine = UNKNOWN_MACHINE
) -> str:
    """Write the whole file, with what was detected and a comment for everything else."""
    if not detected.has_commands:
        return render_target(repo, branch)
    lines = [*_target_lines(detected, machine), "", *_app_lines(detected, machine.port)]
    return render_target(repo, branch) + "\n".join(lines) + "\n"


def _target_lines(detected: Detected, machine: OfMachine) -> list[str]:
    registries, toolchain = machine.registries, machine.toolchain
    language = " ".join(part for part in (detected.language, detected.versions) if part)
    lines = [f"# Found: {one_line(language, 100)}. To try all of this in a box: astra config check"]
    lines += [f"# {one_line(reason, 200)}" for reason in (*detected.because, *detected.missing)]
    if detected.test_command:
        lines.append(f"test_command = {_quote(detected.test_command)}")
    else:
        lines.append('# test_command = "python -m pytest -q"')
    if detected.test_paths:
        lines.append(f"test_paths = [{', '.join(map(_quote, detected.test_paths))}]")
    lines += [
        "# What tests, agent and app need, built from the lock files of the target in a box that",
        '# reaches the package registry and nothing else: "auto", "venv", "npm", or the path of a',
        "# ready-made virtual environment.",
        f'environment = "{detected.environment}"'
        if detected.environment
        else '# environment = "auto"',
        *_other_lock_lines(detected.other_lock),
        "# The package registries that building it reaches, as this machine has them.",
        f"{'' if registries else '# '}registries = [{', '.join(map(_quote, registries))}]",
        *(
            [f"packages = [{', '.join(map(_quote, detected.packages))}]"]
            if detected.packages
            else ()
        ),
        "# Interpreters outside of /usr that boxes may start, by their whole path.",
        f"{'' if toolchain else '# '}toolchain = [{', '.join(map(_quote, toolchain))}]",
    ]
    return lines


def _other_lock_lines(lock: OtherLock | None) -> list[str]:
    if lock is None:
        return []
    return [
        f'# {lock.path} is not read: "auto" goes by {lock.instead}. For exactly what is locked',
        "# put these two lines in the place of environment; the command runs in the same box.",
        '# environment = "command"',
        f"# environment_command = {_quote(lock.command)}",
    ]


def _app_lines(detected: Detected, port: int) -> list[str]:
    app = detected.app
    if app is None:
        return [
            "# The server that is deployed; {port} is where Astra sends its connections.",
            "# [app]",
            '# command = "python -m yourapp --port {port}"',
            f"# port = {port}",
            '# health_path = "/healthz"',
        ]
    port_lines = [f"port = {port}", f"health_path = {_quote(app.health_path)}"]
    worker_lines = [
        "# It has no port: this command is asked whether it is well. It says nothing but that the",
        "# worker runs; name one that knows more, such as a look at its queue.",
        'health_command = "true"',
    ]
    before = f"before_start = {_quote(app.before_start)}"
    return [
        f"# From {one_line(app.because, 100)}; {{port}} is where Astra sends its connections.",
        "[app]",
        f"command = {_quote(app.command)}",
        *(port_lines if app.listens else worker_lines),
        *([before] if app.before_start else ()),
        *([f"env = {{ {_list_variables(app.env)} }}"] if app.env else ()),
        *(line for name, command in app.parts for line in _part_lines(name, command)),
        "# What it may touch besides its own state folder; no network unless you name hosts.",
        "# [app.permissions]",
        '# network = ["api.example.org"]',
    ]


def _list_variables(variables: tuple[tuple[str, str], ...]) -> str:
    return ", ".join(f"{name} = {_quote(value)}" for name, value in variables)


def _part_lines(name: str, command: str) -> list[str]:
    return [f"[app.parts.{name}]", f"command = {_quote(command)}"]


def _quote(text: str) -> str:
    """Quote a text for TOML; what JSON leaves bare and TOML refuses is escaped."""
    quoted = json.dumps(text.encode("utf-8", "replace").decode(), ensure_ascii=False)
    return quoted.replace("\x7f", "\\u007f")
