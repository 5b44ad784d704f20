"""A daemon killed before or after any of its calls: the next one finishes what it began, once."""

from dataclasses import replace
from typing import Any

import pytest

from astra.deployments import views
from astra.deployments.ports import Checked
from deployment_world import World
from holding import CRASHES


class Killed(BaseException):
    """What no code catches, like a SIGKILL."""


class Mortal:
    """Lets a number of calls through to a port, then dies: before the call, or right after it."""

    def __init__(self, port: Any, lives: list[int], *, after: bool) -> None:
        self._port, self._lives, self._after = port, lives, after

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._port, name)
        if not callable(found):
            return found

        def call(*words: Any, **more: Any) -> Any:
            self._lives[0] -= 1
            if self._lives[0] < 0 and not self._after:
                raise Killed
            answer = found(*words, **more)
            if self._lives[0] < 0:
                raise Killed
            return answer

        return call


def dies_after(world: World, calls: int, *, after: bool) -> bool:
    """Work until that many calls were made; tell whether death came before the end."""
    lives = [calls]
    try:
        work = world.work(lambda port: Mortal(port, lives, after=after))
        while work.advance():
            pass
    except Killed:
        return True
    return False


@pytest.mark.parametrize("after", [False, True], ids=["before a call", "after a call"])
@pytest.mark.parametrize("story", ["good", "bad", "rollback", "staged", "stop-first"])
def test_a_deployment_survives_a_death_at_every_call(story: str, *, after: bool) -> None:
    calls, died = 0, True
    while died:
        world = World()
        world.plan = replace(
            world.plan, staging=story == "staged", stop_first=story == "stop-first"
        )
        first = world.deploy("a")
        made = world.misbehave(6, "b") if story == "bad" else world.request("b")
        if story == "rollback":
            world.finish(made.id)
            made = world.roll_back()
        died = dies_after(world, calls, after=after)
        done = world.finish(made.id)
        assert world.keep_serving() == ""
        wanted = first.release if story in {"bad", "rollback"} else made.release
        assert done.state == ("rolled_back" if story == "bad" else "settled"), calls
        live = views.live_release(world.root.ledger)
        assert live is not None
        assert world.holder.serves == wanted == live.id, calls
        assert list(world.holder.instances) == [world.holder.live], calls
        assert world.rehearsal.instances == {}, calls
        calls += 1
    assert calls > 20, "the story has that many calls to die at"


@pytest.mark.parametrize(
    "story", ["good", "fails", "crashes", "bad", "rollback", "failed rollback"]
)
def test_before_start_is_done_once_or_undone_whatever_call_a_death_comes_at(story: str) -> None:
    """`state` lists what was done to the app's state: the same as if nobody had died."""
    calls, died = 0, True
    while died:
        world = World()
        world.plan = replace(world.plan, before_start=("migrate",), watch_seconds=1)
        first = world.deploy("a")
        made = world.request("b")
        if story == "crashes":
            world.holder.behaviours[made.release] = CRASHES
        if story == "bad":
            world.holder.behaviours[made.release] = 3
        if story == "fails":
            world.migration.outcome = Checked(ok=False, detail="exit code 1")
        if "rollback" in story:
            world.finish(made.id)
            world.snapshots.state.append("written since")
            world.holder.behaviours[first.release] = CRASHES if "failed" in story else "healthy"
            made = world.roll_back()
        died = dies_after(world, calls, after=True)
        world.finish(made.id)
        assert world.keep_serving() == "", calls
        second = max(world.releases.folders, default="")
        wanted = {
            "good": [first.release, second],
            "failed rollback": [first.release, second, "written since"],
        }
        assert world.snapshots.state == wanted.get(story, [first.release]), calls
        serves_second = story in {"good", "failed rollback"}
        assert world.holder.serves == (second if serves_second else first.release), calls
        calls += 1
    assert calls > 15, "the story has that many calls to die at"
