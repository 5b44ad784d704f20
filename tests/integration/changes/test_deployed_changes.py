"""What a change and its deployment owe each other, on a real repository."""

import pytest

from astra.deployments import events, views
from astra.deployments.requests import NotApproved
from astra.trusted.changes import model
from astra.trusted.changes.evidence import TestVerdict
from astra.trusted.changes.model import State
from astra.trusted.kernel.errors import Refused
from astra.trusted.ledger.record import Event
from changing import ChangesHere


def about(here: ChangesHere, type_: str, **data: object) -> None:
    found = views.open_deployment(here.root.ledger)
    assert found
    facts = {"deployment": found.id, **data}
    here.root.ledger.append([Event(type=type_, actor="daemon", data=facts, subject=found.id)])


def test_an_approval_that_includes_the_deploy_has_it_deployed_once(here: ChangesHere) -> None:
    change = here.reviewed()
    here.approve(change, deploy=True)
    here.steps.run_due()
    assert here.types().count(events.REQUESTED) == 1
    found = views.open_deployment(here.root.ledger)
    assert found
    assert (found.commit_id, found.correlation) == (change.commit, change.correlation)


def test_an_approval_without_it_deploys_nothing(here: ChangesHere) -> None:
    here.approve(here.reviewed())
    assert events.REQUESTED not in here.types()


def test_what_failed_its_tests_is_not_deployed_and_says_why(here: ChangesHere) -> None:
    here.tests.verdict = TestVerdict.FAILED
    change = here.reviewed()
    here.insist(change, deploy=True)
    here.steps.run_due()
    assert here.get(change.id).state is State.EXECUTED
    assert here.types().count(events.DECLINED) == 1
    assert events.REQUESTED not in here.types()
    with pytest.raises(NotApproved) as refusal:
        here.deployments.deploy(None, actor="agent:test")
    assert refusal.value.reason == "tests_missing"


def test_while_another_deployment_is_under_way_it_waits(here: ChangesHere) -> None:
    here.deployments.deploy(None, actor="operator")
    change = here.reviewed()
    here.approve(change, deploy=True)
    assert here.types().count(events.REQUESTED) == 1
    about(here, events.FAILED, **_failure(here))
    here.steps = here.new_steps()
    here.steps.run_due()
    assert here.types().count(events.REQUESTED) == 2


def test_a_release_that_is_taken_back_is_told_in_its_change_once(here: ChangesHere) -> None:
    change = here.reviewed()
    here.approve(change, deploy=True)
    about(here, events.ROLLED_BACK, release="older", **{"from": "this"})
    here.steps.run_due()
    here.new_steps().run_due()
    assert here.get(change.id).state is State.ROLLED_BACK
    assert here.types().count(model.ROLLED_BACK) == 1
    assert here.changes.book.counters()["rollbacks"] == 1


@pytest.mark.parametrize(
    ("older", "state"),
    [("20000101T000000Z-a", State.ROLLED_BACK), ("29990101T000000Z-a", State.EXECUTED)],
)
def test_a_rollback_by_hand_takes_the_change_back_and_going_forward_does_not(
    here: ChangesHere, older: str, state: State
) -> None:
    change = here.reviewed()
    here.approve(change, deploy=True)
    deployment = views.open_deployment(here.root.ledger)
    assert deployment
    facts = {"kind": "rollback", "replaced": deployment.release, "backup": None, "how": "started"}
    about(here, events.SWITCHED, release=older, **facts)
    here.steps.run_due()
    here.new_steps().run_due()
    assert here.get(change.id).state is state


def test_only_what_is_on_the_branch_can_be_deployed(here: ChangesHere) -> None:
    change = here.reviewed()
    with pytest.raises(Refused) as refusal:
        here.deployments.deploy(change.id, actor="operator")
    assert refusal.value.reason == "not_merged"
    here.approve(change)
    here.commit_elsewhere("other.py", b"x = 1\n")
    with pytest.raises(Refused) as refusal:
        here.deployments.deploy(change.id, actor="operator")
    assert refusal.value.reason == "not_newest"


def test_another_configuration_needs_the_operators_fresh_word(here: ChangesHere) -> None:
    here.approve(here.reviewed())
    here.toml = "[deploy]\nkeep = 7\n"
    with pytest.raises(NotApproved) as refusal:
        here.deployments.deploy(None, actor="agent:test")
    assert refusal.value.reason == "stale_approval"
    verdict = here.deployments.approved.may_deploy(None)
    content = events.order_content(commit=verdict.commit, digest=verdict.digest, force=False)
    signed = here.root.sign(events.ORDERED, content)
    assert here.deployments.deploy(None, actor="operator", signed=signed).state == "requested"


def test_what_a_policy_approved_is_not_deployed_without_a_person(here: ChangesHere) -> None:
    here.toml = (
        '[target]\nauto_approve_paths = ["agent.py"]\nauto_approve_until = "2999-01-01T00:00:00Z"\n'
    )
    change = here.reviewed()
    assert here.get(change.id).state is State.EXECUTED
    with pytest.raises(NotApproved) as refusal:
        here.deployments.deploy(None, actor="agent:test")
    assert refusal.value.reason == "stale_approval"


def test_the_targets_own_commit_counts_as_untested(here: ChangesHere) -> None:
    verdict = here.deployments.approved.may_deploy(None)
    assert (verdict.allowed, verdict.tests_passed, verdict.change) == (True, False, "")


def _failure(here: ChangesHere) -> dict[str, object]:
    found = views.open_deployment(here.root.ledger)
    assert found
    facts = {"release": found.release, "stage": "build", "reason": "as the test wants it"}
    return {**facts, "blamed": False, "rolls_back": False, "rollback_to": None, "said": ""}
