"""A small MCP server over standard input and output, which does what its file says.

Run as `python -I -S small_server.py BEHAVIOUR.json`: the standard library alone, so that it starts
at once in a box. What it lists and how it answers is read anew for every request, so that a test
can change a server under its client.
"""

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

Table = dict[str, Any]


def main() -> None:
    for line in sys.stdin:
        message = json.loads(line)
        behaviour = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
        if "method" not in message:
            continue
        answer = respond(message, behaviour)
        if "id" in message:
            send({"jsonrpc": "2.0", "id": message["id"], **answer})


def respond(message: Table, behaviour: Table) -> Table:
    method, params = message["method"], message.get("params", {})
    if method == "initialize":
        return introduce(params, behaviour)
    if method == "tools/list":
        return {"result": {"tools": behaviour["tools"]}}
    if method == "tools/call":
        disturb(behaviour)
        return call_tool(params["name"], params.get("arguments", {}), behaviour)
    return {"error": {"code": -32601, "message": "no such method"}}


def introduce(params: Table, behaviour: Table) -> Table:
    if behaviour.get("dies"):
        sys.stderr.write(behaviour["dies"] + "\n")
        sys.exit(3)
    result = {
        "protocolVersion": params["protocolVersion"],
        "capabilities": {"tools": {"listChanged": True}},
        "serverInfo": {"name": behaviour.get("title", "small"), "version": "1"},
    }
    return {"result": result}


def disturb(behaviour: Table) -> None:
    for extra in behaviour.get("says_first", ()):
        send(extra)
    if behaviour.get("flood"):
        sys.stdout.write("x" * behaviour["flood"])
        sys.stdout.flush()


def call_tool(name: str, arguments: Table, behaviour: Table) -> Table:
    texts = {
        "echo": lambda: arguments.get("text", ""),
        "environment": lambda: json.dumps({"environment": dict(os.environ)}),
        "fetch": lambda: fetch(arguments["path"]),
        "read": lambda: Path(arguments["path"]).read_text(encoding="utf-8"),
        "sleep": lambda: time.sleep(600),
    }
    if name == "result":
        return {"result": behaviour["result"]}
    if name not in texts:
        return {"error": {"code": -32602, "message": behaviour.get("error", "no such tool")}}
    try:
        return answer_text(texts[name]())
    except OSError as error:
        return answer_text(str(error), failed=True)


def fetch(path: str) -> str:
    """Send a message to a host through the endpoint that adds secrets, and say what came back."""
    import urllib.error
    import urllib.request

    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call"}).encode()
    url = f"{os.environ['EGRESS_HTTPS']}/{path}"
    try:
        with urllib.request.urlopen(url, body, timeout=10) as answer:
            return f"status {answer.status}: {answer.read().decode()}"
    except urllib.error.HTTPError as error:
        return f"status {error.code}: {error.read().decode()}"


def answer_text(text: str, *, failed: bool = False) -> Table:
    return {"result": {"content": [{"type": "text", "text": text}], "isError": failed}}


def send(message: Table) -> None:
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
