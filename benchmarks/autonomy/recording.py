"""A model's server with a tape: passes calls on, counts them, and can play a tape back.

with Recorder("http://127.0.0.1:8080/v1") as recorder: ...   # recorder.tape holds every answer
with Player(tape) as player: ...                              # the same answers, in order
"""

import json
import threading
import time
from collections.abc import Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self
from urllib.request import Request, urlopen

LONGEST_CALL = 3_600.0


class _Loopback:
    """An OpenAI-compatible endpoint on loopback; `answer` gives what it says."""

    def __init__(self) -> None:
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                status, answer = outer.answer(json.loads(body))
                data = json.dumps(answer).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *_arguments: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, args=[0.05], daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def answer(self, request: dict[str, Any]) -> tuple[int, Any]:
        raise NotImplementedError

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self._server.shutdown()
        self._server.server_close()


class Recorder(_Loopback):
    """Passes every call on, without a stream, and keeps what came of it."""

    def __init__(self, url: str, key: str = "") -> None:
        self.target, self.key = url, key
        self.tape: list[dict[str, Any]] = []
        super().__init__()

    def answer(self, request: dict[str, Any]) -> tuple[int, Any]:
        began = time.monotonic()
        headers = {"Content-Type": "application/json", "Authorization": f"Bearer {self.key}"}
        body = json.dumps({**request, "stream": False}).encode()
        asked = Request(f"{self.target}/chat/completions", body, headers)
        with urlopen(asked, timeout=LONGEST_CALL) as reply:
            document = json.load(reply)
        seconds = round(time.monotonic() - began, 1)
        self.tape.append({"seconds": seconds, "answer": _keep_answer(document)})
        return 200, document


class Player(_Loopback):
    """Says what is on a tape, in order; when it is at its end it says so."""

    def __init__(self, tape: Sequence[dict[str, Any]]) -> None:
        self.left = list(tape)
        super().__init__()

    def answer(self, request: dict[str, Any]) -> tuple[int, Any]:
        if not self.left:
            return 500, {"error": {"message": "the tape is at its end"}}
        return 200, {**self.left.pop(0)["answer"], "model": request["model"]}


def _keep_answer(document: dict[str, Any]) -> dict[str, Any]:
    """Keep what a client reads of an answer, without a server's own paths and timings."""
    names = ("id", "object", "created", "choices", "usage")
    return {name: document[name] for name in names if name in document}
