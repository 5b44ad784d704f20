"""A change whose tests did not pass goes back to the agent, and nobody signs it by accident."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from astra.changes.edits import WholeFile
from astra.persona.awareness import Awareness
from astra.trusted.approvals import desk
from astra.trusted.changes import model
from astra.trusted.changes.evidence import TestVerdict
from astra.trusted.changes.model import State
from astra.trusted.kernel.errors import AstraError, BadInput, Refused
from changing import ChangesHere

TOML = '[target]\ntest_command = "pytest {junit}"\n'
FAILING = ["failed", "timed_out", "killed_by_limit", "stopped", "never_ran"]


@pytest.fixture
def here(tmp_path: Path) -> Iterator[ChangesHere]:
    made = ChangesHere(tmp_path, toml=TOML)
    yield made
    made.close()


@pytest.mark.parametrize("verdict", FAILING)
def test_it_goes_back_with_the_failures_and_nobody_is_asked(
    here: ChangesHere, verdict: str
) -> None:
    here.tests.verdict = TestVerdict(verdict)
    change = here.reviewed()

    assert change.state is State.TESTS_FAILED
    assert verdict in change.reason
    assert here.desk.list_by_state(state="all") == []
    told = [note.text for note in Awareness(here.root.ledger).read(limit=20)[0]]
    assert any("came back to you" in text for text in told)


def test_a_test_that_was_not_collected_sends_it_back(here: ChangesHere) -> None:
    here.tests.verdict = TestVerdict.NO_TESTS
    change = here.reviewed(WholeFile(path="tests/test_a.py", content=b"def helper(): ...\n"))

    assert change.state is State.TESTS_FAILED


def test_a_target_without_tests_or_without_a_command_is_asked_for(tmp_path: Path) -> None:
    for folder, toml, verdict in (
        ("no-tests", TOML, TestVerdict.NO_TESTS),
        ("no-command", "", TestVerdict.NEVER_RAN),
    ):
        here = ChangesHere(tmp_path / folder, toml=toml)
        here.tests.verdict = verdict
        assert here.reviewed().state is State.AWAITING
        here.close()


def test_an_operator_takes_it_only_by_the_term_for_exactly_this_verdict(here: ChangesHere) -> None:
    here.tests.verdict = TestVerdict.FAILED
    change, before = here.reviewed(), here.repo.head()
    here.changes.merges.ask(change.id, despite_tests=True)
    asked = here.get(change.id)
    approval = here.desk.get(str(asked.approval))

    assert approval.summary.startswith("DESPITE ITS TESTS (failed)")
    for terms in ({}, {"despite_tests": True}, {"despite_tests": "never_ran"}):
        with pytest.raises(Refused) as refused:
            here.grant(approval.id, **terms)
        assert refused.value.reason == "tests_failed"
    assert here.repo.head() == before
    here.approve(asked, despite_tests="failed")
    assert here.repo.head() == change.commit
    assert here.get(change.id).terms == {"despite_tests": "failed"}


def test_the_term_cannot_be_slipped_into_a_grant_of_a_change_that_passed(here: ChangesHere) -> None:
    with pytest.raises(BadInput):
        here.grant(str(here.reviewed().approval), despite_tests="failed")


def test_a_grant_recorded_without_the_term_merges_nothing(here: ChangesHere) -> None:
    here.tests.verdict = TestVerdict.FAILED
    change, before = here.reviewed(), here.repo.head()
    here.changes.merges.ask(change.id, despite_tests=True)
    here.desk.conditions.clear()
    here.approve(here.get(change.id))

    assert here.repo.head() == before
    assert model.APPROVED not in here.types()
    assert desk.STALE in here.types()
    assert here.get(change.id).state is State.TESTS_FAILED


def test_the_agent_can_replace_it_and_the_operator_can_test_again_or_reject(
    here: ChangesHere,
) -> None:
    here.tests.verdict = TestVerdict.FAILED
    first, second, third = (
        here.reviewed(WholeFile(path=f"{name}.py", content=b"x = 1\n")) for name in "abc"
    )
    here.tests.verdict = TestVerdict.PASSED
    assert here.reviewed(supersedes=first.id).state is State.AWAITING
    here.changes.remarks.renew(second.id, actor="operator")
    here.steps.run_due()
    assert here.get(second.id).state is State.AWAITING
    here.changes.remarks.reject(third.id, "no", actor="operator")
    assert here.get(third.id).state is State.REJECTED


def test_asking_without_the_term_is_refused_with_the_way_to_insist(here: ChangesHere) -> None:
    from astra.trusted.changes import review

    here.tests.verdict = TestVerdict.FAILED
    change = here.reviewed()
    here.changes.merges.ask(change.id)
    with pytest.raises(AstraError) as refused:
        review.require_approval(here.get(change.id))
    assert "--despite-tests" in refused.value.next_step
