"""A chain that is moved by a program that dies at any line of the move, there and back.

For N = 1, 2, 3 … a forked child moves the chain of a data root into a database and is killed with
SIGKILL as it reaches the Nth line of `moving` that it was not in before. Then the chain is looked
for where the data root says it is, the same move is made to its end, and the chain goes back into
files the same way, with a record more for the next round. It ends when neither child was killed,
and prints how many were.

    python move_crash_points.py DATA_ROOT URL
"""

import os
import signal
import sys
from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any

from astra.adapters.postgres_ledger import moving
from astra.adapters.postgres_ledger.stored import ChainRows
from astra.trusted.file_ledger.ledger import FileLedger
from astra.trusted.file_ledger.moved import read_place
from astra.trusted.file_ledger.places import LedgerPlaces
from astra.trusted.file_ledger.stored import ChainFiles
from astra.trusted.files.data_root import DataRoot
from astra.trusted.ledger import stored
from astra.trusted.ledger.record import Event


def main(root: DataRoot, url: str) -> None:
    root.ledger_key_file.parent.mkdir(parents=True)
    root.make_ledger_key()
    kills, line = 0, 0
    while True:
        line += 1
        lines = append_record(root, line)
        there = partial(moving.move_to_database, root, url)
        back = partial(moving.move_to_files, root, url)
        counts = [die_and_resume(root, url, move, line, lines) for move in (there, back)]
        if not any(counts):
            break
        kills += sum(counts)
    print(kills)


def append_record(root: DataRoot, number: int) -> list[str]:
    """Append to the chain in files; gives its lines."""
    with closing(FileLedger(root.var, key=root.read_ledger_key())) as ledger:
        ledger.append([Event(type="thing_happened", actor="agent", data={"number": number})])
    return read_lines(root, "")


def die_and_resume(
    root: DataRoot, url: str, move: Callable[[], moving.Moved], line: int, lines: list[str]
) -> bool:
    """Have a child die in a move, then make it; tells whether the child was killed."""
    is_killed = run_child(move, line)
    assert read_lines(root, url) == lines, (
        f"killed at line {line}: it is not where it is said to be"
    )
    moved = move()
    assert moved.records == len(lines), f"killed at line {line}: {moved}"
    assert read_lines(root, url) == lines, f"resumed after line {line}"
    assert (read_place(root.var) is None) == (moved.place == "files")
    return is_killed


def read_lines(root: DataRoot, url: str) -> list[str]:
    """Read the chain from where the data root says it is."""
    in_files = read_place(root.var) is None
    chain = ChainFiles(LedgerPlaces(root.var).chain) if in_files else ChainRows(url)
    return [record.line for record in stored.read_records(chain)]


def run_child(move: Callable[[], object], line: int) -> bool:
    child = os.fork()
    if child == 0:
        sys.settrace(make_killer(line))
        move()
        os._exit(0)
    _, status = os.waitpid(child, 0)
    code = os.waitstatus_to_exitcode(status)
    assert code in {0, -signal.SIGKILL}, code
    return code != 0


def make_killer(line: int) -> Callable[[FrameType, str, Any], Any]:
    seen = set[int]()

    def count_line(frame: FrameType, event: str, _arg: Any) -> Any:
        if event == "line":
            seen.add(frame.f_lineno)
            if len(seen) == line:
                os.kill(os.getpid(), signal.SIGKILL)
        return count_line

    def enter(frame: FrameType, _event: str, _arg: Any) -> Any:
        return count_line if frame.f_code.co_filename == moving.__file__ else None

    return enter


if __name__ == "__main__":
    main(DataRoot(Path(sys.argv[1])), sys.argv[2])
