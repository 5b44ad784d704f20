"""A change as its records tell it: one table of transitions, and a pure fold.

Evidence belongs to a round: a base that moved, or tests that are run again, begin the next one,
and what was approved before counts no more.

>>> TRANSITIONS[EXECUTED].to
<State.EXECUTED: 'executed'>
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

from astra.trusted.approvals import events as approving
from astra.trusted.kernel.errors import Conflict
from astra.trusted.ledger.record import Record

SCHEDULED = "code_modification_scheduled"
APPROVED, REJECTED = "code_modification_approved", "code_modification_rejected"
EXECUTED, ROLLED_BACK = "code_modification_executed", "code_modification_rolled_back"
TESTS_STARTED, TESTS_COMPLETED = "tests_started", "tests_completed"
TESTS_PASSED, TESTS_FAILED = "tests_passed", "tests_failed"
SCANNED, REBASED, CONFLICTED = "change_scanned", "change_rebased", "change_conflicted"
COMMENTED, REVISION_REQUESTED = "change_commented", "change_revision_requested"
RENEWED, SUPERSEDED, WITHDRAWN = (
    "change_evidence_renewed",
    "change_superseded",
    "change_withdrawn",
)
RETURNED = "change_returned"
RESTORED = "change_restored"
KIND = "change"

_TASK_MARK = re.compile(r" \(node_[0-9a-f]+\)\Z")


def read_purpose(about: Mapping[str, Any]) -> str:
    """Give why a change was proposed, without the mark of the goal's task that proposed it.

    >>> read_purpose({"reason": "greet kindly (node_0a1b)"})
    'greet kindly'
    """
    return _TASK_MARK.sub("", str(about["reason"]))


class State(StrEnum):
    GATHERING = "gathering_evidence"
    AWAITING = "awaiting_approval"
    GRANTED = "granted"
    APPROVED = "approved"
    EXECUTED = "executed"
    REJECTED = "rejected"
    REVISE = "changes_requested"
    TESTS_FAILED = "tests_failed"
    SUPERSEDED = "superseded"
    CONFLICT = "conflict"
    ROLLED_BACK = "rolled_back"


_OF_APPROVAL = frozenset(
    {approving.GRANTED, approving.REJECTED, approving.EXPIRED, approving.STALE, approving.USED}
)
MERGED = frozenset({State.EXECUTED, State.ROLLED_BACK})
"""The target's branch moved to it, whatever serves now."""
OPEN = frozenset({State.GATHERING, State.AWAITING, State.GRANTED, State.APPROVED})
_UNDECIDED = frozenset({State.GATHERING, State.AWAITING})
_AT_REST = _UNDECIDED | {State.TESTS_FAILED}
_UNMERGED = _AT_REST | {State.GRANTED, State.APPROVED}
_REPLACEABLE = _AT_REST | {State.REVISE, State.CONFLICT}


@dataclass(frozen=True)
class Transition:
    """From which states an event may come; `to` None leaves the state as it is."""

    sources: frozenset[State]
    to: State | None = None


_ANY = frozenset(State)
_GATHERING = Transition(frozenset({State.GATHERING}))
TRANSITIONS: dict[str, Transition] = {
    SCANNED: _GATHERING,
    TESTS_STARTED: _GATHERING,
    TESTS_PASSED: _GATHERING,
    TESTS_FAILED: _GATHERING,
    TESTS_COMPLETED: _GATHERING,
    RETURNED: Transition(_UNDECIDED, State.TESTS_FAILED),
    approving.REQUESTED: Transition(_AT_REST, State.AWAITING),
    approving.GRANTED: Transition(frozenset({State.AWAITING}), State.GRANTED),
    approving.REJECTED: Transition(frozenset({State.AWAITING}), State.REJECTED),
    approving.EXPIRED: Transition(frozenset({State.AWAITING, State.GRANTED}), State.AWAITING),
    approving.STALE: Transition(frozenset({State.AWAITING, State.GRANTED}), State.AWAITING),
    approving.USED: Transition(_ANY),
    APPROVED: Transition(frozenset({State.AWAITING, State.GRANTED}), State.APPROVED),
    EXECUTED: Transition(frozenset({State.APPROVED}), State.EXECUTED),
    REBASED: Transition(_UNMERGED, State.GATHERING),
    CONFLICTED: Transition(_UNMERGED, State.CONFLICT),
    RENEWED: Transition(_AT_REST, State.GATHERING),
    COMMENTED: Transition(_ANY),
    REVISION_REQUESTED: Transition(_AT_REST, State.REVISE),
    SUPERSEDED: Transition(_REPLACEABLE, State.SUPERSEDED),
    WITHDRAWN: Transition(_REPLACEABLE, State.REJECTED),
    REJECTED: Transition(_REPLACEABLE | {State.REJECTED}, State.REJECTED),
    ROLLED_BACK: Transition(frozenset({State.EXECUTED}), State.ROLLED_BACK),
    RESTORED: Transition(frozenset({State.ROLLED_BACK}), State.EXECUTED),
}


