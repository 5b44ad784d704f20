"""An agent with a real MCP client sets a goal, is heard once, and follows what comes of it."""

import asyncio
from typing import Any

import pytest

from driver import Astra
from mcp_driver import answer, connected, names, refusal

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


async def in_thread(astra: Astra, *words: str) -> Any:
    return await asyncio.to_thread(lambda: astra.json(*words))


async def test_an_agent_proposes_a_goal_the_operator_adopts_it_and_every_door_agrees(
    astra: Astra,
) -> None:
    async with connected(astra) as client:
        goal = await answer(
            client, "astra_goals_create", text="look around", category="introspection"
        )
        assert (goal["state"], goal["source"]) == ("proposed", "agent")
        await in_thread(astra, "goals", "adopt", goal["id"])
        await asyncio.to_thread(astra.follow, "goal_task_finished")
        trace = goal["correlation"]
        (task,) = (await answer(client, "tasks_by_trace", trace=trace))["items"]
        assert (task["subject_id"], task["outcome"]) == (goal["id"], "succeeded")
        assert (await answer(client, "tasks_list"))["items"] == [task]
        assert (await in_thread(astra, "tasks", "list"))["items"] == [task]
        assert (await answer(client, "tasks_last_failed"))["items"] == []
        (session,) = (await answer(client, "check_recent_research", topic="look around"))["items"]
        assert session["correlation"] == trace
        beliefs = (await answer(client, "query_beliefs"))["items"]
        assert any(belief["scope"]["kind"] == "method" for belief in beliefs)


async def test_what_an_agent_may_not_or_cannot_mean_is_refused_with_the_next_step(
    astra: Astra,
) -> None:
    async with connected(astra) as client:
        assert "execute_goal" not in await names(client)
        refusals = [
            await refusal(client, "astra_goals_create", text="bell \a"),
            await refusal(client, "astra_goals_create", text="x", task="Not A Task"),
            await refusal(client, "astra_goals_create", text="x", parent="goal_00000000"),
            await refusal(client, "research_and_summarize", question="bell \a"),
            await refusal(client, "reflect_on_belief", id="belief_0000000000000000"),
            await refusal(client, "execute_goal", goal="goal_00000000"),
        ]
        assert all(document["next_step"] for document in refusals)
        assert (await in_thread(astra, "goals", "list"))["items"] == []
