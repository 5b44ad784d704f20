"""Wiring: which projections there are, and how the parts of a running Astra come together."""

from astra.ledger.projection import CORE, Projection
from astra.policy import flags

PROJECTIONS: tuple[Projection, ...] = (*CORE, flags.PROJECTION)
