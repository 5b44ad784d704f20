"""Commands of the app that run in boxes: its health, the checks before a push, its build."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from astra.adapters.boxes.sandbox import Sandbox
from astra.adapters.git_push import Push
from astra.adapters.supervisor.app_box import find_program
from astra.deployments.ports import Checked, Running
from astra.deployments.watching import Plan
from astra.trusted.files.data_root import DataRoot
from astra.trusted.policy.manifest import Limits, Manifest
from astra.trusted.sandbox.ports import BoxRequest, Outcome
from astra.trusted.settings.configuration import Configuration

_BUILD = Limits(wall_seconds=900, cpu_seconds=1800)
_HEALTH = Limits(wall_seconds=10, cpu_seconds=10)


@dataclass(frozen=True, kw_only=True)
class AppCommand:
    """Runs the operator's health command beside the app, with what the app may touch."""

    sandbox: Sandbox
    plan: Callable[[], Plan]

    def run(self, release: str, folder: str, running: Running) -> Checked:
        plan = self.plan()
        program = find_program(plan.health_command[0])
        environment = {"ASTRA_RELEASE": release, "ASTRA_STATE": plan.state}
        environment |= {"ASTRA_PROBE": running.probe, "PYTHONDONTWRITEBYTECODE": "1"}
        outcome = self.sandbox.run(
            BoxRequest(
                command=(str(program), *plan.health_command[1:]),
                manifest=Manifest(
                    read_paths=(folder,),
                    write_paths=(plan.state,),
                    network_domains=() if plan.network == "host" else tuple(plan.network),
                    limits=_HEALTH,
                    environment=environment,
                ),
                workdir=folder,
                correlation=running.instance,
                actor="daemon",
                programs=(program,),
                host_network=plan.network == "host",
                on_low_disk=True,
            )
        )
        output = ascii((outcome.stderr or outcome.stdout)[-300:].decode("utf-8", "replace"))[1:-1]
        return Checked(ok=outcome.succeeded, detail=f"the command: {outcome.reason} {output}")


@dataclass(frozen=True, kw_only=True)
class OperatorsRemote:
    """The remote that the signed configuration names, and the checks that it names."""

    sandbox: Sandbox
    plan: Callable[[], Plan]
    root: DataRoot
    branch: str

    def check(self, folder: str, *, correlation: str) -> Checked:
        """Run the checks on the sealed files: no network, nothing to write but scratch space."""
        checks = self.plan().commit_checks
        program = find_program(checks[0])
        outcome = self.sandbox.run(
            BoxRequest(
                command=(str(program), *checks[1:]),
                manifest=Manifest(read_paths=(folder,), limits=_BUILD),
                workdir=folder,
                correlation=correlation,
                actor="daemon",
                programs=(program,),
            )
        )
        output = ascii((outcome.stderr or outcome.stdout)[-500:].decode("utf-8", "replace"))[1:-1]
        return Checked(ok=outcome.succeeded, detail=f"commit checks: {outcome.reason} {output}")

    def push(self, commit: str) -> Checked:
        push = Push(
            repository=self.root.git,
            remote=self.plan().push_remote,
            branch=self.branch,
            key=self.root.ledger_key_file.with_name("push.key"),
        )
        return push.push(commit)


@dataclass(frozen=True, kw_only=True)
class BuildSteps:
    """Runs a build step in the app's profile: the release writable, no state and no secret."""

    sandbox: Sandbox
    configuration: Callable[[], Configuration]

    def run(self, step: tuple[str, ...], folder: Path, story: str) -> Outcome:
        network = self.configuration().app.permissions.network
        program = find_program(step[0])
        return self.sandbox.run(
            BoxRequest(
                command=(str(program), *step[1:]),
                manifest=Manifest(
                    write_paths=(str(folder),),
                    network_domains=() if network == "host" else tuple(network),
                    limits=_BUILD,
                ),
                workdir=str(folder),
                correlation=story,
                actor="daemon",
                programs=(program,),
                host_network=network == "host",
            )
        )
