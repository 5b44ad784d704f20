"""Commands of the app that run in boxes: its health, the checks before a push, its build."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from astra.adapters.boxes.sandbox import Sandbox
from astra.adapters.environment_mark import read_mark
from astra.adapters.supervisor.app_box import find_program, make_state_folder, read_secrets
from astra.deployments.plan import Plan
from astra.deployments.ports import Checked, Running, fill_state
from astra.trusted.kernel.masking import mask
from astra.trusted.policy.manifest import Limits, Manifest
from astra.trusted.sandbox.ports import BoxRequest, Outcome, Verdict
from astra.trusted.sandbox.toolchain import Toolchain, find_named_programs
from astra.trusted.settings.configuration import Configuration

_BUILD = Limits(wall_seconds=900, cpu_seconds=1800)
_HEALTH = Limits(wall_seconds=10, cpu_seconds=10)


@dataclass(frozen=True, kw_only=True)
class CommandTools:
    """What a command needs to start beside the files of a release: as the app has it."""

    command: tuple[str, ...]
    programs: tuple[Path, ...]
    environment: Toolchain

    @staticmethod
    def find(
        command: tuple[str, ...], folder: Path, toolchain_programs: tuple[str, ...] = ()
    ) -> "CommandTools":
        mark = read_mark(folder)
        environment_program = mark.find_program(command[0])
        program = environment_program or find_program(command[0])
        named_programs = (
            *find_named_programs(command),
            *(Path(text) for text in toolchain_programs),
        )
        return CommandTools(
            command=(str(program), *command[1:]),
            programs=(*(() if environment_program else (program,)), *named_programs),
            environment=mark.toolchain,
        )


@dataclass(frozen=True, kw_only=True)
class AppCommand:
    """Runs the operator's health command beside the app, with what the app may touch."""

    sandbox: Sandbox

    def run(self, plan: Plan, folder: str, running: Running) -> Checked:
        tools = CommandTools.find(plan.health_command, Path(folder), plan.programs)
        environment = fill_state(plan.env, plan.state_folder)
        environment |= {"ASTRA_RELEASE": running.release, "ASTRA_STATE": plan.state_folder}
        environment |= {"ASTRA_PROBE": running.probe, "PYTHONDONTWRITEBYTECODE": "1"}
        outcome = self.sandbox.run(
            BoxRequest(
                command=tools.command,
                manifest=Manifest(
                    read_paths=(folder,),
                    write_paths=(plan.state_folder,),
                    network_domains=() if plan.network == "host" else tuple(plan.network),
                    limits=_HEALTH,
                    environment=environment,
                ),
                workdir=folder,
                correlation=running.instance,
                actor="daemon",
                programs=tools.programs,
                environment=tools.environment,
                host_network=plan.network == "host",
                on_low_disk=True,
            )
        )
        output = ascii((outcome.stderr or outcome.stdout)[-300:].decode("utf-8", "replace"))[1:-1]
        return Checked(ok=outcome.succeeded, detail=f"the command: {outcome.reason} {output}")


@dataclass(frozen=True, kw_only=True)
class BeforeStartCommand:
    """Runs `before_start` with what the app may touch, its secrets among it."""

    sandbox: Sandbox
    data_root: Path

    def run(self, plan: Plan, folder: str, release: str, *, correlation: str) -> Checked:
        make_state_folder(Path(plan.state_folder))
        tools = CommandTools.find(plan.before_start, Path(folder), plan.programs)
        environment = fill_state(plan.env, plan.state_folder)
        environment |= read_secrets(self.data_root, plan.secrets)
        environment |= {"ASTRA_RELEASE": release, "ASTRA_STATE": plan.state_folder}
        environment |= {"PYTHONDONTWRITEBYTECODE": "1"}
        seconds = plan.before_start_seconds
        outcome = self.sandbox.run(
            BoxRequest(
                command=tools.command,
                manifest=Manifest(
                    read_paths=(folder,),
                    write_paths=(plan.state_folder,),
                    network_domains=() if plan.network == "host" else tuple(plan.network),
                    limits=Limits(wall_seconds=seconds, cpu_seconds=2 * seconds),
                    environment=environment,
                ),
                workdir=folder,
                correlation=correlation,
                actor="daemon",
                programs=tools.programs,
                environment=tools.environment,
                host_network=plan.network == "host",
            )
        )
        output = mask((outcome.stderr or outcome.stdout)[-500:].decode("utf-8", "replace"))
        return Checked(
            ok=outcome.succeeded,
            detail=f"{outcome.reason} {ascii(output)[1:-1]}",
            foreign=outcome.verdict is Verdict.NEVER_RAN,
        )


@dataclass(frozen=True, kw_only=True)
class CommitChecks:
    """Runs the operator's checks on sealed files: no network, nothing to write but scratch."""

    sandbox: Sandbox
    plan: Callable[[], Plan]

    def run(self, folder: str, *, correlation: str) -> Checked:
        plan = self.plan()
        tools = CommandTools.find(plan.commit_checks, Path(folder), plan.programs)
        outcome = self.sandbox.run(
            BoxRequest(
                command=tools.command,
                manifest=Manifest(read_paths=(folder,), limits=_BUILD, environment=dict(plan.env)),
                workdir=folder,
                correlation=correlation,
                actor="daemon",
                programs=tools.programs,
                environment=tools.environment,
            )
        )
        output = ascii((outcome.stderr or outcome.stdout)[-500:].decode("utf-8", "replace"))[1:-1]
        return Checked(ok=outcome.succeeded, detail=f"commit checks: {outcome.reason} {output}")


@dataclass(frozen=True, kw_only=True)
class BuildSteps:
    """Runs a build step in the app's profile: the release writable, no state and no secret."""

    sandbox: Sandbox
    configuration: Callable[[], Configuration]

    def run(self, step: tuple[str, ...], folder: Path, story: str) -> Outcome:
        configuration = self.configuration()
        network, target = configuration.app.permissions.network, configuration.target
        tools = CommandTools.find(step, folder, target.toolchain)
        return self.sandbox.run(
            BoxRequest(
                command=tools.command,
                manifest=Manifest(
                    write_paths=(str(folder),),
                    network_domains=() if network == "host" else tuple(network),
                    limits=_BUILD,
                    environment={**dict(target.env), **dict(configuration.app.env)},
                ),
                workdir=str(folder),
                correlation=story,
                actor="daemon",
                programs=tools.programs,
                environment=tools.environment,
                host_network=network == "host",
            )
        )
