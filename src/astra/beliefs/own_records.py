"""What the records of beliefs themselves do to the tables: none of them writes evidence."""

from collections.abc import Callable, Iterator, Mapping
from datetime import datetime

from astra.beliefs import events
from astra.beliefs.tables import REGISTER, scale_of
from astra.trusted.ledger.projection import Statement
from astra.trusted.ledger.record import Record
from astra.trusted.ledger.timekeeping import CLOCK_ACCEPTED


def _propose_belief(record: Record) -> Iterator[Statement]:
    """Keep what somebody says, and what it is said about; there is no way from here to a sum."""
    data, identifier = record.data, str(record.subject)
    yield REGISTER, (identifier, data["claim"], data["scope_kind"], data["scope"])
    yield (
        "UPDATE belief SET proposed = coalesce(proposed, ?) WHERE id = ?",
        (record.sequence, identifier),
    )
    role = record.actor.partition(":")[0]
    row = (identifier, record.sequence, role, record.actor, data["statement"])
    yield "INSERT INTO belief_statement VALUES (?, ?, ?, ?, ?)", row


def _deprecate_belief(record: Record) -> Iterator[Statement]:
    """Begin a belief anew: what was counted so far counts no more, and stays to be looked at."""
    identifier = str(record.subject)
    yield (
        (
            "INSERT OR REPLACE INTO belief_day SELECT belief, ?, kind, sign, 0.0 FROM belief_sum"
            " WHERE belief = ?"
        ),
        (record.time[:10], identifier),
    )
    yield "DELETE FROM belief_sum WHERE belief = ?", (identifier,)
    yield (
        "UPDATE belief SET deprecated = ?, reason = ?, standing = '' WHERE id = ?",
        (record.sequence, record.data["reason"], identifier),
    )


def _shift_belief(record: Record) -> Iterator[Statement]:
    yield "UPDATE belief SET standing = ? WHERE id = ?", (record.data["to"], record.subject)


def _accept_clock(record: Record) -> Iterator[Statement]:
    """Let nothing that was counted while the clock was ahead weigh more than if it were now."""
    scale = scale_of(datetime.fromisoformat(record.time).timestamp())
    yield "UPDATE belief_sum SET scaled = min(scaled, count * ?)", (scale,)


EFFECTS: Mapping[str, Callable[[Record], Iterator[Statement]]] = {
    events.PROPOSED: _propose_belief,
    events.DEPRECATED: _deprecate_belief,
    events.SHIFTED: _shift_belief,
    CLOCK_ACCEPTED: _accept_clock,
}
