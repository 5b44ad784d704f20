"""Write `own_tools.json`: what a relay says of Astra's own tools before there is a daemon.

It asks Astra's own server in this process, once for each version of the protocol, so that the relay
answers word for word what the daemon will. A test compares the file with this.
"""

import json
import math
from typing import Any

import anyio
from mcp.server.runner import serve_dual_era_loop
from mcp.shared.message import SessionMessage
from mcp_types import CLIENT_CAPABILITIES_META_KEY, jsonrpc_message_adapter
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS, MODERN_PROTOCOL_VERSIONS

from astra import __version__
from astra.interfaces.mcp import first_answers
from astra.interfaces.mcp.catalogue import list_rows
from astra.interfaces.mcp.session import Session
from astra.interfaces.mcp.session_server import SessionServer
from astra.interfaces.mcp.tool_server import ToolServer
from astra.testing import CounterInMemory
from astra.tools.catalogue import make_registry
from astra.trusted.policy.call import Actor, Role

_CLIENT = {"name": "table", "version": "1"}


def main() -> None:
    first_answers.TABLE.write_text(make_text())
    print(first_answers.TABLE.name)


def make_text() -> str:
    table = {"answers": anyio.run(ask_every_version), "tools": list_rows(make_registry())}
    text = json.dumps(table, indent=1, ensure_ascii=False)
    return text.replace(json.dumps(__version__), '"{version}"') + "\n"


async def ask_every_version() -> dict[str, Any]:
    inside = CounterInMemory()
    tools = ToolServer(
        counter=lambda: inside.counter,
        ledger=inside.gate.root.ledger,
        flags=lambda _off: inside.gate.on,
    )
    session = Session(actor=Actor(role=Role.AGENT, name="table", door="mcp"))
    frames: dict[str, Any] = {}
    for version in (*sorted(HANDSHAKE_PROTOCOL_VERSIONS), *sorted(MODERN_PROTOCOL_VERSIONS)):
        for request, answer in (await ask_first(tools, session, version)).items():
            of_session = ("tools", "instructions")
            frame = {name: value for name, value in answer.items() if name not in of_session}
            frames[f"{request} {version}"] = frame
    return frames


async def ask_first(tools: ToolServer, session: Session, version: str) -> dict[str, Any]:
    """Ask a server of this session what clients ask first, and give its answers by request."""
    server = SessionServer(tools, lambda _ctx: session)
    to_server, incoming = anyio.create_memory_object_stream[SessionMessage | Exception](math.inf)
    outgoing, from_server = anyio.create_memory_object_stream[SessionMessage](math.inf)
    answers: dict[str, Any] = {}
    async with anyio.create_task_group() as group, to_server, from_server:
        group.start_soon(lambda: serve_dual_era_loop(server, incoming, outgoing, lifespan_state={}))
        for method, params in list_first_requests(version):
            request = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
            await to_server.send(SessionMessage(jsonrpc_message_adapter.validate_python(request)))
            answer = (await from_server.receive()).message
            answers[method] = answer.model_dump(mode="json", by_alias=True)["result"]
        await to_server.aclose()
    return answers


def list_first_requests(version: str) -> list[tuple[str, dict[str, Any]]]:
    if version in MODERN_PROTOCOL_VERSIONS:
        meta = {first_answers.VERSION_META: version, CLIENT_CAPABILITIES_META_KEY: {}}
        return [("server/discover", {"_meta": meta}), ("tools/list", {"_meta": meta})]
    hello = {"protocolVersion": version, "capabilities": {}, "clientInfo": _CLIENT}
    return [("initialize", hello), ("tools/list", {})]


if __name__ == "__main__":
    main()
