"""The state machine of a change: legal steps only, whatever order they are tried in."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from astra.trusted.approvals import desk
from astra.trusted.changes import events, model
from astra.trusted.changes.model import TRANSITIONS, State
from astra.trusted.kernel.errors import Conflict
from astra.trusted.ledger import chain
from astra.trusted.ledger.record import EMPTY, Event, Record

FACTS = {"base": "b", "commit": "c", "branch": "astra/x", "target_branch": "main", "diff": {}}
DATA = {
    "findings": [],
    "label": "change",
    "code": "c",
    "tests": "c",
    "attempt": 1,
    "report": {"verdict": "passed"},
    "verdict": "passed",
    "words": "",
    "facts": FACTS,
    "about": {"reason": "x"},
    "task": "tsk_1",
    "onto": "d",
    "paths": [],
    "why": "",
    "text": "",
    "terms": {},
    "reason": "",
    "by": "chg_2",
    "kind": "change",
}


def record(type_: str, subject: str = "chg_1") -> Record:
    (made,) = chain.link(
        [Event(type=type_, actor="a", data=DATA, subject=subject)], after=EMPTY, time="t"
    )
    return made


def test_the_names_of_the_code_family_are_fixed() -> None:
    assert {
        "code_modification_scheduled",
        "code_modification_approved",
        "code_modification_rejected",
        "code_modification_executed",
        "code_modification_rolled_back",
        "tests_started",
        "tests_passed",
        "tests_failed",
        "tests_completed",
    } == events.CODE_EVENTS


def test_a_change_begins_with_its_proposal() -> None:
    with pytest.raises(Conflict):
        model.evolve(None, record(model.EXECUTED))
    assert model.evolve(None, record(model.SCHEDULED)).state is State.GATHERING


@given(st.lists(st.sampled_from(sorted(TRANSITIONS)), max_size=25))
def test_only_what_the_table_allows_happens_and_a_merge_always_follows_an_approval(
    types: list[str],
) -> None:
    change = model.evolve(None, record(model.SCHEDULED))
    seen: list[str] = []
    for type_ in types:
        subject = change.approval or "apr_1" if type_.startswith("approval") else change.id
        try:
            after = model.evolve(change, record(type_, subject))
        except (Conflict, KeyError):
            continue
        if after != change or type_ != desk.GRANTED:
            seen.append(type_)
        assert change.state in TRANSITIONS[type_].sources or after == change
        change = after
    if change.state in {State.EXECUTED, State.ROLLED_BACK}:
        assert model.APPROVED in seen
        assert desk.REQUESTED in seen


@pytest.mark.parametrize("state", [State.EXECUTED, State.REJECTED, State.SUPERSEDED])
def test_what_is_over_is_neither_approved_nor_merged(state: State) -> None:
    for type_ in (model.APPROVED, model.EXECUTED, model.REBASED, desk.REQUESTED):
        assert state not in TRANSITIONS[type_].sources


def test_a_new_round_forgets_the_evidence_and_the_approval() -> None:
    change = model.evolve(None, record(model.SCHEDULED))
    for type_ in (model.SCANNED, model.TESTS_STARTED, model.TESTS_PASSED, model.TESTS_COMPLETED):
        change = model.evolve(change, record(type_))
    change = model.evolve(change, record(desk.REQUESTED, "apr_1"))
    assert change.tests
    assert change.approval == "apr_1"
    again = model.evolve(change, record(model.REBASED))
    assert (again.round, again.findings, again.runs, again.tests) == (2, None, {}, None)
    assert again.approval is None


def test_what_is_decided_about_a_withdrawn_request_changes_nothing() -> None:
    change = model.evolve(None, record(model.SCHEDULED))
    change = model.evolve(change, record(desk.REQUESTED, "apr_1"))
    assert model.evolve(change, record(desk.GRANTED, "apr_2")) == change
