"""Clients hear that their list of tools is another one, also when another server's tool came."""

from collections.abc import Sequence

import pytest
from mcp import Client
from tests.unit.mcp.test_tool_server import session, tool

from astra.interfaces.mcp.session_server import SessionServer
from astra.interfaces.mcp.tool_server import ToolServer
from astra.testing import CounterInMemory
from astra.trusted.calls.registry import AnyTool
from mcp_driver import Heard

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


class Imported:
    """Tools of another server, which an operator signs for while clients are connected."""

    def __init__(self) -> None:
        self.tools: list[AnyTool] = []

    def list_tools(self) -> Sequence[AnyTool]:
        return self.tools

    def find_tool(self, name: str) -> AnyTool | None:
        return next((tool for tool in self.tools if name in {tool.name, tool.underscored}), None)

    def version(self) -> object:
        return tuple(id(tool) for tool in self.tools)


async def test_a_client_hears_of_another_servers_tools_at_once() -> None:
    imported, heard, who = Imported(), Heard(), session()
    inside = CounterInMemory(tool(), imported=imported)
    server_tools = ToolServer(
        counter=lambda: inside.counter,
        ledger=inside.gate.root.ledger,
        flags=lambda _off: inside.gate.on,
    )
    server = SessionServer(server_tools, lambda _ctx: who)
    async with (
        server_tools.open(),
        Client(server, mode="legacy", message_handler=heard) as client,
    ):
        await client.call_tool("astra_echo", {})
        for tools in (
            [tool("mcp.git.log")],
            [tool("mcp.git.log", description="signed anew, in other words")],
            [],
        ):
            imported.tools = list(tools)
            await client.call_tool("astra_echo", {})  # the ledger moves
            await heard.change()
            names = {shown.name for shown in (await client.list_tools()).tools}
            assert names == {"astra_echo", *(known.underscored for known in tools)}
