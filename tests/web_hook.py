"""A server that takes notifications, says no under /dead, and nothing under /hang."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class Hook(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.heard: list[str] = []
        """What each message says, the title as its first line."""
        self.ended = threading.Event()
        self.changed = threading.Condition()

    def take(self, text: str) -> None:
        with self.changed:
            self.heard.append(text)
            self.changed.notify_all()

    def wait_for(self, count: int) -> None:
        """Come back when so many messages were heard."""
        with self.changed:
            assert self.changed.wait_for(lambda: len(self.heard) >= count, timeout=60)


class _Handler(BaseHTTPRequestHandler):
    server: Hook

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.take("\n".join(filter(None, (body["title"], body["message"]))))
        if self.path.startswith("/hang"):
            self.server.ended.wait()
        self.send_response(500 if self.path.startswith("/dead") else 200)
        self.end_headers()

    def log_message(self, *_words: Any) -> None:
        """Say nothing."""


@contextmanager
def listening() -> Iterator[Hook]:
    with Hook() as server:
        thread = threading.Thread(target=server.serve_forever, args=[0.02])
        thread.start()
        yield server
        server.ended.set()
        server.shutdown()
        thread.join()
