"""One suite for the holder and for the fake that stands in for it in tests of the rules."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from astra.deployments.ports import AppHolder, AppSpec
from astra.trusted.kernel.errors import AstraError
from deploying import Stage, until
from holding import CRASHES, FakeHolder

Spec = Callable[[str], AppSpec]


@pytest.fixture(params=["fake", "process"])
def given(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[AppHolder, Spec]]:
    """Give a holder, and a way to describe releases: good ones, and one called `crashes`."""
    if request.param == "fake":
        fake = FakeHolder({"crashes": CRASHES})
        plain = AppSpec(
            release="", folder="", digest="", command=("x",), port=0, network="host", state=""
        )
        yield fake, lambda name: replace(plain, release=name)
        return
    stage = Stage(tmp_path)
    programs = {"crashes": "raise SystemExit(1)"}

    def describe(name: str) -> AppSpec:
        spec = stage.spec(programs[name]) if name in programs else stage.spec()
        return replace(spec, release=name)

    yield stage.holder, describe
    stage.holder.close()


def healthy(holder: AppHolder, spec: AppSpec) -> str:
    instance = holder.launch(spec)
    until(lambda: holder.check(instance, "/", seconds=5).ok)
    return instance


def test_there_is_none_until_something_is_launched(given: tuple[AppHolder, Spec]) -> None:
    holder, spec = given
    assert holder.state() is None
    instance = holder.launch(spec("one"))
    state = holder.state()
    assert state is not None
    assert state.live is None
    assert [found.instance for found in state.instances] == [instance]


def test_a_switch_names_what_served_before(given: tuple[AppHolder, Spec]) -> None:
    holder, spec = given
    one = healthy(holder, spec("one"))
    assert holder.switch(one) is None
    assert holder.switch(one) is None
    two = healthy(holder, spec("two"))
    assert holder.switch(two) == one
    state = holder.state()
    assert state is not None
    assert state.serving is not None
    assert state.serving.release == "two"
    assert holder.retire(one)["drained"]
    state = holder.state()
    assert state is not None
    assert [found.instance for found in state.instances] == [two]


def test_what_serves_is_not_retired_and_one_is_launched_at_a_time(
    given: tuple[AppHolder, Spec],
) -> None:
    holder, spec = given
    one = healthy(holder, spec("one"))
    holder.switch(one)
    with pytest.raises(AstraError):
        holder.retire(one)
    holder.launch(spec("two"))
    with pytest.raises(AstraError):
        holder.launch(spec("three"))


def test_a_crash_is_counted_and_over_before_the_switch(given: tuple[AppHolder, Spec]) -> None:
    holder, spec = given
    instance = holder.launch(spec("crashes"))

    def over() -> object:
        state = holder.state()
        found = state.find_instance(instance) if state else None
        return found and found.is_over and found

    found = until(over)
    assert found.crashes == 1
    assert "exit code 1" in found.reason
    assert not holder.check(instance, "/", seconds=1).ok
    holder.end(instance)
    state = holder.state()
    assert state is not None
    assert state.instances == ()


def test_what_is_closed_is_gone(given: tuple[AppHolder, Spec]) -> None:
    holder, spec = given
    holder.switch(healthy(holder, spec("one")))
    holder.close()
    until(lambda: holder.state() is None)
    holder.close()


def test_a_check_of_nobody_is_no_answer(given: tuple[AppHolder, Spec]) -> None:
    holder, spec = given
    holder.launch(spec("one"))
    assert not holder.check("inst_ffffffff", "/", seconds=1).ok
