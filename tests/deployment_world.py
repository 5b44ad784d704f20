"""A data root in memory, the rules of deployments, and everything around them as fakes."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from astra.deployments import events, views
from astra.deployments.fleet.stopwatch import Stopwatch
from astra.deployments.fleet.work import FleetWork
from astra.deployments.migrating import Migrations
from astra.deployments.plan import Plan
from astra.deployments.ports import Checked, Running, Verdict
from astra.deployments.requests import Requests
from astra.deployments.stage import Stage
from astra.deployments.upkeep import Upkeep
from astra.deployments.views import Deployment
from astra.deployments.work import Work
from astra.testing import RootInMemory
from astra.trusted.ledger import views as records
from astra.trusted.settings.fleet_settings import Fleet
from holding import FakeHolder, FakeMigration, FakePace, FakeReleases, FakeSnapshots

PLAN = Plan(command=("serve",), port=0, network="host", state="/state", watch_seconds=10, keep=3)


@dataclass
class FakeApproved:
    commit: str = "a" * 40
    verdict: dict[str, Any] = field(default_factory=dict[str, Any])

    def may_deploy(self, change: str | None) -> Verdict:
        del change
        facts = {"digest": f"approved {self.commit}", "allowed": True, "tests_passed": True}
        return Verdict(commit=self.commit, **{**facts, **self.verdict})


@dataclass
class FakeCommand:
    well: bool = True
    runs: int = 0

    def run(self, plan: Plan, folder: str, running: Running) -> Checked:
        assert plan.health_command
        assert folder.endswith(running.release)
        self.runs += 1
        return Checked(ok=self.well, detail="the command said so")


@dataclass
class World:
    root: RootInMemory = field(default_factory=RootInMemory)
    holder: FakeHolder = field(default_factory=FakeHolder)
    rehearsal: FakeHolder = field(default_factory=FakeHolder)
    releases: FakeReleases = field(default_factory=FakeReleases)
    pace: FakePace = field(default_factory=FakePace)
    approved: FakeApproved = field(default_factory=FakeApproved)
    command: FakeCommand = field(default_factory=FakeCommand)
    snapshots: FakeSnapshots = field(default_factory=FakeSnapshots)
    plan: Plan = PLAN
    fleet: Fleet = field(default_factory=Fleet)
    present: set[str] = field(default_factory=set[str])
    stopped: bool = False

    def __post_init__(self) -> None:
        self.stopwatch = Stopwatch(self.pace.monotonic)
        self.migration = FakeMigration(self.snapshots, self.holder)

    @property
    def requests(self) -> Requests:
        return Requests(ledger=self.root.ledger, clock=self.root.clock, approved=self.approved)

    def work(self, wrap: Callable[[Any], Any] = lambda port: port) -> Work:
        stage = Stage(
            ledger=wrap(self.root.ledger),
            releases=wrap(self.releases),
            holder=wrap(self.holder),
            rehearsal=wrap(self.rehearsal),
            health=self.command,
            pace=self.pace,
            plan=lambda: self.plan,
            stopped=lambda: self.stopped,
        )
        snapshots = wrap(self.snapshots)
        migrations = Migrations(stage=stage, snapshots=snapshots, command=wrap(self.migration))
        upkeep = Upkeep(stage, snapshots)
        return Work(stage=stage, upkeep=upkeep, migrations=migrations, fleet=self.fleet_work)

    @property
    def fleet_work(self) -> FleetWork:
        return FleetWork(
            ledger=self.root.ledger,
            fleet=lambda: self.fleet,
            find_present=lambda: self.present,
            stopwatch=self.stopwatch,
        )

    def keep_serving(self) -> str:
        return self.work().upkeep.keep_serving()

    def retry_rollback(self) -> str:
        return self.work().retry_rollback()

    def request(self, commit: str = "a") -> Deployment:
        """Ask for a deployment of a commit, one minute after the last."""
        self.root.clock.advance(minutes=1)
        self.approved.commit = commit * 40
        return self.requests.deploy(None, actor="agent:test")

    def finish(self, identifier: str) -> Deployment:
        work = self.work()
        while work.advance():
            pass
        return self.now(identifier)

    def deploy(self, commit: str = "a") -> Deployment:
        return self.finish(self.request(commit).id)

    def misbehave(self, behaviour: str | int, commit: str) -> Deployment:
        """Ask for a deployment of a release that behaves like this."""
        made = self.request(commit)
        self.holder.behaviours[made.release] = behaviour
        return made

    def roll_back(self, release: str | None = None, *, keep_state: bool = False) -> Deployment:
        self.root.clock.advance(minutes=1)
        target = self.requests.choose(release).id
        serving = views.live_release(self.root.ledger)
        content = events.rollback_content(
            release=target, serving=serving.id if serving else "", keep_state=keep_state
        )
        signed = self.root.sign(events.ROLLBACK_ORDERED, content)
        return self.requests.roll_back(release, signed)

    def now(self, identifier: str) -> Deployment:
        found = views.deployment(self.root.ledger, identifier)
        assert found is not None
        return found

    def types(self) -> list[str]:
        return [record.type for record in records.records(self.root.ledger, limit=1000)][1:]
