"""A rehearsal before the start, and a push after success."""

from dataclasses import dataclass, field, replace

import pytest

from astra.deployments import events
from astra.deployments.ports import Checked
from astra.deployments.pushing import Pushing
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
    arrives: bool = True
    pushed: list[str] = field(default_factory=list[str])
    checked: list[str] = field(default_factory=list[str])

    def check(self, folder: str, *, correlation: str) -> Checked:
        assert correlation
        self.checked.append(folder)
        return Checked(ok=self.passes, detail="checks")

    def push(self, commit: str) -> Checked:
        self.pushed.append(commit)
        return Checked(ok=self.arrives, detail="push")


def pushing(world: World, remote: FakeRemote) -> Pushing:
    return Pushing(world.work().stage, remote)


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
    assert remote.pushed == ["a" * 40]
    assert remote.checked == [f"/releases/{done.release}"]
    assert world.types()[-1] == events.PUSHED


def test_what_fails_its_checks_is_not_pushed_and_stays_deployed(
    world: World, remote: FakeRemote
) -> None:
    remote.passes = False
    done = world.deploy("a")
    assert pushing(world, remote).advance()
    assert remote.pushed == []
    assert world.types()[-1] == events.PUSH_FAILED
    assert (world.now(done.id).state, world.holder.serves) == ("settled", done.release)


def test_a_push_that_fails_undoes_nothing(world: World, remote: FakeRemote) -> None:
    remote.arrives = False
    done = world.deploy("a")
    assert pushing(world, remote).advance()
    assert world.holder.serves == done.release
    assert not pushing(world, remote).advance(), "it is told once; the next deployment tries again"


def test_what_did_not_settle_is_not_pushed(world: World, remote: FakeRemote) -> None:
    world.finish(world.misbehave(CRASHES, "b").id)
    assert not pushing(world, remote).advance()
