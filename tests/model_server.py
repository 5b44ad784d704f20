"""A scripted OpenAI-compatible server on loopback: what it says next is up to the test."""

import json
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Say = Callable[[dict[str, Any]], Any]


class ModelServer:
    """Answers each call with what `say` makes of the request: a document, or a status code."""

    def __init__(self, say: Say) -> None:
        self.say = say
        self.calls: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                length = int(self.headers["Content-Length"])
                request = json.loads(self.rfile.read(length))
                outer.calls.append(request)
                outer.headers.append({name.lower(): v for name, v in self.headers.items()})
                said = outer.say(request)
                if isinstance(said, int):
                    self.send_error(said)
                    return
                body = json.dumps(_completion(request, said)).encode()
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_arguments: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def prompt(self, number: int = -1) -> str:
        return "\n".join(str(each["content"]) for each in self.calls[number]["messages"])

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


def _completion(request: dict[str, Any], said: Any) -> dict[str, Any]:
    """Answer with a tool call where a form was asked for, and with plain text for a text."""
    message: dict[str, Any] = {"role": "assistant", "content": None}
    if isinstance(said, str) or not request.get("tools"):
        message["content"] = said if isinstance(said, str) else json.dumps(said)
    else:
        name = request["tools"][0]["function"]["name"]
        call = {"name": name, "arguments": json.dumps(said)}
        message["tool_calls"] = [{"id": "call_1", "type": "function", "function": call}]
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1_700_000_000,
        "model": request["model"],
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120},
    }
