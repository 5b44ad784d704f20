"""Being refused is free for the one who asks; it must not cost the operator's disk."""

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from astra.testing import CounterInMemory
from astra.trusted.calls.rate import BURST
from astra.trusted.calls.refusals import WINDOW_SECONDS
from astra.trusted.calls.registry import Answer, AnyTool, Arguments, Tool
from astra.trusted.kernel.errors import AstraError
from astra.trusted.ledger import views
from astra.trusted.ledger.record import Record
from astra.trusted.policy import telemetry
from astra.trusted.policy.call import Tier
from astra.trusted.policy.caps import REFUSALS_A_MINUTE, STORED_ARGUMENTS
from http_driver import Served

FLOOD = BURST + 500
LARGE = {"edits": [f"{number:04}" + "x" * 400 for number in range(2_000)]}


class Text(Arguments):
    text: str = ""


class Said(Answer):
    text: str


def closed_tool() -> AnyTool:
    return Tool(
        name="closed",
        title="closed",
        description="closed",
        input=Text,
        output=Said,
        tier=Tier.LOCAL_WRITE,
        flags=("ASTRA_CODE_WRITE_ENABLED",),
        handler=lambda arguments, _services: Said(text=arguments.text),
    )


class World(CounterInMemory):
    """A counter whose time stands still until a test moves it."""

    def __init__(self) -> None:
        self.now = 0.0
        super().__init__(closed_tool(), seconds=lambda: self.now)

    def refused(self, name: str, **arguments: Any) -> AstraError:
        with pytest.raises(AstraError) as caught:
            self.call(name, **arguments)
        return caught.value

    def records(self, kind: str) -> list[Record]:
        return views.records(self.gate.root.ledger, after=0, limit=10_000, type_=kind)


def test_a_flood_of_the_same_refusal_is_a_few_records_and_a_count() -> None:
    world = World()
    for _ in range(FLOOD):
        world.refused("closed", text="let me in")
    refusals = world.records(telemetry.TOOL_REFUSED)
    codes = [record.data["decision"]["code"] for record in refusals]
    assert codes == ["flag_off"] * 3 + ["too_many_calls"] * 3
    world.now += WINDOW_SECONDS
    world.counter.record_refusals()
    counts = {
        record.data["code"]: record.data["count"]
        for record in world.records(telemetry.REFUSALS_COUNTED)
    }
    assert counts == {"flag_off": BURST - 3, "too_many_calls": FLOOD - BURST - 3}


@pytest.mark.parametrize("name", ["closed", "made up {}"])
def test_refusals_that_differ_are_told_apart_up_to_a_number(name: str) -> None:
    world = World()
    for number in range(200):
        world.refused(name.format(number), text=str(number))
    recorded = world.records(telemetry.TOOL_REFUSED)
    assert len({json.dumps(record.data["arguments"]) for record in recorded}) == len(recorded)
    assert 10 <= len(recorded) <= REFUSALS_A_MINUTE
    world.counter.record_refusals(leaving=True)
    (counted,) = world.records(telemetry.REFUSALS_COUNTED)
    assert counted.data["count"] + len(recorded) == 200
    assert counted.actor == recorded[0].actor


def test_no_mixture_of_tools_and_reasons_gets_more_records_than_one_actor_may_have() -> None:
    world = World()
    for number in range(300):
        world.refused("closed", text=str(number))
        world.refused("made up", text=str(number))
        world.refused("closed", other=number)
    assert len(world.records(telemetry.TOOL_REFUSED)) <= REFUSALS_A_MINUTE


def test_numbers_of_refused_calls_include_those_that_were_only_counted() -> None:
    world = World()
    for _ in range(50):
        world.refused("closed")
    world.counter.record_refusals(leaving=True)
    rows = world.gate.root.ledger.query(
        "SELECT calls FROM tool_count WHERE tool = 'closed' AND outcome = 'refused'"
    )
    assert rows == [(50,)]


def test_arguments_are_kept_up_to_a_size_with_the_digest_of_all_of_them() -> None:
    world = World()
    world.refused("closed", **LARGE)
    (record,) = world.records(telemetry.TOOL_REFUSED)
    kept = record.data["arguments"]
    assert len(kept["cut"]) <= STORED_ARGUMENTS
    assert kept["bytes"] > 800_000
    assert kept["sha256"] == telemetry.arguments_digest(LARGE)


def test_a_secret_in_large_arguments_is_masked_in_what_is_kept_of_them() -> None:
    world = World()
    token = "ghp_" + "a1B2" * 9
    world.refused("closed", a=f"use {token} there", **LARGE)
    (record,) = world.records(telemetry.TOOL_REFUSED)
    assert token not in json.dumps(record.data)


def ledger_bytes(root: Path) -> int:
    return sum(path.stat().st_size for path in (root / "var" / "ledger").iterdir())


def test_refused_calls_over_http_hardly_grow_the_ledger(site: Served) -> None:
    secret = site.token("agent")["secret"]
    before = ledger_bytes(site.astra.root)

    def ask(number: int) -> int:
        with site.client(secret) as http:
            body = {"n": number, **LARGE}
            return http.post("/api/tools/schedule_code_modification", json=body).status_code

    with ThreadPoolExecutor(4) as threads:
        assert set(threads.map(ask, range(120))) == {403}
    grown = ledger_bytes(site.astra.root) - before
    assert grown < 20 * 3 * STORED_ARGUMENTS
