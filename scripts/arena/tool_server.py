"""A small MCP server for a box: lists the tools of FOLDER/tools.json, writes each call down.

Run as `python3 -I -S tool_server.py FOLDER JOURNAL`: the standard library alone.
"""

import json
import sys
from pathlib import Path
from typing import Any

Table = dict[str, Any]


def main() -> None:
    folder = Path(sys.argv[1])
    for line in sys.stdin:
        message = json.loads(line)
        if "id" in message and "method" in message:
            result = respond(message["method"], message.get("params", {}), folder)
            document = {"jsonrpc": "2.0", "id": message["id"], "result": result}
            sys.stdout.write(json.dumps(document) + "\n")
            sys.stdout.flush()


def respond(method: str, params: Table, folder: Path) -> Table:
    if method == "initialize":
        return {
            "protocolVersion": params["protocolVersion"],
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "tools", "version": "1"},
        }
    if method == "tools/list":
        return {"tools": json.loads((folder / "tools.json").read_text())}
    if method == "tools/call":
        with (folder / sys.argv[2]).open("a") as journal:
            journal.write(json.dumps(params) + "\n")
        return {"content": [{"type": "text", "text": "done"}], "isError": False}
    return {}


if __name__ == "__main__":
    main()
