"""Wiring: which projections there are, and how the parts of a running Astra come together."""

from astra import flow
from astra.deployments import views as deployments
from astra.desires import views as desires
from astra.goals import book as goals
from astra.notifications import devices, outbox
from astra.numbers import daily
from astra.persona import awareness, conversations
from astra.plans import allowlist
from astra.plans import projection as plans
from astra.schedules import projection as schedules
from astra.trusted.approvals import views as approvals
from astra.trusted.changes import tasks as tasks
from astra.trusted.changes import views as changes
from astra.trusted.ledger import formats
from astra.trusted.ledger.projection import CORE, Projection
from astra.trusted.policy import access, budgets, flags, telemetry

PROJECTIONS: tuple[Projection, ...] = (
    *CORE,
    formats.PROJECTION,
    flags.PROJECTION,
    access.PROJECTION,
    budgets.PROJECTION,
    telemetry.PROJECTION,
    telemetry.COUNTS,
    approvals.PROJECTION,
    schedules.PROJECTION,
    schedules.CHANGES,
    desires.PROJECTION,
    goals.PROJECTION,
    tasks.PROJECTION,
    changes.PROJECTION,
    deployments.PROJECTION,
    awareness.PROJECTION,
    conversations.PROJECTION,
    plans.PROJECTION,
    allowlist.PROJECTION,
    outbox.PROJECTION,
    devices.PROJECTION,
    flow.PROJECTION,
    daily.COUNTS,
    daily.RECORDS,
)
