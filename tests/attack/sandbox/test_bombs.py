"""Bombs, one at a time: the box ends, is named for its limit, and the machine goes on."""

import subprocess
import threading
import time
from typing import Any

import pytest

from astra.trusted.policy.manifest import MIB, Limits
from astra.trusted.sandbox import machine
from astra.trusted.sandbox.ports import Verdict
from astra.trusted.stop.stop import stop_now

pytestmark = pytest.mark.serial


def test_a_fork_bomb_stays_inside_and_the_neighbours_can_still_start_programs(yard: Any) -> None:
    during: list[int] = []

    def look(_stream: str, _data: bytes) -> None:
        identity = yard_identity()
        during.append(subprocess.run(["true"], **identity, check=False).returncode)

    bomb = "echo up; b() { b | b & }; b; sleep 30"
    limits = Limits(wall_seconds=2, processes=64)
    outcome = yard.sh(bomb, limits=limits, on_output=look)
    assert outcome.verdict in {Verdict.TIMED_OUT, Verdict.FAILED}
    assert during
    assert set(during) == {0}


def test_stop_ends_a_fork_bomb_quickly_and_reports_nobody_left(yard: Any) -> None:
    up = threading.Event()
    outcomes: list[Any] = []
    bomb = "echo up; b() { b | b & }; b; while :; do :; done"
    thread = threading.Thread(
        target=lambda: outcomes.append(
            yard.sh(bomb, limits=Limits(processes=128), on_output=lambda _s, _d: up.set())
        )
    )
    thread.start()
    assert up.wait(300)
    began = time.monotonic()
    report = stop_now(yard.data_root)
    assert report.clean
    assert report.ended == 1
    assert time.monotonic() - began < 30
    thread.join(120)
    assert outcomes[0].verdict is Verdict.STOPPED_BY_OPERATOR


def test_a_memory_bomb_of_one_process_fails_for_lack_of_memory(yard: Any) -> None:
    script = "x = []\nwhile True: x.append(bytearray(2**20))"
    outcome = yard.run("/usr/bin/python3", "-c", script, limits=Limits(memory_bytes=64 * MIB))
    assert outcome.verdict is Verdict.FAILED
    assert b"MemoryError" in outcome.stderr


def test_a_memory_bomb_of_many_processes_is_killed(yard: Any) -> None:
    script = "import os\nfor _ in range(5): os.fork()\nx = bytearray(30 * 2**20)\nwhile True: pass"
    limits = Limits(memory_bytes=200 * MIB, wall_seconds=30)
    outcome = yard.run("/usr/bin/python3", "-c", script, limits=limits)
    assert (outcome.verdict, outcome.limit) == (Verdict.KILLED_BY_LIMIT, "memory")


def test_a_disk_bomb_of_many_files_is_killed(yard: Any) -> None:
    script = "n=0; while :; do n=$((n+1)); head -c 1000000 /dev/zero > f$n; done"
    outcome = yard.sh(script, limits=Limits(disk_bytes=64 * MIB, wall_seconds=60))
    assert (outcome.verdict, outcome.limit) == (Verdict.KILLED_BY_LIMIT, "disk")
    used = sum(path.stat().st_size for path in yard.work.iterdir())
    assert used < 3000 * MIB


def test_a_disk_bomb_of_nameless_files_cannot_take_the_last_of_the_disk(yard: Any) -> None:
    """Deleted files do not show in the folder; each is bounded, and so is their number."""
    script = """
import os
for n in range(10_000):
    f = os.open('x', os.O_CREAT | os.O_RDWR)
    os.unlink('x')
    os.write(f, bytes(2**20))
"""
    limits = Limits(open_files=64, file_bytes=MIB, wall_seconds=30)
    outcome = yard.run("/usr/bin/python3", "-c", script, limits=limits)
    assert outcome.verdict is Verdict.FAILED
    assert b"Too many open files" in outcome.stderr


def test_an_output_flood_is_cut_and_the_box_killed(yard: Any) -> None:
    heard = 0

    def hear(_stream: str, data: bytes) -> None:
        nonlocal heard
        heard += len(data)

    outcome = yard.sh("yes", limits=Limits(output_bytes=4 * MIB), on_output=hear)
    assert (outcome.verdict, outcome.limit) == (Verdict.KILLED_BY_LIMIT, "output")
    assert heard <= 4 * MIB + 65536


def yard_identity() -> dict[str, Any]:
    """Run as the very uid of the boxes: the neighbour that a limit around bwrap would starve."""
    identity = machine.inspect_machine().identity
    if not identity.dropped:
        return {}
    return {"user": identity.uid, "group": identity.gid, "extra_groups": []}
