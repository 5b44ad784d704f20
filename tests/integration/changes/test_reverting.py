"""A merged change is taken back by a change of its own, on whatever the branch is by then."""

import pytest

from astra.changes.edits import Delete, WholeFile
from astra.deployments.changes import FailedChanges
from astra.deployments.views import Deployment
from astra.trusted.changes.model import Change, State
from astra.trusted.kernel.errors import BadInput, Conflict, Refused
from changing import ChangesHere

BEFORE = b"def answer():\n    return 41\n"
AFTER = b"def answer():\n    return 42\n"


def merge(here: ChangesHere, *edits: WholeFile | Delete) -> Change:
    change = here.reviewed(*edits)
    here.approve(change)
    return here.get(change.id)


def revert(here: ChangesHere, change: Change) -> Change:
    return here.propose(reverts=change.id, reason="take it back")


def read(here: ChangesHere, path: str) -> bytes | None:
    file = here.repo.files(here.repo.head(), [path]).get(path)
    return file.content if file else None


def test_the_inverse_is_a_change_with_evidence_and_a_decision_of_its_own(
    here: ChangesHere,
) -> None:
    merged = merge(
        here, WholeFile(path="agent.py", content=AFTER), WholeFile(path="b", content=b"b")
    )
    inverse = revert(here, merged)
    assert inverse.about["reverts"] == merged.id
    assert read(here, "agent.py") == AFTER
    here.steps.run_due()
    here.approve(here.get(inverse.id))
    assert here.get(inverse.id).state is State.EXECUTED
    assert read(here, "agent.py") == BEFORE
    assert read(here, "b") is None


def test_what_came_later_stays(here: ChangesHere) -> None:
    merged = merge(here, WholeFile(path="agent.py", content=AFTER))
    merge(here, WholeFile(path="later.py", content=b"later\n"))
    inverse = revert(here, merged)
    here.steps.run_due()
    here.approve(here.get(inverse.id))
    assert (read(here, "agent.py"), read(here, "later.py")) == (BEFORE, b"later\n")


def test_a_deleted_file_comes_back(here: ChangesHere) -> None:
    merged = merge(here, Delete(path="agent.py"))
    inverse = revert(here, merged)
    here.steps.run_due()
    here.approve(here.get(inverse.id))
    assert read(here, "agent.py") == BEFORE


def test_lines_that_were_changed_again_are_a_conflict(here: ChangesHere) -> None:
    merged = merge(here, WholeFile(path="agent.py", content=AFTER))
    merge(here, WholeFile(path="agent.py", content=b"def answer():\n    return 43\n"))
    with pytest.raises(Conflict, match="later commits of main changed the same lines"):
        revert(here, merged)


def test_it_is_reverted_once(here: ChangesHere) -> None:
    merged = merge(here, WholeFile(path="agent.py", content=AFTER))
    inverse = revert(here, merged)
    here.steps.run_due()
    here.approve(here.get(inverse.id))
    with pytest.raises(Conflict, match="reverted already"):
        revert(here, merged)


def test_only_what_is_merged_is_reverted_and_only_by_itself(here: ChangesHere) -> None:
    change = here.reviewed()
    with pytest.raises(Refused, match="not merged"):
        revert(here, change)
    with pytest.raises(BadInput, match="or the inverse of a merged change"):
        here.propose(WholeFile(path="x", content=b"x"), reverts=change.id)


def make_deployment(change: Change, **facts: str) -> Deployment:
    fields = dict.fromkeys(Deployment.__dataclass_fields__, "")
    return Deployment(**{**fields, "commit_id": change.commit, **facts})


def test_after_a_rollback_the_change_is_named_until_the_branch_holds_it_no_more(
    here: ChangesHere,
) -> None:
    failed = merge(here, WholeFile(path="agent.py", content=AFTER))
    merge(here, WholeFile(path="later.py", content=b"later\n"))
    taken_back = make_deployment(failed, state="rolled_back", kind="deploy")
    assert FailedChanges(here.changes).find_taken_back(taken_back) == failed.id
    assert FailedChanges(here.changes).find_taken_back(make_deployment(failed)) is None
    inverse = revert(here, failed)
    here.steps.run_due()
    here.approve(here.get(inverse.id))
    assert FailedChanges(here.changes).find_taken_back(taken_back) is None
