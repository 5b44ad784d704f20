"""A rehearsal before the start, and a push after success."""

from dataclasses import dataclass, field, replace

import pytest

from astra.deployments import events
from astra.deployments.ports import Checked
from astra.deployments.pushing import (
    BEHIND,
    DENIED,
    PAUSES,
    REFUSED,
    UNREACHABLE,
    ChangeNote,
    Pushing,
    PushOrder,
    PushOutcome,
)
from deployment_world import World
from holding import CRASHES


@pytest.fixture
def staged(world: World) -> World:
    world.plan = replace(world.plan, staging=True)
    return world


def test_a_release_is_rehearsed_with_a_port_and_a_state_of_its_own(staged: World) -> None:
    launch, seen = staged.rehearsal.launch, []
    staged.rehearsal.launch = lambda spec: (seen.append(spec), launch(spec))[1]  # type: ignore[method-assign]
    staged.plan = replace(staged.plan, port=8800)
    done = staged.deploy()
    assert done.state == "settled"
    assert [(spec.port, spec.state) for spec in seen] == [(0, "/state-staging")]
    assert staged.types()[1:4] == [events.BUILT, events.REHEARSED, events.SWITCHED]
    assert staged.rehearsal.state() is None, "the rehearsal is over before the start"


@pytest.mark.parametrize("behaviour", [CRASHES, 3])
def test_what_fails_its_rehearsal_never_comes_near_what_serves(
    staged: World, behaviour: str | int
) -> None:
    good = staged.deploy("a")
    made = staged.request("b")
    staged.rehearsal.behaviours[made.release] = behaviour
    launches = staged.holder._count
    done = staged.finish(made.id)
    assert (done.state, staged.holder.serves) == ("failed", good.release)
    assert staged.holder._count == launches
    assert events.QUARANTINED in staged.types()


def test_a_rollback_is_not_rehearsed(staged: World) -> None:
    first = staged.deploy("a")
    staged.deploy("b")
    staged.rehearsal.behaviours[first.release] = CRASHES
    assert staged.finish(staged.roll_back().id).state == "settled"


@dataclass
class FakeRemote:
    passes: bool = True
    code: str = ""
    orders: list[PushOrder] = field(default_factory=list[PushOrder])
    checked: list[str] = field(default_factory=list[str])

    @property
    def pushed(self) -> list[str]:
        return [order.commit for order in self.orders]

    def check(self, folder: str, *, correlation: str) -> Checked:
        assert correlation
        self.checked.append(folder)
        return Checked(ok=self.passes, detail="checks")

    def push(self, order: PushOrder) -> PushOutcome:
        self.orders.append(order)
        return PushOutcome(ok=not self.code, detail="push", code=self.code, next_step="look")


def describe(commit: str) -> ChangeNote | None:
    known = {"a" * 40: ChangeNote(id="chg_1", title="Say hello", text="Because.")}
    return known.get(commit)


def pushing(world: World, remote: FakeRemote) -> Pushing:
    return Pushing(
        stage=world.work().stage,
        remote=remote,
        clock=world.root.clock,
        branch="main",
        describe_commit=describe,
    )


@pytest.fixture
def remote(world: World) -> FakeRemote:
    world.plan = replace(world.plan, push_remote="file:///srv/it.git", commit_checks=("check",))
    return FakeRemote()


def test_nothing_is_pushed_unless_a_remote_is_named(world: World) -> None:
    world.deploy()
    assert not pushing(world, FakeRemote()).advance()


def test_a_settled_commit_is_checked_and_pushed_once(world: World, remote: FakeRemote) -> None:
    assert not pushing(world, remote).advance()
    done = world.deploy("a")
    assert pushing(world, remote).advance()
    assert not pushing(world, remote).advance()
    assert remote.orders == [PushOrder(commit="a" * 40, branch="main")]
    assert remote.checked == [f"/releases/{done.release}"]
    assert world.types()[-1] == events.PUSHED


def test_a_branch_is_named_by_the_change_or_by_a_persons_commit(
    world: World, remote: FakeRemote
) -> None:
    world.plan = replace(world.plan, push="branch")
    for commit in ("a", "b"):
        world.deploy(commit)
        assert pushing(world, remote).advance()
    assert [order.branch for order in remote.orders] == ["astra/chg_1", f"astra/{'b' * 12}"]
    assert not any(order.into for order in remote.orders)


def test_a_pull_request_goes_into_the_branch_with_the_changes_own_words(
    world: World, remote: FakeRemote
) -> None:
    world.plan = replace(world.plan, push="pull-request")
    world.deploy("a")
    assert pushing(world, remote).advance()
    (order,) = remote.orders
    assert (order.branch, order.into) == ("astra/chg_1", "main")
    assert (order.title, order.text) == ("Say hello", "Because.")


def test_what_fails_its_checks_is_not_pushed_and_stays_deployed(
    world: World, remote: FakeRemote
) -> None:
    remote.passes = False
    done = world.deploy("a")
    assert pushing(world, remote).advance()
    assert remote.pushed == []
    assert world.types()[-1] == events.PUSH_FAILED
    assert (world.now(done.id).state, world.holder.serves) == ("settled", done.release)


@pytest.mark.parametrize("code", [BEHIND, REFUSED, DENIED])
def test_a_push_that_is_refused_undoes_nothing_and_is_not_repeated(
    world: World, remote: FakeRemote, code: str
) -> None:
    remote.code = code
    done = world.deploy("a")
    assert pushing(world, remote).advance()
    assert world.holder.serves == done.release
    world.root.clock.advance(hours=100)
    assert not pushing(world, remote).advance(), "it is told once; the next deployment tries again"


def test_after_a_refusal_the_next_release_goes_out(world: World, remote: FakeRemote) -> None:
    remote.code = BEHIND
    world.deploy("a")
    assert pushing(world, remote).advance()
    remote.code = ""
    world.deploy("b")
    assert pushing(world, remote).advance()
    assert remote.pushed == ["a" * 40, "b" * 40]
    assert world.types()[-1] == events.PUSHED


def test_an_unreachable_remote_is_tried_again_ever_more_rarely_and_then_left(
    world: World, remote: FakeRemote
) -> None:
    remote.code = UNREACHABLE
    world.deploy("a")
    assert pushing(world, remote).advance()
    for pause in PAUSES:
        assert not pushing(world, remote).advance()
        world.root.clock.advance(seconds=pause.total_seconds())
        assert pushing(world, remote).advance()
    world.root.clock.advance(hours=100)
    assert not pushing(world, remote).advance()
    assert len(remote.pushed) == 1 + len(PAUSES)


def test_a_remote_that_is_back_gets_what_waited(world: World, remote: FakeRemote) -> None:
    remote.code = UNREACHABLE
    world.deploy("a")
    assert pushing(world, remote).advance()
    remote.code = ""
    world.root.clock.advance(seconds=PAUSES[0].total_seconds())
    assert pushing(world, remote).advance()
    assert world.types()[-1] == events.PUSHED
    assert not pushing(world, remote).advance()


def test_what_did_not_settle_is_not_pushed(world: World, remote: FakeRemote) -> None:
    world.finish(world.misbehave(CRASHES, "b").id)
    assert not pushing(world, remote).advance()
