"""The tool server with the SDK's own client in front of it, in one process."""

import asyncio
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest
from mcp import Client
from mcp_types import CallToolResult

from astra.interfaces.mcp.session import CALLS, Budget, Session
from astra.interfaces.mcp.session_server import SessionServer
from astra.interfaces.mcp.tool_server import ToolServer
from astra.interfaces.mcp.toolsets import Selection
from astra.testing import CounterInMemory
from astra.tools import desk
from astra.tools.catalogue import make_registry
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


def session(role: Role = Role.AGENT, calls: int = CALLS, name: str = "test") -> Session:
    return Session(actor=Actor(role=role, name=name, door="mcp"), budget=Budget(calls))


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
        return views.newest_records(self.inside.gate.root.ledger, count=1)[0].data


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


async def test_what_comes_after_the_last_call_is_counted_and_not_recorded_one_by_one() -> None:
    known = session(calls=0)
    world = World(tool())
    async with world.client(known) as client:
        for number in range(30):
            spent = await call(client, "astra_echo", text=str(number))
            assert spent.structured_content["code"] == "session_spent"
    ledger = world.inside.gate.root.ledger
    world.inside.counter.record_refusals(leaving=True)
    types = [record.type for record in views.newest_records(ledger, count=40)]
    assert types.count("tool_refused") == 1
    assert world.last()["count"] == 29


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
    (waiting,) = world.inside.gate.desk.list_by_state()
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


async def test_a_call_outside_the_chosen_toolsets_is_refused_and_recorded() -> None:
    known = Session(actor=session().actor, selection=Selection.parse("plans"))
    world = World(tool("write_file", Tier.LOCAL_WRITE), *desk.TOOLS)
    async with world.client(known) as client:
        listed = {shown.name for shown in (await client.list_tools()).tools}
        refused = await call(client, "write_file")
    assert listed == {"astra_health"}
    assert refused.structured_content["code"] == "not_available"
    assert "'notes'" in refused.structured_content["next_step"]
    assert world.last()["decision"]["code"] == "not_available"


async def test_text_comes_as_text_and_a_plain_session_gets_nothing_else() -> None:
    world = World(tool(text_members=("text",)))
    async with world.client() as client:
        both = await call(client, "astra_echo", text='def f():\n    return "x"\n')
    plain = Session(actor=session().actor, plain=True)
    async with World(tool(text_members=("text",))).client(plain) as client:
        (shown,) = (await client.list_tools()).tools
        alone = await call(client, "astra_echo", text='def f():\n    return "x"\n')
    assert both.content[0].text == alone.content[0].text == 'def f():\n    return "x"\n'
    assert both.structured_content == {"text": 'def f():\n    return "x"\n'}
    assert alone.structured_content is None
    assert shown.output_schema is None


async def test_the_instructions_name_the_ways_people_think_and_only_tools_of_the_session() -> None:
    world = World(*make_registry().list_all())
    async with world.client() as client:
        every = client.instructions or ""
    for way in ("edit code", "commit", "open a change", "remember", "remind me", "cron"):
        assert way in every
    known = Session(actor=session().actor, selection=Selection.parse("source"))
    async with World(*make_registry().list_all()).client(known) as client:
        narrow = client.instructions or ""
    assert "read_source_code" in narrow
    assert "write_file" not in narrow


async def test_short_calls_never_wait_for_long_ones_of_any_session() -> None:
    let_go, started = threading.Event(), threading.Semaphore(0)

    def slow(_arguments: Text, _services: Any) -> Said:
        started.release()
        assert let_go.wait(60)
        return Said(text="slow")

    world = World(tool("slow", slow=True, handler=slow), tool("astra.fast"))
    greedy, other = session(), session()
    async with world.tools.open(), anyio.create_task_group() as group:
        for _ in range(16):
            group.start_soon(world.tools.call, greedy, "slow", {})
        assert await anyio.to_thread.run_sync(lambda: started.acquire(timeout=60))
        for who in (greedy, other):
            assert (await world.tools.call(who, "astra_fast", {})).is_error is False
        let_go.set()


async def test_one_session_leaves_threads_for_another() -> None:
    let_go, running = threading.Event(), threading.Semaphore(0)

    def slow(arguments: Text, _services: Any) -> Said:
        running.release()
        assert let_go.wait(60)
        return Said(text=arguments.text)

    world = World(tool("slow", slow=True, handler=slow))
    greedy, other = session(), session(name="other")
    async with world.tools.open(), anyio.create_task_group() as group:
        for _ in range(4):
            group.start_soon(world.tools.call, greedy, "slow", {})
        for _ in range(4):
            assert await anyio.to_thread.run_sync(lambda: running.acquire(timeout=60))
        group.start_soon(world.tools.call, greedy, "slow", {"text": "waits"})
        group.start_soon(world.tools.call, other, "slow", {"text": "runs"})
        assert await anyio.to_thread.run_sync(lambda: running.acquire(timeout=60))
        assert not running.acquire(blocking=False)
        let_go.set()


@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_a_call_that_is_taken_back_is_told_so_and_recorded_as_cancelled(mode: str) -> None:
    began = threading.Event()

    def wait(_arguments: Text, services: Any) -> Said:
        began.set()
        while True:
            services.cancellation.raise_if_asked()

    world = World(tool("wait", Tier.LOCAL_WRITE, slow=True, handler=wait))
    async with world.client(mode=mode) as client, anyio.create_task_group() as group:
        group.start_soon(call, client, "wait")
        assert await anyio.to_thread.run_sync(lambda: began.wait(60))
        group.cancel_scope.cancel()
    assert world.last()["outcome"] == {**world.last()["outcome"], "ok": False, "code": "cancelled"}


async def test_a_call_that_waits_for_its_turn_does_not_begin_once_it_is_taken_back() -> None:
    let_go, runs = threading.Event(), []

    def slow(arguments: Text, _services: Any) -> Said:
        runs.append(arguments.text)
        assert let_go.wait(60)
        return Said(text="")

    world = World(tool("slow", Tier.LOCAL_WRITE, slow=True, handler=slow))
    who = session()
    async with world.tools.open(), anyio.create_task_group() as group:
        for _ in range(4):
            group.start_soon(world.tools.call, who, "slow", {"text": "first"})
        await anyio.wait_all_tasks_blocked()
        waiting = asyncio.create_task(world.tools.call(who, "slow", {"text": "second"}))
        await anyio.wait_all_tasks_blocked()
        waiting.cancel()
        let_go.set()
    assert "second" not in runs
