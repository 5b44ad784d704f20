r"""The lines of a file that a change touches, before it and after it, as git keeps them.

A reviewer asks for what a diff leaves out, and says something about a line. Both name a file and a
line of one commit, so both are checked here against what is there. Only files of the change can be
read; lines end where git ends them, at a newline, whatever else the agent wrote into them.

>>> split_lines(b"one\ntwo\x0c\nthree")
['one', 'two\x0c', 'three']
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from astra.trusted.changes.files import EXECUTABLE, REGULAR
from astra.trusted.changes.model import Change
from astra.trusted.changes.ports import ChangeRepo
from astra.trusted.kernel.errors import BadInput, NotFound
from astra.trusted.kernel.text import printable
from astra.trusted.policy.paths import quote

Side = Literal["old", "new"]
MOST_LINES = 500
LONGEST_LINE = 4_000
MOST_REMARKS = 200
LONGEST_REMARK = 2_000
_LONGEST_ALTOGETHER = 40_000


@dataclass(frozen=True, kw_only=True)
class Remark:
    """What a reviewer says about one line of one side of a diff."""

    path: str
    side: Side
    line: int
    text: str

    def as_dict(self) -> dict[str, Any]:
        return dict(self.__dict__)


@dataclass(frozen=True)
class Lines:
    repo: ChangeRepo

    def read_page(
        self, change: Change, *, path: str, side: Side, start: int, end: int
    ) -> dict[str, Any]:
        """Give some lines of a file, numbered from one, and how many it has."""
        if not 1 <= start <= end < start + MOST_LINES:
            raise BadInput(
                f"ask for 1 to {MOST_LINES} lines, the first before the last",
                next_step="ask for a page at a time",
            )
        file_lines = self._read_lines(change, path, side)
        lines = [line[:LONGEST_LINE] for line in file_lines[start - 1 : end]]
        return {
            "id": change.id,
            "commit": _choose_commit(change, side),
            "path": path,
            "side": side,
            "start": start,
            "lines": lines,
            "total": len(file_lines),
        }

    def check_remarks(self, change: Change, remarks: Sequence[Remark]) -> list[dict[str, Any]]:
        """Give remarks as a record keeps them; one on a line that is not there is refused."""
        if len(remarks) > MOST_REMARKS or sum(len(remark.text) for remark in remarks) > (
            _LONGEST_ALTOGETHER
        ):
            raise BadInput(
                f"at most {MOST_REMARKS} remarks at once, {_LONGEST_ALTOGETHER} characters",
                next_step="send some of them now and the others after that",
            )
        counts: dict[tuple[str, Side], int] = {}
        for remark in remarks:
            file_side = (remark.path, remark.side)
            if file_side not in counts:
                counts[file_side] = len(self._read_lines(change, *file_side))
            if not 1 <= remark.line <= counts[file_side]:
                raise _no_line(change, remark, counts[file_side])
        return [_remark_to_dict(remark) for remark in remarks]

    def _read_lines(self, change: Change, path: str, side: Side) -> list[str]:
        is_in_change = any(path == file["path"] for file in change.facts["files"])
        file_states = self.repo.files(_choose_commit(change, side), [path] if is_in_change else [])
        if path not in file_states:
            raise NotFound(
                f"{change.id} has no {quote(path)} {'before' if side == 'old' else 'after'} it",
                code="no_such_file",
                next_step=f"name a file of it: astra changes show {change.id}",
            )
        state = file_states[path]
        return split_lines(state.content) if state.mode in {REGULAR, EXECUTABLE} else []


def split_lines(content: bytes) -> list[str]:
    lines = content.decode(errors="backslashreplace").split("\n")
    return lines[:-1] if lines[-1] == "" else lines


def _choose_commit(change: Change, side: Side) -> str:
    return change.base if side == "old" else change.commit


def _remark_to_dict(remark: Remark) -> dict[str, Any]:
    text = printable(remark.text).strip()
    if not text or len(text) > LONGEST_REMARK:
        raise BadInput(
            f"a remark on a line has 1 to {LONGEST_REMARK} characters",
            next_step="the agent gets to read it beside the line",
        )
    return {**remark.as_dict(), "text": text}


def _no_line(change: Change, remark: Remark, count: int) -> NotFound:
    return NotFound(
        f"{quote(remark.path)} has {count} lines, none of them {remark.line}",
        code="no_such_line",
        next_step=f"look at it: astra changes diff {change.id}",
    )
