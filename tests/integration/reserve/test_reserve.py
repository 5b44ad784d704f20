"""Disk kept for stop, rollback and decisions: a full disk silences the agent, not the operator."""

import errno
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from astra.trusted.file_ledger.ledger import FileLedger
from astra.trusted.file_ledger.reserve import INODES, SIZE, Reserve
from astra.trusted.file_ledger.trouble import unavailable_error
from astra.trusted.kernel.errors import IndexUnavailable, LedgerUnavailable
from astra.trusted.ledger.record import Event

HERE = Path(__file__).parent


def test_on_a_disk_that_is_really_full_decisions_and_stop_go_on(tmp_path: Path) -> None:
    hold_to_the_end("full_disk.py", tmp_path)


def test_on_a_full_disk_a_release_goes_back_and_what_is_taken_away_stays_away(
    tmp_path: Path,
) -> None:
    """By hand and by itself; a token is revoked, a change is rejected."""
    hold_with_app(tmp_path, "blocks", "size=128m")


def test_without_a_free_inode_the_same_holds_and_the_disk_counts_as_low(tmp_path: Path) -> None:
    hold_with_app(tmp_path, "inodes", "size=512m,nr_inodes=8000")


def hold_to_the_end(program: str, folder: Path) -> None:
    as_root = ["unshare", "--user", "--map-root-user", "--mount"]
    run_to_the_end([*as_root, sys.executable, HERE / program, folder])


def hold_with_app(folder: Path, without: str, size: str) -> None:
    """Mount a small disk and come back to this user, who starts boxes as on any other day."""
    (folder / "disk").mkdir()
    mount = f'mount -t tmpfs -o {size} tmpfs "{folder}/disk" && exec "$@"'
    mounted = ["unshare", "--mount", "sh", "-c", mount, "sh"]
    if os.geteuid() != 0:
        back = ["unshare", "--user", f"--map-user={os.geteuid()}", f"--map-group={os.getegid()}"]
        mounted = ["unshare", "--user", "--map-root-user", *mounted[1:], *back]
    run_to_the_end([*mounted, sys.executable, HERE / "full_disk_with_app.py", folder, without])


def run_to_the_end(command: Sequence[str | Path]) -> None:
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(HERE.parent.parent)},
    )
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    assert done.stdout == "held to the end\n"


def test_the_reserve_is_real_blocks_and_private(tmp_path: Path) -> None:
    reserve = Reserve(tmp_path)
    assert reserve.fill()
    facts = reserve.path.stat()
    assert (facts.st_size, facts.st_mode & 0o777) == (SIZE, 0o600)
    assert facts.st_blocks * 512 >= SIZE
    assert {*tmp_path.iterdir()} == {reserve.path, reserve.inodes}
    assert len([*reserve.inodes.iterdir()]) == INODES


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


class NoBlock(Reserve):
    """A disk on which the index could not follow."""

    def has_room(self) -> bool:
        return False


def test_what_is_refused_for_want_of_room_did_not_happen(tmp_path: Path) -> None:
    ledger = FileLedger(tmp_path, reserve=NoBlock(tmp_path), urgent=lambda _batch: True)
    try:
        with pytest.raises(LedgerUnavailable, match="nothing was recorded") as refusal:
            ledger.append([Event(type="work_stopped", actor="operator")])
        assert refusal.value.http_status == 503
        assert ledger.head().is_empty
    finally:
        ledger.close()


def test_only_what_surely_did_not_happen_is_answered_with_503() -> None:
    assert unavailable_error(OSError(errno.ENOSPC, "")).http_status == 503
    assert unavailable_error(OSError(errno.EIO, ""), uncertain=True).http_status == 500
    assert IndexUnavailable.http_status == 500


def _is_stop(batch: Sequence[Event]) -> bool:
    return all(event.type == "work_stopped" for event in batch)


def test_without_a_reserve_only_what_is_urgent_is_recorded(tmp_path: Path) -> None:
    ledger = FileLedger(tmp_path, reserve=NoRoom(tmp_path), urgent=_is_stop)
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
