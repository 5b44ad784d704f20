"""The awareness feed: what happened that the agent should know of, newest first.

Nobody writes to it. It is a projection of records that others make: the idle policy's surveys,
outcomes of what the agent asked for, alerts, and beliefs that moved. To feed it something more,
name the event's type in `NOTES`, with its kind and how it reads. What says that something stands
(held, waits, merged, complete) needs another note for when that is over: the digest tells the
newest note about a thing as how it is.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from astra.beliefs import events as beliefs
from astra.deployments import events as deployments
from astra.desires import idle
from astra.goals import events as goals
from astra.operations import alert_book
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

IDLE, OUTCOME, ALERT, BELIEF = "idle", "outcome", "alert", "belief"
KINDS = (IDLE, OUTCOME, ALERT, BELIEF)
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
        kind_condition, kinds = ("", []) if kind is None else ("kind = ? AND ", [kind])
        rows = self.ledger.query(
            f"SELECT {_COLUMNS} FROM awareness WHERE {kind_condition}sequence < ?"  # noqa: S608 - fixed text
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


def _describe_survey(record: Record) -> str:
    top: list[str] = record.data["top"]
    return "\n".join(["What you want most now:", *top] if top else ["No desire is left."])


def _describe_with_reason(words: str) -> Callable[[Record], str]:
    return lambda record: f"{record.subject} {words}: {record.data.get('reason', '')}"


def _describe_grant(record: Record) -> str:
    return f"{record.subject} was approved by the operator"


def _goal_created(record: Record) -> str:
    return f"{record.subject} was created: {record.data['text']}"


def _goal_satisfied(record: Record) -> str:
    checks = len(record.data.get("checks", ()))
    how = f"its {checks} checks ran and held" if checks else "the operator closed it"
    return f"{record.subject} is satisfied: {how}"


def _goal_held(record: Record) -> str:
    detail = printable(str(record.data.get("detail", "")))[:500]
    return f"{record.subject} is held ({record.data['reason']}) {detail}".strip()


def _goal_resumed(record: Record) -> str:
    return f"{record.subject} is held no more, its tasks go on"


def _goal_retried(record: Record) -> str:
    return f"{record.subject} goes on, {len(record.data['nodes'])} of its tasks begin anew"


def _goal_reopened(record: Record) -> str:
    return f"{record.subject} was reopened; it is planned and adopted anew"


def _planning_failed(record: Record) -> str:
    return f"{record.subject} {_NOT_PLANNED}: {_read_reason(record)}"


_NOT_PLANNED = "could not be planned"


def _belief_shifted(record: Record) -> str:
    data = record.data
    return (
        f"“{data['statement']}” moved from {data['from']} to {data['to']}:"
        f" mean {data['mean']:.2f}, {data['lower']:.2f} to {data['upper']:.2f}"
    )


def _belief_put_away(record: Record) -> str:
    return f"{record.subject} was put away by the operator: {_read_reason(record)}"


def _describe_interruption(record: Record) -> str:
    return f"a call of {record.data['tool']} was cut off; how far it came is unknown"


def _describe_notice(record: Record) -> str:
    return f"{record.data['schedule']}: {record.data['text']}"


def _token_refused(record: Record) -> str:
    return f"{record.data['schedule']} did not run: {record.data['problem']}"


def _describe_plan(words: str) -> Callable[[Record], str]:
    def told(record: Record) -> str:
        why = record.data.get("reason", "")
        return f"the plan {record.subject} {words}" + (f": {why}" if why else "")

    return told


def _plan_resumed(record: Record) -> str:
    return f"the plan {record.subject} goes on"


def _describe_allowlist(_record: Record) -> str:
    return "somebody changed the file of the global allowlist; it was written anew"


def _describe_torn_ledger(record: Record) -> str:
    return f"a crash tore the end of the ledger; {record.data['bytes']} bytes were set aside"


def _jobs_set_aside(record: Record) -> str:
    return f"the job database could not be opened and was made anew: {record.data['reason']}"


def _describe_deployment(record: Record) -> str:
    return f"release {record.data['release']} was deployed and stayed healthy"


def _not_deployed(record: Record) -> str:
    return (
        f"release {record.data['release']} failed ({record.data['stage']}): {_read_reason(record)}"
    )


def _rolled_back(record: Record) -> str:
    return f"release {record.data['from']} was taken back; {record.data['release']} serves again"


def _in_quarantine(record: Record) -> str:
    commit = record.data["commit"][:12]
    return f"commit {commit} is not deployed again by itself: {_read_reason(record)}"


def _rollback_failed(record: Record) -> str:
    return f"a rollback failed, an operator has to look: {_read_reason(record)}"


def _not_serving(record: Record) -> str:
    return f"release {record.data['release']} could not be started: {_read_reason(record)}"


def _serving_again(record: Record) -> str:
    return f"release {record.data['release']} was started again and serves"


def _not_pushed(record: Record) -> str:
    next_step = printable(str(record.data.get("next_step", "")))[:300]
    sentence = f"commit {record.data['commit'][:12]} was not pushed: {_read_reason(record)}"
    return f"{sentence}; next: {next_step}" if next_step else sentence


def _read_reason(record: Record) -> str:
    return printable(str(record.data["reason"]))[:500]


def _describe_evidence(record: Record) -> str:
    return f"the evidence for {record.subject} is complete: {record.data['words']}"


def _describe_merge(record: Record) -> str:
    return f"{record.subject} was approved and merged into {record.data['target_branch']}"


def _out_of_service(record: Record) -> str:
    return f"{record.subject} serves no more: {_read_reason(record)}"


def _back_in_service(record: Record) -> str:
    return f"{record.subject} serves again, with release {record.data['release']}"


def _gathered_anew(record: Record) -> str:
    return f"the evidence for {record.subject} is gathered anew"


def _describe_successor(record: Record) -> str:
    return f"{record.subject} was replaced by {record.data['by']}"


def _sent_back(record: Record) -> str:
    return f"a reviewer wants {record.subject} changed: {record.data['text']}"


def _describe_return(record: Record) -> str:
    names = ", ".join(str(failure["name"]) for failure in record.data["failures"][:10])
    failed = f" Failed: {printable(names)[:500]}." if names else ""
    return (
        f"{record.subject} came back to you: {_read_reason(record)}.{failed}"
        f" Nobody was asked to approve it; propose a revision with supersedes={record.subject}"
    )


def _describe_conflict(record: Record) -> str:
    paths = ", ".join(record.data["paths"])
    return f"{record.subject} does not fit the new base: {record.data['why']} {paths}".strip()


def _describe_alert(record: Record) -> str:
    return f"alert {record.data['alert']}: {record.data['text']}"


def _describe_resolved(record: Record) -> str:
    return f"alert {record.data['alert']} is over: {record.data['why']}"


def _step_failed(record: Record) -> str:
    return f"{record.data['step']} of {record.data['about']} failed: {record.data['why']}"


NOTES: Mapping[str, tuple[str, Callable[[Record], str]]] = {
    idle.SURVEYED: (IDLE, _describe_survey),
    desk.GRANTED: (OUTCOME, _describe_grant),
    desk.REJECTED: (OUTCOME, _describe_with_reason("was rejected")),
    desk.EXPIRED: (OUTCOME, _describe_with_reason("expired")),
    desk.STALE: (OUTCOME, _describe_with_reason("was withdrawn")),
    goals.CREATED: (OUTCOME, _goal_created),
    goals.SATISFIED: (OUTCOME, _goal_satisfied),
    goals.ABANDONED: (OUTCOME, _describe_with_reason("was abandoned")),
    goals.HELD: (OUTCOME, _goal_held),
    goals.RESUMED: (OUTCOME, _goal_resumed),
    goals.RETRIED: (OUTCOME, _goal_retried),
    goals.REOPENED: (OUTCOME, _goal_reopened),
    goals.PLANNING_FAILED: (OUTCOME, _planning_failed),
    beliefs.SHIFTED: (BELIEF, _belief_shifted),
    beliefs.DEPRECATED: (BELIEF, _belief_put_away),
    plans.FAILED: (OUTCOME, _describe_plan("could not be drafted")),
    plans.REJECTED: (OUTCOME, _describe_plan("was rejected")),
    plans.BLOCKED_ON_PERMISSION: (OUTCOME, _describe_plan("waits")),
    plans.BLOCKED_ON_DESTRUCTIVE: (OUTCOME, _describe_plan("waits")),
    plans.BLOCKED_ON_BUDGET: (OUTCOME, _describe_plan("waits")),
    plans.BLOCKED_ON_LLM: (OUTCOME, _describe_plan("waits")),
    plans.RESUMED: (OUTCOME, _plan_resumed),
    plans.COMPLETED: (OUTCOME, _describe_plan("is done")),
    plans.ALLOWLIST_TAMPERED: (ALERT, _describe_allowlist),
    plans.ABORTED: (ALERT, _describe_plan("was ended")),
    deployments.SETTLED: (OUTCOME, _describe_deployment),
    deployments.FAILED: (ALERT, _not_deployed),
    deployments.ROLLED_BACK: (ALERT, _rolled_back),
    deployments.ROLLBACK_FAILED: (ALERT, _rollback_failed),
    deployments.QUARANTINED: (ALERT, _in_quarantine),
    deployments.PUSH_FAILED: (ALERT, _not_pushed),
    deployments.NOT_SERVING: (ALERT, _not_serving),
    deployments.RESTARTED: (OUTCOME, _serving_again),
    changes.TESTS_COMPLETED: (OUTCOME, _describe_evidence),
    changes.EXECUTED: (OUTCOME, _describe_merge),
    changes.ROLLED_BACK: (OUTCOME, _out_of_service),
    changes.RESTORED: (OUTCOME, _back_in_service),
    changes.REBASED: (OUTCOME, _gathered_anew),
    changes.RENEWED: (OUTCOME, _gathered_anew),
    changes.SUPERSEDED: (OUTCOME, _describe_successor),
    changes.REJECTED: (OUTCOME, _describe_with_reason("was rejected")),
    changes.REVISION_REQUESTED: (OUTCOME, _sent_back),
    changes.RETURNED: (OUTCOME, _describe_return),
    changes.CONFLICTED: (OUTCOME, _describe_conflict),
    changed.STEP_FAILED: (ALERT, _step_failed),
    telemetry.TOOL_INTERRUPTED: (ALERT, _describe_interruption),
    schedules.NOTICED: (ALERT, _describe_notice),
    schedules.JOBS_SET_ASIDE: (ALERT, _jobs_set_aside),
    tokens.REFUSED: (ALERT, _token_refused),
    "ledger_tail_set_aside": (ALERT, _describe_torn_ledger),
    alert_book.RAISED: (ALERT, _describe_alert),
    alert_book.REPEATED: (ALERT, _describe_alert),
    alert_book.RESOLVED: (OUTCOME, _describe_resolved),
}


def _apply_record(record: Record) -> Iterator[Statement]:
    if record.type == flags.FLAG_SET:
        yield from _store_code_flag(record)
        return
    if record.type in changed.CODE_MODIFICATION_EVENTS:
        yield _while_off(record)
    if record.type == goals.PLANNED:
        yield _planned_after_all(record)
    if record.type not in NOTES:
        return
    if record.data.get("silenced"):  # an alert that the operator silenced is told to nobody
        return
    kind, describe = NOTES[record.type]
    text = printable(describe(record))
    row: tuple[Any, ...] = (record.sequence, record.time, kind, record.subject, text)
    yield "INSERT OR IGNORE INTO awareness VALUES (?, ?, ?, ?, ?)", row


def _planned_after_all(record: Record) -> Statement:
    """Note a plan only where the newest news of its goal was that there is none."""
    text = f"{record.subject} is planned now: {len(record.data['graph']['nodes'])} tasks"
    return (
        (
            "INSERT INTO awareness SELECT ?, ?, ?, ?, ? WHERE"
            " (SELECT text FROM awareness WHERE about = ? ORDER BY sequence DESC LIMIT 1)"
            " LIKE ?"
        ),
        (
            *(record.sequence, record.time, OUTCOME, record.subject, text),
            *(record.subject, f"{record.subject} {_NOT_PLANNED}%"),
        ),
    )


def _store_code_flag(record: Record) -> Iterator[Statement]:
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
        "CREATE INDEX awareness_about ON awareness (about, sequence)",
        "CREATE TABLE awareness_code_flag (is_on INTEGER)",
    ),
    _apply_record,
    types=frozenset({*NOTES, *changed.CODE_MODIFICATION_EVENTS, flags.FLAG_SET, goals.PLANNED}),
)
