"""What the last daemon said first, so that a relay can say it at once while the next one starts.

A client gives a server a second or two for its introduction and its list of tools; a daemon that
starts cold takes longer. The daemon keeps its answers to those requests in `var/run`, one for each
way a session can be opened; the relay reads them only while there is no daemon. Whatever changed
since is announced (`list_changed`) once the daemon is there, and the gate decides on calls as ever:
a list is no permission.
"""

import contextlib
import hashlib
import json
import os
import threading
from pathlib import Path
from typing import Any, cast

from astra import __version__

_NAME = "mcp-greetings.json"
_MOST_OPENINGS = 16
_LARGEST = 4 * 1024 * 1024
METHODS = frozenset({"initialize", "server/discover", "tools/list"})
_VERSION_META = "io.modelcontextprotocol/protocolVersion"
Answers = dict[str, dict[str, Any]]


def name_opening(line: bytes) -> str:
    """Name a way of opening a session by its first line."""
    return hashlib.sha256(line).hexdigest()[:32]


def name_request(method: str, params: Any, version: str = "") -> str:
    """Name a request by what its answer depends on: the method, and the protocol's version.

    >>> name_request("initialize", {"protocolVersion": "2025-11-25"})
    'initialize 2025-11-25'
    >>> name_request("tools/list", {}, "2025-11-25")
    'tools/list 2025-11-25'
    """
    members = cast("dict[str, Any]", params) if isinstance(params, dict) else {}
    meta: Any = members.get("_meta")
    modern = cast("dict[str, Any]", meta).get(_VERSION_META) if isinstance(meta, dict) else None
    return f"{method} {modern or members.get('protocolVersion') or version}"


def read_answers(run_folder: Path, opening: str) -> Answers:
    """Read what this version answered to sessions opened like this; nothing where it did not."""
    try:
        with (run_folder / _NAME).open("rb") as file:
            document: Any = json.loads(file.read(_LARGEST))
        if document["version"] != __version__:
            return {}
        return dict(document["openings"].get(opening, {}))
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}


def find_answer(answers: Answers, message: dict[str, Any], version: str) -> dict[str, Any] | None:
    """Find the answer to a request; a ping needs none that was kept."""
    method = str(message.get("method", ""))
    if "id" not in message:
        return None
    if method == "ping":
        return {}
    if method not in METHODS:
        return None
    return answers.get(name_request(method, message.get("params"), version))


class Greetings:
    """The daemon's side: keeps answers as they are given."""

    def __init__(self, run_folder: Path) -> None:
        self._path = run_folder / _NAME
        self._openings: dict[str, Answers] = {}
        self._lock = threading.Lock()

    def keep(self, opening: str, request: str, answer: dict[str, Any]) -> bool:
        """Keep an answer; tell whether it is another than before, so that it has to be saved."""
        with self._lock:
            answers = self._openings.pop(opening, {})
            is_new = answers.get(request) != answer
            self._openings[opening] = {**answers, request: answer}
            while len(self._openings) > _MOST_OPENINGS:
                del self._openings[next(iter(self._openings))]
        return is_new

    def save(self) -> None:
        """Write them down; whoever cannot read them waits for the daemon, as before."""
        with self._lock, contextlib.suppress(OSError):
            text = json.dumps({"version": __version__, "openings": self._openings})
            fresh = self._path.with_suffix(".new")
            descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o640)
            with os.fdopen(descriptor, "w") as file:
                file.write(text)
            fresh.replace(self._path)
