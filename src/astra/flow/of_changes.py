"""What a change makes due: one step at a time, from its proposal to what became of its release."""

from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType

from astra.deployments import events as deployments
from astra.flow import rows
from astra.flow.due import CHANGES, TEST
from astra.flow.of_goals import REPAIR_STEP
from astra.trusted.changes import model as changes
from astra.trusted.ledger.ports import Ledger
from astra.trusted.ledger.projection import Statement
from astra.trusted.ledger.record import Record

SERVICE_STEP = "record-service"
_ORDER = "coalesce((SELECT sequence FROM release_order WHERE release = ?), 0)"
_MAY_HAVE_MOVED = (
    f"(taken_back AND since <= {_ORDER}) OR (served AND NOT taken_back AND since > {_ORDER})"
)


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
    yield "INSERT OR IGNORE INTO merged_change VALUES (?, NULL, 0, 0)", (record.subject,)


def _finish_deploy(record: Record) -> Iterator[Statement]:
    """Note the first release that has each change: it is built from the newest commit."""
    if change := record.data["change"]:
        yield rows.delete_step(change, "deploy")
    if record.data["kind"] == "deploy":
        yield (
            "INSERT OR IGNORE INTO release_order VALUES (?, ?)",
            (record.data["release"], record.sequence),
        )
        yield "UPDATE merged_change SET since = ? WHERE since IS NULL", (record.sequence,)


def _drop_deploy(record: Record) -> Iterator[Statement]:
    yield rows.delete_step(record.data["change"], "deploy")


def _taken_back(record: Record) -> Iterator[Statement]:
    yield from _live_release_moved(record, record.data["release"] or "", record.data["from"])
    yield rows.upsert(record, REPAIR_STEP, record.data["deployment"])


def _switched(record: Record) -> Iterator[Statement]:
    data = record.data
    yield from _live_release_moved(record, data["release"], data["release"])
    if data.get("kind") == "rollback" and data["release"] < (data["replaced"] or ""):
        yield rows.upsert(record, REPAIR_STEP, data["deployment"])


def _live_release_moved(record: Record, live: str, newest: str) -> Iterator[Statement]:
    """Have changes looked at that may be out of service now, or in it again.

    Releases are in the order in which they were requested, and a later one has what the earlier
    ones had. Whether that is so is asked of git before anything is recorded.
    """
    yield (
        f"UPDATE merged_change SET served = 1 WHERE NOT served AND since <= {_ORDER}",  # noqa: S608 - our own words
        (newest,),
    )
    yield "DELETE FROM due_step WHERE step = ?", (SERVICE_STEP,)
    yield (
        (
            "INSERT INTO due_step SELECT ?, ?, ?, ?, NULL"  # noqa: S608 - our own words
            f" WHERE EXISTS (SELECT 1 FROM merged_change WHERE {_MAY_HAVE_MOVED})"
        ),
        (live, SERVICE_STEP, record.time, CHANGES, live, live),
    )


def list_moved_changes(ledger: Ledger, live: str) -> list[str]:
    """Name the changes whose records may not say yet whether the live release has them."""
    query = f"SELECT change FROM merged_change WHERE {_MAY_HAVE_MOVED} ORDER BY since, change"  # noqa: S608 - our own words
    return [str(change) for (change,) in ledger.query(query, [live, live])]


def _service_recorded(record: Record) -> Iterator[Statement]:
    """Take the step away that this came from, and the one for the release that was looked at."""
    for release in {record.data["release"], record.data["due_for"]}:
        yield rows.delete_step(release, SERVICE_STEP)


def _rollback_recorded(record: Record) -> Iterator[Statement]:
    yield from _change_rests(record)
    yield "UPDATE merged_change SET taken_back = 1 WHERE change = ?", (record.subject,)


def _return_recorded(record: Record) -> Iterator[Statement]:
    yield "UPDATE merged_change SET taken_back = 0 WHERE change = ?", (record.subject,)


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
        changes.RESTORED: _return_recorded,
        deployments.REQUESTED: _finish_deploy,
        deployments.DECLINED: _drop_deploy,
        deployments.ROLLED_BACK: _taken_back,
        deployments.SWITCHED: _switched,
        deployments.CHANGES_SEEN: _service_recorded,
        changes.REJECTED: _change_rests,
        changes.CONFLICTED: _change_rests,
        changes.SUPERSEDED: _change_rests,
        changes.REVISION_REQUESTED: _change_rests,
        changes.RETURNED: _change_rests,
    }
)
