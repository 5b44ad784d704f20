"""An agent moves its budgets below the signed ceiling; beyond, each raise waits for a signature."""

import pytest

from astra.numbers import budget_usage
from astra.testing import CounterInMemory
from astra.tools.schedules import TOOLS
from astra.trusted.calls.counter import Request
from astra.trusted.calls.registry import Answer, Arguments, Tool
from astra.trusted.kernel.errors import NeedsApproval, Refused
from astra.trusted.policy import budgets, contract
from astra.trusted.policy.call import Actor, Role, Tier
from astra.trusted.settings.configuration import Budgets


class Note(Arguments):
    text: str = ""


class Kept(Answer):
    text: str


def _keep(arguments: Note, _services: object) -> Kept:
    if arguments.text == "refuse":
        raise Refused("that may not be kept", next_step="keep something else")
    return Kept(text=arguments.text)


@pytest.fixture
def world() -> CounterInMemory:
    def tool(name: str, tier: Tier) -> Tool[Note, Kept]:
        return Tool(
            name=name,
            title=name,
            description=name,
            input=Note,
            output=Kept,
            tier=tier,
            handler=_keep,
        )

    return CounterInMemory(*TOOLS, tool("keep", Tier.LOCAL_WRITE), tool("look", Tier.READ))


def create(world: CounterInMemory, tool: str = "keep", budget: int = 1, tier: int = 1) -> str:
    made = world.counter.call(
        Request(
            name="astra.schedule.create",
            actor=Actor(role=Role.AGENT, name="test", door="mcp"),
            arguments={
                "name": "notes",
                "cron_expression": "@hourly",
                "timezone": "UTC",
                "target_tool": tool,
                "safety_tier": tier,
                "per_day_budget": budget,
            },
        )
    )
    return str(made["id"])


def budget_of(world: CounterInMemory, identifier: str) -> int:
    return world.timetable.get(identifier).definition.per_day_budget


def sign(world: CounterInMemory, text: str) -> None:
    root = world.gate.root
    signed = root.sign("config_signed", contract.content(text))
    event = contract.sign(root.ledger, text, signed, now=root.clock.now())
    root.ledger.append([event])


def test_raising_a_budget_above_the_ceiling_waits_for_a_signature(world: CounterInMemory) -> None:
    identifier = create(world)
    raising = {"id": identifier, "per_day_budget": 500}
    with pytest.raises(NeedsApproval, match="from 1 to 500") as waiting:
        world.call("astra.schedule.modify", **raising)

    assert budget_of(world, identifier) == 1
    approval = str(waiting.value.facts["approval_id"])
    request = world.gate.desk.details(approval)
    assert "raises the budget from 1 to 500" in request["payload"]["text"]
    world.gate.approve(approval)
    world.call("astra.schedule.modify", **raising)
    assert budget_of(world, identifier) == 500
    world.call("astra.schedule.modify", id=identifier, per_day_budget=30)
    with pytest.raises(NeedsApproval):
        world.call("astra.schedule.modify", **raising)


def test_below_the_signed_ceiling_and_downwards_it_is_free(world: CounterInMemory) -> None:
    identifier = create(world)
    world.call("astra.schedule.modify", id=identifier, per_day_budget=24)
    sign(world, "[budgets]\nschedule_per_day = 100\n")
    world.call("astra.schedule.modify", id=identifier, per_day_budget=100)
    sign(world, "[budgets]\nschedule_per_day = 2\n")
    world.call("astra.schedule.modify", id=identifier, per_day_budget=99)
    with pytest.raises(NeedsApproval):
        world.call("astra.schedule.modify", id=identifier, per_day_budget=100)


def test_making_a_new_schedule_is_no_way_around_the_ceiling(world: CounterInMemory) -> None:
    with pytest.raises(NeedsApproval, match="above the ceiling of 24"):
        create(world, budget=500)


def test_neither_is_a_budget_that_was_set_while_it_only_read(world: CounterInMemory) -> None:
    identifier = create(world, tool="look", budget=500, tier=0)
    with pytest.raises(NeedsApproval, match="sets a budget of 500"):
        world.call("astra.schedule.modify", id=identifier, target_tool="keep", safety_tier=1)


def used(world: CounterInMemory) -> dict[str, int]:
    rows = budget_usage.list_consumption(world.gate.root.ledger)
    return {row["scope"]: row["used"] for row in rows}


def test_a_call_that_its_tool_refuses_spends_no_budget(world: CounterInMemory) -> None:
    world.call("keep", text="fine")
    for _ in range(3):
        with pytest.raises(Refused):
            world.call("keep", text="refuse")

    assert used(world) == {"tool": 1, "actor": 1}
    scopes = budgets.scopes(
        world.counter.understand(
            Request(
                name="keep",
                arguments={},
                actor=Actor(role=Role.AGENT, name="test", door="mcp"),
            )
        ),
        now=world.gate.root.clock.now(),
    )
    assert [balance.used for balance in budgets.balances(world.gate.root.ledger, scopes)] == [1, 1]


def test_what_the_gate_refuses_spends_no_budget(world: CounterInMemory) -> None:
    identifier = create(world)
    before = used(world)
    for _ in range(3):
        with pytest.raises(NeedsApproval):
            world.call("astra.schedule.modify", id=identifier, per_day_budget=500)

    assert used(world) == before


def test_refusals_are_returned_only_as_often_as_the_budget_is_large(world: CounterInMemory) -> None:
    for _ in range(2 * Budgets().tool_per_day):
        with pytest.raises(Refused, match="may not be kept"):
            world.call("keep", text="refuse")
    with pytest.raises(Refused, match="budget"):
        world.call("keep", text="refuse")
