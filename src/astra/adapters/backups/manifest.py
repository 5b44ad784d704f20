"""What a backup holds, file by file, with digests: read strictly, wherever it comes from.

A backup has folders and plain files only. Links stand in the manifest and are made when it is put
in place, last, so that nothing is written through one.
"""

import hashlib
import json
import re
from dataclasses import asdict, dataclass
from typing import Any, Literal, get_args

from astra.trusted.kernel import canonical
from astra.trusted.kernel.errors import BadInput

FORMAT = 1
NAME = "manifest.json"
TREE = "data"
Kind = Literal["file", "folder", "link"]
_DIGEST = re.compile(r"[0-9a-f]{64}")
_ALL_MODES = 0o7777


@dataclass(frozen=True, kw_only=True, slots=True)
class Entry:
    path: str
    kind: Kind
    mode: int = 0
    owner: tuple[int, int] = (0, 0)
    sha256: str = ""
    target: str = ""


@dataclass(frozen=True, kw_only=True)
class Manifest:
    version: str
    root_id: str
    made_at: str
    sequence: int
    hash: str
    entries: tuple[Entry, ...]

    def encode(self) -> bytes:
        members = {name: getattr(self, name) for name in self.__dataclass_fields__}
        entries = [{**asdict(entry), "owner": list(entry.owner)} for entry in self.entries]
        return canonical.encode({**members, "format": FORMAT, "entries": entries})

    @property
    def digest(self) -> str:
        return hashlib.sha256(self.encode()).hexdigest()


def read_manifest(raw: bytes) -> Manifest:
    try:
        members: dict[str, Any] = json.loads(raw)
        if members.pop("format") != FORMAT:
            raise BadInput(
                "this backup is in a format that this version of Astra does not read",
                code="backup_format",
                next_step=f"use the version that made it: {members.get('version')!a}",
            )
        entries = tuple(_read_entry(entry) for entry in members.pop("entries"))
        manifest = Manifest(**members, entries=entries)
    except (ValueError, TypeError, KeyError, RecursionError):
        raise damaged("its manifest cannot be read") from None
    if len({entry.path for entry in entries}) != len(entries):
        raise damaged("its manifest names something twice")
    return manifest


def damaged(why: str) -> BadInput:
    return BadInput(
        f"this backup is not as it was made: {why}",
        code="backup_damaged",
        next_step="use another backup",
    )


def _read_entry(members: dict[str, Any]) -> Entry:
    owner: Any = tuple(members.pop("owner"))
    entry = Entry(**members, owner=owner)
    kinds = {"path": str, "kind": str, "mode": int, "sha256": str, "target": str}
    typed = all(type(getattr(entry, name)) is kind for name, kind in kinds.items())
    if not typed or entry.kind not in get_args(Kind) or entry.mode & ~_ALL_MODES:
        raise damaged("its manifest has an entry of no known kind")
    if not is_inside(entry.path) or (entry.kind == "file" and not _DIGEST.fullmatch(entry.sha256)):
        raise damaged(f"its manifest names {entry.path[:100]!a}")
    return entry


def is_inside(path: str) -> bool:
    """Tell whether a path is relative, plain, and stays below where it starts.

    >>> [is_inside(path) for path in ("var/ledger", "../x", "/x", "a//b")]
    [True, False, False, False]
    """
    parts = path.split("/")
    return "\0" not in path and all(part not in {"", ".", ".."} for part in parts)
