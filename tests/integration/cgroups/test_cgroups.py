"""Control groups: used where they were handed over, left alone and reported where not."""

import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from astra.trusted.policy.manifest import Limits
from astra.trusted.sandbox.cgroups import Delegation, Group, Host, find_delegation, find_own_group

MOUNT = "30 23 0:26 / {} rw,nosuid - cgroup2 cgroup2 rw"
ORDINARY = 1000


@pytest.fixture
def shaped(tmp_path: Path) -> Host:
    """A folder with the files of a group that was handed to an ordinary user."""
    group = tmp_path / "user.slice" / "astra.service"
    group.mkdir(parents=True)
    for name in ("cgroup.events", "cgroup.subtree_control"):
        (group / name).touch()
    (group / "cgroup.controllers").write_text("cpu memory pids\n")
    (group / "cgroup.procs").write_text("4711\n")
    return Host(
        cgroup="0::/user.slice/astra.service\n",
        mounts=MOUNT.format(tmp_path),
        uid=ORDINARY,
        pid=4711,
    )


def folder(host: Host) -> Path:
    found = find_own_group(host.cgroup, host.mounts)
    assert found is not None
    return found


def test_a_group_that_was_handed_over_is_used(shaped: Host) -> None:
    assert find_delegation(shaped) == Delegation(folder=folder(shaped))


def test_a_group_of_a_container_is_found_below_its_mount(tmp_path: Path) -> None:
    mounts = f"30 23 0:26 /docker/abc {tmp_path} rw - cgroup2 cgroup2 rw"
    assert find_own_group("0::/docker/abc/astra\n", mounts) == tmp_path / "astra"
    assert find_own_group("0::/docker/other\n", mounts) is None


@pytest.mark.parametrize(
    ("name", "text", "why"),
    [
        ("cgroup.controllers", "cpu pids", "no controller for memory"),
        ("cgroup.controllers", "", "no controller for memory and pids"),
        ("cgroup.procs", "4711\n4712\n", "other programs share the group"),
    ],
)
def test_a_group_that_cannot_be_divided_says_why(
    shaped: Host, name: str, text: str, why: str
) -> None:
    (folder(shaped) / name).write_text(text)
    assert find_delegation(shaped).why_not == why
    words = find_delegation(shaped).in_words()
    assert words.startswith(f"no cgroup delegation ({why}): limits by rlimit and watcher")
    assert "shared memory" in words
    assert "memfd is refused" in words


def test_the_root_group_is_nobodys_to_divide(shaped: Host) -> None:
    (folder(shaped) / "cgroup.events").unlink()
    assert "root group" in find_delegation(shaped).why_not


def test_without_cgroup_v2_there_is_nothing_to_divide(shaped: Host) -> None:
    assert find_delegation(replace(shaped, mounts="")).why_not == "there is no cgroup v2"
    assert (
        find_delegation(replace(shaped, cgroup="4:memory:/x\n")).why_not == "there is no cgroup v2"
    )


def test_root_needs_to_be_handed_it_too(shaped: Host) -> None:
    """Root can write everywhere, which is no permission."""
    root = replace(shaped, uid=0)
    assert "Delegate=yes" in find_delegation(root).why_not
    assert find_delegation(replace(root, marks={"user.delegate": b"1"})).folder == folder(shaped)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everything")
def test_a_group_of_somebody_else_is_left_alone(shaped: Host) -> None:
    (folder(shaped) / "cgroup.subtree_control").chmod(0o444)
    assert find_delegation(shaped).why_not == "the group belongs to somebody else"


def test_limits_are_written_as_the_kernel_reads_them(tmp_path: Path) -> None:
    names = ("pids.max", "memory.max", "memory.oom.group", "memory.swap.max", "cgroup.procs")
    for name in names:
        (tmp_path / name).touch()
    group = Group(tmp_path)
    group.limit(Limits(processes=7, memory_bytes=1 << 20))
    group.take(4711)
    written = [(tmp_path / name).read_text() for name in names]
    assert written == ["7", "1048576", "1", "0", "4711"]
    assert group.members() == [4711]


def test_the_limit_that_the_kernel_held_a_group_to_is_named(tmp_path: Path) -> None:
    group = Group(tmp_path)
    assert group.find_passed_limit() is None
    (tmp_path / "pids.events").write_text("max 0\n")
    (tmp_path / "memory.events").write_text("low 0\nmax 7\noom 1\noom_kill 0\n")
    assert group.find_passed_limit() is None
    (tmp_path / "pids.events").write_text("max 3\n")
    assert group.find_passed_limit() == "processes"
    (tmp_path / "memory.events").write_text("low 0\noom 1\noom_kill 1\n")
    assert group.find_passed_limit() == "memory"


def test_this_machine_says_which_it_is() -> None:
    """In a process of its own: it may step into a leaf of its group."""
    program = (
        "from astra.trusted.sandbox.cgroups import take_delegation as t; print(t().in_words())"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    words = done.stdout
    assert words.startswith(("no cgroup delegation (", "memory and processes of each box"))


@pytest.fixture
def real_group() -> Iterator[Group]:
    """A real group without controllers, below this process's own, where root may make one."""
    own = find_own_group(
        Path("/proc/self/cgroup").read_text(), Path("/proc/self/mountinfo").read_text()
    )
    if own is None or os.geteuid() != 0 or not os.access(own, os.W_OK):
        pytest.skip("no cgroup v2 that this user may write")
    made = Group(own / f"astra-test-{os.getpid()}")
    try:
        made.path.mkdir()
    except OSError as error:
        pytest.skip(f"no group can be made here: {error.strerror}")
    yield made
    made.path.rmdir()


def test_killing_a_group_ends_all_of_it_however_it_forks(real_group: Group) -> None:
    more = "n=0; while [ $n -lt 40 ]; do sleep 600 & n=$((n+1)); done; wait"
    script = f"read go; (setsid sh -c '{more}' &); {more}"
    with subprocess.Popen(["sh", "-c", script], stdin=subprocess.PIPE) as forks:
        real_group.take(forks.pid)
        assert forks.stdin is not None
        forks.stdin.write(b"go\n")
        forks.stdin.close()
        while len(real_group.members()) < 20:
            pass
        assert real_group.kill()
        forks.wait(30)
    while real_group.members():
        pass
    assert "populated 0" in (real_group.path / "cgroup.events").read_text()