@dataclass(frozen=True, kw_only=True)
class Run:
    """One run of the tests in a round: which code, which tests, and how it went."""

    label: str
    code: str
    tests: str
    attempts: int = 0
    report: dict[str, Any] | None = None


@dataclass(frozen=True, kw_only=True)
class Change:
    id: str
    state: State
    round: int
    facts: dict[str, Any]
    """What the newest round is about: base, commit, tree, branch, files, diff, what it touches."""
    about: dict[str, Any]
    """Why it was proposed: reason, goal, research, what it supersedes."""
    task: str
    actor: str
    correlation: str
    created_at: str
    findings: tuple[dict[str, Any], ...] | None = None
    runs: dict[str, Run] = field(default_factory=dict[str, Run])
    tests: dict[str, Any] | None = None
    approval: str | None = None
    terms: dict[str, Any] = field(default_factory=dict[str, Any])
    approved_by: str | None = None
    """The approval that was used up for it."""
    comments: tuple[dict[str, Any], ...] = ()
    reason: str = ""
    conflict: dict[str, Any] | None = None
    superseded_by: str | None = None
    times_restored: int = 0
    """How often it went into service again after it had been taken back."""
    closed: bool = False
    """Whether its end is in the record of the code family, and its task is over."""

    @property
    def purpose(self) -> str:
        """Give why it was proposed, without the mark of the goal's task that proposed it."""
        return read_purpose(self.about)

    @property
    def commit(self) -> str:
        return str(self.facts["commit"])

    @property
    def base(self) -> str:
        return str(self.facts["base"])

    @property
    def is_open(self) -> bool:
        return self.state in OPEN


def replay(records: Iterable[Record]) -> Change | None:
    change: Change | None = None
    for record in records:
        change = evolve(change, record)
    return change


def evolve(change: Change | None, record: Record) -> Change:
    """Give the change after one more record; a record that may not come here is refused."""
    if change is None:
        return _begin_change(record)
    if record.type in _OF_APPROVAL and record.subject != change.approval:
        return change  # it is about a request that was withdrawn meanwhile
    require(change, record.type)
    to = TRANSITIONS[record.type].to
    next_change = change if to is None else replace(change, state=to)
    effect = _EFFECTS.get(record.type)
    return effect(next_change, record) if effect else next_change


def require(change: Change, type_: str) -> None:
    """Refuse what cannot happen to a change in its state."""
    if type_ not in TRANSITIONS or change.state not in TRANSITIONS[type_].sources:
        raise Conflict(
            f"{change.id} is {change.state}: {type_.replace('_', ' ')} cannot follow",
            code="illegal_transition",
            next_step=f"look at it with `astra changes show {change.id}`",
            state=str(change.state),
        )


def _begin_change(record: Record) -> Change:
    if record.type != SCHEDULED:
        raise Conflict(
            f"the records of {record.subject} begin with {record.type}",
            code="illegal_transition",
            next_step="astra ledger verify",
        )
    return Change(
        id=str(record.subject),
        state=State.GATHERING,
        round=1,
        facts=record.data["facts"],
        about=record.data["about"],
        task=record.data["task"],
        actor=record.actor,
        correlation=record.correlation,
        created_at=record.time,
    )


