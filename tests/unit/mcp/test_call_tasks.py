"""Long calls as tasks, asked for with the SDK's own client of the 2026 protocol."""

import threading
from collections.abc import AsyncIterator, Generator, Sequence
from contextlib import asynccontextmanager, contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any, Literal

import anyio
import pytest
from mcp import Client, MCPError
from mcp.client.extension import ClaimContext, ClientExtension, ResultClaim
from mcp_types import CallToolResult, Request, RequestParams, Result

from astra.interfaces.mcp.call_tasks import EXTENSION, CallTasks
from astra.interfaces.mcp.session import Session
from astra.interfaces.mcp.session_server import SessionServer
from astra.interfaces.mcp.tool_server import ToolServer
from astra.testing import CounterInMemory
from astra.trusted.calls.registry import Answer, AnyTool, Arguments, Tool
from astra.trusted.ledger import views
from astra.trusted.policy.call import Actor, Role, Tier

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


class Nothing(Arguments):
    pass


class Done(Answer):
    text: str


class Handle(Result):
    result_type: Literal["task"]
    task_id: str
    status: str
    ttl_ms: int


class TaskParams(RequestParams):
    task_id: str


class TaskRequest(Request[TaskParams, str]):
    name_param = "taskId"
    method: str


class TaskUpdate(RequestParams):
    task_id: str
    input_responses: dict[str, Any]


class TaskState(Result):
    status: str = ""
    result: dict[str, Any] | None = None
    ttl_ms: int = 0


class TaskClient(ClientExtension):
    """What a client with tasks does: it polls until the call is over."""

    identifier = EXTENSION

    def __init__(self) -> None:
        self.handles: list[Handle] = []
        self.polled = anyio.Event()

    def claims(self) -> Sequence[ResultClaim[Any]]:
        return [ResultClaim(result_type="task", model=Handle, resolve=self._resolve)]

    async def _resolve(self, handle: Handle, context: ClaimContext) -> CallToolResult:
        self.handles.append(handle)
        request = TaskRequest(method="tasks/get", params=TaskParams(task_id=handle.task_id))
        while True:
            state = await context.session.send_request(request, TaskState)
            self.polled.set()
            if state.status != "working":
                assert state.result is not None, state
                return CallToolResult.model_validate(state.result)
            await anyio.sleep(0.01)


def agent(name: str = "one") -> Session:
    return Session(actor=Actor(role=Role.AGENT, name=name, door="mcp"))


class World:
    """A tool that waits to be let go, behind the real counter and server."""

    def __init__(self, **options: Any) -> None:
        self.began, self.let_go = threading.Event(), threading.Event()
        self.held = 0
        self.inside = CounterInMemory(
            self.make_tool("slow", self.wait, slow=True), self.make_tool("fast", self.answer)
        )
        self.tasks = CallTasks(self.hold, **{"at_once_seconds": 0.0, **options})
        self.tools = ToolServer(
            counter=lambda: self.inside.counter,
            ledger=self.inside.gate.root.ledger,
            flags=lambda _off: self.inside.gate.on,
            tasks=self.tasks,
        )

    @staticmethod
    def make_tool(name: str, handler: Any, **fields: Any) -> AnyTool:
        return Tool(
            name=name,
            title=name,
            description=name,
            input=Nothing,
            output=Done,
            tier=Tier.LOCAL_WRITE,
            handler=handler,
            **fields,
        )

    def wait(self, _arguments: Nothing, services: Any) -> Done:
        self.began.set()
        for _ in range(6_000):  # nothing that forgets to end it makes the tests wait for ever
            if self.let_go.wait(0.01):
                break
            services.cancellation.raise_if_asked()
        return Done(text="at last")

    def answer(self, _arguments: Nothing, _services: Any) -> Done:
        return Done(text="at once")

    @contextmanager
    def hold(self) -> Generator[None]:
        self.held += 1
        yield
        self.held -= 1

    def newest_outcome(self) -> dict[str, Any]:
        return views.newest_records(self.inside.gate.root.ledger, count=1)[0].data["outcome"]

    @asynccontextmanager
    async def serve(self) -> AsyncIterator[None]:
        async with self.tools.open():
            yield

    @asynccontextmanager
    async def client(
        self, who: Session | None = None, *, mode: str = "auto", tasks: TaskClient | None = None
    ) -> AsyncIterator[Client]:
        known = who or agent()
        server = SessionServer(self.tools, lambda _ctx: known)
        extensions = [tasks] if tasks else []
        async with Client(server, mode=mode, extensions=extensions) as client:
            yield client


async def ask(client: Client, method: str, task_id: str) -> TaskState:
    request = TaskRequest(method=method, params=TaskParams(task_id=task_id))
    return await client.session.send_request(request, TaskState)


