"""A fleet in memory: one ledger, the daemon that leads, and a holder and folders per instance."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from astra.deployments.fleet import views
from astra.deployments.fleet.instance import InstanceDuty
from astra.deployments.fleet.own_state import OwnState
from astra.deployments.stage import Stage
from astra.deployments.views import Deployment
from astra.trusted.kernel.errors import AstraError
from astra.trusted.ledger.fencing import Fence, work_under
from astra.trusted.settings.fleet_settings import Fleet
from deployment_world import World
from holding import FakeHolder, FakeMigration, FakePace, FakeReleases, FakeSnapshots

LABELS = ("web-1", "web-2", "web-3")
FLEET = Fleet(
    instances=LABELS,
    waves=("1", "rest"),
    max_down=2,
    watch_seconds=5,
    away_seconds=20,
    instance_seconds=120,
    wave_seconds=600,
    rollback_seconds=60,
)


def keep_port(port: Any) -> Any:
    return port


@dataclass
class Machine:
    """What is on one machine and outlives its worker: the holder, and the folders."""

    holder: FakeHolder = field(default_factory=FakeHolder)
    releases: FakeReleases = field(default_factory=FakeReleases)
    snapshots: FakeSnapshots = field(default_factory=FakeSnapshots)
    epoch: int = 1
    sweeps: int = 0

    def __post_init__(self) -> None:
        self.migration = FakeMigration(self.snapshots, self.holder)


@dataclass
class FleetInMemory:
    world: World = field(default_factory=lambda: World(fleet=FLEET, present=set(LABELS)))
    machines: dict[str, Machine] = field(
        default_factory=lambda: {label: Machine() for label in LABELS}
    )
    duties: dict[str, InstanceDuty] = field(default_factory=dict[str, InstanceDuty])

    def start_worker(self, label: str, wrap: Callable[[Any], Any] = keep_port) -> InstanceDuty:
        machine, world = self.machines[label], self.world

        def sweep() -> None:
            machine.sweeps += 1

        stage = Stage(
            ledger=wrap(world.root.ledger),
            releases=wrap(machine.releases),
            holder=wrap(machine.holder),
            rehearsal=FakeHolder(),
            health=world.command,
            pace=FakePace(),
            plan=lambda: world.plan,
            stopped=lambda: world.stopped,
        )
        state = OwnState(
            label=label,
            stage=stage,
            snapshots=wrap(machine.snapshots),
            command=wrap(machine.migration),
        )
        duty = InstanceDuty(
            label=label,
            machine="mch_1",
            stage=stage,
            fleet=lambda: world.fleet,
            state=state,
            sweep=sweep,
        )
        self.duties[label] = duty
        return duty

    def run_worker(self, label: str) -> None:
        """Let a worker look once; what it cannot do outside a rollout is tried again later."""
        duty = self.duties.get(label) or self.start_worker(label)
        fence = Fence(f"instance:{label}", "mch_1", self.machines[label].epoch)
        with work_under(fence), suppress(AstraError):
            duty.run_once()

    def tick(self) -> None:
        self.world.pace.wait(1.0)
        self.world.work().advance()
        for label in sorted(self.world.present):
            self.run_worker(label)

    def finish(self, deployment: Deployment) -> Deployment:
        for _ in range(2_000):
            self.tick()
            if not self.world.now(deployment.id).is_open:
                return self.world.now(deployment.id)
        raise AssertionError(f"it hangs: {self.world.now(deployment.id)}")

    def deploy(self, commit: str = "a") -> Deployment:
        return self.finish(self.world.request(commit))

    def misbehave(self, behaviour: str | int, commit: str, *labels: str) -> Deployment:
        """Ask for a deployment of a release that behaves like this on some instances."""
        deployment = self.world.request(commit)
        for label in labels or LABELS:
            self.machines[label].holder.behaviours[deployment.release] = behaviour
        return self.finish(deployment)

    def serving(self) -> dict[str, str | None]:
        return {label: machine.holder.serves for label, machine in self.machines.items()}

    def app_states(self) -> dict[str, list[str]]:
        """Give what was done to the app's state on each machine."""
        return {label: machine.snapshots.state for label, machine in self.machines.items()}

    def states(self, deployment: Deployment) -> dict[str, str]:
        rollout = views.find_rollout(self.world.root.ledger, deployment.id)
        assert rollout is not None
        return rollout.describe_instances()
