"""The pages of the dashboard and of the documentation, out of the package.

Every file is read when the daemon starts and found by its exact name, so that no path in a request
ever reaches the file system. A name that no file has is a place inside the dashboard, which has
one page for all of them; below `/docs` there is no such page.
"""

import gzip
import hashlib
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse, Response
from starlette.types import Receive, Scope, Send

from astra.trusted.door.site import Site

FOLDER = Path(__file__).parent.parent / "web" / "dist"
DOCS = Path(__file__).parent.parent / "web" / "docs"
_DOCS = "/docs"
_KINDS = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".webp": "image/webp",
    ".json": "application/json",
    ".webmanifest": "application/manifest+json",
}
_FOR_EVER, _ASK_AGAIN = "public, max-age=31536000, immutable", "no-cache"


@dataclass(frozen=True)
class File:
    name: str
    content: bytes
    brotli_content: bytes | None = None
    """It compressed when the pages were built, if it was."""

    @property
    def kind(self) -> str:
        return _KINDS[Path(self.name).suffix]

    @cached_property
    def gzipped_content(self) -> bytes | None:
        """Give it compressed, where that is worth something."""
        smaller = gzip.compress(self.content, 9, mtime=0)
        return smaller if len(smaller) < 0.9 * len(self.content) else None

    @cached_property
    def tag(self) -> str:
        return f'"{hashlib.sha256(self.content).hexdigest()[:32]}"'

    @property
    def caching(self) -> str:
        return _FOR_EVER if self.name.startswith("/assets/") else _ASK_AGAIN


class Pages:
    def __init__(self, site: Site, folder: Path = FOLDER, docs: Path = DOCS) -> None:
        self._site = site
        self._files = _read_files(folder)
        self._docs = {f"{_DOCS}{name}": file for name, file in _read_files(docs).items()}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._choose_response(scope)(scope, receive, send)

    def _choose_response(self, scope: Scope) -> Response:
        if scope["method"] not in {"GET", "HEAD"}:
            return PlainTextResponse("There is nothing to do here.\n", status_code=405)
        if scope["path"] == _DOCS or scope["path"].startswith(f"{_DOCS}/"):
            return self._serve_docs(scope)
        if "/index.html" not in self._files:
            text = "Astra runs here, without its dashboard. To build it: make web\n"
            return PlainTextResponse(text, status_code=404)
        file = self._files.get(scope["path"]) or self._find_page(scope["path"])
        if file is None:
            return PlainTextResponse("There is no such file.\n", status_code=404)
        return _serve_file(file, Headers(scope=scope))

    def _serve_docs(self, scope: Scope) -> Response:
        path = scope["path"]
        names = (path, f"{path.removesuffix('/')}/index.html")
        file = next((self._docs[name] for name in names if name in self._docs), None)
        if file is None:
            text = "There is no such page. The documentation begins at /docs/"
            hint = "" if self._docs else ". It is not built here: make web"
            return PlainTextResponse(f"{text}{hint}\n", status_code=404)
        return _serve_file(file, Headers(scope=scope))

    def _find_page(self, path: str) -> File | None:
        """Give the one page for a place inside the dashboard; a file that is missing is missing."""
        is_file = path.startswith("/assets/") or Path(path).suffix in _KINDS
        return None if is_file else self._files["/index.html"]


def _serve_file(file: File, asked: Headers) -> Response:
    headers = {
        "Cache-Control": file.caching,
        "Content-Type": file.kind,
        "ETag": file.tag,
        "Vary": "Accept-Encoding",
    }
    if asked.get("if-none-match") == file.tag:
        return Response(status_code=304, headers=headers)
    accepted = {word.split(";")[0].strip() for word in asked.get("accept-encoding", "").split(",")}
    if "br" in accepted and file.brotli_content:
        return Response(file.brotli_content, headers={**headers, "Content-Encoding": "br"})
    if "gzip" in accepted and file.gzipped_content:
        return Response(file.gzipped_content, headers={**headers, "Content-Encoding": "gzip"})
    return Response(file.content, headers=headers)


def _read_files(folder: Path) -> dict[str, File]:
    files = [path for path in folder.rglob("*") if path.is_file() and path.suffix in _KINDS]
    names = {path: f"/{path.relative_to(folder).as_posix()}" for path in files}
    return {name: _read_file(name, path) for path, name in names.items()}


def _read_file(name: str, path: Path) -> File:
    smaller = path.with_name(f"{path.name}.br")
    return File(name, path.read_bytes(), smaller.read_bytes() if smaller.exists() else None)
