"""The agent of the demo: a script that speaks MCP through `astra mcp`, as a client would."""

import asyncio
import json
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from mcp import Client
from mcp.client.stdio import StdioServerParameters

from astra.kernel.text import one_line

Say = Callable[[str], None]
SCRIPT: tuple[tuple[str, dict[str, Any]], ...] = (
    ("list_source_files", {}),
    ("read_source_code", {"path": "src/agent.py", "line_numbers": True}),
    ("read_file", {"path": "../var/keys/ledger.key"}),
    ("astra_desires_record", {"text": "greet people by their name", "tags": ["kindness"]}),
    ("run_in_sandbox", {"command": ["sh", "-c", "id -un; ls /home; cat ../astra.toml"]}),
    ("fetch_url", {"url": "https://example.com/"}),
    ("deploy_agent_code", {"commit_message": "let me"}),
)


def play(environment: Mapping[str, str], folder: Path, say: Say) -> None:
    """Play the script, and tell what the agent asked and what it heard."""
    asyncio.run(_play(environment, folder, say))


async def _play(environment: Mapping[str, str], folder: Path, say: Say) -> None:
    server = StdioServerParameters(
        command=sys.executable,
        args=["-I", "-m", "astra.interfaces.cli.main", "mcp"],
        env=dict(environment),
        cwd=folder,
    )
    async with Client(server) as client:
        tools = (await client.list_tools()).tools
        say(f"the agent sees {len(tools)} tools; none of them writes code")
        for name, arguments in SCRIPT:
            say(f"agent → {name} {json.dumps(arguments)}")
            answer = await client.call_tool(name, arguments)
            said: Any = answer.structured_content or {}
            say(f"      ← {one_line(_gist(said, is_error=bool(answer.is_error)), 150)}")


def _gist(said: Mapping[str, Any], *, is_error: bool) -> str:
    """Say in one line what matters of an answer."""
    if is_error:
        return f"refused ({said.get('code')}): {said.get('detail')}; next: {said.get('next_step')}"
    if "items" in said:
        return ", ".join(str(item.get("path", item)) for item in said["items"])
    if "verdict" in said:
        return f"{said['verdict']}: {said['stdout']} {said['stderr']}"
    return str(said.get("text") or said)
