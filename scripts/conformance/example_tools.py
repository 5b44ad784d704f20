"""The tools that the conformance suite calls, behind Astra's own gate, door and ledger.

The suite tests a server with example tools of fixed names. These are there for a run of it and
nowhere else; what they do is sleep, answer and fail, so what is tested is the door.
"""

import time
from typing import Any

from astra.trusted.calls.registry import Answer, AnyTool, Arguments, Tool
from astra.trusted.kernel.errors import BadInput
from astra.trusted.policy.call import Tier

_LOOK_SECONDS = 0.05


class Nothing(Arguments):
    pass


class Greeting(Arguments):
    name: str


class Computation(Arguments):
    seconds: float
    label: str = ""


class Text(Answer):
    text: str


def _sleep(seconds: float, services: Any) -> None:
    end = time.monotonic() + seconds
    while (left := end - time.monotonic()) > 0:
        services.cancellation.raise_if_asked()
        time.sleep(min(left, _LOOK_SECONDS))


def _greet(arguments: Greeting, _services: Any) -> Text:
    return Text(text=f"Hello, {arguments.name}!")


def _compute(arguments: Computation, services: Any) -> Text:
    _sleep(arguments.seconds, services)
    return Text(text=f"computed {arguments.label}")


def _fail_later(_arguments: Nothing, services: Any) -> Text:
    _sleep(1.2, services)
    return _fail(_arguments, services)


def _fail(_arguments: Nothing, _services: Any) -> Text:
    raise BadInput("this tool fails on purpose", next_step="call another one")


def _answer_at_once(_arguments: Nothing, _services: Any) -> Text:
    return Text(text="This is a simple text response for testing.")


def _answer_after_seconds(_arguments: Nothing, services: Any) -> Text:
    _sleep(7.0, services)
    return Text(text="done")


def _make_tool(
    name: str, arguments: type[Arguments], handler: Any, *, slow: bool = False
) -> AnyTool:
    return Tool(
        name=name,
        title=name,
        description=f"{name} of the conformance suite",
        input=arguments,
        output=Text,
        tier=Tier.READ,
        slow=slow,
        handler=handler,
        text_members=("text",),
    )


TOOLS: tuple[AnyTool, ...] = (
    _make_tool("test_simple_text", Nothing, _answer_at_once),
    _make_tool("test_error_handling", Nothing, _fail),
    _make_tool("test_tool_with_logging", Nothing, _answer_after_seconds),
    _make_tool("test_tool_with_progress", Nothing, _answer_after_seconds),
    _make_tool("greet", Greeting, _greet),
    _make_tool("slow_compute", Computation, _compute, slow=True),
    _make_tool("failing_job", Nothing, _fail_later, slow=True),
)

RESOURCES: dict[str, tuple[str, str]] = {
    "test://static-text": ("test_simple_text", "A resource of the conformance suite"),
    "test://watched-resource": ("test_simple_text", "A resource of the conformance suite"),
}
