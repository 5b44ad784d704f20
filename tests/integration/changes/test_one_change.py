"""From a proposal to the target's branch, on a real repository."""

import pytest

from astra.changes import for_plans
from astra.changes.edits import Delete, Patch, Replace, WholeFile
from astra.tasks.book import TaskBook
from astra.trusted.changes import model
from astra.trusted.changes.model import State
from astra.trusted.kernel.errors import BadInput, Conflict, NotFound, Refused
from changing import ChangesHere, git


def test_a_proposal_is_a_commit_on_a_branch_of_its_own_and_nothing_else_moves(
    here: ChangesHere,
) -> None:
    before = here.repo.head()
    change = here.propose()
    branch = git(here.git_dir, "rev-parse", f"refs/heads/astra/{change.id}")
    assert branch == change.commit
    assert here.repo.head() == before
    said = git(here.git_dir, "log", "-1", "--format=%an <%ae> %s", change.commit)
    assert said == "Agent <a@localhost> Agent modification: it should be 42"
    assert git(here.git_dir, "show", f"{change.commit}:agent.py").endswith("return 42")


def test_renames_and_modes_are_described_as_such(here: ChangesHere) -> None:
    moved = (
        "diff --git a/agent.py b/src/agent.py\nrename from agent.py\nrename to src/agent.py\n"
        "diff --git a/run.sh b/run.sh\nnew file mode 100755\n--- /dev/null\n+++ b/run.sh\n"
        "@@ -0,0 +1 @@\n+true\n"
    )
    files = {item["path"]: item for item in here.propose(Patch(text=moved.encode())).facts["files"]}
    assert files["src/agent.py"] == {
        "path": "src/agent.py",
        "how": "renamed",
        "renamed_from": "agent.py",
    }
    assert files["run.sh"]["mode"] == "executable"
    mode = "diff --git a/agent.py b/agent.py\nold mode 100644\nnew mode 100755\n"
    (file,) = here.propose(Patch(text=mode.encode())).facts["files"]
    assert file == {"path": "agent.py", "how": "modified", "mode": "100644 → 100755"}


def test_the_task_is_on_disk_manual_and_not_enabled_before_anything_runs(here: ChangesHere) -> None:
    change = here.propose()
    task = TaskBook(here.root.ledger).get(change.task)
    assert (task.kind, task.schedule, task.enabled) == ("CODE_MODIFY", "MANUAL", False)
    assert here.tests.ran == []
    assert here.types()[-2:] == [model.SCHEDULED, "task_created"]


def test_evidence_is_gathered_before_anybody_decides(here: ChangesHere) -> None:
    change = here.reviewed()
    assert change.state is State.AWAITING
    assert here.tests.ran == [(change.commit, None)]
    assert change.tests == {"verdict": "passed", "words": "tests passed"}
    assert here.desk.get(str(change.approval)).kind == "change"


def test_an_approval_merges_exactly_the_commit_that_was_approved(here: ChangesHere) -> None:
    change = here.reviewed()
    here.approve(change)
    assert here.get(change.id).state is State.EXECUTED
    assert here.repo.head() == change.commit
    task = TaskBook(here.root.ledger).get(change.task)
    assert (task.enabled, task.state, task.outcome) == (True, "finished", "executed")


def test_a_rejection_moves_nothing_and_the_agent_reads_why(here: ChangesHere) -> None:
    change, before = here.reviewed(), here.repo.head()
    here.changes.remarks.reject(change.id, "too clever", actor="operator")
    found = here.get(change.id)
    assert (found.state, found.reason, found.closed) == (State.REJECTED, "too clever", True)
    assert here.repo.head() == before
    assert model.REJECTED in here.types()


def test_rejecting_at_the_approval_desk_is_the_same(here: ChangesHere) -> None:
    change = here.reviewed()
    here.desk.reject(str(change.approval), "no", actor="operator")
    here.steps.run_due()
    assert here.get(change.id).closed
    assert here.types().count(model.REJECTED) == 1


