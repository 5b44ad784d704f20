"""Putting beliefs together, with the weights of the signed configuration."""

from astra.beliefs.book import Beliefs
from astra.beliefs.shifts import Shifts
from astra.beliefs.views import BeliefViews
from astra.bootstrap.base import Base
from astra.flow import Lane, lanes


def make_beliefs(base: Base) -> BeliefViews:
    book = Beliefs(
        ledger=base.ledger,
        clock=base.clock,
        weights=lambda: base.configuration().beliefs.weights,
    )
    return BeliefViews(book)


def make_beliefs_lane(book: Beliefs) -> Lane:
    shifts = Shifts(book)
    return lanes.beliefs_lane(is_due=shifts.is_due, record=shifts.record)
