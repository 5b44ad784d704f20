"""Putting deployments together: what is approved, how a release is built, how the app is run."""

from astra.adapters.boxes.app_commands import (
    AppCommand,
    BeforeStartCommand,
    BuildSteps,
    CommitChecks,
)
from astra.adapters.boxes.sandbox import Sandbox
from astra.adapters.operators_remote import OperatorsRemote, describe_change
from astra.adapters.release_folders import ReleaseFolders
from astra.adapters.state_snapshots import StateSnapshots
from astra.adapters.supervisor.app_egress import AppEgress
from astra.adapters.supervisor.channel import STAGING
from astra.adapters.supervisor.client import HolderClient
from astra.adapters.supervisor.lending import LentListeners
from astra.bootstrap.base import Base
from astra.bootstrap.changing import ChangeParts
from astra.changes.service import Changes
from astra.deployments.app_plan import build_steps, plan_of, secret_filter
from astra.deployments.asking import AgentRequests
from astra.deployments.changes import ApprovedChanges
from astra.deployments.fleet.events import LEASE
from astra.deployments.fleet.stopwatch import Stopwatch
from astra.deployments.fleet.work import FleetWork
from astra.deployments.migrating import Migrations
from astra.deployments.plan import Plan
from astra.deployments.pushing import ChangeNote, Pushing
from astra.deployments.requests import Requests
from astra.deployments.service import Deployer, Leaving
from astra.deployments.stage import Stage
from astra.deployments.upkeep import Upkeep
from astra.deployments.work import Work
from astra.trusted.stop.machines import LeaseHolder, Machines


def make_deployer(
    base: Base, sandbox: Sandbox, parts: ChangeParts, lent: LentListeners
) -> Deployer:
    root, ledger, switches = base.root, base.ledger, base.switches
    place, changes = root.path.resolve(), parts.changes

    def plan() -> Plan:
        return plan_of(base.configuration(), place)

    releases = ReleaseFolders(
        base=place / "deployments",
        repository=root.git,
        steps=lambda: build_steps(base.configuration()),
        run=BuildSteps(sandbox=sandbox, configuration=base.configuration).run,
        secret_filter=lambda: secret_filter(base.configuration()),
        environment=lambda commit, purpose: parts.environments.provide(
            commit, base.configuration().target, purpose
        ),
        bring_commit=parts.bring_commit,
    )
    leaving = Leaving()
    stage = Stage(
        ledger=ledger,
        releases=releases,
        holder=HolderClient(place, lent=lent),
        rehearsal=HolderClient(place, STAGING, lent),
        health=AppCommand(sandbox=sandbox),
        pace=leaving,
        plan=plan,
        stopped=base.stops.is_stopped,
    )
    approved = ApprovedChanges(changes=changes, tests_required=switches.tests_required)
    requests = Requests(ledger=ledger, clock=base.clock, approved=approved)
    snapshots = StateSnapshots(root.var / "state-snapshots")
    migrations = Migrations(
        stage=stage,
        snapshots=snapshots,
        command=BeforeStartCommand(sandbox=sandbox, data_root=place),
    )
    fleet = FleetWork(
        ledger=ledger,
        fleet=lambda: base.configuration().deploy.fleet,
        find_present=lambda: find_present_instances(base.machines),
        stopwatch=Stopwatch(leaving.monotonic),
        find_holders=lambda: find_instance_holders(base.machines),
    )
    upkeep = Upkeep(stage, snapshots)
    work = Work(stage=stage, upkeep=upkeep, migrations=migrations, fleet=fleet)
    agent_requests = AgentRequests(
        changes=changes, requests=requests, person_for_tests=switches.person_for_tests
    )
    checks = CommitChecks(sandbox=sandbox, plan=plan)
    pushing = _make_pushing(base, stage, changes, checks)
    return Deployer(agent_requests, work, pushing, leaving, AppEgress(place))


def find_present_instances(machines: Machines) -> frozenset[str]:
    """Name the instances of the fleet whose worker holds its lease now."""
    leases = (lease for machine in machines.list_machines() for lease in machine.leads)
    return frozenset(lease.removeprefix(LEASE) for lease in leases if lease.startswith(LEASE))


def find_instance_holders(machines: Machines) -> dict[str, LeaseHolder]:
    """Give who has or had the lease of each instance of the fleet."""
    leases = machines.list_leases().items()
    return {name.removeprefix(LEASE): holder for name, holder in leases if name.startswith(LEASE)}


def _make_pushing(base: Base, stage: Stage, changes: Changes, checks: CommitChecks) -> Pushing:
    remote = OperatorsRemote(
        checks=checks, deploy=lambda: base.configuration().deploy, root=base.root
    )
    return Pushing(
        stage=stage,
        remote=remote,
        clock=base.clock,
        branch=base.branch,
        describe_commit=lambda commit: _describe_commit(changes, commit),
    )


def _describe_commit(changes: Changes, commit: str) -> ChangeNote | None:
    change = changes.book.find_by_commit(commit)
    return describe_change(change) if change else None