def test_several_files_in_several_ways_are_one_commit(here: ChangesHere) -> None:
    here.commit_elsewhere("old.txt", b"a\nb\nc\n")
    here.commit_elsewhere("gone.txt", b"x")
    patch = b"--- a/old.txt\n+++ b/old.txt\n@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n"
    change = here.propose(
        Replace(path="agent.py", search=b"41", replace=b"42"),
        WholeFile(path="new/tool.sh", content=b"#!/bin/sh\n", executable=True),
        Delete(path="gone.txt"),
        Patch(text=patch),
    )
    tree = here.repo.tree(change.commit)
    assert sorted(tree) == ["agent.py", "new/tool.sh", "old.txt"]
    assert tree["new/tool.sh"].mode == "100755"
    contents = here.repo.files(change.commit, ["agent.py", "old.txt"])
    assert contents["agent.py"].content == b"def answer():\n    return 42\n"
    assert contents["old.txt"].content == b"a\nB\nc\n"


@pytest.mark.parametrize(
    "content",
    [b"", b"no newline", b"a\r\nb\r\n", b"caf\xe9\n\xff\xfe\n", b"\n\n", "π\n".encode()],
)
def test_bytes_arrive_as_they_were_sent(here: ChangesHere, content: bytes) -> None:
    change = here.propose(WholeFile(path="data.txt", content=content))
    assert here.repo.files(change.commit, ["data.txt"])["data.txt"].content == content


def test_a_base_that_moved_elsewhere_means_new_evidence_and_a_new_decision(
    here: ChangesHere,
) -> None:
    change = here.reviewed()
    first = str(change.approval)
    moved = here.commit_elsewhere("other.py", b"x = 1\n")
    here.grant(first)
    here.steps.run_due()
    again = here.get(change.id)
    assert (again.state, again.round, again.base) == (State.AWAITING, 2, moved)
    assert here.repo.head() == moved
    assert here.desk.get(first).state == "stale"
    assert "the base moved" in here.desk.get(first).reason
    assert again.approval != first
    assert len(here.tests.ran) == 2
    here.approve(again)
    assert here.repo.head() == again.commit
    assert sorted(here.repo.tree(again.commit)) == ["agent.py", "other.py"]


def test_a_base_that_moved_under_the_same_lines_is_a_conflict_with_the_facts(
    here: ChangesHere,
) -> None:
    change = here.reviewed()
    moved = here.commit_elsewhere("agent.py", b"def answer():\n    return 43\n")
    here.approve(change)
    found = here.get(change.id)
    assert found.state is State.CONFLICT
    assert found.conflict
    assert (found.conflict["onto"], found.conflict["paths"]) == (moved, ["agent.py"])
    assert here.repo.head() == moved


def test_changes_to_different_lines_of_one_file_are_carried_over(here: ChangesHere) -> None:
    lines = b"".join(b"line %d\n" % number for number in range(30))
    here.commit_elsewhere("long.txt", lines)
    edit = Replace(path="long.txt", search=b"line 3\n", replace=b"line three\n")
    change = here.reviewed(edit)
    here.commit_elsewhere("long.txt", lines.replace(b"line 25\n", b"line 25!\n"))
    here.approve(change)
    again = here.get(change.id)
    content = here.repo.files(again.commit, ["long.txt"])["long.txt"].content
    assert b"line three\n" in content
    assert b"line 25!\n" in content


def test_two_changes_can_be_under_way_and_the_second_is_asked_again(here: ChangesHere) -> None:
    first = here.reviewed()
    second = here.reviewed(WholeFile(path="other.py", content=b"x = 1\n"))
    here.approve(first)
    assert here.repo.head() == first.commit
    here.approve(second)
    again = here.get(second.id)
    assert (again.state, again.base) == (State.AWAITING, first.commit)
    here.approve(again)
    assert here.repo.head() == again.commit


