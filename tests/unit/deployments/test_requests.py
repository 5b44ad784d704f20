"""Who may ask for a deployment, and for which commit."""

import pytest

from astra.deployments import events, views
from astra.deployments.requests import InQuarantine, NotApproved
from astra.trusted.kernel.errors import Conflict, NeedsApproval, NotFound, SignatureRejected
from astra.trusted.kernel.signatures import KeyPair
from deployment_world import World
from holding import CRASHES


def order(world: World, *, force: bool, key: KeyPair | None = None) -> object:
    verdict = world.approved.may_deploy(None)
    content = events.order_content(commit=verdict.commit, digest=verdict.digest, force=force)
    return world.root.sign(events.ORDERED, content, key)


def test_one_deployment_at_a_time(world: World) -> None:
    world.request("a")
    with pytest.raises(Conflict) as refusal:
        world.request("b")
    assert refusal.value.reason == "deploying"


@pytest.mark.parametrize(
    ("facts", "code"),
    [
        ({"tests_passed": False, "code": "tests_failed"}, "tests_failed"),
        ({"stale": True, "code": "stale_approval"}, "stale_approval"),
        ({}, "not_approved"),
    ],
)
def test_what_is_not_approved_is_not_deployed(
    world: World, facts: dict[str, object], code: str
) -> None:
    world.approved.verdict = {"allowed": False, **facts}
    with pytest.raises(NotApproved) as refusal:
        world.request()
    assert refusal.value.reason == code
    assert world.types() == []


def test_a_wait_for_a_person_names_the_approval(world: World) -> None:
    world.approved.verdict = {"allowed": False, "approval_id": "apr_00000001"}
    with pytest.raises(NeedsApproval) as refusal:
        world.request()
    assert refusal.value.facts["approval_id"] == "apr_00000001"


def test_a_quarantined_commit_needs_an_operators_signed_word(world: World) -> None:
    world.finish(world.misbehave(CRASHES, "b").id)
    with pytest.raises(InQuarantine):
        world.request("b")
    with pytest.raises(InQuarantine):
        world.requests.deploy(None, actor="operator", signed=order(world, force=False))  # type: ignore[arg-type]
    stranger = order(world, force=True, key=KeyPair.generate())
    with pytest.raises(SignatureRejected):
        world.requests.deploy(None, actor="operator", signed=stranger)  # type: ignore[arg-type]
    forced = world.requests.deploy(None, actor="operator", signed=order(world, force=True))  # type: ignore[arg-type]
    assert world.finish(forced.id).state == "settled"
    assert not views.quarantine_reason(world.root.ledger, "b" * 40)


def test_an_order_for_one_commit_deploys_no_other(world: World) -> None:
    signed = order(world, force=True)
    world.approved.commit = "c" * 40
    with pytest.raises(SignatureRejected):
        world.requests.deploy(None, actor="operator", signed=signed)  # type: ignore[arg-type]


def test_a_rollback_is_signed_for_what_serves_now(world: World) -> None:
    first = world.deploy("a")
    world.deploy("b")
    content = events.rollback_content(release=first.release, serving=first.release)
    with pytest.raises(SignatureRejected):
        world.requests.roll_back(None, world.root.sign(events.ROLLBACK_ORDERED, content))


def test_there_has_to_be_something_to_go_back_to(world: World) -> None:
    with pytest.raises(NotFound):
        world.requests.choose(None)
    done = world.deploy("a")
    with pytest.raises(NotFound):
        world.requests.choose("no such release")
    with pytest.raises(Conflict):
        world.requests.choose(done.release)
