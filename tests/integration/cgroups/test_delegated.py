"""A group that was really handed over: boxes are held to memory and processes by the kernel.

It needs cgroup v2 with the controllers for memory and pids, and a place where this user may make a
group. Many containers have neither. `make cgroups` brings a kernel that has both.
"""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from astra.trusted.sandbox.cgroups import NEEDED, find_own_group

PROGRAM = Path(__file__).with_name("program.py")
Run = Callable[..., dict[str, Any]]

pytestmark = pytest.mark.serial


@pytest.fixture
def handed_over() -> Iterator[Path]:
    """An empty group with the controllers, as `Delegate=yes` would give it to a daemon."""
    parent = _dividable_parent()
    made = parent / f"astra-test-{os.getpid()}"
    try:
        made.mkdir()
    except OSError as error:
        pytest.skip(f"no group can be made in {parent}: {error.strerror}")
    if os.geteuid() == 0:
        os.setxattr(made, "user.delegate", b"1")
    yield made
    for folder in (*sorted(made.glob("*/")), made):
        folder.rmdir()


@pytest.fixture
def in_group(handed_over: Path, tmp_path: Path) -> Run:
    """Run a command in a box of a daemon that lives in that group; gives what came of it."""

    def run(*command: str, **limits: float) -> dict[str, Any]:
        wanted = {"command": command, "limits": limits, "root": str(tmp_path)}
        with subprocess.Popen(
            [sys.executable, PROGRAM], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        ) as daemon:
            (handed_over / "cgroup.procs").write_text(str(daemon.pid))
            said, _ = daemon.communicate(json.dumps(wanted))
        return json.loads(said)

    return run


def test_a_box_of_many_processes_is_killed_for_its_memory_and_says_so(in_group: Run) -> None:
    script = (
        "import os, time\nfor _ in range(3): os.fork()\nx = bytearray(30 * 2**20)\ntime.sleep(60)"
    )
    done = in_group("/usr/bin/python3", "-c", script, memory_bytes=100 * 2**20)
    assert (done["verdict"], done["limit"]) == ("killed_by_limit", "memory"), done
    assert "memory" in done["reason"]
    assert done["left"] == []


def test_memory_that_is_no_process_s_own_counts_too(in_group: Run) -> None:
    """Files in the box's scratch space are memory, and no limit of a process sees them."""
    fill = "for n in 1 2 3 4 5 6 7 8; do head -c 20000000 /dev/zero > /tmp/f$n; done; sleep 60"
    done = in_group("sh", "-c", fill, memory_bytes=64 * 2**20)
    assert (done["verdict"], done["limit"]) == ("killed_by_limit", "memory"), done
    assert done["left"] == []


def test_a_fork_bomb_is_killed_for_its_processes_and_says_so(in_group: Run) -> None:
    done = in_group("sh", "-c", "b() { b | b & }; b; sleep 60", processes=32)
    assert (done["verdict"], done["limit"]) == ("killed_by_limit", "processes"), done
    assert "processes" in done["reason"]
    assert done["left"] == []


def test_what_ends_for_lack_of_processes_before_anybody_looks_is_named_too(in_group: Run) -> None:
    forks = "import os\nfor _ in range(40):\n  if os.fork() == 0: os.pause()"
    done = in_group("/usr/bin/python3", "-c", forks, processes=16)
    assert (done["verdict"], done["limit"]) == ("killed_by_limit", "processes"), done


def test_a_box_within_its_limits_is_not_bothered(in_group: Run) -> None:
    done = in_group("sh", "-c", "true & true & wait; echo fine", processes=16)
    assert (done["verdict"], done["stdout"]) == ("succeeded", "fine\n"), done
    assert done["words"].startswith("memory and processes of each box by its control group")
    assert done["left"] == []


def _dividable_parent() -> Path:
    """Find the nearest group around this process whose children have the controllers."""
    own = find_own_group(
        Path("/proc/self/cgroup").read_text(), Path("/proc/self/mountinfo").read_text()
    )
    if own is None:
        pytest.skip("there is no cgroup v2")
    for folder in (own, *own.parents):
        control = folder / "cgroup.subtree_control"
        if not control.exists():
            break
        if set(NEEDED) <= set(control.read_text().split()) and _may_move_into(folder):
            return folder
    here = (own / "cgroup.controllers").read_text().split()
    pytest.skip(f"no group here may be divided with {NEEDED}; this one has {here or 'none'}")


def _may_move_into(folder: Path) -> bool:
    """Tell whether a process of ours may be moved below: both ends' common group says so."""
    return os.access(folder, os.W_OK) and os.access(folder / "cgroup.procs", os.W_OK)
