"""What keeps an agent from deploying, and what it is told: on a real repository."""

import hashlib
from dataclasses import replace

import pytest

from astra.changes.edits import WholeFile
from astra.deployments.asking import AgentRequests, Obstacle
from astra.trusted.changes.evidence import TestVerdict
from astra.trusted.changes.files import ChangedFile
from astra.trusted.changes.model import State
from astra.trusted.changes.ports import Imported
from astra.trusted.kernel.errors import Conflict
from changing import ChangesHere

NEW_TEST = WholeFile(path="tests/test_new.py", content=b"def test_new():\n    assert 1\n")
WHO = {"actor": "agent:test", "correlation": "cor_0000000000000001"}


def asked(here: ChangesHere, *, person_for_tests: bool = True) -> AgentRequests:
    return AgentRequests(
        changes=here.changes,
        requests=here.deployments,
        person_for_tests=lambda: person_for_tests,
    )


def obstacle(here: ChangesHere, *, person_for_tests: bool = True) -> Obstacle | None:
    requests = asked(here, person_for_tests=person_for_tests)
    return requests.find_obstacle(requests.judge_target(requests.name_target()), "my words", **WHO)


def edited(here: ChangesHere, content: bytes) -> Imported:
    """Stand for an edit in the clone's work tree, as a box would bring it out."""
    old = here.repo.files(here.repo.head(), ["agent.py"])["agent.py"].content
    file = ChangedFile(path="agent.py", old=old, new=content, old_mode="100644", new_mode="100644")
    return Imported(
        tip=hashlib.sha256(content).hexdigest()[:40], base=here.repo.head(), files=(file,)
    )


def test_what_is_approved_and_tested_has_no_obstacle(here: ChangesHere) -> None:
    here.approve(here.reviewed())
    assert obstacle(here) is None


def test_loose_edits_become_one_change_however_often_they_are_asked_about(
    here: ChangesHere,
) -> None:
    here.imports.loose = edited(here, b"def answer():\n    return 42\n")
    first, second = obstacle(here), obstacle(here)
    assert first
    assert second
    assert (first.code, first.person) == ("loose_edits", True)
    assert first.change == second.change
    change = here.get(first.change)
    assert change.about["reason"] == "my words"
    assert f"astra changes approve {change.id} --deploy" in first.next_step


def test_other_edits_are_another_change(here: ChangesHere) -> None:
    here.imports.loose = edited(here, b"def answer():\n    return 42\n")
    first = obstacle(here)
    here.imports.loose = edited(here, b"def answer():\n    return 43\n")
    second = obstacle(here)
    assert first
    assert second
    assert first.change != second.change


def test_edits_that_were_merged_are_loose_no_more(here: ChangesHere) -> None:
    here.imports.loose = edited(here, b"def answer():\n    return 42\n")
    found = obstacle(here)
    assert found
    here.steps.run_due()
    here.approve(here.get(found.change))
    assert here.get(found.change).state is State.EXECUTED
    assert obstacle(here) is None


def test_a_change_to_tests_that_waits_keeps_everything_waiting(here: ChangesHere) -> None:
    change = here.propose(NEW_TEST)
    found = obstacle(here)
    assert found
    assert (found.code, found.change, found.person) == (
        "human_approval_required",
        change.id,
        True,
    )
    assert obstacle(here, person_for_tests=False) is None
    here.changes.remarks.reject(change.id, "no", actor="operator")
    assert obstacle(here) is None


def test_without_the_flag_nothing_is_named_in_its_file(here: ChangesHere) -> None:
    bench = replace(here.bench, person_for_tests=lambda: False)
    here.propose(NEW_TEST)
    flag = here.folder / "human_approval_required.flag"
    assert flag.exists()
    bench.show_waiting()
    assert not flag.exists()


def test_failed_tests_and_a_stale_approval_are_told_apart(here: ChangesHere) -> None:
    here.tests.verdict = TestVerdict.FAILED
    here.insist(here.reviewed())
    found = obstacle(here)
    assert found
    assert (found.code, found.person) == ("tests_missing", False)
    here.tests.verdict = TestVerdict.PASSED
    here.approve(here.reviewed(WholeFile(path="agent.py", content=b"x = 1\n")))
    here.toml = "[deploy]\nkeep = 9\n"
    found = obstacle(here)
    assert found
    assert (found.code, found.person) == ("stale_approval", True)


def test_a_branch_that_moved_since_the_approval_of_the_call_is_not_deployed(
    here: ChangesHere,
) -> None:
    requests = asked(here)
    named = requests.name_target()
    here.commit_elsewhere("other.py", b"x = 1\n")
    with pytest.raises(Conflict) as refusal:
        requests.judge_target(named)
    assert refusal.value.reason == "branch_moved"