def test_a_change_proposed_while_another_is_under_test_is_not_in_its_way(here: ChangesHere) -> None:
    here.tests.during = lambda: here.propose(WholeFile(path="b.py", content=b"y = 1\n")) and None
    first = here.propose()
    here.changes.gathering.scan(first.id)
    here.changes.gathering.test(first.id)
    here.tests.during = lambda: None
    here.steps.run_due()
    states = [change.state for change in here.changes.book.list_page()[0]]
    assert states == [State.AWAITING, State.AWAITING]


def test_touched_tests_are_run_old_against_new_and_new_against_old(here: ChangesHere) -> None:
    here.commit_elsewhere("tests/test_agent.py", b"assert True\n")
    change = here.reviewed(WholeFile(path="tests/test_agent.py", content=b"assert 1\n"))
    assert here.tests.ran == [
        (change.commit, None),
        (change.commit, change.base),
        (change.base, change.commit),
    ]
    assert change.tests
    assert "prove nothing new" in change.tests["words"]


def test_a_change_to_tests_is_named_in_the_flag_file_until_it_is_decided(here: ChangesHere) -> None:
    here.commit_elsewhere("tests/test_agent.py", b"assert True\n")
    flag = here.folder / "human_approval_required.flag"
    one = here.reviewed(WholeFile(path="tests/test_agent.py", content=b"assert 1\n"))
    two = here.reviewed(WholeFile(path="tests/test_more.py", content=b"assert 2\n"))
    here.reviewed()
    assert flag.read_text() == f"{one.id}\n{two.id}\n"
    here.approve(one)
    assert flag.read_text() == f"{two.id}\n"
    here.changes.remarks.reject(two.id, "no", actor="operator")
    assert not flag.exists()


def test_a_protected_path_needs_consent_to_that_very_path(here: ChangesHere) -> None:
    change = here.reviewed(WholeFile(path=".github/workflows/ci.yml", content=b"on: push\n"))
    assert change.facts["protected"] == [".github/workflows/ci.yml"]
    with pytest.raises(Refused) as refused:
        here.approve(change)
    assert refused.value.reason == "consent_missing"
    assert here.get(change.id).state is State.AWAITING
    here.approve(change, consent=[".github/workflows/ci.yml"])
    assert here.get(change.id).state is State.EXECUTED


def test_an_approval_can_include_the_deploy_and_the_record_says_so(here: ChangesHere) -> None:
    change = here.reviewed()
    here.approve(change, deploy=True)
    assert here.get(change.id).terms == {"deploy": True}


def test_a_reviewer_sends_it_back_and_a_revision_takes_its_place(here: ChangesHere) -> None:
    change = here.reviewed()
    here.changes.remarks.comment(change.id, "why 42?", actor="operator")
    here.changes.remarks.request_changes(change.id, "add a test", actor="operator")
    sent_back = here.get(change.id)
    assert sent_back.state is State.REVISE
    assert [comment["text"] for comment in sent_back.comments] == ["why 42?", "add a test"]
    assert here.desk.get(str(change.approval)).state == "stale"
    revision = here.reviewed(
        WholeFile(path="tests/test_agent.py", content=b"assert 42\n"), supersedes=change.id
    )
    old = here.get(change.id)
    assert (old.state, old.superseded_by) == (State.SUPERSEDED, revision.id)
    assert revision.correlation == change.correlation
    with pytest.raises(Conflict):
        here.changes.remarks.request_changes(change.id, "again", actor="operator")


def test_evidence_can_be_gathered_again_and_the_old_approval_is_withdrawn(
    here: ChangesHere,
) -> None:
    change = here.reviewed()
    here.changes.remarks.renew(change.id, actor="operator")
    here.steps.run_due()
    again = here.get(change.id)
    assert (again.round, again.state) == (2, State.AWAITING)
    assert again.approval != change.approval
    assert here.desk.get(str(change.approval)).state == "stale"
    assert len(here.tests.ran) == 2


