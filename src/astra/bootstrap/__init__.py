"""Wiring: which projections there are, and how the parts of a running Astra come together."""

from astra import flow
from astra.approvals import desk
from astra.ledger.projection import CORE, Projection
from astra.policy import budgets, flags, telemetry
from astra.schedules import projection as schedules

PROJECTIONS: tuple[Projection, ...] = (
    *CORE,
    flags.PROJECTION,
    budgets.PROJECTION,
    telemetry.PROJECTION,
    desk.PROJECTION,
    schedules.PROJECTION,
    flow.PROJECTION,
)
