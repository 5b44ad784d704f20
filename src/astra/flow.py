"""What happens next is derived, not remembered: this table, and a projection of it.

Each row says: while an entity is in this state, this step falls due at this time. The projection
keeps the due steps of every entity as of the ledger's head; the daemon runs what is due. Rebuild
the index and the list is the same; there is no queue to lose and no cursor to corrupt. Steps check
before they act, so running one twice does nothing.

| entity    | while                | step               | due                                 |
|-----------|----------------------|--------------------|-------------------------------------|
| approval  | pending              | announce-1, -2, -3 | 1, 6 and 20 hours after the request |
| approval  | pending              | expire             | at its expiry                       |
| approval  | approved             | expire             | at its expiry                       |
| schedule  | approved             | export-token       | at once                             |
| promotion | approved             | create-goal        | at once                             |
| desires   | one is above 0.1     | survey             | at the next full hour, then when    |
|           |                      |                    | the survey before says (hourly)     |
| change    | proposed, or renewed | scan               | at once                             |
| change    | scanned              | test               | at once                             |
| change    | tested, or stale     | ask                | at once                             |
| change    | granted              | execute            | at once                             |
| change    | approved             | merge              | at once                             |
| change    | rejected             | close              | at once                             |
| change    | merged, with deploy  | deploy             | at once                             |
| change    | its release taken    | record-rollback    | at once                             |
|           | back                 |                    |                                     |
| plan      | awaiting_approval    | ask-approval       | at once                             |
| plan's    | approved             | approve-plan       | at once                             |
| approval  | rejected             | reject-plan        | at once                             |
| plan      | granted (more)       | export-plan        | at once                             |
| allowlist | changed              | export-allowlist   | at once                             |

A promotion and a schedule are approvals of their kind, and so is a plan's. Their own step is there
from the request on, without a time, and gets one when the operator approves.

A step of a change may take minutes, so those have a lane and threads of their own
(`bootstrap.changing`); nothing else waits for them. `execute` belongs to the change's approval.

A deployment's state is its next step as well: `deployments.work` has the table, and the deployer's
thread runs it, because building and watching take longer than other steps may wait.

Schedules are due by rows of their own (`schedules.projection`): what is due among a million is an
index range, and claiming one is an append. The executor, not the step runner, looks at those. Plans
that work are due by their own rows, too (`plans.projection`); the plans' runner looks at those.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from astra.approvals import desk
from astra.approvals.desk import Desk
from astra.changes import model as changes
from astra.changes.gathering import Gathering
from astra.changes.merging import Merges
from astra.deployments import events as deployments
from astra.deployments.changes import AfterChanges
from astra.desires import idle
from astra.desires import views as desires
from astra.desires.idle import IdlePolicy
from astra.goals import promotion
from astra.goals.promotion import Promotions
from astra.kernel.clock import format_time, parse_time
from astra.ledger.ports import Ledger
from astra.ledger.projection import Projection, Statement
from astra.ledger.record import Record
from astra.plans import allowlist, book
from astra.plans import events as plans
from astra.plans.allowlist import Allowlist
from astra.plans.book import Plans
from astra.plans.exports import Exports
from astra.schedules import tokens
from astra.schedules.tokens import TokenShelf

QUICK, CHANGES = "quick", "changes"
TEST = "test"


@dataclass(frozen=True)
class DueStep:
    """A step that is to be run for an entity, and the key under which it runs once."""

    subject: str
    step: str
    due: str

    @property
    def key(self) -> str:
        return f"{self.subject}/{self.step}/{self.due}"


@dataclass(frozen=True)
class Domains:
    """What steps may act on."""

    approvals: Desk
    tokens: TokenShelf
    promotions: Promotions
    idle: IdlePolicy
    plans: Plans
    exports: Exports
    allowlist: Allowlist


STEPS: dict[str, Callable[[Domains, str], None]] = {
    "expire": lambda domains, subject: domains.approvals.expire(subject),
    "export-token": lambda domains, subject: domains.tokens.export(subject),
    "announce-1": lambda domains, subject: domains.approvals.announce(subject, "announce-1"),
    "announce-2": lambda domains, subject: domains.approvals.announce(subject, "announce-2"),
    "announce-3": lambda domains, subject: domains.approvals.announce(subject, "announce-3"),
    "create-goal": lambda domains, subject: domains.promotions.fulfil(subject),
    "survey": lambda domains, _subject: domains.idle.survey(),
    "ask-approval": lambda domains, subject: domains.plans.ask_anew(subject),
    "approve-plan": lambda domains, subject: domains.plans.fulfil(subject),
    book.REJECT_STEP: lambda domains, subject: domains.plans.follow_rejection(subject),
    "export-plan": lambda domains, subject: domains.exports.export(subject),
    "export-allowlist": lambda domains, _subject: domains.allowlist.export(),
}
_ALL_DESIRES = "desires"


@dataclass(frozen=True)
class ChangeWork:
    """What the steps of changes act on."""

    gathering: Gathering
    merges: Merges
    after: AfterChanges


CHANGE_STEPS: dict[str, Callable[[ChangeWork, str], None]] = {
    "scan": lambda work, change: work.gathering.scan(change),
    TEST: lambda work, change: work.gathering.test(change),
    "ask": lambda work, change: work.merges.ask(change),
    "execute": lambda work, approval: work.merges.execute(approval),
    "merge": lambda work, change: work.merges.merge(change),
    "close": lambda work, change: work.merges.reviews.close(change),
    "deploy": lambda work, change: work.after.deploy_approved(change),
    "record-rollback": lambda work, change: work.after.record_rollback(change),
}


def next_due(ledger: Ledger) -> DueStep | None:
    rows = ledger.query(
        "SELECT subject, step, due FROM due_step WHERE due IS NOT NULL AND lane = ?"
        " ORDER BY due, subject LIMIT 1",
        [QUICK],
    )
    return DueStep(*rows[0]) if rows else None


def due_for_changes(ledger: Ledger) -> list[DueStep]:
    """Give the steps of changes that are due, oldest first; at most one for each change."""
    rows = ledger.query(
        "SELECT subject, step, due FROM due_step WHERE due IS NOT NULL AND lane = ?"
        " ORDER BY due, subject",
        [CHANGES],
    )
    return [DueStep(*row) for row in rows]


def run(domains: Domains, step: DueStep) -> None:
    STEPS[step.step](domains, step.subject)


def run_for_change(work: ChangeWork, step: DueStep) -> None:
    CHANGE_STEPS[step.step](work, step.subject)


def _apply(record: Record) -> Iterator[Statement]:
    yield from _EFFECTS.get(record.type, _over)(record)


def _requested(record: Record) -> Iterator[Statement]:
    yield _insert(record, "expire", record.data["expires_at"])
    for number, delay in enumerate(desk.REMINDERS, start=1):
        yield _insert(record, f"announce-{number}", format_time(parse_time(record.time) + delay))
    if record.data["kind"] == promotion.KIND:
        yield _insert(record, "create-goal", None)
    if record.data["kind"] == tokens.KIND:
        yield _insert(record, "export-token", None)
    if record.data["kind"] == changes.KIND:
        change = record.data["subject_id"]
        yield _done(change, "ask")
        yield (
            "INSERT INTO due_step VALUES (?, 'execute', NULL, ?, ?)",
            (record.subject, CHANGES, change),
        )
    if record.data["kind"] == book.KIND:
        yield _insert(record, "approve-plan", None)
        yield _done(record.data["subject_id"], "ask-approval")


def _exported(record: Record) -> Iterator[Statement]:
    yield (
        "DELETE FROM due_step WHERE subject = ? AND step = 'export-token'",
        (record.data["approval"],),
    )


def _announced(record: Record) -> Iterator[Statement]:
    yield (
        "DELETE FROM due_step WHERE subject = ? AND step = ?",
        (record.data["approval"], record.data["step"]),
    )


def _granted(record: Record) -> Iterator[Statement]:
    yield "DELETE FROM due_step WHERE subject = ? AND step LIKE 'announce-%'", (record.subject,)
    yield (
        "UPDATE due_step SET due = ? WHERE subject = ? AND due IS NULL",
        (
            record.time,
            record.subject,
        ),
    )


def _rejected(record: Record) -> Iterator[Statement]:
    """Let nothing be due any more, but for the plan that this was about."""
    yield _pass_on(record, "close")
    yield "DELETE FROM due_step WHERE subject = ? AND step <> 'approve-plan'", (record.subject,)
    yield (
        "UPDATE due_step SET step = ?, due = ? WHERE subject = ?",
        (book.REJECT_STEP, record.time, record.subject),
    )


def _stale(record: Record) -> Iterator[Statement]:
    yield _pass_on(record, "ask")
    yield from _over(record)


def _pass_on(record: Record, step: str) -> Statement:
    """Let the end of an approval make a step of its change due."""
    return (
        (
            "INSERT OR IGNORE INTO due_step SELECT entity, ?, ?, lane, entity FROM due_step"
            " WHERE subject = ? AND step = 'execute'"
        ),
        (step, record.time, record.subject),
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


def _deploying(record: Record) -> Iterator[Statement]:
    if change := record.data["change"]:
        yield _done(change, "deploy")
        yield (
            (
                "INSERT INTO deployed_change VALUES"
                " (?, ?, EXISTS (SELECT 1 FROM deployed_change WHERE change = ? AND taken_back))"
            ),
            (record.data["deployment"], change, change),
        )


def _declined(record: Record) -> Iterator[Statement]:
    yield _done(record.data["change"], "deploy")


def _taken_back(record: Record) -> Iterator[Statement]:
    yield (
        (
            "INSERT OR IGNORE INTO due_step SELECT change, 'record-rollback', ?, ?, change"
            " FROM deployed_change WHERE deployment = ? AND NOT taken_back"
        ),
        (record.time, CHANGES, record.data["deployment"]),
    )


def _rollback_recorded(record: Record) -> Iterator[Statement]:
    yield from _change_rests(record)
    yield "UPDATE deployed_change SET taken_back = 1 WHERE change = ?", (record.subject,)


def _plan_waits(record: Record) -> Iterator[Statement]:
    yield _upsert(record, "ask-approval")
    yield _done(record.subject, "export-plan")


def _plan_granted(record: Record) -> Iterator[Statement]:
    yield _done(record.subject, "ask-approval")
    yield _upsert(record, "export-plan")


def _plan_given_more(record: Record) -> Iterator[Statement]:
    if not record.data["once"]:
        yield _upsert(record, "export-plan")


def _plan_exported(record: Record) -> Iterator[Statement]:
    yield _done(record.subject, "export-plan")


def _plan_over(record: Record) -> Iterator[Statement]:
    yield from _over(record)
    yield _done(record.data.get("approval"), book.REJECT_STEP)


def _allowlist_changed(record: Record) -> Iterator[Statement]:
    yield _upsert(record, "export-allowlist", allowlist.SUBJECT)


def _allowlist_exported(_record: Record) -> Iterator[Statement]:
    yield _done(allowlist.SUBJECT, "export-allowlist")


def _over(record: Record) -> Iterator[Statement]:
    yield "DELETE FROM due_step WHERE subject = ?", (record.subject,)


def _wanted(record: Record) -> Iterator[Statement]:
    yield (
        (
            "INSERT INTO due_step VALUES (?, 'survey', ?, ?, NULL)"
            " ON CONFLICT (subject, step) DO NOTHING"
        ),
        (_ALL_DESIRES, idle.next_hour(record.time), QUICK),
    )


def _surveyed(record: Record) -> Iterator[Statement]:
    if record.data["top"]:
        due = record.data.get("next") or idle.next_hour(record.data["hour"])
        yield "UPDATE due_step SET due = ? WHERE subject = ?", (due, _ALL_DESIRES)
    else:
        yield "DELETE FROM due_step WHERE subject = ?", (_ALL_DESIRES,)


def _upsert(record: Record, step: str, subject: str | None = None) -> Statement:
    return (
        (
            "INSERT INTO due_step VALUES (?, ?, ?, ?, NULL)"
            " ON CONFLICT (subject, step) DO UPDATE SET due = excluded.due"
        ),
        (subject or record.subject, step, record.time, QUICK),
    )


def _done(subject: str | None, step: str) -> Statement:
    return "DELETE FROM due_step WHERE subject = ? AND step = ?", (subject, step)


def _insert(record: Record, step: str, due: str | None) -> Statement:
    row = (record.subject, step, due, QUICK)
    return "INSERT INTO due_step VALUES (?, ?, ?, ?, NULL)", row


_EFFECTS: dict[str, Callable[[Record], Iterator[Statement]]] = {
    desk.REQUESTED: _requested,
    desk.ANNOUNCED: _announced,
    desk.GRANTED: _granted,
    tokens.EXPORTED: _exported,
    desires.RECORDED: _wanted,
    desires.REINFORCED: _wanted,
    idle.SURVEYED: _surveyed,
    desk.REJECTED: _rejected,
    desk.STALE: _stale,
    changes.SCHEDULED: _change_due("scan"),
    changes.REBASED: _change_due("scan"),
    changes.RENEWED: _change_due("scan"),
    changes.SCANNED: _change_due(TEST),
    changes.TESTS_COMPLETED: _change_due("ask"),
    changes.APPROVED: _change_due("merge"),
    changes.WITHDRAWN: _change_due("close"),
    changes.EXECUTED: _change_merged,
    changes.ROLLED_BACK: _rollback_recorded,
    deployments.REQUESTED: _deploying,
    deployments.DECLINED: _declined,
    deployments.ROLLED_BACK: _taken_back,
    changes.REJECTED: _change_rests,
    changes.CONFLICTED: _change_rests,
    changes.SUPERSEDED: _change_rests,
    changes.REVISION_REQUESTED: _change_rests,
    plans.DRAFTED: _plan_waits,
    plans.REVISED: _plan_waits,
    plans.APPROVED: _plan_granted,
    plans.PERMISSION_GRANTED: _plan_given_more,
    plans.FILES_EXPORTED: _plan_exported,
    plans.REJECTED: _plan_over,
    plans.ABORTED: _plan_over,
    plans.COMPLETED: _plan_over,
    plans.GLOBAL_GRANT_ADDED: _allowlist_changed,
    plans.GLOBAL_GRANT_REMOVED: _allowlist_changed,
    plans.ALLOWLIST_EXPORTED: _allowlist_exported,
}
_ENDS = frozenset({desk.EXPIRED, desk.USED})

PROJECTION = Projection(
    "due steps",
    (
        """CREATE TABLE due_step (
            subject TEXT, step TEXT, due TEXT, lane TEXT, entity TEXT, PRIMARY KEY (subject, step)
        ) WITHOUT ROWID""",
        """CREATE TABLE deployed_change (
            deployment TEXT PRIMARY KEY, change TEXT, taken_back INTEGER
        ) WITHOUT ROWID""",
        "CREATE INDEX deployed_change_of ON deployed_change (change)",
        "CREATE INDEX due_step_time ON due_step (lane, due, subject)",
        "CREATE INDEX due_step_entity ON due_step (entity) WHERE entity IS NOT NULL",
    ),
    _apply,
    types=_ENDS | frozenset(_EFFECTS),
)
