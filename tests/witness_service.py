"""An address that takes a POST, on this machine: keeps what it gets, and gives it back."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class WitnessService(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.content: dict[str, bytes] = {}
        self.answers: dict[str, int] = {}
        """A status to answer a method with, instead of doing it."""
        self.redirect_to = ""
        self.requests: list[str] = []

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/witness"

    def handle_error(self, request: object, client_address: object) -> None:
        """Keep quiet about those who hang up."""


class _Handler(BaseHTTPRequestHandler):
    server: WitnessService

    def do_GET(self) -> None:
        content = self.server.content.get(self.headers["Astra-Root"])
        self._answer(200 if content is not None else 404, content or b"")

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if "POST" not in self.server.answers:
            name = self.headers["Astra-Root"]
            self.server.content[name] = self.server.content.get(name, b"") + body
        self._answer(204, b"")

    def _answer(self, status: int, body: bytes) -> None:
        self.server.requests.append(f"{self.command} {self.path}")
        status = self.server.answers.get(self.command, status)
        self.send_response(status)
        if self.server.redirect_to:
            self.send_header("Location", self.server.redirect_to)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_words: object) -> None:
        """Say nothing."""


@contextmanager
def witness_service() -> Iterator[WitnessService]:
    with WitnessService() as service:
        thread = threading.Thread(target=service.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield service
        finally:
            service.shutdown()
            thread.join()
