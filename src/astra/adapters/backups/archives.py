"""A folder of backups in one file, and back.

An archive holds what such a folder holds and nothing else: reading one refuses every other name,
and whatever is not a plain file, before anything is written.
"""

import os
import re
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO, cast

from astra.adapters.backups.folder import (
    BACKUPS,
    HEADER,
    ID,
    LARGEST_MANIFEST,
    LARGEST_PIECE,
    PIECES,
)
from astra.adapters.backups.manifest import damaged_backup

_TARS = {".tar": "w", ".tar.gz": "w:gz", ".tgz": "w:gz"}
_NAME = re.compile(rf"{re.escape(HEADER)}|{PIECES}/[0-9a-f]{{64}}|{BACKUPS}/{ID.pattern}\.manifest")
_BLOCK = 1 << 20
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW


def archive_mode(path: Path) -> str:
    """Say how an archive of this name is written, or nothing where it is a folder."""
    return next((mode for end, mode in _TARS.items() if path.name.endswith(end)), "")


def pack(folder: Path, to: Path) -> None:
    """Write an archive, compare it with the folder, and only then give it its name."""
    draft = to.with_name(f".{folder.name}.archive")
    try:
        with (
            os.fdopen(os.open(draft, _CREATE, 0o600), "wb") as file,
            tarfile.open(fileobj=file, mode=archive_mode(to)) as archive,  # type: ignore[call-overload]
        ):
            for name in _list_names(folder):
                archive.add(folder / name, arcname=name)  # pyright: ignore[reportUnknownMemberType]
        _compare(draft, folder)
        os.sync()
        draft.rename(to)
    finally:
        draft.unlink(missing_ok=True)


def unpack(archive_path: Path, to: Path) -> None:
    """Write the folder that an archive holds to where nothing is."""
    for name in ("", PIECES, BACKUPS):
        (to / name).mkdir(mode=0o700, exist_ok=not name)
    with tarfile.open(archive_path, "r:*") as archive:
        for name, file in _read_members(archive):
            with os.fdopen(os.open(to / name, _CREATE, 0o600), "wb") as target:
                while block := file.read(_BLOCK):
                    target.write(block)


def holds_name(archive_path: Path, name: str) -> bool:
    """Tell whether the first file of an archive has this name."""
    with tarfile.open(archive_path, "r:*") as archive:
        first = archive.next()
        return first is not None and first.name == name


def _list_names(folder: Path) -> Iterator[str]:
    yield HEADER
    for part in (BACKUPS, PIECES):
        for path in sorted((folder / part).iterdir()):
            yield f"{part}/{path.name}"


def _compare(archive_path: Path, folder: Path) -> None:
    with tarfile.open(archive_path, "r:*") as archive:
        names: set[str] = set()
        for name, file in _read_members(archive):
            names.add(name)
            if file.read() != (folder / name).read_bytes():
                raise damaged_backup(f"the archive's {name} is not what was written into it")
    if names != set(_list_names(folder)):
        raise damaged_backup("the archive does not hold what was written into it")


def _read_members(archive: tarfile.TarFile) -> Iterator[tuple[str, IO[bytes]]]:
    for member in archive:
        limit = LARGEST_PIECE if member.name.startswith(PIECES) else LARGEST_MANIFEST
        if not member.isreg() or not _NAME.fullmatch(member.name) or member.size > limit:
            raise damaged_backup(f"it holds {member.name[:100]!a}, which is no part of a backup")
        yield member.name, cast("IO[bytes]", archive.extractfile(member))
