"""A program that dies between any two lines of the ledger, one after the other.

For N = 1, 2, 3 … a forked child opens the ledger, appends, tells its parent what was
acknowledged, and is killed with SIGKILL as it reaches the Nth line of the ledger's own code. Then
the parent opens what is left and checks that nothing acknowledged is missing and nothing happened
twice. It ends when a child lives to the end, and prints how many were killed.

    python crash_points.py FOLDER STRIDE
"""

import os
import shutil
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

from astra.testing import SetClock
from astra.trusted import file_ledger
from astra.trusted.file_ledger.check import check_files
from astra.trusted.file_ledger.ledger import FileLedger
from astra.trusted.kernel.signatures import KeyPair
from astra.trusted.ledger import chain, views
from astra.trusted.ledger.record import Event

KEY = KeyPair.generate()
WATCHED = (f"{Path(file_ledger.__file__).parent}/", str(chain.__file__))
"""Where it dies; named by the modules themselves, so that moving them loses none."""


def main(folder: Path, stride: int) -> None:
    start = folder / "start"
    prepare(start)
    kills, line = 0, 1
    while True:
        var = folder / "var"
        shutil.rmtree(var, ignore_errors=True)
        shutil.copytree(start, var)
        acknowledged, killed = run_child(var, line)
        examine(var, acknowledged, f"killed at line {line}")
        if not killed:
            break
        kills, line = kills + 1, line + stride
    print(kills)


def prepare(var: Path) -> None:
    """Leave a ledger whose last month is over and whose end is torn: the richest opening."""
    clock = SetClock()
    ledger = FileLedger(var, key=KEY, clock=clock)
    ledger.append([happened(0, "start")])
    ledger.close()
    with (var / "ledger" / "2026-03.ndjson").open("ab") as file:
        file.write(b'{"sequence":2,"ti')


def run_child(var: Path, line: int) -> tuple[list[int], bool]:
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        sys.settrace(killer(line))
        live(var, writing)
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        acknowledged = list(pipe.read())
    _, status = os.waitpid(child, 0)
    killed = os.WIFSIGNALED(status)
    if killed:
        assert os.WTERMSIG(status) == signal.SIGKILL, status
    else:
        assert os.waitstatus_to_exitcode(status) == 0, status
    return acknowledged, killed


def live(var: Path, told: int) -> None:
    clock = SetClock()
    clock.advance(days=40)
    ledger = FileLedger(var, key=KEY, clock=clock)
    for number in (1, 2):
        ledger.append([happened(number, f"a{number}"), happened(number, f"b{number}")])
        os.write(told, bytes([number]))
    ledger.rebuild()
    ledger.compress_finished()
    ledger.close()


def examine(var: Path, acknowledged: list[int], when: str) -> None:
    ledger = FileLedger(var, key=KEY, clock=SetClock())
    found = [r.data["n"] for r in views.records(ledger, type_="thing_happened", limit=100)]
    told = views.records(ledger, type_="ledger_tail_set_aside")
    ledger.append([happened(3, "after")])
    differences = ledger.compare_rebuilt()
    ledger.close()
    expected = [0] + [n for n in (1, 2) if n in found for _ in "ab"]
    assert found == expected, f"{when}: half a batch or a wrong order: {found}"
    assert {*acknowledged} <= {*found}, f"{when}: {acknowledged} was acknowledged, {found} is there"
    assert len(told) == 1, f"{when}: the torn end was told {len(told)} times"
    assert differences == [], f"{when}: {differences}"
    report = check_files(var, public_key=KEY.public)
    assert report.ok, f"{when}: {report.problems}"


def killer(line: int) -> Callable[[FrameType, str, Any], Any]:
    seen = 0

    def local(_frame: FrameType, event: str, _arg: Any) -> Any:
        nonlocal seen
        if event == "line":
            seen += 1
            if seen == line:
                os.kill(os.getpid(), signal.SIGKILL)
        return local

    def enter(frame: FrameType, _event: str, _arg: Any) -> Any:
        return local if frame.f_code.co_filename.startswith(WATCHED) else None

    return enter


def happened(number: int, key: str) -> Event:
    return Event(type="thing_happened", actor="agent", data={"n": number}, key=key)


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
