"""A scripted model server on loopback: what it says next is up to the test.

It speaks two dialects, by the path that is called: OpenAI's chat completions and Anthropic's
messages.
"""

import json
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Say = Callable[[dict[str, Any]], Any]


@dataclass(frozen=True, kw_only=True)
class Raw:
    """An answer to the letter; `promised` is the length it claims to have."""

    status: int = 200
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    promised: int | None = None


class ModelServer:
    """Answers each call with what `say` makes of the request.

    A document is an answer in the form, a text a plain one, a number a status, `Raw` itself.
    """

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
                anthropic = self.path.partition("?")[0].endswith("/messages")
                self._send(_answer(outer.say(request), request, anthropic=anthropic))

            def _send(self, answer: Raw) -> None:
                self.send_response(answer.status)
                for name, value in answer.headers.items():
                    self.send_header(name, value)
                promised = len(answer.body) if answer.promised is None else answer.promised
                self.send_header("Content-Length", str(promised))
                self.end_headers()
                self.wfile.write(answer.body)

            def log_message(self, *_arguments: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, args=[0.02], daemon=True).start()

    @property
    def origin(self) -> str:
        """Where Anthropic's dialect is spoken; its clients add the version themselves."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    @property
    def url(self) -> str:
        """Where OpenAI's dialect is spoken."""
        return f"{self.origin}/v1"

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


def _answer(said: Any, request: dict[str, Any], *, anthropic: bool) -> Raw:
    if isinstance(said, Raw):
        return said
    if isinstance(said, int):
        return as_json({"type": "error", "error": {"type": "x", "message": "no"}}, status=said)
    return as_json(_message(request, said) if anthropic else _completion(request, said))


def as_json(document: Any, *, status: int = 200, **headers: str) -> Raw:
    headers = {name.replace("_", "-"): value for name, value in headers.items()}
    body = json.dumps(document).encode()
    return Raw(status=status, body=body, headers={"Content-Type": "application/json", **headers})


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


def _message(request: dict[str, Any], said: Any) -> dict[str, Any]:
    """Answer as Anthropic's messages do: blocks of text, or the use of a tool."""
    if isinstance(said, str) or not request.get("tools"):
        text = said if isinstance(said, str) else json.dumps(said)
        content, reason = [{"type": "text", "text": text}], "end_turn"
    else:
        used = {"type": "tool_use", "id": "toolu_1", "name": request["tools"][0]["name"]}
        content, reason = [{**used, "input": said}], "tool_use"
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": request["model"],
        "content": content,
        "stop_reason": reason,
        "stop_sequence": None,
        "usage": {"input_tokens": 100, "output_tokens": 20},
    }
