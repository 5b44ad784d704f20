"""Putting deployments together: what is approved, how a release is built, how the app is run."""

import shlex
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from astra.adapters.git_push import Push
from astra.adapters.release_folders import ReleaseFolders
from astra.adapters.supervisor.app_box import find_program
from astra.adapters.supervisor.app_egress import AppEgress
from astra.adapters.supervisor.channel import STAGING
from astra.adapters.supervisor.client import HolderClient
from astra.bootstrap.deploying import Deployer, Leaving
from astra.bootstrap.sandbox import Sandbox
from astra.changes.service import Changes
from astra.deployments.asking import AgentRequests
from astra.deployments.ports import Approved, Checked, Running
from astra.deployments.pushing import Pushing
from astra.deployments.requests import Requests
from astra.deployments.stage import Stage
from astra.deployments.upkeep import Upkeep
from astra.deployments.watching import Plan
from astra.deployments.work import Work
from astra.trusted.files.data_root import DataRoot
from astra.trusted.kernel.clock import Clock
from astra.trusted.kernel.errors import Refused
from astra.trusted.ledger.ports import Ledger
from astra.trusted.policy import contract
from astra.trusted.policy.manifest import Limits, Manifest
from astra.trusted.policy.secrets import SecretRules
from astra.trusted.sandbox.outcome import Outcome
from astra.trusted.settings.configuration import Configuration

_BUILD = Limits(wall_seconds=900, cpu_seconds=1800)
_HEALTH = Limits(wall_seconds=10, cpu_seconds=10)


def make_deployer(
    *,
    root: DataRoot,
    ledger: Ledger,
    clock: Clock,
    sandbox: Sandbox,
    approved: Approved,
    branch: str,
    stopped: Callable[[], bool],
    changes: Changes,
    person_for_tests: Callable[[], bool],
) -> Deployer:
    place = root.path.resolve()

    def plan() -> Plan:
        return plan_of(contract.in_force(ledger), place)

    releases = ReleaseFolders(
        base=place / "deployments",
        repository=root.git,
        steps=lambda: _steps(contract.in_force(ledger)),
        run=lambda step, folder, story: _build(
            sandbox, contract.in_force(ledger), step, folder, story
        ),
        secret_filter=lambda: secret_filter(contract.in_force(ledger)),
    )
    leaving = Leaving()
    stage = Stage(
        ledger=ledger,
        releases=releases,
        holder=HolderClient(place),
        rehearsal=HolderClient(place, STAGING),
        health=AppCommand(sandbox=sandbox, plan=plan),
        pace=leaving,
        plan=plan,
        stopped=stopped,
    )
    requests = Requests(ledger=ledger, clock=clock, approved=approved)
    remote = OperatorsRemote(sandbox=sandbox, plan=plan, root=root, branch=branch)
    work = Work(stage=stage, upkeep=Upkeep(stage))
    asked = AgentRequests(changes=changes, requests=requests, person_for_tests=person_for_tests)
    return Deployer(asked, work, Pushing(stage, remote), leaving, AppEgress(place))


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
            (str(program), *plan.health_command[1:]),
            Manifest(
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
        )
        said = ascii((outcome.stderr or outcome.stdout)[-300:].decode("utf-8", "replace"))[1:-1]
        return Checked(ok=outcome.succeeded, detail=f"the command: {outcome.reason} {said}")


@dataclass(frozen=True, kw_only=True)
class OperatorsRemote:
    """The remote that the signed configuration names, and the checks that it names."""

    sandbox: Sandbox
    plan: Callable[[], Plan]
    root: DataRoot
    branch: str

    def check(self, folder: str, *, correlation: str) -> Checked:
        """Run the checks on the sealed files: no network, nothing to write but scratch space."""
        words = self.plan().commit_checks
        program = find_program(words[0])
        outcome = self.sandbox.run(
            (str(program), *words[1:]),
            Manifest(read_paths=(folder,), limits=_BUILD),
            workdir=folder,
            correlation=correlation,
            actor="daemon",
            programs=(program,),
        )
        said = ascii((outcome.stderr or outcome.stdout)[-500:].decode("utf-8", "replace"))[1:-1]
        return Checked(ok=outcome.succeeded, detail=f"commit checks: {outcome.reason} {said}")

    def push(self, commit: str) -> Checked:
        push = Push(
            repository=self.root.git,
            remote=self.plan().push_remote,
            branch=self.branch,
            key=self.root.ledger_key_file.with_name("push.key"),
        )
        return push.push(commit)


def plan_of(configuration: Configuration, root: Path) -> Plan:
    """Read from the signed configuration how the app is run."""
    app = configuration.app
    command = tuple(shlex.split(app.command))
    if not command:
        raise Refused(
            "astra.toml names no app to run",
            code="no_app",
            next_step="set command and port in [app] of astra.toml, then astra config sign",
        )
    state = app.permissions.state_path or "app-state"
    return Plan(
        command=command,
        port=app.port,
        network=app.permissions.network,
        state=str(root / state),
        secrets=app.permissions.secrets,
        health_path=app.health_path,
        health_command=tuple(shlex.split(app.health_command)),
        start_seconds=app.start_seconds,
        watch_seconds=app.watch_seconds,
        keep=configuration.deploy.keep,
        reload=app.reload,
        ignored=configuration.target.test_paths,
        staging=configuration.deploy.staging,
        push_remote=configuration.deploy.push_remote,
        commit_checks=tuple(shlex.split(configuration.deploy.commit_checks)),
        secret_files=app.permissions.secret_files,
        secret_patterns=configuration.agent.secret_patterns,
    )


def secret_filter(configuration: Configuration) -> Callable[[str], bool]:
    """Give what tells which files stay out of releases: secrets not signed for the app."""
    rules = SecretRules(patterns=configuration.agent.secret_patterns)
    signed = frozenset(configuration.app.permissions.secret_files)
    return lambda path: path not in signed and rules.rule_for(path) is not None


def _steps(configuration: Configuration) -> tuple[tuple[str, ...], ...]:
    words = tuple(shlex.split(configuration.app.client_build))
    return (words,) if words else ()


def _build(
    sandbox: Sandbox, configuration: Configuration, step: tuple[str, ...], folder: Path, story: str
) -> Outcome:
    """Run a build step in the app's profile, with the release writable and no state or secret."""
    network = configuration.app.permissions.network
    program = find_program(step[0])
    return sandbox.run(
        (str(program), *step[1:]),
        Manifest(
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
