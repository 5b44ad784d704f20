"""Rules for the target that are signed while a change waits: it is put before them anew."""

from astra.changes.edits import WholeFile
from astra.trusted.changes.model import State
from changing import ChangesHere

PAGE = WholeFile(path="web/page.py", content=b"x = 1\n")


def sign(here: ChangesHere, line: str) -> None:
    here.toml = f"[target]\n{line}\n"


def test_a_path_that_was_forbidden_meanwhile_is_not_merged_by_approving_again(
    here: ChangesHere,
) -> None:
    change, head = here.reviewed(PAGE), here.repo.head()
    sign(here, 'forbidden_paths = ["web/"]')
    here.approve(change)
    found = here.get(change.id)
    assert found.state is State.CONFLICT
    assert "target.forbidden_paths" in found.reason
    assert here.repo.head() == head


def test_a_path_that_was_protected_meanwhile_needs_consent(here: ChangesHere) -> None:
    change = here.reviewed(PAGE)
    assert change.facts["protected"] == []
    sign(here, 'protected_paths = ["web/"]')
    here.approve(change)
    found = here.get(change.id)
    assert (found.state, found.round) == (State.AWAITING, 2)
    assert found.facts["protected"] == ["web/page.py"]
    here.approve(found, consent=["web/page.py"])
    assert here.get(change.id).state is State.EXECUTED
    assert here.repo.head() == change.commit


def test_evidence_of_another_test_command_is_gathered_again(here: ChangesHere) -> None:
    change = here.reviewed()
    ran = len(here.tests.ran)
    sign(here, 'test_command = "make test"')
    here.approve(change)
    assert here.get(change.id).state is State.AWAITING
    assert (len(here.tests.ran), len(here.scanner.scanned)) == (2 * ran, 2)


def test_rules_signed_while_the_tests_run_count_before_anybody_is_asked(here: ChangesHere) -> None:
    here.tests.during = lambda: sign(here, 'forbidden_paths = ["agent.py"]')
    change = here.reviewed()
    assert change.state is State.CONFLICT
    assert change.approval is None


def test_what_does_not_concern_the_target_leaves_the_evidence_as_it_is(here: ChangesHere) -> None:
    change = here.reviewed()
    here.toml = "[deploy]\nkeep = 3\n"
    here.approve(change)
    found = here.get(change.id)
    assert (found.state, found.round, len(here.tests.ran)) == (State.AWAITING, 1, 1)


def test_an_approval_that_was_asked_for_by_hand_does_not_go_around_the_rules(
    here: ChangesHere,
) -> None:
    change, head = here.reviewed(PAGE), here.repo.head()
    assert change.approval
    here.desk.go_stale(change.approval, "as if its day were over")
    sign(here, 'forbidden_paths = ["web/"]')
    asked = here.changes.review.ask(change.id)
    here.grant(asked)
    here.steps.run_due()
    assert here.get(change.id).state is State.CONFLICT
    assert here.repo.head() == head
