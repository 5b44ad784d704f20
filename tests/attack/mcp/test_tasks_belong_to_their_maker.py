"""A handle of a long call is worth nothing to anybody but the caller who made the call."""

import anyio
import pytest
from mcp import MCPError
from tests.unit.mcp.test_call_tasks import TaskClient, World, agent, ask, begin_task

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.mark.parametrize("method", ["tasks/get", "tasks/cancel"])
async def test_anothers_task_can_neither_be_read_nor_ended(method: str) -> None:
    world, tasks = World(), TaskClient()
    async with world.serve(), world.client(agent("owner"), tasks=tasks) as owner:
        task_id = await begin_task(world, owner, tasks)
        async with world.client(agent("thief"), tasks=TaskClient()) as thief:
            with pytest.raises(MCPError) as foreign:
                await ask(thief, method, task_id)
            with pytest.raises(MCPError) as missing:
                await ask(thief, method, "tsk_0")
        assert (await ask(owner, "tasks/get", task_id)).status == "working"
    assert foreign.value.error == missing.value.error, "whether it exists is not told either"


async def test_who_starts_tasks_without_end_soon_gets_none() -> None:
    world, tasks = World(), TaskClient()
    async with world.serve(), world.client(agent(), tasks=tasks) as client:
        world.let_go.set()
        for _ in range(40):
            await client.call_tool("slow", {})
        kept = len(tasks.handles)
        async with world.client(agent("other"), tasks=tasks) as other:
            await other.call_tool("slow", {})
    assert kept == 32
    assert len(tasks.handles) == 33, "another caller still gets a task"


async def test_a_handle_that_nobody_got_runs_nothing() -> None:
    """A client that goes away before it has its handle takes the call with it."""
    world, tasks = World(at_once_seconds=60.0), TaskClient()
    serving, connecting = world.serve(), world.client(tasks=tasks)
    async with serving, connecting as client, anyio.create_task_group() as group:
        group.start_soon(client.call_tool, "slow", {})
        assert await anyio.to_thread.run_sync(lambda: world.began.wait(60))
        group.cancel_scope.cancel()
    assert world.newest_outcome()["code"] == "cancelled"
