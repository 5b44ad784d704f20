"""Which changes a running process can take over, and what happens when it cannot."""

from dataclasses import replace

import pytest

from astra.deployments import events, views
from astra.deployments.reloading import explain_restart, modules
from astra.trusted.ledger import views as records
from deployment_world import World

BASE = b"""
import os
LIMIT = 3

class A:
    kind = 1
    @property
    def size(self):
        return LIMIT

@cache
def slow(x=1):
    return x

async def go(name, *, often=2):
    return [name for _ in range(often)]
"""


@pytest.mark.parametrize(
    ("old", "new", "safe"),
    [
        (b"return LIMIT", b"y = LIMIT + 1\n        return y", True),
        (b"return [name for _ in range(often)]", b"await x\n    return lambda: name", True),
        (b"LIMIT = 3", b"LIMIT = 4", False),
        (b"often=2", b"often=3", False),
        (b"kind = 1", b"kind = 2", False),
        (b"import os", b"import sys", False),
        (b"    return x", b"    return x + 1", False),
        (b"@property", b"@cached", False),
        (b"def size", b"def width", False),
        (b"class A:", b"class A(B):", False),
        (b"async def go", b"def go", False),
        (b"LIMIT = 3", b"LIMIT = = 3", False),
        (b"LIMIT = 3", b"LIMIT = 3  # a comment", True),
    ],
)
def test_only_bodies_of_plain_functions_may_differ(old: bytes, new: bytes, *, safe: bool) -> None:
    assert old in BASE
    assert (explain_restart({"a.py": (BASE, BASE.replace(old, new, 1))}) == "") is safe


def test_files_that_come_or_go_or_are_not_python_need_a_restart() -> None:
    assert "came" in explain_restart({"a.py": (None, b"")})
    assert "went" in explain_restart({"a.py": (b"", None)})
    assert "not Python" in explain_restart({"requirements.txt": (b"a", b"b")})
    assert "started with" in explain_restart({"pkg/__main__.py": (b"", b"")})


def test_pages_and_tests_may_differ() -> None:
    changes = {
        "static/index.html": (b"a", b"b"),
        "tests/test_a.py": (None, b""),
        "a.py": (b"", b""),
    }
    assert explain_restart(changes, ignored=("tests/",)) == ""
    assert modules(changes, ignored=("tests/",)) == ["a.py"]
    assert explain_restart(changes) != ""


@pytest.fixture
def reloading(world: World) -> World:
    world.plan = replace(world.plan, reload=True)
    world.deploy("a")
    return world


def how(world: World) -> str:
    return str(
        records.newest_records(world.root.ledger, count=1, type_=events.SWITCHED)[0].data["how"]
    )


def test_a_safe_change_is_taken_over_by_the_process_that_serves(reloading: World) -> None:
    reloading.releases.changes = {"a.py": (b"def f(): return 1\n", b"def f(): return 2\n")}
    before = reloading.holder.live
    done = reloading.deploy("b")
    assert (done.state, how(reloading)) == ("settled", "reloaded")
    assert reloading.holder.live == before
    assert reloading.holder.serves == done.release
    assert reloading.holder.reloads == [(done.release, ["a.py"])]


def test_any_other_change_is_a_start_with_the_reason(reloading: World) -> None:
    reloading.releases.changes = {"a.py": (b"X = 1\n", b"X = 2\n")}
    before = reloading.holder.live
    assert reloading.deploy("b").state == "settled"
    assert "a.py" in how(reloading)
    assert reloading.holder.live != before
    assert reloading.holder.reloads == []


def test_a_reload_that_does_not_work_is_a_start_too(reloading: World) -> None:
    reloading.holder.reloadable = False
    reloading.releases.changes = {"a.py": (b"def f(): return 1\n", b"def f(): return 2\n")}
    done = reloading.deploy("b")
    assert done.state == "settled"
    assert "it said no" in how(reloading)
    assert reloading.holder.serves == done.release


def test_a_reloaded_release_that_fails_its_watch_is_taken_back(reloading: World) -> None:
    reloading.releases.changes = {"a.py": (b"def f(): return 1\n", b"def f(): return 2\n")}
    good = views.live_release(reloading.root.ledger)
    made = reloading.request("b")
    live = reloading.holder.instances[str(reloading.holder.live)]
    live.behaviour = str(live.looks + 3)
    done = reloading.finish(made.id)
    assert good is not None
    assert (done.state, reloading.holder.serves) == ("rolled_back", good.id)
