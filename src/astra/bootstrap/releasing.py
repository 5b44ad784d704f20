"""Putting deployments together: what is approved, how a release is built, how the app is run."""

from astra.adapters.boxes.app_commands import AppCommand, BuildSteps, OperatorsRemote
from astra.adapters.boxes.sandbox import Sandbox
from astra.adapters.release_folders import ReleaseFolders
from astra.adapters.supervisor.app_egress import AppEgress
from astra.adapters.supervisor.channel import STAGING
from astra.adapters.supervisor.client import HolderClient
from astra.adapters.supervisor.lending import LentListeners
from astra.bootstrap.base import Base
from astra.changes.service import Changes
from astra.deployments.app_plan import build_steps, plan_of, secret_filter
from astra.deployments.asking import AgentRequests
from astra.deployments.changes import ApprovedChanges
from astra.deployments.pushing import Pushing
from astra.deployments.requests import Requests
from astra.deployments.service import Deployer, Leaving
from astra.deployments.stage import Stage
from astra.deployments.upkeep import Upkeep
from astra.deployments.watching import Plan
from astra.deployments.work import Work


def make_deployer(base: Base, sandbox: Sandbox, changes: Changes, lent: LentListeners) -> Deployer:
    root, ledger, switches = base.root, base.ledger, base.switches
    place = root.path.resolve()

    def plan() -> Plan:
        return plan_of(base.configuration(), place)

    releases = ReleaseFolders(
        base=place / "deployments",
        repository=root.git,
        steps=lambda: build_steps(base.configuration()),
        run=BuildSteps(sandbox=sandbox, configuration=base.configuration).run,
        secret_filter=lambda: secret_filter(base.configuration()),
    )
    leaving = Leaving()
    stage = Stage(
        ledger=ledger,
        releases=releases,
        holder=HolderClient(place, lent=lent),
        rehearsal=HolderClient(place, STAGING, lent),
        health=AppCommand(sandbox=sandbox, plan=plan),
        pace=leaving,
        plan=plan,
        stopped=base.stops.stopped,
    )
    approved = ApprovedChanges(changes=changes, tests_required=switches.tests_required)
    requests = Requests(ledger=ledger, clock=base.clock, approved=approved)
    remote = OperatorsRemote(sandbox=sandbox, plan=plan, root=root, branch=base.branch)
    work = Work(stage=stage, upkeep=Upkeep(stage))
    asked = AgentRequests(
        changes=changes, requests=requests, person_for_tests=switches.person_for_tests
    )
    return Deployer(asked, work, Pushing(stage, remote), leaving, AppEgress(place))
