"""A daemon killed before or after any of its calls: the next one finishes what it began, once."""

from dataclasses import replace
from typing import Any

import pytest

from astra.deployments import views
from deployment_world import World


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
@pytest.mark.parametrize("story", ["good", "bad", "rollback", "staged"])
def test_a_deployment_survives_a_death_at_every_call(story: str, *, after: bool) -> None:
    calls, died = 0, True
    while died:
        world = World()
        world.plan = replace(world.plan, staging=story == "staged")
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
        live = views.live(world.root.ledger)
        assert live is not None
        assert world.holder.serves == wanted == live.id, calls
        assert list(world.holder.instances) == [world.holder.live], calls
        assert world.rehearsal.instances == {}, calls
        calls += 1
    assert calls > 20, "the story has that many calls to die at"
