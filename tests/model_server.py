"""A scripted model server on loopback: what it says next is up to the test.

It speaks two dialects, by the path that is called: OpenAI's chat completions and Anthropic's
messages.
"""

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Say = Callable[[dict[str, Any]], Any]


@dataclass(frozen=True, kw_only=True)
class Use:
    """A model that calls a tool, by its name."""

    tool: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class Cut:
    """A text that ends where the model may say no more."""

    text: str


@dataclass(frozen=True, kw_only=True)
class Raw:
    """An answer to the letter; `promised` is the length it claims to have."""

    status: int = 200
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    promised: int | None = None


_USAGE = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}


class QuietServer(ThreadingHTTPServer):
    """A server whose clients may leave in the middle: that is what some tests do."""

    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        pass


class ModelServer:
    """Answers each call with what `say` makes of the request.

    A document is an answer in the form, a text a plain one, `Use` a call of a tool, a number a
    status, `Raw` itself. Where a stream is asked for, it comes as one, unless `streams` is off.
    """

    def __init__(self, say: Say, *, streams: bool = True) -> None:
        self.say = say
        self.usage: Callable[[dict[str, Any]], Any] = lambda _request: dict(_USAGE)
        """What it reports that a call used, as OpenAI's dialect says it."""
        self.streams = streams
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
                asked = request if outer.streams else {**request, "stream": False}
                said, usage = outer.say(request), outer.usage(request)
                self._send(_answer(said, asked, usage, anthropic=anthropic))

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

        self._server = QuietServer(("127.0.0.1", 0), Handler)
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


def _answer(said: Any, request: dict[str, Any], usage: Any, *, anthropic: bool) -> Raw:
    if isinstance(said, Raw):
        return said
    if isinstance(said, int):
        return as_json({"type": "error", "error": {"type": "x", "message": "no"}}, status=said)
    document = _message(request, said) if anthropic else _completion(request, said, usage)
    if not request.get("stream"):
        return as_json(document)
    events = _message_events(document) if anthropic else _chunks(document)
    return Raw(body="".join(events).encode(), headers={"Content-Type": "text/event-stream"})


def as_json(document: Any, *, status: int = 200, **headers: str) -> Raw:
    headers = {name.replace("_", "-"): value for name, value in headers.items()}
    body = json.dumps(document).encode()
    return Raw(status=status, body=body, headers={"Content-Type": "application/json", **headers})


def report_honestly(request: dict[str, Any]) -> dict[str, int]:
    """Report what a tokenizer would make of a request, with four bytes a token."""
    size = sum(len(json.dumps(message["content"])) for message in request["messages"])
    return make_usage(size // 4, 50)


def make_usage(prompt_tokens: int, completion_tokens: int) -> dict[str, int]:
    return {
        "prompt_tokens": prompt_tokens,
        "completion_tokens": completion_tokens,
        "total_tokens": prompt_tokens + completion_tokens,
    }


def _completion(request: dict[str, Any], said: Any, usage: Any) -> dict[str, Any]:
    """Answer with a tool call where a form was asked for, and with plain text for a text."""
    message: dict[str, Any] = {"role": "assistant", "content": None}
    reason = "length" if isinstance(said, Cut) else "stop"
    said = said.text if isinstance(said, Cut) else said
    if isinstance(said, Use):
        call = {"name": said.tool, "arguments": json.dumps(dict(said.arguments))}
        message["tool_calls"] = [{"id": "call_1", "type": "function", "function": call}]
    elif isinstance(said, str) or not request.get("tools"):
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
        "choices": [{"index": 0, "message": message, "finish_reason": reason}],
        "usage": usage,
    }


def _message(request: dict[str, Any], said: Any) -> dict[str, Any]:
    """Answer as Anthropic's messages do: blocks of text, or the use of a tool."""
    if isinstance(said, Use):
        used = {"type": "tool_use", "id": "toolu_1", "name": said.tool}
        content, reason = [{**used, "input": dict(said.arguments)}], "tool_use"
    elif isinstance(said, str) or not request.get("tools"):
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


def _chunks(document: dict[str, Any]) -> Iterator[str]:
    """Give a completion in chunks, as OpenAI's endpoints stream it: its text word by word."""
    head = {name: document[name] for name in ("id", "created", "model")}
    head["object"] = "chat.completion.chunk"
    message = document["choices"][0]["message"]
    deltas: list[dict[str, Any]] = [{"content": word} for word in _words(message["content"] or "")]
    deltas += [
        {"tool_calls": [{"index": number, **call}]}
        for number, call in enumerate(message.get("tool_calls", []))
    ]
    for delta in ({"role": "assistant"}, *deltas):
        yield _event({**head, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]})
    reason = document["choices"][0]["finish_reason"]
    end = {"index": 0, "delta": {}, "finish_reason": reason}
    yield _event({**head, "choices": [end], "usage": document["usage"]})
    yield "data: [DONE]\n\n"


def _message_events(document: dict[str, Any]) -> Iterator[str]:
    """Give a message as Anthropic's endpoint streams it."""
    yield _event({"type": "message_start", "message": {**document, "content": []}})
    for index, block in enumerate(document["content"]):
        text = block["type"] == "text"
        empty = {**block, "text": ""} if text else {**block, "input": {}}
        yield _event({"type": "content_block_start", "index": index, "content_block": empty})
        deltas = (
            [{"type": "text_delta", "text": word} for word in _words(block["text"])]
            if text
            else [{"type": "input_json_delta", "partial_json": json.dumps(block["input"])}]
        )
        for delta in deltas:
            yield _event({"type": "content_block_delta", "index": index, "delta": delta})
        yield _event({"type": "content_block_stop", "index": index})
    reason = {"stop_reason": document["stop_reason"], "stop_sequence": None}
    yield _event({"type": "message_delta", "delta": reason, "usage": document["usage"]})
    yield _event({"type": "message_stop"})


def _words(text: str) -> list[str]:
    first, *rest = text.split(" ")
    return [first, *(f" {word}" for word in rest)]


def _event(document: dict[str, Any]) -> str:
    return f"event: {document.get('type', 'message')}\ndata: {json.dumps(document)}\n\n"
