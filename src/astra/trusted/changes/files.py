"""A file as a change finds it and leaves it: raw bytes and git modes, nothing interpreted."""

from dataclasses import dataclass

REGULAR, EXECUTABLE, LINK, SUBMODULE = "100644", "100755", "120000", "160000"


@dataclass(frozen=True, kw_only=True)
class ChangedFile:
    """One path that differs between two trees; a side that does not exist is None.

    A rename is a file deleted and a file added: nothing is guessed from likeness, so nothing can
    hide behind a guess.
    """

    path: str
    old_mode: str | None = None
    new_mode: str | None = None
    old: bytes | None = None
    new: bytes | None = None


@dataclass(frozen=True, kw_only=True)
class FileState:
    """A file as a commit shall hold it."""

    content: bytes
    mode: str = REGULAR


Result = dict[str, FileState | None]
"""What each path shall be; None where it shall not be."""