def _apply_scan(change: Change, record: Record) -> Change:
    return replace(change, findings=tuple(record.data["findings"]))


def _apply_tests_started(change: Change, record: Record) -> Change:
    data = record.data
    test_run = Run(
        label=data["label"], code=data["code"], tests=data["tests"], attempts=data["attempt"]
    )
    return replace(change, runs={**change.runs, test_run.label: test_run})


def _apply_tests_ended(change: Change, record: Record) -> Change:
    test_run = change.runs[record.data["label"]]
    return replace(
        change,
        runs={**change.runs, test_run.label: replace(test_run, report=record.data["report"])},
    )


def _apply_tests_completed(change: Change, record: Record) -> Change:
    result_fields = {"verdict", "words", "warnings", "mutation"}
    test_results = {k: v for k, v in record.data.items() if k in result_fields}
    findings = (*(change.findings or ()), *record.data.get("findings", ()))
    return replace(change, tests=test_results, findings=findings or change.findings)


def _apply_request(change: Change, record: Record) -> Change:
    return replace(change, approval=record.subject)


def _clear_approval(change: Change, record: Record) -> Change:
    return replace(change, approval=None, reason=record.data["reason"])


def _begin_round(change: Change, _record: Record) -> Change:
    return replace(
        change,
        round=change.round + 1,
        findings=None,
        runs={},
        tests=None,
        approval=None,
        terms={},
    )


def _renew_facts(change: Change, record: Record) -> Change:
    return replace(_begin_round(change, record), facts=record.data.get("facts", change.facts))


def _apply_conflict(change: Change, record: Record) -> Change:
    facts = {name: record.data[name] for name in ("onto", "paths", "why")}
    return replace(change, conflict=facts, approval=None, reason=facts["why"])


def _apply_return(change: Change, record: Record) -> Change:
    return replace(change, approval=None, reason=record.data["reason"])


def _add_comment(change: Change, record: Record) -> Change:
    comment = {
        "time": record.time,
        "by": record.actor,
        "text": record.data["text"],
        "commit": record.data["commit"],
        "remarks": record.data.get("remarks", []),
    }
    return replace(change, comments=(*change.comments, comment))


def _apply_revision_request(change: Change, record: Record) -> Change:
    reason = record.data["text"] or "see the remarks on its lines"
    return replace(_add_comment(change, record), approval=None, reason=reason)


def _apply_approval(change: Change, record: Record) -> Change:
    return replace(
        change,
        terms=record.data["terms"],
        approved_by=record.data["approval"],
        approval=None,
    )


def _apply_rejection(change: Change, record: Record) -> Change:
    return replace(change, reason=record.data["reason"], closed=record.type == REJECTED)


def _apply_supersession(change: Change, record: Record) -> Change:
    return replace(change, superseded_by=record.data["by"], approval=None, closed=True)


def _apply_execution(change: Change, _record: Record) -> Change:
    return replace(change, closed=True)


def _apply_restoration(change: Change, _record: Record) -> Change:
    return replace(change, times_restored=change.times_restored + 1)


_EFFECTS = {
    SCANNED: _apply_scan,
    TESTS_STARTED: _apply_tests_started,
    TESTS_PASSED: _apply_tests_ended,
    TESTS_FAILED: _apply_tests_ended,
    TESTS_COMPLETED: _apply_tests_completed,
    approving.REQUESTED: _apply_request,
    approving.EXPIRED: _clear_approval,
    approving.STALE: _clear_approval,
    approving.REJECTED: _apply_rejection,
    REBASED: _renew_facts,
    RENEWED: _renew_facts,
    CONFLICTED: _apply_conflict,
    RETURNED: _apply_return,
    COMMENTED: _add_comment,
    REVISION_REQUESTED: _apply_revision_request,
    APPROVED: _apply_approval,
    REJECTED: _apply_rejection,
    WITHDRAWN: _apply_rejection,
    SUPERSEDED: _apply_supersession,
    EXECUTED: _apply_execution,
    RESTORED: _apply_restoration,
}
