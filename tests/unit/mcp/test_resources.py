"""Resources, prompts and completions, with the SDK's own client in front of them."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError
from mcp_types import PromptReference, ResourceUpdatedNotification

from astra.bootstrap.events import EVENTS
from astra.interfaces.mcp import resources
from astra.interfaces.mcp.prompts import PROMPTS
from astra.interfaces.mcp.session import Budget, Session
from astra.interfaces.mcp.session_server import SessionServer
from astra.interfaces.mcp.tool_server import ToolServer
from astra.testing import CounterInMemory
from astra.tools import desk
from astra.tools.catalogue import make_registry
from astra.trusted.ledger import views
from astra.trusted.policy.call import Actor, Role

pytestmark = pytest.mark.anyio
HOSTILE = [
    "file:///etc/passwd",
    "astra://",
    "astra://source/",
    "astra://changes/../../etc",
    "astra://plans/a/b",
    "astra://inbox/x",
    "astra://flags/PERSONA_MODE_ENABLED",
    "astra://source/" + "a" * 5_000,
]


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


class World:
    def __init__(self) -> None:
        self.inside = CounterInMemory(*desk.TOOLS)
        self.ledger = self.inside.gate.root.ledger
        self.tools = ToolServer(
            counter=lambda: self.inside.counter,
            ledger=self.ledger,
            flags=lambda _off: self.inside.gate.on,
        )

    @asynccontextmanager
    async def client(self, calls: int = 100, **options: Any) -> AsyncIterator[Client]:
        actor = Actor(role=Role.AGENT, name="test", door="mcp")
        known = Session(actor=actor, budget=Budget(calls), plain=True)
        server = SessionServer(self.tools, lambda _ctx: known)
        async with self.tools.open(), Client(server, **{"mode": "legacy", **options}) as client:
            yield client

    def ask(self) -> str:
        return self.inside.gate.desk.ask(
            kind="tool_call",
            subject_id="fetch",
            digest="0" * 64,
            summary="s",
            details={},
            actor="agent:test",
            correlation="cor_0000000000000001",
        )


@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_reading_a_resource_is_a_call_that_is_recorded(mode: str) -> None:
    world = World()
    waiting = world.ask()
    async with world.client(mode=mode) as client:
        listed = {str(resource.uri) for resource in (await client.list_resources()).resources}
        inbox = await client.read_resource("astra://inbox")
    assert {"astra://inbox", "astra://changes", "astra://plans"} <= listed
    assert waiting in inbox.contents[0].text
    (record,) = views.newest_records(world.ledger, count=1)
    assert (record.type, record.data["tool"]) == ("tool_called", "astra.approvals.pending")


async def test_reading_counts_against_the_sessions_budget() -> None:
    async with World().client(calls=0) as client:
        with pytest.raises(MCPError, match="has made its 0 calls"):
            await client.read_resource("astra://inbox")


@pytest.mark.parametrize("uri", HOSTILE, ids=lambda uri: uri[:40])
async def test_what_is_no_resource_is_not_found(uri: str) -> None:
    assert resources.find_call(uri) is None
    async with World().client() as client:
        with pytest.raises(MCPError, match="there is no resource"):
            await client.read_resource(uri)


@pytest.mark.filterwarnings("ignore:resources/.*subscribe is removed")
async def test_a_subscriber_hears_that_the_inbox_moved() -> None:
    heard: asyncio.Queue[str] = asyncio.Queue()

    async def hear(message: Any) -> None:
        if isinstance(message, ResourceUpdatedNotification):
            heard.put_nowait(str(message.params.uri))

    world = World()
    async with world.client(message_handler=hear) as client:
        await client.subscribe_resource("astra://inbox")
        await asyncio.to_thread(world.ask)
        assert await asyncio.wait_for(heard.get(), 60) == "astra://inbox"
        await client.unsubscribe_resource("astra://inbox")
        assert world.tools.announcements._versions == {}


async def test_a_stream_of_the_stateless_protocol_hears_it_too() -> None:
    world = World()
    async with (
        world.client(mode="auto") as client,
        client.listen(resource_subscriptions=["astra://inbox"]) as changes,
    ):
        await asyncio.to_thread(world.ask)
        assert (await asyncio.wait_for(anext(aiter(changes)), 60)).uri == "astra://inbox"


@pytest.mark.filterwarnings("ignore:resources/.*subscribe is removed")
async def test_nobody_watches_more_than_so_many_resources() -> None:
    async with World().client() as client:
        for number in range(64):
            await client.subscribe_resource(f"astra://changes/chg_{number}")
        with pytest.raises(MCPError, match="too many resources"):
            await client.subscribe_resource("astra://inbox")


async def test_prompts_name_tools_that_exist_and_take_what_they_need() -> None:
    names = {tool.underscored for tool in make_registry().list_all()}
    async with World().client() as client:
        listed = (await client.list_prompts()).prompts
        for prompt in listed:
            (argument,) = prompt.arguments or []
            said = await client.get_prompt(prompt.name, {argument.name: "chg_1 and {value}"})
            text = said.messages[0].content.text
            assert "chg_1 and {value}" in text
            mentioned = {word.strip("(),.:;`") for word in text.split()}
            assert {word for word in mentioned if word.startswith("astra_")} <= names
        with pytest.raises(MCPError, match="needs goal"):
            await client.get_prompt("propose-a-change", {})
        with pytest.raises(MCPError, match="there is no prompt"):
            await client.get_prompt("nope", {})
    assert [prompt.name for prompt in listed] == [prompt.name for prompt in PROMPTS]


async def test_what_cannot_be_completed_has_no_completions() -> None:
    async with World().client() as client:
        said = await client.complete(
            PromptReference(name="propose-a-change"), {"name": "goal", "value": "a"}
        )
    assert said.completion.values == []


def test_what_moves_a_resource_are_events_that_exist() -> None:
    types = {kind for kinds in resources._MOVED_BY.values() for kind in kinds}
    assert types <= set(EVENTS)
