"""What a backup holds, file by file, with digests: read strictly, wherever it comes from.

A backup has folders and plain files only. Links stand in the manifest and are made when it is put
in place, last, so that nothing is written through one.

Format 2, which is written, names for each file the pieces that its content is made of, in order.
Format 1, which is still read, has each file under its own path. Names need not be UTF-8: whoever
may name a file in the data root must not be able to prevent its backup.
"""

import hashlib
import json
import re
from dataclasses import asdict, dataclass
from typing import Any, Literal, get_args

from astra.trusted.kernel.errors import BadInput

FORMAT = 2
FILES_BY_PATH = 1
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
    pieces: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Manifest:
    version: str
    root_id: str
    made_at: str
    sequence: int
    hash: str
    entries: tuple[Entry, ...]

    @property
    def files(self) -> tuple[Entry, ...]:
        return tuple(entry for entry in self.entries if entry.kind == "file")

    def encode(self) -> bytes:
        members = {name: getattr(self, name) for name in self.__dataclass_fields__}
        entries = [
            {**asdict(entry), "owner": list(entry.owner), "pieces": list(entry.pieces)}
            for entry in self.entries
        ]
        document = {**members, "format": FORMAT, "entries": entries}
        return json.dumps(document, sort_keys=True, separators=(",", ":")).encode()

    @property
    def digest(self) -> str:
        return hashlib.sha256(self.encode()).hexdigest()


def read_manifest(raw: bytes, *, expected_format: int = FORMAT) -> Manifest:
    try:
        members: dict[str, Any] = json.loads(raw)
        if members.pop("format") != expected_format:
            raise unknown_format(members.get("version"))
        entries = tuple(_read_entry(entry) for entry in members.pop("entries"))
        manifest = Manifest(**members, entries=entries)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        raise damaged_backup("its manifest cannot be read") from None
    texts = (manifest.version, manifest.root_id, manifest.made_at, manifest.hash)
    if not all(type(text) is str for text in texts) or type(manifest.sequence) is not int:
        raise damaged_backup("its manifest cannot be read")
    if len({entry.path for entry in entries}) != len(entries):
        raise damaged_backup("its manifest names something twice")
    return manifest


def unknown_format(version: object) -> BadInput:
    return BadInput(
        "this backup is in a format that this version of Astra does not read",
        code="backup_format",
        next_step=f"use the version that made it: {version!a}",
    )


def damaged_backup(why: str) -> BadInput:
    return BadInput(
        f"this backup is not as it was made: {why}",
        code="backup_damaged",
        next_step="use another backup",
    )


def _read_entry(members: dict[str, Any]) -> Entry:
    owner: Any = tuple(members.pop("owner"))
    pieces: Any = tuple(members.pop("pieces", ()))
    entry = Entry(**members, owner=owner, pieces=pieces)
    kinds = {"path": str, "kind": str, "mode": int, "sha256": str, "target": str}
    typed = all(type(getattr(entry, name)) is kind for name, kind in kinds.items())
    if not typed or entry.kind not in get_args(Kind) or entry.mode & ~_ALL_MODES:
        raise damaged_backup("its manifest has an entry of no known kind")
    if not is_inside(entry.path) or (entry.kind == "file" and not _DIGEST.fullmatch(entry.sha256)):
        raise damaged_backup(f"its manifest names {entry.path[:100]!a}")
    if not all(is_digest(piece) for piece in pieces):
        raise damaged_backup(f"its manifest has {entry.path[:100]!a} in pieces of no known name")
    if [type(number) for number in owner] != [int, int]:
        raise damaged_backup("its manifest has an entry of no known owner")
    return entry


def is_digest(name: object) -> bool:
    return isinstance(name, str) and _DIGEST.fullmatch(name) is not None


def is_inside(path: str) -> bool:
    """Tell whether a path is relative, plain, and stays below where it starts.

    >>> [is_inside(path) for path in ("var/ledger", "../x", "/x", "a//b")]
    [True, False, False, False]
    """
    parts = path.split("/")
    return "\0" not in path and all(part not in {"", ".", ".."} for part in parts)
