"""What the server answers: its health, its notes, and the page."""

from dataclasses import dataclass
from pathlib import Path

from agent_server.http import Request, Response
from agent_server.loop import BackgroundLoop
from agent_server.state import State

_TYPES = {".html": "text/html; charset=utf-8", ".css": "text/css", ".js": "text/javascript"}
_LONGEST_NOTE = 1000


def greeting() -> str:
    """Say hello; a first change to try."""
    return "Hello from the agent"


@dataclass
class About:
    """Which release this process is, and where its files are; a reload changes both."""

    release: str
    folder: Path


@dataclass(frozen=True)
class Api:
    state: State
    loop: BackgroundLoop
    about: About

    async def answer(self, request: Request) -> Response:
        routes = {
            ("GET", "/healthz"): self.health,
            ("GET", "/api/greeting"): self.greet,
            ("GET", "/api/notes"): self.notes,
            ("POST", "/api/notes"): self.add_note,
        }
        route = routes.get((request.method, request.path))
        if route:
            return route(request)
        if request.method == "GET":
            return self.page(request.path)
        return Response.json({"error": "not found"}, 404)

    def health(self, _request: Request) -> Response:
        """Say which release this is, and whether its loop is alive."""
        trouble = self.loop.trouble
        document = {
            "status": trouble or "ok",
            "release": self.about.release,
            "thoughts": self.state.counted("thoughts"),
        }
        return Response.json(document, 503 if trouble else 200)

    def greet(self, _request: Request) -> Response:
        return Response.json({"greeting": greeting(), "release": self.about.release})

    def notes(self, _request: Request) -> Response:
        return Response.json({"items": self.state.notes()})

    def add_note(self, request: Request) -> Response:
        try:
            document = request.json()
        except ValueError:
            return Response.json({"error": "the body is not JSON"}, 400)
        text = document.get("text") if isinstance(document, dict) else None
        if not isinstance(text, str) or not 0 < len(text) <= _LONGEST_NOTE:
            return Response.json({"error": f"text has 1 to {_LONGEST_NOTE} characters"}, 400)
        return Response.json({"id": self.state.add_note(text), "text": text}, 201)

    def page(self, path: str) -> Response:
        """Serve a file of the built client by its plain name; nothing else is reachable."""
        name = "index.html" if path == "/" else path.removeprefix("/")
        file = self.about.folder / "static" / name
        if "/" in name or file.suffix not in _TYPES or not file.is_file():
            return Response.json({"error": "not found"}, 404)
        return Response(body=file.read_bytes(), content_type=_TYPES[file.suffix])
