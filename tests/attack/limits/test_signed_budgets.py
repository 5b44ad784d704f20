"""How often a day agents act is the operator's to say, in what was signed and nowhere else."""

from typing import Any

import pytest

from astra.bootstrap.runtime import Runtime
from astra.trusted.calls.counter import Request
from astra.trusted.kernel.errors import Refused
from astra.trusted.policy import contract
from driver import stay_within_a_day
from record_world import AGENT, RecordWorld, pristine, world

__all__ = ["pristine", "world"]


@pytest.fixture(autouse=True)
def _one_day() -> None:
    stay_within_a_day()


def sign_budgets(world: RecordWorld, runtime: Runtime, *lines: str) -> None:
    text = "\n".join(["[budgets]", *lines, ""])
    signed = world.sign(runtime, contract.CONFIG_SIGNED, contract.content(text))
    event = contract.sign(runtime.ledger, text, signed, now=runtime.clock.now())
    runtime.ledger.append([event])


def write_note(runtime: Runtime, name: str) -> dict[str, Any]:
    return runtime.counter.call(
        Request(name="write_file", arguments={"path": name, "content": "x"}, actor=AGENT)
    )


def test_a_tool_stops_at_the_ceiling_that_was_signed_for_it(world: RecordWorld) -> None:
    with world.opened() as runtime:
        sign_budgets(world, runtime, "tool_per_day = 2")
        write_note(runtime, "one.md")
        write_note(runtime, "two.md")
        with pytest.raises(Refused, match="budget of 2 for tool write_file is spent"):
            write_note(runtime, "three.md")
        runtime.counter.call(Request(name="delete_file", arguments={"path": "one.md"}, actor=AGENT))


def test_many_tools_stop_together_at_the_ceiling_of_who_calls(world: RecordWorld) -> None:
    with world.opened() as runtime:
        sign_budgets(world, runtime, "actor_per_day = 2")
        write_note(runtime, "one.md")
        runtime.counter.call(Request(name="delete_file", arguments={"path": "one.md"}, actor=AGENT))
        with pytest.raises(Refused, match="budget of 2 for actor agent is spent"):
            write_note(runtime, "two.md")


def test_a_ceiling_that_is_lowered_bites_at_once_and_one_nobody_signed_never(
    world: RecordWorld,
) -> None:
    with world.opened() as runtime:
        write_note(runtime, "one.md")
        sign_budgets(world, runtime, "tool_per_day = 1")
        world.root.configuration.write_text("[budgets]\ntool_per_day = 1000\n")
        with pytest.raises(Refused, match="budget of 1 for tool"):
            write_note(runtime, "two.md")
        sign_budgets(world, runtime, "tool_per_day = 3")
        write_note(runtime, "two.md")
