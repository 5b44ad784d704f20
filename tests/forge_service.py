"""A forge on this machine: pull requests in the shape of GitHub, or of Gitea and Forgejo."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit


class ForgeService(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, kind: str, token: str) -> None:
        super().__init__(("127.0.0.1", 0), _ForgeHandler)
        self.kind = kind
        self.token = token
        self.pulls: list[dict[str, Any]] = []
        self.requests: list[str] = []
        self.authorizations: list[str] = []
        self.status = 0
        """A status to answer with, instead of doing what was asked."""
        self.body: bytes | None = None
        self.redirect_to = ""

    @property
    def api(self) -> str:
        path = "/api/v3" if self.kind == "github" else "/api/v1"
        return f"http://127.0.0.1:{self.server_address[1]}{path}"

    def handle_error(self, request: object, client_address: object) -> None:
        """Keep quiet about those who hang up."""


class _ForgeHandler(BaseHTTPRequestHandler):
    server: ForgeService

    def do_GET(self) -> None:
        query = parse_qs(urlsplit(self.path).query)
        head = query.get("head", [""])[0].partition(":")[2]
        pulls = [pull for pull in self.server.pulls if not head or pull["head"]["ref"] == head]
        self._answer(200, pulls)

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if any(pull["head"]["ref"] == asked["head"] for pull in self.server.pulls):
            github = self.server.kind == "github"
            self._answer(422 if github else 409, {"message": "Validation Failed"})
            return
        number = len(self.server.pulls) + 1
        pull = {**asked, "number": number, "head": {"ref": asked["head"]}}
        pull["html_url"] = f"https://forge.example/team/app/pull/{number}"
        if self._is_authorized():
            self.server.pulls.append(pull)
        self._answer(201, pull)

    def _is_authorized(self) -> bool:
        scheme = "Bearer" if self.server.kind == "github" else "token"
        return self.headers.get("Authorization") == f"{scheme} {self.server.token}"

    def _answer(self, status: int, document: Any) -> None:
        server = self.server
        server.requests.append(f"{self.command} {self.path}")
        server.authorizations.append(self.headers.get("Authorization", ""))
        if not self._is_authorized():
            status, document = 401, {"message": f"bad token {self.headers['Authorization']}"}
        body = json.dumps(document).encode() if server.body is None else server.body
        self.send_response(server.status or status)
        if server.redirect_to:
            self.send_header("Location", server.redirect_to)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_words: object) -> None:
        """Say nothing."""


@contextmanager
def forge_service(kind: str, token: str) -> Iterator[ForgeService]:
    with ForgeService(kind, token) as service:
        thread = threading.Thread(target=service.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield service
        finally:
            service.shutdown()
            thread.join()
