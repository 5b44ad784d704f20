"""Putting beliefs together: weights of the signed configuration, read anew when one is signed."""

from astra.beliefs.book import Beliefs
from astra.beliefs.shifts import Shifts
from astra.beliefs.views import BeliefViews
from astra.bootstrap.base import Base
from astra.flow import Lane, lanes
from astra.trusted.ledger.ports import Ledger
from astra.trusted.policy import contract
from astra.trusted.settings.configuration import EvidenceWeights


class SignedWeights:
    """What each kind of outcome counts, as the operator signed it."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._known = (-1, EvidenceWeights())

    def read(self) -> EvidenceWeights:
        current = contract.version(self._ledger)
        if current != self._known[0]:
            weights = contract.read_configuration(self._ledger).beliefs.weights
            self._known = (current, weights)
        return self._known[1]


def make_beliefs(base: Base) -> BeliefViews:
    weights = SignedWeights(base.ledger)
    return BeliefViews(Beliefs(ledger=base.ledger, clock=base.clock, weights=weights.read))


def make_beliefs_lane(book: Beliefs) -> Lane:
    shifts = Shifts(book)
    return lanes.beliefs_lane(is_due=shifts.is_due, record=shifts.record)
