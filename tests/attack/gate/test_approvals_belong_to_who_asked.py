"""What one agent was allowed, another cannot do, though it asks for exactly the same."""

from typing import Any

from astra.testing import CounterInMemory
from astra.trusted.calls.counter import Request
from astra.trusted.calls.registry import Answer, Arguments, Tool
from astra.trusted.kernel.errors import AstraError
from astra.trusted.policy.call import Actor, Role, Tier


class Nothing(Arguments):
    pass


class Done(Answer):
    pass


REACH = Tool(
    name="reach",
    title="Reach",
    description="Reaches outside.",
    input=Nothing,
    output=Done,
    tier=Tier.EXTERNAL,
    handler=lambda _arguments, _services: Done(),
)


def call(inside: CounterInMemory, who: str) -> dict[str, Any] | str:
    actor = Actor(role=Role.AGENT, name=who, door="mcp")
    try:
        return inside.counter.call(Request(name="reach", arguments={}, actor=actor))
    except AstraError as error:
        return str(error.facts.get("approval_id"))


def test_an_approval_is_of_no_use_to_another_agent() -> None:
    inside = CounterInMemory(REACH)
    asked = call(inside, "first")
    assert isinstance(asked, str)
    other = call(inside, "second")
    assert other not in {asked, "None"}, "a request of its own"
    inside.gate.approve(asked)
    assert call(inside, "second") == other, "still waiting for its own"
    assert call(inside, "first") == {}
    assert call(inside, "first") != {}, "it was used once"


def test_asking_again_is_the_same_request() -> None:
    inside = CounterInMemory(REACH)
    assert call(inside, "first") == call(inside, "first")
    assert len(inside.gate.desk.list_by_state()) == 1
