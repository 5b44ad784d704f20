"""What is recorded about changes. The names of the code family are fixed; other parts rely on them.

Each carries the change's commit, base and branch. None of the code family is appended while code
writing is off; one that appears anyway is an alert (`astra.changes.counting`).
"""

from collections.abc import Mapping
from typing import Any

from astra.trusted.changes.model import (
    APPROVED,
    CONFLICTED,
    EXECUTED,
    REBASED,
    REJECTED,
    RENEWED,
    RESTORED,
    RETURNED,
    ROLLED_BACK,
    SCHEDULED,
    SUPERSEDED,
    TESTS_COMPLETED,
    TESTS_FAILED,
    TESTS_PASSED,
    TESTS_STARTED,
    WITHDRAWN,
    Change,
)
from astra.trusted.ledger.record import Event

CODE_MODIFICATION_EVENTS = frozenset({SCHEDULED, APPROVED, REJECTED, EXECUTED, ROLLED_BACK})
TEST_EVENTS = frozenset({TESTS_STARTED, TESTS_PASSED, TESTS_FAILED, TESTS_COMPLETED})
CODE_EVENTS = CODE_MODIFICATION_EVENTS | TEST_EVENTS
STEP_FAILED = "change_step_failed"
DAEMON = "daemon"


def scheduled(identifier: str, data: Mapping[str, Any], *, actor: str, story: str) -> Event:
    return Event(
        type=SCHEDULED,
        actor=actor,
        data=data,
        correlation=story,
        subject=identifier,
        key=f"change:{identifier}",
    )


def returned(change: Change, verdict: str, reason: str, failures: list[dict[str, Any]]) -> Event:
    """Say that a change went back to the agent by itself, with what its tests said."""
    data = {"verdict": verdict, "reason": reason, "failures": failures}
    return make_event(change, RETURNED, data)


def rebased(change: Change, facts: Mapping[str, Any]) -> Event:
    data = {"facts": facts, "from": {"base": change.facts["base"], "commit": change.commit}}
    return make_event(change, REBASED, data, key=make_round_key(change, "rebased"))


def conflicted(change: Change, *, onto: str, paths: list[str], why: str) -> Event:
    data = {"onto": onto, "paths": paths, "why": why}
    return make_event(change, CONFLICTED, data, key=make_round_key(change, "conflicted"))


def renewed(change: Change, *, actor: str, facts: Mapping[str, Any] | None = None) -> Event:
    """Say that the evidence is gathered again; with facts, where the rules are other ones now."""
    return make_event(change, RENEWED, {} if facts is None else {"facts": facts}, actor=actor)


def superseded(change: Change, by: str) -> Event:
    return make_event(change, SUPERSEDED, {"by": by}, key=f"superseded:{change.id}")


def approved(change: Change, approval: str, terms: Mapping[str, Any]) -> Event:
    data = {"approval": approval, "terms": dict(terms)}
    return make_event(change, APPROVED, data, key=f"approved:{approval}")


def rejected(change: Change, reason: str, *, actor: str) -> Event:
    return make_event(
        change, REJECTED, {"reason": reason}, actor=actor, key=f"rejected:{change.id}"
    )


def withdrawn(change: Change, reason: str, *, actor: str) -> Event:
    return make_event(
        change, WITHDRAWN, {"reason": reason}, actor=actor, key=f"withdrawn:{change.id}"
    )


def executed(change: Change) -> Event:
    deploy = bool(change.terms.get("deploy"))
    data = {"diff": change.facts["diff"], "files": change.facts["files"], "deploy": deploy}
    return make_event(change, EXECUTED, data, key=f"executed:{change.id}")


def rolled_back(change: Change, reason: str, *, actor: str) -> Event:
    """Say that what a change brought serves no more; it may happen again after a restoration."""
    data = {"reason": reason, "diff": change.facts["diff"]}
    key = _make_service_key(change, "rolled-back")
    return make_event(change, ROLLED_BACK, data, actor=actor, key=key)


def restored(change: Change, release: str, *, actor: str) -> Event:
    """Say that a release puts what a change brought into service again."""
    key = _make_service_key(change, "restored")
    return make_event(change, RESTORED, {"release": release}, actor=actor, key=key)


def make_event(
    change: Change,
    type_: str,
    data: Mapping[str, Any],
    *,
    actor: str = DAEMON,
    key: str | None = None,
) -> Event:
    commit_facts = {
        "commit": change.commit,
        "base": change.facts["base"],
        "branch": change.facts["branch"],
        "target_branch": change.facts["target_branch"],
        "round": change.round,
    }
    return Event(
        type=type_,
        actor=actor,
        data={**commit_facts, **data},
        correlation=change.correlation,
        subject=change.id,
        key=key,
    )


def make_round_key(change: Change, what: str) -> str:
    return f"change:{change.id}:{change.round}:{what}"


def _make_service_key(change: Change, what: str) -> str:
    """Give a key for each time that a change leaves service or comes back; the first is short."""
    times = f":{change.times_restored}" if change.times_restored else ""
    return f"{what}:{change.id}{times}"