async def await_end(client: Client, task_id: str) -> TaskState:
    """Ask until it is over, as clients do: the protocol has them ask."""
    while True:
        state = await ask(client, "tasks/get", task_id)
        if state.status != "working":
            return state
        await anyio.sleep(0.01)


async def begin_task(world: World, client: Client, tasks: TaskClient) -> str:
    """Start the slow call, go away from it, and give its handle."""
    async with anyio.create_task_group() as group:
        group.start_soon(client.call_tool, "slow", {})
        await tasks.polled.wait()
        group.cancel_scope.cancel()
    assert await anyio.to_thread.run_sync(lambda: world.began.wait(60))
    return tasks.handles[-1].task_id


async def test_a_long_call_gives_a_handle_and_its_answer_is_fetched_later() -> None:
    world, tasks = World(), TaskClient()
    async with world.serve(), world.client(tasks=tasks) as client:
        threading.Timer(0, lambda: world.began.wait(60) and world.let_go.set()).start()
        result = await client.call_tool("slow", {})
    assert isinstance(result, CallToolResult)
    assert result.structured_content == {"text": "at last"}
    assert [handle.status for handle in tasks.handles] == ["working"]
    assert world.held == 0, "nothing keeps the daemon once the call is over"


async def test_a_call_that_is_soon_over_needs_no_task() -> None:
    world, tasks = World(at_once_seconds=60.0), TaskClient()
    world.let_go.set()
    async with world.serve(), world.client(tasks=tasks) as client:
        slow = await client.call_tool("slow", {})
        fast = await client.call_tool("fast", {})
    assert slow.structured_content == {"text": "at last"}
    assert fast.structured_content == {"text": "at once"}
    assert not tasks.handles


@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_a_client_without_tasks_waits_for_its_answer(mode: str) -> None:
    world = World()
    world.let_go.set()
    async with world.serve(), world.client(mode=mode) as client:
        assert (await client.call_tool("slow", {})).structured_content == {"text": "at last"}
        with pytest.raises(MCPError) as refused:
            await ask(client, "tasks/get", "tsk_1")
    assert refused.value.error.code == (-32021 if mode == "auto" else -32601)


async def test_a_task_outlives_the_connection_it_was_made_on() -> None:
    world, tasks = World(), TaskClient()
    async with world.serve():
        async with world.client(tasks=tasks) as client:
            task_id = await begin_task(world, client, tasks)
        assert world.held == 1, "the daemon stays while it works"
        world.let_go.set()
        async with world.client(tasks=TaskClient()) as client:
            state = await await_end(client, task_id)
    assert state.result is not None
    assert state.result["structuredContent"] == {"text": "at last"}


async def test_a_cancelled_task_ends_and_the_ledger_says_so() -> None:
    world, tasks = World(), TaskClient()
    async with world.serve(), world.client(tasks=tasks) as client:
        task_id = await begin_task(world, client, tasks)
        await ask(client, "tasks/cancel", task_id)
        assert (await await_end(client, task_id)).status == "cancelled"
        await ask(client, "tasks/cancel", task_id)
    assert world.newest_outcome()["code"] == "cancelled"


async def test_an_answer_is_kept_for_ten_minutes_after_the_end() -> None:
    now = datetime(2026, 1, 1, tzinfo=UTC)
    world, tasks = World(now=lambda: now), TaskClient()
    async with world.serve(), world.client(tasks=tasks) as client:
        task_id = await begin_task(world, client, tasks)
        world.let_go.set()
        assert (await await_end(client, task_id)).ttl_ms == 600_000
        now += timedelta(minutes=10)
        assert (await ask(client, "tasks/get", task_id)).status == "completed"
        now += timedelta(seconds=1)
        with pytest.raises(MCPError) as refused:
            await ask(client, "tasks/get", task_id)
    assert refused.value.error.code == -32602


async def test_leaving_ends_what_still_works() -> None:
    world, tasks = World(), TaskClient()
    async with world.serve(), world.client(tasks=tasks) as client:
        await begin_task(world, client, tasks)
    assert world.newest_outcome()["code"] == "cancelled"
    assert world.held == 0


async def test_a_task_asks_its_client_nothing_and_takes_any_answer() -> None:
    world, tasks = World(), TaskClient()
    async with world.serve(), world.client(tasks=tasks) as client:
        task_id = await begin_task(world, client, tasks)
        update = TaskUpdate(task_id=task_id, input_responses={})
        request = Request[TaskUpdate, str](method="tasks/update", params=update)
        await client.session.send_request(request, TaskState)
        assert (await ask(client, "tasks/get", task_id)).status == "working"
