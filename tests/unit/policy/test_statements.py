"""Statements that an operator signs."""

from astra.testing import RootInMemory
from astra.trusted.ledger.record import Event
from astra.trusted.policy import authority


def test_a_clock_that_was_set_back_keeps_nobody_from_signing() -> None:
    """The ledger's time is ahead of the clock then, and a statement lives by the ledger's time."""
    root = RootInMemory()
    root.clock.advance(days=400)
    root.ledger.append([Event(type="app_restarted", actor="daemon", data={"release": "rel"})])
    root.clock.advance(days=-400)
    event = Event(type="rollback_ordered", actor="operator", data={"release": "a"})
    signed = root.sign("rollback_ordered", {"release": "a"})
    made = authority.signed_event(root.ledger, event, signed, now=root.clock.now())
    (record,) = root.ledger.append([made])
    assert authority.is_signed_by_operator(root.ledger, record)
