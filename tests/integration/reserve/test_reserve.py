"""Disk kept for stop, rollback and decisions: a full disk silences the agent, not the operator."""

import os
import subprocess
import sys
from pathlib import Path

from astra.trusted.file_ledger import FileLedger
from astra.trusted.file_ledger.reserve import SIZE, Reserve
from astra.trusted.kernel.errors import LedgerUnavailable
from astra.trusted.ledger.record import Event

HERE = Path(__file__).parent


def test_on_a_disk_that_is_really_full_decisions_and_stop_go_on(tmp_path: Path) -> None:
    program = [sys.executable, HERE / "full_disk.py", tmp_path]
    done = subprocess.run(
        ["unshare", "--user", "--map-root-user", "--mount", *program],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(HERE.parent.parent)},
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == "held to the end\n"


def test_the_reserve_is_real_blocks_and_private(tmp_path: Path) -> None:
    reserve = Reserve(tmp_path)
    assert reserve.fill()
    facts = reserve.path.stat()
    assert (facts.st_size, facts.st_mode & 0o777) == (SIZE, 0o600)
    assert facts.st_blocks * 512 >= SIZE
    assert list(tmp_path.iterdir()) == [reserve.path]


def test_giving_it_up_is_noticed_by_whoever_asks_and_mended_when_there_is_room(
    tmp_path: Path,
) -> None:
    reserve, other = Reserve(tmp_path), Reserve(tmp_path)
    reserve.fill()
    other.release()
    assert not reserve.path.exists()
    assert not reserve.is_out()
    assert reserve.path.exists()


class NoRoom(Reserve):
    """A disk on which nothing can be laid down."""

    def fill(self) -> bool:
        return False


def test_without_a_reserve_only_what_is_urgent_is_recorded(tmp_path: Path) -> None:
    ledger = FileLedger(tmp_path, reserve=NoRoom(tmp_path), urgent=frozenset({"work_stopped"}))
    try:
        ledger.append([Event(type="work_stopped", actor="operator")])
        for events in (["tool_called"], ["work_stopped", "tool_called"]):
            try:
                ledger.append([Event(type=name, actor="agent") for name in events])
            except LedgerUnavailable as refused:
                assert "kept for stop" in refused.detail
            else:
                raise AssertionError("it was recorded")
        assert ledger.head().sequence == 1
    finally:
        ledger.close()
