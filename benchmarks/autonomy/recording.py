"""A model's server with a tape: passes calls on and keeps them, and can play a tape back.

    with Recorder("http://127.0.0.1:8080/v1") as recorder: ...   # recorder.tape holds every answer
    with Player(tape) as player: ...                              # the same answers, in order

Each entry of a tape has the mark of its question: a hash of the text without numbers, ids and paths
that differ from run to run. A player that is asked something else says so, and how to record anew;
it never answers a question with another one's answer.
"""

import contextlib
import hashlib
import json
import re
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self
from urllib.error import HTTPError
from urllib.request import Request, urlopen

LONGEST_CALL = 14_400.0
RECORD_ANEW = "record anew: AUTONOMY_STORIES=NAME make autonomy"
_RUN_TO_RUN = (
    (re.compile(r"/(?:tmp|var|home|root|run|work|build)/[^\s\"'`:,)]*"), "/path"),
    (re.compile(r"\b[0-9a-f]{8,}\b"), "id"),
    (re.compile(r"\b[a-z]{2,12}_[0-9a-zA-Z]{10,}\b"), "id"),
    (re.compile(r"\d+"), "0"),
)
_EVENTS = "text/event-stream"


class _Loopback:
    """An OpenAI-compatible endpoint on loopback; `serve` gives what it says."""

    def __init__(self) -> None:
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                with contextlib.suppress(OSError):  # whoever asked may have left
                    outer.serve(request, self._begin)

            def _begin(self, status: int, kind: str) -> Callable[[bytes], None]:
                self.send_response(status)
                self.send_header("Content-Type", kind)
                self.send_header("Connection", "close")
                self.end_headers()
                return self._write

            def _write(self, data: bytes) -> None:
                self.wfile.write(data)
                self.wfile.flush()

            def log_message(self, *_arguments: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, args=[0.05], daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def serve(self, request: dict[str, Any], begin: "Begin") -> None:
        raise NotImplementedError

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self._server.shutdown()
        self._server.server_close()


Begin = Callable[[int, str], Callable[[bytes], None]]


class Recorder(_Loopback):
    """Passes every call on as it is, piece by piece, and keeps what came of it."""

    def __init__(self, url: str, key: str = "") -> None:
        self.target, self.key = url, key
        self.tape: list[dict[str, Any]] = []
        super().__init__()

    def serve(self, request: dict[str, Any], begin: Begin) -> None:
        began = time.monotonic()
        headers = {"Content-Type": "application/json", "Authorization": f"Bearer {self.key}"}
        call = Request(f"{self.target}/chat/completions", json.dumps(request).encode(), headers)
        try:
            reply: Any = urlopen(call, timeout=LONGEST_CALL)
        except HTTPError as error:
            reply = error
        with reply:
            kind = str(reply.headers.get("Content-Type", "application/json"))
            write, lines = begin(reply.status, kind), list[bytes]()
            for line in reply:
                write(line)
                lines.append(line)
        answer = join_chunks(lines) if _EVENTS in kind else _read_json(b"".join(lines))
        entry = {"question": mark_question(request), "asked": _quote_question(request)}
        seconds = round(time.monotonic() - began, 1)
        entry |= {"seconds": seconds, "status": reply.status, "streamed": _EVENTS in kind}
        entry["answer"] = _keep_answer(answer)
        self.tape.append(entry)


class Player(_Loopback):
    """Says what is on a tape, in order; `problem` says what it was asked that is not on it."""

    def __init__(self, tape: Sequence[dict[str, Any]]) -> None:
        self.entries, self.place, self.problem = list(tape), 0, ""
        self._lock = threading.Lock()
        super().__init__()

    def serve(self, request: dict[str, Any], begin: Begin) -> None:
        with self._lock:
            entry = self._find_entry(request)
        if entry is None:
            document = {"error": {"message": self.problem}}
            begin(500, "application/json")(json.dumps(document).encode())
            return
        answer = {**entry["answer"], "model": request["model"]}
        if entry.get("streamed", request.get("stream")):
            begin(200, _EVENTS)("".join(split_chunks(answer)).encode())
        else:
            begin(entry.get("status", 200), "application/json")(json.dumps(answer).encode())

    def _find_entry(self, request: dict[str, Any]) -> dict[str, Any] | None:
        if self.place >= len(self.entries):
            self.problem = f"the tape is at its end, and more is asked; {RECORD_ANEW}"
            return None
        entry = self.entries[self.place]
        if entry["question"] not in ("", mark_question(request)):
            self.problem = (
                f"question {self.place + 1} is not the one that was recorded"
                f" (then: {entry['asked']!r}; now: {_quote_question(request)!r}); {RECORD_ANEW}"
            )
            return None
        self.place += 1
        return entry


def mark_question(request: dict[str, Any]) -> str:
    """Give the mark of a question, without what differs from run to run.

    >>> first = {"messages": [{"role": "user", "content": "passed in 0.31s below /tmp/a1"}]}
    >>> second = {"messages": [{"role": "user", "content": "passed in 2.05s below /tmp/b2"}]}
    >>> mark_question(first) == mark_question(second)
    True
    """
    text = json.dumps([_read_text(message) for message in request["messages"]])
    for pattern, same in _RUN_TO_RUN:
        text = pattern.sub(same, text)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def join_chunks(lines: Iterable[bytes]) -> dict[str, Any]:
    """Put a streamed answer together as it would have come in one piece."""
    answer: dict[str, Any] = {"id": "1", "object": "chat.completion", "created": 1}
    message: dict[str, Any] = {"role": "assistant", "content": ""}
    calls: dict[int, dict[str, Any]] = {}
    reason = None
    for chunk in _read_events(lines):
        if chunk.get("usage"):
            answer["usage"] = chunk["usage"]
        for choice in chunk.get("choices") or ():
            reason = choice.get("finish_reason") or reason
            delta = choice.get("delta") or {}
            message["content"] += delta.get("content") or ""
            for call in delta.get("tool_calls") or ():
                _add_call(calls, call)
    if calls:
        message["tool_calls"] = [calls[index] for index in sorted(calls)]
    return {**answer, "choices": [{"index": 0, "message": message, "finish_reason": reason}]}


def split_chunks(answer: dict[str, Any]) -> Iterator[str]:
    """Give an answer as a server streams it: what it says, and then its end with its usage."""
    choice = answer["choices"][0]
    head = {"id": "1", "object": "chat.completion.chunk", "created": 1, "model": answer["model"]}
    delta = {"role": "assistant", "content": choice["message"].get("content") or ""}
    if calls := choice["message"].get("tool_calls"):
        delta["tool_calls"] = [{"index": index, **call} for index, call in enumerate(calls)]
    reason = choice.get("finish_reason") or "stop"
    usage = {"usage": answer["usage"]} if "usage" in answer else {}
    for part, more in (((delta, None), {}), (({}, reason), usage)):
        piece = {"index": 0, "delta": part[0], "finish_reason": part[1]}
        yield f"data: {json.dumps({**head, 'choices': [piece], **more})}\n\n"
    yield "data: [DONE]\n\n"


def _add_call(calls: dict[int, dict[str, Any]], piece: dict[str, Any]) -> None:
    empty = {"id": "", "type": "function", "function": {"name": "", "arguments": ""}}
    call = calls.setdefault(int(piece.get("index") or 0), empty)
    call["id"] = piece.get("id") or call["id"]
    for name in ("name", "arguments"):
        call["function"][name] += (piece.get("function") or {}).get(name) or ""


def _read_events(lines: Iterable[bytes]) -> Iterator[dict[str, Any]]:
    for line in lines:
        text = line.decode(errors="replace").strip()
        if text.startswith("data:") and text != "data: [DONE]":
            yield _read_json(text.removeprefix("data:").encode())


def _read_json(data: bytes) -> dict[str, Any]:
    try:
        document = json.loads(data)
    except ValueError:
        return {}
    return document if isinstance(document, dict) else {}


def _keep_answer(document: dict[str, Any]) -> dict[str, Any]:
    """Keep what a client reads of an answer, without a server's own paths and timings."""
    names = ("id", "object", "created", "choices", "usage", "error")
    return {name: document[name] for name in names if name in document}


def _quote_question(request: dict[str, Any]) -> str:
    return _read_text(request["messages"][-1])[-160:].replace("\n", " ")


def _read_text(message: dict[str, Any]) -> str:
    content = message.get("content") or ""
    if isinstance(content, str):
        return content
    return "".join(str(part.get("text", "")) for part in content)
