"""The agent of the demo: a script that speaks MCP through `astra mcp`, as a client would."""

import json
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from astra.interfaces.cli import demo_target
from astra.trusted.kernel.text import one_line

Say = Callable[[str], None]
Script = Sequence[tuple[str, dict[str, Any]]]
LOOKING: Script = (
    ("list_source_files", {"folder": "agent_server"}),
    ("read_source_code", {"path": "agent_server/api.py", "start": 14, "end": 16}),
    ("read_file", {"path": "../var/keys/ledger.key"}),
    ("run_in_sandbox", {"command": ["sh", "-c", "id -un; ls /home; cat ../astra.toml"]}),
    ("schedule_code_modification", {"reason": "let me"}),
    ("astra_desires_record", {"text": "greet people warmly", "tags": ["kindness"]}),
)
PROPOSING: Script = (("schedule_code_modification", demo_target.GOOD),)
AGAIN: Script = (("schedule_code_modification", demo_target.BAD),)
ONCE_MORE: Script = (("schedule_code_modification", demo_target.MENDED),)


def play(environment: Mapping[str, str], folder: Path, say: Say, script: Script) -> dict[str, Any]:
    """Play a script, tell what the agent asked and what it heard; gives the last answer."""
    import asyncio

    return asyncio.run(_play_script(environment, folder, say, script))


async def _play_script(
    environment: Mapping[str, str], folder: Path, say: Say, script: Script
) -> dict[str, Any]:
    from mcp import Client
    from mcp.client.stdio import StdioServerParameters

    server = StdioServerParameters(
        command=sys.executable,
        args=["-I", "-m", "astra.interfaces.cli.main", "mcp"],
        env=dict(environment),
        cwd=folder,
    )
    answer_data: dict[str, Any] = {}
    async with Client(server) as client:
        tools = {tool.name for tool in (await client.list_tools()).tools}
        able = "schedule_code_modification" in tools
        say(f"the agent sees {len(tools)} tools; {'one' if able else 'none'} of them changes code")
        for name, arguments in script:
            say(f"agent → {name} {one_line(json.dumps(arguments), 120)}")
            answer = await client.call_tool(name, arguments)
            answer_data = answer.structured_content or {}
            say(
                f"      ← {one_line(_to_summary(answer_data, is_error=bool(answer.is_error)), 150)}"
            )
    return answer_data


def _to_summary(said: Mapping[str, Any], *, is_error: bool) -> str:
    """Say in one line what matters of an answer."""
    if is_error:
        return f"refused ({said.get('code')}): {said.get('detail')}; next: {said.get('next_step')}"
    if "items" in said:
        return ", ".join(str(item.get("path", item)) for item in said["items"])
    if "verdict" in said:
        return f"{said['verdict']}: {said['stdout']} {said['stderr']}"
    if "branch" in said:
        return f"{said['id']} on its own branch {said['branch']}; {said['next']}"
    return str(said.get("text") or said)
