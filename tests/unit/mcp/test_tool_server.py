"""The tool server with the SDK's own client in front of it, in one process."""

import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest
from mcp import Client
from mcp_types import CallToolResult

from astra.interfaces.mcp.session import CALLS, Budget, Session
from astra.interfaces.mcp.tool_server import SessionServer, ToolServer
from astra.testing import CounterInMemory
from astra.tools import desk
from astra.trusted.calls.registry import Answer, AnyTool, Arguments, Hints, Tool
from astra.trusted.ledger import views
from astra.trusted.policy.call import Actor, Role, Tier

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


class Text(Arguments):
    text: str = ""


class Said(Answer):
    text: str


def tool(name: str = "astra.echo", tier: Tier = Tier.READ, **fields: Any) -> AnyTool:
    def echo(arguments: Text, _services: Any) -> Said:
        return Said(text=arguments.text)

    fields = {"title": name, "description": name, "handler": echo, **fields}
    return Tool(name=name, input=Text, output=Said, tier=tier, **fields)


def session(role: Role = Role.AGENT, calls: int = CALLS) -> Session:
    return Session(actor=Actor(role=role, name="test", door="mcp"), budget=Budget(calls))


class World:
    def __init__(self, *tools: AnyTool) -> None:
        self.inside = CounterInMemory(*tools)
        self.tools = ToolServer(
            counter=lambda: self.inside.counter,
            ledger=self.inside.gate.root.ledger,
            flags=lambda _off: self.inside.gate.on,
            progress_seconds=0.01,
        )

    @asynccontextmanager
    async def client(self, who: Session | None = None, **options: Any) -> AsyncIterator[Client]:
        known = who or session()
        server = SessionServer(self.tools, lambda _ctx: known)
        async with self.tools.open(), Client(server, **{"mode": "legacy", **options}) as client:
            yield client

    def last(self) -> dict[str, Any]:
        return views.last(self.inside.gate.root.ledger, count=1)[0].data


async def call(client: Client, name: str, **arguments: Any) -> CallToolResult:
    result = await client.call_tool(name, arguments)
    assert isinstance(result, CallToolResult)
    return result


async def test_a_long_call_reports_progress_until_it_is_done() -> None:
    told = threading.Event()

    def slow(_arguments: Text, _services: Any) -> Said:
        assert told.wait(60)
        return Said(text="done")

    async def progress(_progress: float, _total: float | None, message: str | None) -> None:
        assert message is not None
        told.set()

    async with World(tool(handler=slow)).client() as client:
        result = await client.call_tool("astra_echo", {}, progress_callback=progress)
    assert result.structured_content == {"text": "done"}


async def test_a_slow_tool_keeps_nobody_else_waiting() -> None:
    other_came = threading.Event()

    def slow(_arguments: Text, _services: Any) -> Said:
        assert other_came.wait(60)
        return Said(text="slow")

    def fast(_arguments: Text, _services: Any) -> Said:
        other_came.set()
        return Said(text="fast")

    world = World(tool(handler=slow), tool("astra.fast", handler=fast))
    async with world.client() as client, anyio.create_task_group() as group:
        group.start_soon(call, client, "astra_echo")
        group.start_soon(call, client, "astra_fast")


async def test_a_crash_inside_is_a_polite_error_and_a_record() -> None:
    def crash(_arguments: Text, _services: Any) -> Said:
        raise ZeroDivisionError("secret detail")

    world = World(tool(handler=crash))
    async with world.client() as client:
        result = await call(client, "astra_echo")
    assert result.is_error
    assert result.structured_content["code"] == "failed"
    assert "secret detail" not in result.model_dump_json()
    assert world.last()["outcome"]["ok"] is False


async def test_the_budget_is_a_thousand_calls_and_refusals_count() -> None:
    known = session()
    known.budget.used = CALLS - 1
    world = World(tool())
    async with world.client(known) as client:
        assert (await call(client, "astra_nope")).structured_content["code"] == "unknown_tool"
        spent = await call(client, "astra_echo", text="hi")
    assert spent.structured_content["code"] == "session_spent"
    assert world.last()["decision"]["code"] == "session_spent"


@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_what_needs_approval_names_it_and_an_operator_gets_a_link(mode: str) -> None:
    world = World(tool("fetch", Tier.EXTERNAL, hints=Hints(open_world=True)), *desk.TOOLS)
    async with world.client(mode=mode) as client:
        asked = await call(client, "fetch", text="a")
        pending = await call(client, "astra_approvals_pending")
    approval = asked.structured_content["approval_id"]
    assert asked.structured_content["code"] == "needs_approval"
    assert [item["id"] for item in pending.structured_content["items"]] == [approval]
    world = World(*desk.TOOLS)
    world.inside.gate.desk.ask(
        kind="tool_call",
        subject_id="fetch",
        digest="0" * 64,
        summary="s",
        details={},
        actor="agent:test",
        correlation="cor_0000000000000001",
    )
    (waiting,) = world.inside.gate.desk.listed()
    async with world.client(session(Role.OPERATOR), mode=mode) as client:
        said = await call(client, "astra_approvals_approve", id=waiting.id)
    assert said.structured_content["link"].endswith(waiting.id)
    assert world.inside.gate.desk.get(waiting.id).state == "pending"


async def test_dotted_names_are_shown_to_those_who_want_them() -> None:
    known = Session(actor=session().actor, dotted=True)
    async with World(tool()).client(known) as client:
        assert [shown.name for shown in (await client.list_tools()).tools] == ["astra.echo"]


@pytest.mark.parametrize(
    ("member", "shown"),
    [("\ud800", "astra.echo: "), ("\x1b[2J", "\\x1b[2J"), ("\u202e", "\\u202e")],
)
async def test_what_a_client_writes_comes_back_escaped(member: str, shown: str) -> None:
    async with World(tool()).client() as client:
        result = await call(client, "astra_echo", **{member: 1})
    assert result.structured_content["code"] == "bad_arguments"
    assert shown in result.structured_content["detail"]
    assert member not in result.structured_content["detail"]
