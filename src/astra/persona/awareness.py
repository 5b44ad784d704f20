"""The awareness feed: what happened that the agent should know of, newest first.

Nobody writes to it. It is a projection of records that others make: the idle policy's surveys,
outcomes of what the agent asked for, and alerts. To feed it something more, name the event's type
in `NOTES`, with its kind and how it reads.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from astra.deployments import events as deployments
from astra.desires import idle
from astra.goals import book as goals
from astra.plans import events as plans
from astra.schedules import events as schedules
from astra.schedules import tokens
from astra.trusted.approvals import desk
from astra.trusted.changes import events as changed
from astra.trusted.changes import model as changes
from astra.trusted.kernel.errors import BadInput
from astra.trusted.kernel.paging import check_page
from astra.trusted.kernel.text import printable
from astra.trusted.ledger.ports import Ledger
from astra.trusted.ledger.projection import Projection, Statement
from astra.trusted.ledger.record import Record
from astra.trusted.policy import flags, telemetry

IDLE, OUTCOME, ALERT = "idle", "outcome", "alert"
KINDS = (IDLE, OUTCOME, ALERT)
LARGEST_PAGE = 100
CODE_WRITE = "ASTRA_CODE_WRITE_ENABLED"
_COLUMNS = "sequence, time, kind, about, text"


@dataclass(frozen=True, kw_only=True)
class Note:
    sequence: int
    time: str
    kind: str
    about: str | None
    text: str


@dataclass(frozen=True)
class Awareness:
    ledger: Ledger

    def read(
        self, *, kind: str | None = None, limit: int = 20, cursor: str | None = None
    ) -> tuple[list[Note], str | None]:
        """Give the newest notes, and the cursor of the page of older ones."""
        if kind not in (None, *KINDS):
            raise BadInput(
                f"kind is one of {', '.join(KINDS)}",
                next_step="leave it out for the newest notes of every kind",
            )
        before = check_page(limit, cursor, largest=LARGEST_PAGE)
        where, kinds = ("", []) if kind is None else ("kind = ? AND ", [kind])
        rows = self.ledger.query(
            f"SELECT {_COLUMNS} FROM awareness WHERE {where}sequence < ?"  # noqa: S608 - fixed text
            " ORDER BY sequence DESC LIMIT ?",
            [*kinds, before, limit + 1],
        )
        names = _COLUMNS.split(", ")
        notes = [Note(**dict(zip(names, row, strict=True))) for row in rows[:limit]]
        return notes, str(notes[-1].sequence) if len(rows) > limit else None

    def alerts_since(self, time: str) -> list[str]:
        """Write out the newest alerts since a time."""
        notes, _cursor = self.read(kind=ALERT)
        return [f"{note.time[:19]}Z {note.text}" for note in notes if note.time >= time]


def _survey(record: Record) -> str:
    top: list[str] = record.data["top"]
    return "\n".join(["What you want most now:", *top] if top else ["No desire is left."])


def _reason(words: str) -> Callable[[Record], str]:
    return lambda record: f"{record.subject} {words}: {record.data.get('reason', '')}"


def _granted(record: Record) -> str:
    return f"{record.subject} was approved by the operator"


def _goal_created(record: Record) -> str:
    return f"{record.subject} was created: {record.data['text']}"


def _interrupted(record: Record) -> str:
    return f"a call of {record.data['tool']} was cut off; how far it came is unknown"


def _noticed(record: Record) -> str:
    return f"{record.data['schedule']}: {record.data['text']}"


def _token_refused(record: Record) -> str:
    return f"{record.data['schedule']} did not run: {record.data['problem']}"


def _plan(words: str) -> Callable[[Record], str]:
    def told(record: Record) -> str:
        why = record.data.get("reason", "")
        return f"the plan {record.subject} {words}" + (f": {why}" if why else "")

    return told


def _allowlist(_record: Record) -> str:
    return "somebody changed the file of the global allowlist; it was written anew"


def _torn(record: Record) -> str:
    return f"a crash tore the end of the ledger; {record.data['bytes']} bytes were set aside"


def _jobs_set_aside(record: Record) -> str:
    return f"the job database could not be opened and was made anew: {record.data['reason']}"


def _deployed(record: Record) -> str:
    return f"release {record.data['release']} is deployed and stayed healthy"


def _not_deployed(record: Record) -> str:
    return f"release {record.data['release']} failed ({record.data['stage']}): {_why(record)}"


def _rolled_back(record: Record) -> str:
    return f"release {record.data['from']} was taken back; {record.data['release']} serves again"


def _in_quarantine(record: Record) -> str:
    return f"commit {record.data['commit'][:12]} is not deployed again by itself: {_why(record)}"


def _rollback_failed(record: Record) -> str:
    return f"a rollback failed, an operator has to look: {_why(record)}"


def _not_serving(record: Record) -> str:
    return f"release {record.data['release']} cannot be started: {_why(record)}"


def _not_pushed(record: Record) -> str:
    return f"commit {record.data['commit'][:12]} was not pushed: {_why(record)}"


def _why(record: Record) -> str:
    return printable(str(record.data["reason"]))[:500]


def _tested(record: Record) -> str:
    return f"the evidence for {record.subject} is complete: {record.data['words']}"


def _merged(record: Record) -> str:
    return f"{record.subject} was approved and is on {record.data['target_branch']} now"


def _sent_back(record: Record) -> str:
    return f"a reviewer wants {record.subject} changed: {record.data['text']}"


def _returned(record: Record) -> str:
    names = ", ".join(str(failure["name"]) for failure in record.data["failures"][:10])
    failed = f" Failed: {printable(names)[:500]}." if names else ""
    return (
        f"{record.subject} came back to you: {_why(record)}.{failed} Nobody was asked to approve"
        f" it; propose a revision with supersedes={record.subject}"
    )


def _conflict(record: Record) -> str:
    paths = ", ".join(record.data["paths"])
    return f"{record.subject} does not fit the new base: {record.data['why']} {paths}".strip()


def _step_failed(record: Record) -> str:
    return f"{record.data['step']} of {record.data['about']} failed: {record.data['why']}"


NOTES: Mapping[str, tuple[str, Callable[[Record], str]]] = {
    idle.SURVEYED: (IDLE, _survey),
    desk.GRANTED: (OUTCOME, _granted),
    desk.REJECTED: (OUTCOME, _reason("was rejected")),
    desk.EXPIRED: (OUTCOME, _reason("expired")),
    desk.STALE: (OUTCOME, _reason("was withdrawn")),
    goals.CREATED: (OUTCOME, _goal_created),
    plans.FAILED: (OUTCOME, _plan("could not be drafted")),
    plans.REJECTED: (OUTCOME, _plan("was rejected")),
    plans.BLOCKED_ON_PERMISSION: (OUTCOME, _plan("waits")),
    plans.BLOCKED_ON_DESTRUCTIVE: (OUTCOME, _plan("waits")),
    plans.BLOCKED_ON_BUDGET: (OUTCOME, _plan("waits")),
    plans.BLOCKED_ON_LLM: (OUTCOME, _plan("waits")),
    plans.COMPLETED: (OUTCOME, _plan("is done")),
    plans.ALLOWLIST_TAMPERED: (ALERT, _allowlist),
    plans.ABORTED: (ALERT, _plan("was ended")),
    deployments.SETTLED: (OUTCOME, _deployed),
    deployments.FAILED: (ALERT, _not_deployed),
    deployments.ROLLED_BACK: (ALERT, _rolled_back),
    deployments.ROLLBACK_FAILED: (ALERT, _rollback_failed),
    deployments.QUARANTINED: (ALERT, _in_quarantine),
    deployments.PUSH_FAILED: (ALERT, _not_pushed),
    deployments.NOT_SERVING: (ALERT, _not_serving),
    changes.TESTS_COMPLETED: (OUTCOME, _tested),
    changes.EXECUTED: (OUTCOME, _merged),
    changes.REJECTED: (OUTCOME, _reason("was rejected")),
    changes.REVISION_REQUESTED: (OUTCOME, _sent_back),
    changes.RETURNED: (OUTCOME, _returned),
    changes.CONFLICTED: (OUTCOME, _conflict),
    changed.STEP_FAILED: (ALERT, _step_failed),
    telemetry.TOOL_INTERRUPTED: (ALERT, _interrupted),
    schedules.NOTICED: (ALERT, _noticed),
    schedules.JOBS_SET_ASIDE: (ALERT, _jobs_set_aside),
    tokens.REFUSED: (ALERT, _token_refused),
    "ledger_tail_set_aside": (ALERT, _torn),
}


def _apply(record: Record) -> Iterator[Statement]:
    if record.type == flags.FLAG_SET:
        yield from _flag(record)
        return
    if record.type in changed.CODE_MODIFICATION_EVENTS:
        yield _while_off(record)
    if record.type not in NOTES:
        return
    kind, describe = NOTES[record.type]
    row: tuple[Any, ...] = (record.sequence, record.time, kind, record.subject, describe(record))
    yield "INSERT OR IGNORE INTO awareness VALUES (?, ?, ?, ?, ?)", row


def _flag(record: Record) -> Iterator[Statement]:
    if record.data["flag"] == CODE_WRITE:
        yield "DELETE FROM awareness_code_flag", ()
        yield "INSERT INTO awareness_code_flag VALUES (?)", (int(record.data["on"]),)


def _while_off(record: Record) -> Statement:
    """Raise an alert about a record that nobody could have made while code writing was off."""
    text = f"{record.type} of {record.subject} was recorded while code writing was off"
    return (
        (
            "INSERT INTO awareness SELECT ?, ?, ?, ?, ?"
            " WHERE NOT EXISTS (SELECT 1 FROM awareness_code_flag WHERE is_on = 1)"
        ),
        (record.sequence, record.time, ALERT, record.subject, text),
    )


PROJECTION = Projection(
    "awareness",
    (
        """CREATE TABLE awareness (
            sequence INTEGER PRIMARY KEY, time TEXT, kind TEXT, about TEXT, text TEXT
        )""",
        "CREATE INDEX awareness_kind ON awareness (kind, sequence)",
        "CREATE TABLE awareness_code_flag (is_on INTEGER)",
    ),
    _apply,
    types=frozenset({*NOTES, *changed.CODE_MODIFICATION_EVENTS, flags.FLAG_SET}),
)
