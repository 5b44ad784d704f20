"""What research reads besides the index: notes, pages of granted hosts, and the bodies it kept."""

import hashlib
import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from astra.adapters.agent_views import CurrentViews
from astra.adapters.boxes.agent_boxes import FetchFailed, fetch
from astra.adapters.persona_space import MIRROR
from astra.operations.caps import RESEARCH_BYTES
from astra.trusted.kernel.errors import AstraError, BadInput, Refused
from astra.trusted.kernel.private_files import write_private
from astra.trusted.policy import domains
from astra.trusted.sandbox.ports import Boxes

_MOST_NOTES, _MOST_NOTE_CHARACTERS = 500, 4_000_000
_PORTS = {"http": 80, "https": 443}
_OK = 200


@dataclass(frozen=True)
class PersonaNotes:
    """The files of the persona space, each through the views in force."""

    views: CurrentViews

    def list_notes(self) -> Iterator[tuple[str, str]]:
        files = self.views.current.files
        characters = 0
        for number, path in enumerate(self._walk("")):
            if number == _MOST_NOTES or characters > _MOST_NOTE_CHARACTERS:
                return
            try:
                note = files.read(path, start=None, end=None, numbered=False)
            except AstraError:
                continue  # secret, binary or too large: reading does not show it either
            characters += len(note.text)
            yield path, note.text

    def _walk(self, folder: str, depth: int = 0) -> Iterator[str]:
        """Name files below a folder, in order, without the mirror of the target."""
        cursor: str | None = None
        while True:
            page = self.views.current.files.list(folder, cursor=cursor, limit=200)
            for item in page.items:
                if item.kind == "file":
                    yield item.path
                elif item.kind == "folder" and item.path != MIRROR and depth < 8:  # noqa: PLR2004
                    yield from self._walk(item.path, depth + 1)
            cursor = page.next
            if cursor is None:
                return


@dataclass(frozen=True)
class KeptBodies:
    """Bodies in a folder of Astra's own, each in a file that its sha-256 names."""

    folder: Path

    def keep(self, body: bytes) -> str:
        sha256 = hashlib.sha256(body).hexdigest()
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        path = self.folder / sha256
        if not path.exists():
            if self._measure() + len(body) > RESEARCH_BYTES.most:
                raise RESEARCH_BYTES.build_error()
            write_private(path, body)
        return sha256

    def read(self, sha256: str) -> bytes | None:
        if len(sha256) != hashlib.sha256().digest_size * 2 or not sha256.isalnum():
            return None
        try:
            body = (self.folder / sha256).read_bytes()
        except OSError:
            return None
        return body if hashlib.sha256(body).hexdigest() == sha256 else None

    def _measure(self) -> int:
        with os.scandir(self.folder) as entries:
            return sum(entry.stat().st_size for entry in entries)


@dataclass(frozen=True, kw_only=True)
class GrantedPages:
    """Pages of hosts that the operator granted to everybody, each fetched in a box of its own."""

    boxes: Boxes
    grants: Callable[[], Iterable[str]]
    """Names the granted domains, as the operator's signatures say now."""

    def find_objection(self, url: str) -> str:
        try:
            host, port = parse_host(url)
        except BadInput as error:
            return error.detail
        if domains.allows(domains.parse_grants(self.grants()), host, port):
            return ""
        return f"{host} is not granted: astra grants add network_domains {host}"

    def name_grant(self, url: str) -> str:
        host, port = parse_host(url)
        return host if port in domains.WEB_PORTS else f"{host}:{port}"

    def fetch(self, url: str, *, actor: str, correlation: str) -> bytes:
        if objection := self.find_objection(url):
            raise Refused(objection, code="not_granted", next_step="ask the operator for a grant")
        grants = (self.name_grant(url),)
        page = fetch(self.boxes, url, grants, actor=actor, correlation=correlation)
        if page.status != _OK:
            raise FetchFailed(
                f"{url[:200]} answered {page.status}", next_step="check the address in a browser"
            )
        return page.body


def parse_host(url: str) -> tuple[str, int]:
    """Give the one host and port that an address needs, in the spelling that grants use."""
    try:
        parts = urlsplit(url)
        port = parts.port or _PORTS[parts.scheme]
    except (ValueError, KeyError):
        raise _make_url_error(url) from None
    if not parts.hostname or parts.username is not None or parts.password is not None:
        raise _make_url_error(url)
    return domains.normalise_host(parts.hostname, display_text=url[:200]), port


def _make_url_error(url: str) -> BadInput:
    return BadInput(
        f"{url[:200]!r} is not an address that can be fetched",
        code="bad_url",
        next_step="give http:// or https://, a host name, and no user or password",
    )
