"""Wiring: which projections there are, and how the parts of a running Astra come together."""

from astra import flow
from astra.beliefs import projection as beliefs
from astra.changes import counting
from astra.deployments import projection as deployments
from astra.deployments.fleet import projection as fleet
from astra.desires import views as desires
from astra.goals import book as goals
from astra.notifications import devices, outbox
from astra.numbers import daily, hourly
from astra.operations import alert_book
from astra.persona import awareness, conversations
from astra.plans import allowlist
from astra.plans import projection as plans
from astra.plans.code import memory as edit_formats
from astra.research import projection as research
from astra.schedules import projection as schedules
from astra.spend import projection as spend
from astra.tasks import of_changes as tasks
from astra.trusted.approvals import views as approvals
from astra.trusted.changes import merge_permissions
from astra.trusted.changes import views as changes
from astra.trusted.ledger import formats
from astra.trusted.ledger.projection import CORE, Projection
from astra.trusted.policy import access, budgets, flags, permissions, telemetry
from astra.workers import projection as workers

PROJECTIONS: tuple[Projection, ...] = (
    *CORE,
    formats.PROJECTION,
    flags.PROJECTION,
    access.PROJECTION,
    permissions.PROJECTION,
    merge_permissions.PROJECTION,
    budgets.PROJECTION,
    telemetry.PROJECTION,
    telemetry.COUNTS,
    approvals.PROJECTION,
    schedules.PROJECTION,
    schedules.CHANGES,
    desires.PROJECTION,
    goals.PROJECTION,
    research.PROJECTION,
    tasks.PROJECTION,
    changes.PROJECTION,
    counting.PROJECTION,
    deployments.PROJECTION,
    fleet.PROJECTION,
    beliefs.PROJECTION,
    awareness.PROJECTION,
    conversations.PROJECTION,
    plans.PROJECTION,
    allowlist.PROJECTION,
    edit_formats.PROJECTION,
    outbox.PROJECTION,
    devices.PROJECTION,
    spend.PROJECTION,
    flow.PROJECTION,
    daily.COUNTS,
    daily.RECORDS,
    hourly.PROJECTION,
    alert_book.PROJECTION,
    workers.PROJECTION,
)