def test_an_approval_that_expired_can_be_asked_for_again(here: ChangesHere) -> None:
    change = here.reviewed()
    here.root.clock.advance(hours=25)
    here.desk.expire(str(change.approval))
    assert here.get(change.id).approval is None
    fresh = here.changes.review.ask(change.id)
    assert here.get(change.id).approval == fresh
    here.approve(here.get(change.id))
    assert here.get(change.id).state is State.EXECUTED


def test_a_flood_of_proposals_is_refused_until_some_are_decided(
    here: ChangesHere, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("astra.changes.proposing.MOST_OPEN", 2)
    first = here.reviewed()
    here.reviewed(WholeFile(path="b.py", content=b"x = 1\n"))
    with pytest.raises(Refused) as refused:
        here.propose(WholeFile(path="c.py", content=b"x = 1\n"))
    assert refused.value.reason == "too_many_waiting"
    here.desk.reject(str(first.approval), "no", actor="operator")
    here.propose(WholeFile(path="c.py", content=b"x = 1\n"))


def test_fewer_tests_than_before_are_said_whatever_the_report_claims(here: ChangesHere) -> None:
    here.tests.counts = {here.repo.head(): 298}
    change = here.reviewed(WholeFile(path="tests/test_new.py", content=b"x = 1\n"))
    assert change.tests is not None
    assert change.tests["verdict"] == "passed"
    (said,) = change.tests["warnings"]
    assert said == "297 fewer tests ran than with the tests as they were"
    assert change.approval
    assert said in here.desk.get(change.approval).summary


def test_tests_outside_the_named_folders_are_run_side_by_side_too(here: ChangesHere) -> None:
    for path in ("conftest.py", "src/agent_test.py", "pytest.ini"):
        here.tests.ran.clear()
        change = here.reviewed(WholeFile(path=path, content=b"x = 1\n"))
        assert change.facts["tests"] == [path]
        assert len(here.tests.ran) == 3


def test_fewer_tests_than_on_the_base_are_said_where_the_base_was_tested(here: ChangesHere) -> None:
    here.tests.counts = {None: 9}
    first = here.reviewed()
    here.approve(first)
    here.tests.counts = {None: 8}
    second = here.reviewed(WholeFile(path="other.py", content=b"x = 1\n"))
    assert second.tests is not None
    assert second.tests["warnings"] == [f"1 fewer test ran than on {first.id}, its base"]


def test_what_the_signed_command_goes_by_is_a_test_and_a_danger(here: ChangesHere) -> None:
    here.toml = "[target]\ntest_command = \"sh -c './scripts/test.sh && make check'\"\n"
    for path in ("scripts/test.sh", "Makefile"):
        change = here.reviewed(WholeFile(path=path, content=b"true\n"))
        assert change.facts["tests"] == [path]
        assert change.findings is not None
        (found,) = change.findings
        assert (found["rule"], found["severity"], found["path"]) == ("test-hook", "danger", path)
    assert here.reviewed().findings == ()


@pytest.mark.parametrize("research", ["reviewed and approved by the operator", "res_1\n", "a b"])
def test_the_research_a_change_names_is_an_id_and_no_sentence(
    here: ChangesHere, research: str
) -> None:
    """The review shows it under a label of its own, where no words of the agent belong."""
    with pytest.raises(BadInput) as refused:
        here.propose(research=research)
    assert refused.value.facts["field"] == "research"
    with pytest.raises(NotFound) as unknown:
        here.propose(research="res_0123456789abcdef")
    assert unknown.value.reason == "unknown_research"


def test_a_worker_that_died_finds_what_its_plan_proposed_and_nothing_of_others(
    here: ChangesHere,
) -> None:
    tested = for_plans.TestedChanges(here.changes.book)
    before = here.root.ledger.head().sequence
    change = here.propose()
    assert tested.find_newest("test", after=before) == change.id
    assert tested.find_newest("plan_00c0ffee", after=before) == ""
    assert tested.find_newest("test", after=here.root.ledger.head().sequence) == ""
