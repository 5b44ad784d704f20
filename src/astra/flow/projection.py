"""The due steps of every entity, as of the ledger's head."""

from collections.abc import Iterable, Iterator

from astra.flow import of_approvals, of_changes, of_desires, of_goals, of_plans, rows
from astra.trusted.ledger.projection import Projection, Statement
from astra.trusted.ledger.record import Record
from astra.trusted.ledger.timekeeping import CLOCK_ACCEPTED, bring_back


def _clock_accepted(record: Record) -> Iterator[Statement]:
    """Let everything that waits be due now: every approval is over, the rest says when it is next.

    Nobody is reminded of an approval that is over.
    """
    yield "DELETE FROM due_step WHERE step LIKE 'announce-%'", ()
    yield bring_back(record, "due_step", "due")


_EFFECTS: dict[str, rows.Effect] = {
    **of_approvals.EFFECTS,
    **of_desires.EFFECTS,
    **of_changes.EFFECTS,
    **of_plans.EFFECTS,
    **of_goals.EFFECTS,
    CLOCK_ACCEPTED: _clock_accepted,
}


def _apply_record(record: Record) -> Iterable[Statement]:
    return _EFFECTS[record.type](record)


PROJECTION = Projection(
    "due steps",
    (
        """CREATE TABLE due_step (
            subject TEXT, step TEXT, due TEXT, lane TEXT, entity TEXT, PRIMARY KEY (subject, step)
        ) WITHOUT ROWID""",
        """CREATE TABLE merged_change (
            change TEXT PRIMARY KEY, since INTEGER, served INTEGER, taken_back INTEGER
        ) WITHOUT ROWID""",
        "CREATE TABLE release_order (release TEXT PRIMARY KEY, sequence INTEGER) WITHOUT ROWID",
        "CREATE INDEX merged_change_waiting ON merged_change (change) WHERE since IS NULL",
        "CREATE INDEX merged_change_unserved ON merged_change (since) WHERE NOT served",
        """CREATE INDEX merged_change_served ON merged_change (since)
            WHERE served AND NOT taken_back""",
        "CREATE INDEX merged_change_out ON merged_change (since) WHERE taken_back",
        "CREATE INDEX due_step_time ON due_step (lane, due, subject)",
        "CREATE INDEX due_step_entity ON due_step (entity) WHERE entity IS NOT NULL",
    ),
    _apply_record,
    types=frozenset(_EFFECTS),
)
