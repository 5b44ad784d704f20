"""What a change makes due: one step at a time, from its proposal to what became of its release."""

from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType

from astra.deployments import events as deployments
from astra.flow import rows
from astra.flow.due import CHANGES, TEST
from astra.flow.of_goals import REPAIR_STEP
from astra.trusted.changes import model as changes
from astra.trusted.ledger.projection import Statement
from astra.trusted.ledger.record import Record


def _change_due(step: str) -> Callable[[Record], Iterator[Statement]]:
    """Say that the next step of a change is this one, and no other."""

    def apply(record: Record) -> Iterator[Statement]:
        yield from _change_rests(record)
        yield (
            "INSERT INTO due_step VALUES (?, ?, ?, ?, ?)",
            (record.subject, step, record.time, CHANGES, record.subject),
        )

    return apply


def _change_rests(record: Record) -> Iterator[Statement]:
    yield "DELETE FROM due_step WHERE entity = ?", (record.subject,)


def _change_merged(record: Record) -> Iterator[Statement]:
    yield from _change_due("deploy")(record) if record.data["deploy"] else _change_rests(record)


def _finish_deploy(record: Record) -> Iterator[Statement]:
    if change := record.data["change"]:
        yield rows.delete_step(change, "deploy")
        yield (
            (
                "INSERT INTO deployed_change VALUES"
                " (?, ?, EXISTS (SELECT 1 FROM deployed_change WHERE change = ? AND taken_back), ?)"
            ),
            (record.data["deployment"], change, change, record.data["release"]),
        )


def _drop_deploy(record: Record) -> Iterator[Statement]:
    yield rows.delete_step(record.data["change"], "deploy")


def _taken_back(record: Record) -> Iterator[Statement]:
    yield (
        (
            "INSERT OR IGNORE INTO due_step SELECT change, 'record-rollback', ?, ?, change"
            " FROM deployed_change WHERE deployment = ? AND NOT taken_back"
        ),
        (record.time, CHANGES, record.data["deployment"]),
    )
    yield rows.upsert(record, REPAIR_STEP, record.data["deployment"])


def _switched(record: Record) -> Iterator[Statement]:
    """Take back the changes that an operator went back over; names of releases are in order."""
    data = record.data
    if data.get("kind") == "rollback" and data["release"] < (data["replaced"] or ""):
        yield (
            (
                "INSERT OR IGNORE INTO due_step SELECT change, 'record-rollback', ?, ?, change"
                " FROM deployed_change WHERE release > ? AND release <= ? AND NOT taken_back"
                " GROUP BY change"
            ),
            (record.time, CHANGES, data["release"], data["replaced"]),
        )
        yield rows.upsert(record, REPAIR_STEP, data["deployment"])


def _rollback_recorded(record: Record) -> Iterator[Statement]:
    yield from _change_rests(record)
    yield "UPDATE deployed_change SET taken_back = 1 WHERE change = ?", (record.subject,)


EFFECTS: Mapping[str, rows.Effect] = MappingProxyType(
    {
        changes.SCHEDULED: _change_due("scan"),
        changes.REBASED: _change_due("scan"),
        changes.RENEWED: _change_due("scan"),
        changes.SCANNED: _change_due(TEST),
        changes.TESTS_COMPLETED: _change_due("ask"),
        changes.APPROVED: _change_due("merge"),
        changes.WITHDRAWN: _change_due("close"),
        changes.EXECUTED: _change_merged,
        changes.ROLLED_BACK: _rollback_recorded,
        deployments.REQUESTED: _finish_deploy,
        deployments.DECLINED: _drop_deploy,
        deployments.ROLLED_BACK: _taken_back,
        deployments.SWITCHED: _switched,
        changes.REJECTED: _change_rests,
        changes.CONFLICTED: _change_rests,
        changes.SUPERSEDED: _change_rests,
        changes.REVISION_REQUESTED: _change_rests,
        changes.RETURNED: _change_rests,
    }
)
