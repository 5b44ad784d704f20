"""What a change and its deployment owe each other, on a real repository."""

import pytest

from astra.changes import counting
from astra.changes.edits import WholeFile
from astra.deployments import events, views
from astra.deployments.requests import NotApproved
from astra.flow import CHANGES, due_steps
from astra.trusted.changes import model
from astra.trusted.changes.evidence import TestVerdict
from astra.trusted.changes.model import Change, State
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


def put_into_service(here: ChangesHere) -> str:
    """Deploy what the branch is at, as the daemon would record it; gives the release."""
    here.root.clock.advance(minutes=1)
    deployment = views.open_deployment(here.root.ledger) or here.deployments.deploy(
        None, actor="operator"
    )
    release = deployment.release
    built = {"digest": f"sha256:{release}", "files": 1, "size": 1, "settings": "", "withheld": []}
    about(here, events.BUILT, release=release, commit=deployment.commit_id, **built)
    switch(here, release, kind="deploy")
    about(here, events.SETTLED, release=release)
    here.new_steps().run_due()
    return release


def switch(here: ChangesHere, release: str, *, kind: str) -> None:
    live = views.live_release(here.root.ledger)
    facts = {"kind": kind, "replaced": live.id if live else None, "backup": None, "how": "started"}
    about(here, events.SWITCHED, release=release, **facts)


def go_to(here: ChangesHere, release: str, *, work: bool = True) -> None:
    """Put a kept release into service by hand."""
    here.root.clock.advance(minutes=1)
    live = views.live_release(here.root.ledger)
    assert live
    content = events.rollback_content(release=release, serving=live.id)
    signed = here.root.sign(events.ROLLBACK_ORDERED, content)
    here.deployments.roll_back(release, signed)
    switch(here, release, kind="rollback")
    about(here, events.SETTLED, release=release)
    if work:
        here.new_steps().run_due()


def fail_in_service(here: ChangesHere, back_to: str) -> str:
    """Deploy what the branch is at, and have it taken back by itself."""
    here.root.clock.advance(minutes=1)
    deployment = views.open_deployment(here.root.ledger) or here.deployments.deploy(
        None, actor="operator"
    )
    release = deployment.release
    built = {"digest": f"sha256:{release}", "files": 1, "size": 1, "settings": "", "withheld": []}
    about(here, events.BUILT, release=release, commit=deployment.commit_id, **built)
    switch(here, release, kind="deploy")
    failure = {**_failure(here), "rolls_back": True, "rollback_to": back_to, "blamed": True}
    about(here, events.FAILED, **failure)
    about(here, events.ROLLED_BACK, release=back_to, **{"from": release})
    here.new_steps().run_due()
    return release


def merge(here: ChangesHere, path: str, *, deploy: bool = False) -> Change:
    change = here.reviewed(WholeFile(path=path, content=b"x = 1\n"))
    here.approve(change, deploy=deploy)
    return here.get(change.id)


def states(here: ChangesHere, *changes: Change) -> list[State]:
    return [here.get(change.id).state for change in changes]


def test_a_release_that_is_taken_back_is_told_in_its_change_once(here: ChangesHere) -> None:
    first = put_into_service(here)
    change = merge(here, "a.py", deploy=True)
    fail_in_service(here, first)
    here.new_steps().run_due()
    assert states(here, change) == [State.ROLLED_BACK]
    assert here.types().count(model.ROLLED_BACK) == 1
    assert counting.count_changes(here.root.ledger)["rollbacks"] == 1
    (record,) = here.root.ledger.records_of(change.id, model.ROLLED_BACK)
    assert record.data["reason"] == "its release failed in service and was taken back"


def test_a_change_that_an_operator_goes_back_to_serves_again_and_can_be_taken_back_again(
    here: ChangesHere,
) -> None:
    first = put_into_service(here)
    change = merge(here, "a.py")
    second = put_into_service(here)
    for times in (1, 2, 3):
        go_to(here, first)
        assert states(here, change) == [State.ROLLED_BACK]
        go_to(here, second)
        assert states(here, change) == [State.EXECUTED]
        counters = counting.count_changes(here.root.ledger)
        assert (counters["rollbacks"], counters["restorations"]) == (times, times)
    listed, _ = here.changes.book.list_page(state="rolled_back")
    assert listed == []
    (*_, newest) = here.root.ledger.records_of(change.id, model.RESTORED)
    assert newest.data["release"] == second


def test_every_change_of_a_release_is_out_of_service_with_it_and_back_with_it(
    here: ChangesHere,
) -> None:
    first = put_into_service(here)
    along, named = merge(here, "a.py"), merge(here, "b.py")
    second = put_into_service(here)
    later = merge(here, "c.py")
    third = put_into_service(here)
    go_to(here, first)
    assert states(here, along, named, later) == [State.ROLLED_BACK] * 3
    go_to(here, second)
    assert states(here, along, named, later) == [State.EXECUTED, State.EXECUTED, State.ROLLED_BACK]
    go_to(here, third)
    assert states(here, along, named, later) == [State.EXECUTED] * 3


def test_deploying_a_change_again_says_that_it_serves_and_that_it_failed_again(
    here: ChangesHere,
) -> None:
    first = put_into_service(here)
    change = merge(here, "a.py", deploy=True)
    fail_in_service(here, first)
    merge(here, "b.py")
    put_into_service(here)
    assert states(here, change) == [State.EXECUTED]
    go_to(here, first)
    assert states(here, change) == [State.ROLLED_BACK]
    reasons = [r.data["reason"] for r in here.root.ledger.records_of(change.id, model.ROLLED_BACK)]
    assert reasons == [
        "its release failed in service and was taken back",
        "an operator put a release from before it into service",
    ]


def test_what_a_release_contains_and_undoes_does_not_serve_again(here: ChangesHere) -> None:
    first = put_into_service(here)
    change = merge(here, "a.py", deploy=True)
    fail_in_service(here, first)
    inverse = here.reviewed(reverts=change.id)
    here.approve(inverse)
    mended = put_into_service(here)
    assert states(here, change, inverse) == [State.ROLLED_BACK, State.EXECUTED]
    assert model.RESTORED not in here.types()
    assert views.live_release(here.root.ledger) == views.release(here.root.ledger, mended)


def test_a_crash_between_the_records_of_two_changes_is_made_good(here: ChangesHere) -> None:
    first = put_into_service(here)
    one, other = merge(here, "a.py"), merge(here, "b.py")
    put_into_service(here)
    go_to(here, first, work=False)
    here.changes.merges.roll_back(one.id, "by the daemon that died", actor="daemon")
    here.new_steps().run_due()
    assert states(here, one, other) == [State.ROLLED_BACK] * 2
    assert here.types().count(model.ROLLED_BACK) == 2
    assert due_steps(here.root.ledger, CHANGES, "9999") == []


def test_nothing_stays_due_when_no_change_went_out_or_came_back(here: ChangesHere) -> None:
    first = put_into_service(here)
    merge(here, "a.py")
    second = put_into_service(here)
    go_to(here, first)
    go_to(here, second)
    records = len(here.types())
    assert here.new_steps().run_due() == 0
    assert len(here.types()) == records


def test_a_change_that_was_taken_back_may_be_named_to_be_deployed_again(here: ChangesHere) -> None:
    first = put_into_service(here)
    change = merge(here, "a.py")
    put_into_service(here)
    go_to(here, first)
    here.root.clock.advance(minutes=1)
    assert here.deployments.deploy(change.id, actor="operator").commit_id == change.commit


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
