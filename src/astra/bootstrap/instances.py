"""Putting the duty of an instance together, for a worker that holds one."""

from astra.adapters.state_snapshots import StateSnapshots
from astra.bootstrap.runtime import Runtime
from astra.deployments.fleet.events import LEASE
from astra.deployments.fleet.instance import InstanceDuty
from astra.deployments.fleet.own_state import OwnState
from astra.flow import Lane, WorkItem, lanes

_EVERY = 1.0
_LONGEST_PAUSE = 30.0


def make_instance_lanes(runtime: Runtime, label: str) -> list[Lane]:
    """Give what a worker does for its instance, under the lease of that instance."""
    deployer = runtime.deployer
    duty = InstanceDuty(
        label=label,
        machine=runtime.machines.own_id,
        stage=deployer.stage,
        fleet=deployer.work.fleet.fleet,
        state=OwnState(
            label=label,
            stage=deployer.stage,
            snapshots=StateSnapshots(runtime.root.var / "state-snapshots"),
            command=deployer.work.migrations.command,
        ),
        sweep=deployer.work.upkeep.sweep,
    )
    item = WorkItem(
        key=label, action="follow", subject=f"instance {label}", run=duty.run_once, every=_EVERY
    )
    following = Lane(
        name="instance",
        lease=f"{LEASE}{label}",
        due=lambda: [item],
        leave=deployer.leave,
        breath=_EVERY,
        look_again=_EVERY,
        longest_pause=_LONGEST_PAUSE,
    )
    return [following, lanes.app_egress_lane(deployer)]
