"""What was said, in private files: `var/conversations/ID/SHA256`, a document each.

Only the daemon reads and writes them. A file is whole and on disk, with the folder it is in, before
`keep` returns. A file whose bytes no longer have the digest of its name is as good as missing.
"""

import contextlib
import hashlib
import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from astra.trusted.kernel.errors import AstraError, BadInput
from astra.trusted.kernel.ids import is_id
from astra.trusted.kernel.private_files import sync_folder, write_private

FOLDER = "conversations"
_DIGEST = re.compile(r"[0-9a-f]{64}")


class TextNotKept(AstraError):
    """A text could not be written, so nothing was recorded."""

    code = "text_not_kept"
    http_status = 507


@dataclass(frozen=True)
class ConversationTexts:
    folder: Path

    def keep(self, conversation: str, document: bytes) -> str:
        digest = hashlib.sha256(document).hexdigest()
        place = self._find_folder(conversation)
        try:
            self._make_folder(place)
            write_private(place / digest, document)
        except OSError as error:
            raise TextNotKept(
                f"the text could not be written to {place}: {error.strerror}",
                next_step="make room on the disk of the data root, then say it again",
            ) from None
        return digest

    def read(self, conversation: str, digest: str) -> bytes | None:
        if not _DIGEST.fullmatch(digest):
            return None
        try:
            content = (self._find_folder(conversation) / digest).read_bytes()
        except OSError:
            return None
        return content if hashlib.sha256(content).hexdigest() == digest else None

    def remove(self, conversation: str, digest: str = "") -> None:
        place = self._find_folder(conversation)
        if not digest:
            shutil.rmtree(place, ignore_errors=True)
            place = self.folder
        elif _DIGEST.fullmatch(digest):
            (place / digest).unlink(missing_ok=True)
        if place.is_dir():
            sync_folder(place)

    def list_kept(self) -> Iterator[tuple[str, tuple[str, ...]]]:
        """Give what is there; half-written files are removed on the way."""
        for place in sorted(self.folder.glob("*")):
            if is_id(place.name) and place.is_dir() and not place.is_symlink():
                _remove_half_written(place)
                names = (path.name for path in sorted(place.iterdir()))
                yield place.name, tuple(name for name in names if _DIGEST.fullmatch(name))

    def _make_folder(self, place: Path) -> None:
        for folder in (self.folder, place):
            if not folder.is_dir():
                folder.mkdir(mode=0o700, parents=True, exist_ok=True)
                sync_folder(folder.parent)

    def _find_folder(self, conversation: str) -> Path:
        if not is_id(conversation):
            raise BadInput("that is not the id of a conversation", next_step="astra chat --list")
        return self.folder / conversation


def _remove_half_written(place: Path) -> None:
    for path in place.glob(".*"):
        with contextlib.suppress(OSError):
            path.unlink()
