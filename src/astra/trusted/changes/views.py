"""Reading changes back: each is the fold of its own records; lists come from their states."""

from collections.abc import Iterator
from dataclasses import dataclass

from astra.trusted.approvals import desk
from astra.trusted.changes import model
from astra.trusted.changes.model import Change, State
from astra.trusted.kernel.errors import BadInput, NotFound
from astra.trusted.kernel.ids import is_id
from astra.trusted.kernel.paging import check_page
from astra.trusted.ledger import chain
from astra.trusted.ledger.ports import Ledger
from astra.trusted.ledger.projection import Projection, Statement
from astra.trusted.ledger.record import Record

_DECIDED = frozenset({desk.GRANTED, desk.REJECTED, desk.EXPIRED, desk.STALE, desk.USED})
_WITHDRAWING = frozenset(
    {
        desk.EXPIRED,
        desk.STALE,
        model.REBASED,
        model.RENEWED,
        model.CONFLICTED,
        model.RETURNED,
        model.REVISION_REQUESTED,
        model.APPROVED,
        model.SUPERSEDED,
    }
)
"""After these no approval waits for the change any more, as the fold has it."""
_OPEN = ", ".join(f"'{state}'" for state in sorted(model.OPEN))


@dataclass(frozen=True)
class Book:
    ledger: Ledger

    def get(self, identifier: str) -> Change:
        rows = self.ledger.query(
            "SELECT line FROM change_record JOIN record USING (sequence) WHERE change = ?"
            " ORDER BY sequence",
            [identifier],
        )
        change = model.replay(chain.parse(line) for (line,) in rows)
        if change is None:
            change_label = identifier if is_id(identifier) else "with that id"
            raise NotFound(f"there is no change {change_label}", next_step="astra changes list")
        return change

    def get_by_approval(self, approval: str) -> Change:
        rows = self.ledger.query(
            "SELECT change FROM change_approval WHERE approval = ?", [approval]
        )
        if not rows:
            raise NotFound(f"{approval} is not about a change", next_step="astra approvals")
        return self.get(rows[0][0])

    def find_by_commit(self, commit: str) -> Change | None:
        """Give the change that brought a commit to the target's branch, or nothing."""
        rows = self.ledger.query("SELECT change FROM change_merged WHERE commit_id = ?", [commit])
        return self.get(rows[0][0]) if rows else None

    def last_time(self, identifier: str) -> str:
        """Say when the newest record about a change was made."""
        rows = self.ledger.query(
            "SELECT time FROM record WHERE sequence ="
            " (SELECT max(sequence) FROM change_record WHERE change = ?)",
            [identifier],
        )
        return str(rows[0][0])

    def version(self, identifier: str) -> int:
        return self.ledger.version(identifier)

    def list_page(
        self, *, state: str | None = None, limit: int = 50, cursor: str | None = None
    ) -> tuple[list[Change], str | None]:
        """Give changes, newest first, and where the next page starts."""
        if state is not None and state not in set(State):
            raise BadInput(f"there is no state {state[:40]!r}", next_step=", ".join(State))
        before = check_page(limit, cursor)
        state_filter, states = ("", []) if state is None else ("state = ? AND ", [state])
        rows = self.ledger.query(
            f"SELECT id, sequence FROM change WHERE {state_filter}sequence < ?"  # noqa: S608 - our own words
            " ORDER BY sequence DESC LIMIT ?",
            [*states, before, limit + 1],
        )
        changes = [self.get(identifier) for identifier, _ in rows[:limit]]
        return changes, str(rows[limit - 1][1]) if len(rows) > limit else None

    def list_waiting_test_changes(self) -> list[str]:
        """Name the changes to tests that nobody has decided on yet, oldest first."""
        rows = self.ledger.query(
            f"SELECT id FROM change WHERE tests = 1 AND state IN ({_OPEN}) ORDER BY sequence"  # noqa: S608 - our own words
        )
        return [identifier for (identifier,) in rows]

    def open_count(self) -> int:
        rows = self.ledger.query(f"SELECT count(*) FROM change WHERE state IN ({_OPEN})")  # noqa: S608 - our own words
        return int(rows[0][0])


def _apply_changes(record: Record) -> Iterator[Statement]:
    if record.type == desk.REQUESTED:
        yield from _apply_request(record)
    elif record.type in _DECIDED:
        yield (
            "INSERT INTO change_record SELECT change, ? FROM change_approval WHERE approval = ?",
            (record.sequence, record.subject),
        )
        yield from _update_state(record, "approval")
    else:
        yield from _apply_change_event(record)


def _update_state(record: Record, column: str) -> Iterator[Statement]:
    """Keep the state as the fold has it; a request that was withdrawn meanwhile moves nothing."""
    to = model.TRANSITIONS[record.type].to if record.type in model.TRANSITIONS else None
    if to is not None:
        approval_reset = ", approval = NULL" if record.type in _WITHDRAWING else ""
        yield (
            f"UPDATE change SET state = ?{approval_reset} WHERE {column} = ?",  # noqa: S608 - our own words
            (str(to), record.subject),
        )


def _apply_change_event(record: Record) -> Iterator[Statement]:
    if record.type == model.SCHEDULED:
        tests = int(bool(record.data["facts"]["tests"]))
        row = (record.subject, tests, str(State.GATHERING), record.sequence)
        yield "INSERT INTO change VALUES (?, ?, ?, NULL, ?)", row
    yield "INSERT INTO change_record VALUES (?, ?)", (record.subject, record.sequence)
    yield from _update_state(record, "id")
    if record.type == model.EXECUTED:
        row = (record.data["commit"], record.subject)
        yield "INSERT OR IGNORE INTO change_merged VALUES (?, ?)", row


def _apply_request(record: Record) -> Iterator[Statement]:
    if record.data["kind"] == model.KIND:
        change = record.data["subject_id"]
        yield "INSERT INTO change_approval VALUES (?, ?)", (record.subject, change)
        yield "INSERT INTO change_record VALUES (?, ?)", (change, record.sequence)
        yield (
            "UPDATE change SET state = ?, approval = ? WHERE id = ?",
            (str(State.AWAITING), record.subject, change),
        )


PROJECTION = Projection(
    "changes",
    (
        """CREATE TABLE change (
            id TEXT PRIMARY KEY, tests INTEGER, state TEXT, approval TEXT, sequence INTEGER
        ) WITHOUT ROWID""",
        "CREATE INDEX change_state ON change (state, sequence)",
        "CREATE INDEX change_waiting ON change (approval) WHERE approval IS NOT NULL",
        "CREATE INDEX change_order ON change (sequence)",
        """CREATE TABLE change_record (
            change TEXT, sequence INTEGER, PRIMARY KEY (change, sequence)
        ) WITHOUT ROWID""",
        "CREATE TABLE change_approval (approval TEXT PRIMARY KEY, change TEXT) WITHOUT ROWID",
        "CREATE TABLE change_merged (commit_id TEXT PRIMARY KEY, change TEXT) WITHOUT ROWID",
    ),
    _apply_changes,
    types=_DECIDED | {desk.REQUESTED, model.SCHEDULED} | set(model.TRANSITIONS),
    version=3,
)
