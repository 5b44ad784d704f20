"""Plan files below `agents/`, and the global allowlist's file: only their owner may read them.

A plan's folder appears with its files in it, all at once; a file that is replaced is whole or the
old one. The path of a file follows from the plan's id and from nothing that somebody stored.
"""

import os
import secrets
import shutil
from collections.abc import Mapping
from pathlib import Path

from astra.trusted.kernel.errors import NotFound
from astra.trusted.kernel.ids import is_id
from astra.trusted.kernel.private_files import sync_folder, write_private

ALLOWLIST = "agent_global_grants.json"
_LARGEST = 4_000_000


class PlanFolder:
    def __init__(self, data_root: Path) -> None:
        self._agents = data_root / "agents"
        self._allowlist = data_root / ALLOWLIST

    def write(self, agent_id: str, files: Mapping[str, str]) -> None:
        folder = self._locate_folder(agent_id)
        if folder.is_symlink():
            folder.unlink()
        if not folder.is_dir():
            try:
                self._write_new(folder, files)
            except OSError:
                if not folder.is_dir():  # otherwise somebody was first
                    raise
        for name, text in files.items():
            write_private(folder / name, text.encode())

    def read(self, agent_id: str, name: str) -> str | None:
        return _read_plain_file(self._locate_folder(agent_id) / name)

    def write_allowlist(self, text: str) -> None:
        write_private(self._allowlist, text.encode())

    def read_allowlist(self) -> str | None:
        return _read_plain_file(self._allowlist)

    def _write_new(self, folder: Path, files: Mapping[str, str]) -> None:
        draft = folder.with_name(f".{folder.name}.{secrets.token_hex(4)}")
        draft.mkdir(mode=0o700)
        try:
            for name, text in files.items():
                write_private(draft / name, text.encode())
            draft.rename(folder)
        except BaseException:
            shutil.rmtree(draft, ignore_errors=True)
            raise
        sync_folder(self._agents)

    def _locate_folder(self, agent_id: str) -> Path:
        if not is_id(agent_id):
            raise NotFound("there is no plan with that id", next_step="astra plans list")
        return self._agents / agent_id


def _read_plain_file(path: Path) -> str | None:
    """Read a plain file through no symlink; anything else there is an empty text."""
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        descriptor = os.open(path, flags)
    except FileNotFoundError:
        return None
    except OSError:
        return ""
    with os.fdopen(descriptor, "rb") as file:
        try:
            return file.read(_LARGEST).decode(errors="replace")
        except OSError:
            return ""
