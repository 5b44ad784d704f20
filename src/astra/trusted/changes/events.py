"""What is recorded about changes. The names of the code family are fixed; other parts rely on them.

Each carries the change's commit, base and branch. None of the code family is appended while code
writing is off; one that appears anyway is an alert (`changes.views`).
"""

from collections.abc import Mapping, Sequence
from typing import Any

from astra.trusted.changes.model import (
    APPROVED,
    COMMENTED,
    CONFLICTED,
    EXECUTED,
    REBASED,
    REJECTED,
    RENEWED,
    RESTORED,
    RETURNED,
    REVISION_REQUESTED,
    ROLLED_BACK,
    SCANNED,
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
Remarked = dict[str, Any]


def scheduled(identifier: str, data: Mapping[str, Any], *, actor: str, story: str) -> Event:
    return Event(
        type=SCHEDULED,
        actor=actor,
        data=data,
        correlation=story,
        subject=identifier,
        key=f"change:{identifier}",
    )


def scanned(change: Change, findings: list[dict[str, Any]]) -> Event:
    return _make_event(
        change, SCANNED, {"findings": findings}, key=_make_round_key(change, "scanned")
    )


def tests_started(change: Change, run: Mapping[str, Any], *, attempt: int) -> Event:
    data = {**run, "attempt": attempt}
    return _make_event(
        change, TESTS_STARTED, data, key=_make_round_key(change, f"tests:{run['label']}:{attempt}")
    )


def tests_ended(change: Change, run: Mapping[str, Any], report: Mapping[str, Any]) -> Event:
    data, key = {**run, "report": report}, _make_round_key(change, f"tested:{run['label']}")
    if report["verdict"] == "passed":
        return _make_event(change, TESTS_PASSED, data, key=key)
    return _make_event(change, TESTS_FAILED, data, key=key)


def tests_completed(
    change: Change,
    verdict: str,
    words: str,
    *,
    warnings: Sequence[str],
    mutation: Mapping[str, Any] | None,
    findings: Sequence[Mapping[str, Any]],
) -> Event:
    """Close the evidence; `findings` are those that only running the tests could give."""
    data: dict[str, Any] = {"verdict": verdict, "words": words, "diff": change.facts["diff"]}
    data |= {"warnings": list(warnings)} if warnings else {}
    data |= {"mutation": mutation} if mutation is not None else {}
    data |= {"findings": list(findings)} if findings else {}
    return _make_event(
        change, TESTS_COMPLETED, data, key=_make_round_key(change, "tests-completed")
    )


def returned(change: Change, verdict: str, reason: str, failures: list[dict[str, Any]]) -> Event:
    """Say that a change went back to the agent by itself, with what its tests said."""
    data = {"verdict": verdict, "reason": reason, "failures": failures}
    return _make_event(change, RETURNED, data)


def rebased(change: Change, facts: Mapping[str, Any]) -> Event:
    data = {"facts": facts, "from": {"base": change.facts["base"], "commit": change.commit}}
    return _make_event(change, REBASED, data, key=_make_round_key(change, "rebased"))


def conflicted(change: Change, *, onto: str, paths: list[str], why: str) -> Event:
    data = {"onto": onto, "paths": paths, "why": why}
    return _make_event(change, CONFLICTED, data, key=_make_round_key(change, "conflicted"))


def renewed(change: Change, *, actor: str, facts: Mapping[str, Any] | None = None) -> Event:
    """Say that the evidence is gathered again; with facts, where the rules are other ones now."""
    return _make_event(change, RENEWED, {} if facts is None else {"facts": facts}, actor=actor)


def commented(change: Change, text: str, remarks: list[Remarked], *, actor: str) -> Event:
    return _make_event(change, COMMENTED, {"text": text, "remarks": remarks}, actor=actor)


def revision_requested(change: Change, text: str, remarks: list[Remarked], *, actor: str) -> Event:
    return _make_event(change, REVISION_REQUESTED, {"text": text, "remarks": remarks}, actor=actor)


def superseded(change: Change, by: str) -> Event:
    return _make_event(change, SUPERSEDED, {"by": by}, key=f"superseded:{change.id}")


def approved(change: Change, approval: str, terms: Mapping[str, Any]) -> Event:
    data = {"approval": approval, "terms": dict(terms)}
    return _make_event(change, APPROVED, data, key=f"approved:{approval}")


def rejected(change: Change, reason: str, *, actor: str) -> Event:
    return _make_event(
        change, REJECTED, {"reason": reason}, actor=actor, key=f"rejected:{change.id}"
    )


def withdrawn(change: Change, reason: str, *, actor: str) -> Event:
    return _make_event(
        change, WITHDRAWN, {"reason": reason}, actor=actor, key=f"withdrawn:{change.id}"
    )


def executed(change: Change) -> Event:
    deploy = bool(change.terms.get("deploy"))
    data = {"diff": change.facts["diff"], "files": change.facts["files"], "deploy": deploy}
    return _make_event(change, EXECUTED, data, key=f"executed:{change.id}")


def rolled_back(change: Change, reason: str, *, actor: str) -> Event:
    """Say that what a change brought serves no more; it may happen again after a restoration."""
    data = {"reason": reason, "diff": change.facts["diff"]}
    key = _make_service_key(change, "rolled-back")
    return _make_event(change, ROLLED_BACK, data, actor=actor, key=key)


def restored(change: Change, release: str, *, actor: str) -> Event:
    """Say that a release puts what a change brought into service again."""
    key = _make_service_key(change, "restored")
    return _make_event(change, RESTORED, {"release": release}, actor=actor, key=key)


def _make_event(
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


def _make_round_key(change: Change, what: str) -> str:
    return f"change:{change.id}:{change.round}:{what}"


def _make_service_key(change: Change, what: str) -> str:
    """Give a key for each time that a change leaves service or comes back; the first is short."""
    times = f":{change.times_restored}" if change.times_restored else ""
    return f"{what}:{change.id}{times}"
