"""Putting deployments together, and the thread that carries them out."""

import shlex
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from astra.adapters.bubblewrap.outcome import Outcome
from astra.adapters.data_root import DataRoot
from astra.adapters.git_command import GitCommand, run_git
from astra.adapters.release_folders import ReleaseFolders
from astra.adapters.supervisor.app_box import find_program
from astra.adapters.supervisor.client import HolderClient
from astra.bootstrap.sandbox import Sandbox
from astra.deployments import views
from astra.deployments.ports import Approved, Verdict
from astra.deployments.requests import Requests
from astra.deployments.views import Deployment
from astra.deployments.watching import Plan
from astra.deployments.work import Work
from astra.kernel.clock import Clock
from astra.kernel.errors import AstraError, NotFound, Refused
from astra.ledger.ports import Ledger
from astra.policy import contract
from astra.policy.authority import Signed
from astra.policy.manifest import Limits, Manifest
from astra.settings.configuration import Configuration

_BUILD = Limits(wall_seconds=900, cpu_seconds=1800)
_PAUSE = 1.0
_UNDER_WAY = ("requested", "built")


class Leaving:
    """Time that only goes forward, and an end to waiting when the daemon leaves."""

    def __init__(self) -> None:
        self._leaving = threading.Event()

    def monotonic(self) -> float:
        return time.monotonic()

    def wait(self, seconds: float) -> bool:
        return self._leaving.wait(seconds)

    def now(self) -> None:
        self._leaving.set()


@dataclass(frozen=True)
class TrustedBranch:
    """The newest commit of the target's branch in the trusted repository.

    Only Astra writes there, and only what the operator brought or approved. What a change adds to
    this is the change path's to say.
    """

    repository: Path
    branch: str

    def may_deploy(self, change: str | None) -> Verdict:
        if change is not None:
            raise NotFound(f"there is no change {change[:100]}", next_step="deploy without one")
        name = f"refs/heads/{self.branch}^{{commit}}"
        arguments = ("rev-parse", "--verify", "--quiet", "--end-of-options", name)
        command = GitCommand(repository=self.repository, arguments=arguments)
        found = run_git(command, accept=frozenset({0, 1})).output.decode().strip()
        if not found:
            raise NotFound(
                f"the branch {self.branch} has no commit yet",
                code="no_commit_yet",
                next_step="commit something to the target, then run astra init again",
            )
        return Verdict(commit=found, digest=f"git:{found}", allowed=True, tests_passed=False)


class Deployer:
    """One thread that does the next step of the deployment under way, and keeps the app up.

    The app is kept up once it was asked for: by `astra up`, by a deployment, or because a holder
    was found running.
    """

    def __init__(self, requests: Requests, work: Work, leaving: Leaving) -> None:
        self.requests = requests
        self.work = work
        self._ledger = work.ledger
        self._leaving = leaving
        self._thread = threading.Thread(target=self._loop, name="deployer", daemon=True)
        self._wanted = self._first = False
        self.ends_app = False
        self._settled = False
        self.trouble = ""

    def start(self, *, app: bool = False) -> None:
        self._first = app and self._has_app()
        self._wanted = app or self.work.holder.state() is not None
        self._thread.start()

    def stop(self) -> None:
        """Leave; the app goes on with its holder unless it is to end too."""
        self._leaving.now()
        if self._thread.is_alive():
            self._thread.join()
        if self.ends_app:
            self.work.holder.close()

    def busy(self) -> bool:
        return views.open_deployment(self._ledger) is not None

    def deploy(
        self, change: str | None, *, actor: str, correlation: str = "", signed: Signed | None = None
    ) -> Deployment:
        self._ready()
        made = self.requests.deploy(change, actor=actor, correlation=correlation, signed=signed)
        self._wanted = True
        return made

    def deploy_for_agent(self, message: str, actor: str, correlation: str) -> dict[str, Any]:
        """Deploy what is approved and wait for the switch; what still blocks it is an answer."""
        del message  # the change path keeps it with the change it makes of loose edits
        verdict = self.requests.approved.may_deploy(None)
        found = None
        if verdict.allowed:
            found = self.deploy(None, actor=actor, correlation=correlation)
            found = self.await_switch(found.id)
        deployed = found is not None and found.state in {"switched", "settled"}
        return {
            "success": deployed,
            "commit_hash": verdict.commit,
            "tests_passed": verdict.tests_passed,
            "human_approval_required": verdict.human_approval_required,
            "deployed": deployed,
            "backup_location": found.backup if found else None,
        }

    def roll_back(self, release: str | None, signed: Signed) -> Deployment:
        self._ready()
        made = self.requests.roll_back(release, signed)
        self._wanted = True
        return made

    def await_switch(self, identifier: str, *, seconds: float = 1200.0) -> Deployment:
        """Wait until a deployment has been switched or has failed."""
        deadline = time.monotonic() + seconds
        while True:
            head = self._ledger.head().sequence
            found = views.deployment(self._ledger, identifier)
            if found is None:
                raise NotFound(f"there is no deployment {identifier}", next_step="astra releases")
            if found.state not in _UNDER_WAY or time.monotonic() > deadline:
                return found
            self._ledger.wait(head, 1.0)

    def state(self) -> dict[str, Any] | None:
        """Say what the app is doing; None when nothing was ever deployed."""
        latest = views.deployments(self._ledger, limit=1)
        if not latest:
            return None
        serving, holder = views.live(self._ledger), self.work.holder.state()
        running = holder.serving if holder else None
        return {
            "release": serving.id if serving else None,
            "commit": serving.commit_id if serving else None,
            "port": holder.port if holder else None,
            "holder": holder.pid if holder else None,
            "state": running.state if running else "down",
            "crashes": running.crashes if running else 0,
            "deployment": {"id": latest[0].id, "state": latest[0].state},
            "trouble": self.trouble,
        }

    def _ready(self) -> None:
        """Refuse at once what could not be begun."""
        self.work.plan()
        if self.work.stopped():
            raise Refused(
                "an operator has stopped all work", code="stopped", next_step="astra start"
            )

    def _has_app(self) -> bool:
        try:
            return bool(self.work.plan())
        except AstraError:
            return False

    def _loop(self) -> None:
        while not self._leaving.wait(0):
            head = self._ledger.head().sequence
            if not self._turn():
                self._ledger.wait(head, _PAUSE)

    def _turn(self) -> bool:
        try:
            self._settle()
            if self.work.advance():
                self.trouble = ""
                return True
            self.trouble = self.work.keep_serving() if self._wanted and not self.busy() else ""
        except (AstraError, OSError) as error:
            self.trouble = str(error)
        self._leaving.wait(_PAUSE if self.trouble else 0.2)
        return False

    def _settle(self) -> None:
        """Once, at the start: finish removals, export, and bring the first release up."""
        if self._settled:
            return
        self._settled = True
        self.work.sweep()
        self.work.export()
        if self._first and views.live(self._ledger) is None and not self.busy():
            self.requests.deploy(None, actor="daemon")


def make_deployer(
    *,
    root: DataRoot,
    ledger: Ledger,
    clock: Clock,
    sandbox: Sandbox,
    approved: Approved,
    stopped: Callable[[], bool],
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
    )
    leaving = Leaving()
    work = Work(
        ledger=ledger,
        releases=releases,
        holder=HolderClient(place),
        pace=leaving,
        plan=plan,
        stopped=stopped,
    )
    return Deployer(Requests(ledger=ledger, clock=clock, approved=approved), work, leaving)


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
        watch_seconds=app.watch_seconds,
        keep=configuration.deploy.keep,
    )


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
