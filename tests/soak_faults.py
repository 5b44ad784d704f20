"""The faults of a soak. Each is made, held for a while, and taken away again.

A fault says in `find_obstacle` why it cannot be made here; it is then skipped by name.
"""

import contextlib
import os
import random
import resource
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from pathlib import Path

from astra.adapters.supervisor.client import HolderClient
from astra.interfaces import socket_path
from astra.trusted.file_ledger import owner_lock
from astra.trusted.kernel.errors import AstraError
from astra.trusted.ledger.record import Event
from deploying import until
from driver import Astra, kill_process, past
from filling import fill, relieve, use_up_inodes

MOST_SECONDS = 180.0


@dataclass(kw_only=True)
class World:
    """A data root on a small disk of its own, and the dice that decide."""

    astra: Astra
    disk: Path
    dice: random.Random
    may_work: threading.Event = field(default_factory=threading.Event)
    violations: list[str] = field(default_factory=list[str])
    is_at_rest: Callable[[], bool] = lambda: True
    """Whether no worker is in the middle of a step."""

    def daemon(self) -> int:
        """Give the process that owns the data root, waiting until there is one."""
        lock = self.astra.root / "var" / "run" / "owner.lock"
        return until(lambda: owner_lock.find_holder(lock), seconds=MOST_SECONDS)

    def choose_server(self) -> int:
        """Give the daemon, or the holder of the app where there is one."""
        state = HolderClient(self.astra.root).state()
        return state.pid if state and self.dice.random() < 1 / 3 else self.daemon()

    def hold(self) -> None:
        time.sleep(self.dice.uniform(0.5, 4.0))


Fault = Callable[[World], None]


def kill_daemon(world: World) -> None:
    kill_process(world.daemon())


def kill_holder(world: World) -> None:
    if state := HolderClient(world.astra.root).state():
        kill_process(state.pid)


def kill_daemon_and_holder(world: World) -> None:
    state = HolderClient(world.astra.root).state()
    kill_process(world.daemon())
    if state:
        kill_process(state.pid)


def kill_any_process(world: World) -> None:
    """Kill one of all that run for this data root: a box, a git, a release, a worker."""
    pids = list_processes(world.astra.root)
    if pids:
        kill_process(world.dice.choice(pids))


def hang_daemon(world: World) -> None:
    pid = world.daemon()
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGSTOP)
        world.hold()
        os.kill(pid, signal.SIGCONT)


def fill_disk(world: World) -> None:
    try:
        fill(world.disk, leave=0)
        world.hold()
    finally:
        relieve(world.disk)


def take_inodes(world: World) -> None:
    try:
        use_up_inodes(world.disk)
        world.hold()
    finally:
        relieve(world.disk)


def make_read_only(world: World) -> None:
    """Take the right to write away while nobody has a file open: commands say so in words."""
    with without_daemon(world, lambda: remount(world.disk, "ro")):
        try:
            for words in (["status"], ["doctor"]):
                expect_words(world, words)
        finally:
            remount(world.disk, "rw")


def slow_disk(world: World) -> None:
    """Let every sync of the daemon take a third of a second."""
    calls = "fsync,fdatasync"
    command = ["strace", "-q", "-f", "-o", "/dev/null", "-e", f"trace={calls}"]
    command += ["-e", f"inject={calls}:delay_enter=300000", "-p", str(world.daemon())]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL) as tracer:
        world.hold()
        tracer.send_signal(signal.SIGINT)  # which has it let go


def jump_clock(world: World) -> None:
    """Have a daemon write under a clock that is ahead by up to a year, then accept the real one."""
    hours = world.dice.uniform(2, 24 * 365)

    def write_ahead() -> bool:
        with past(world.astra, hours=-hours) as runtime:
            runtime.ledger.append(
                [Event(type="app_restarted", actor="daemon", data={"release": "rel"})]
            )
        return True

    with without_daemon(world, write_ahead):
        pass
    accept_clock(world)


def accept_clock(world: World) -> None:
    """Sign for the real clock as an operator does; a daemon may be busy starting."""

    def is_accepted() -> bool:
        done = world.astra.run("clock", "accept", "--json")
        return done.returncode == 0

    until(is_accepted, seconds=MOST_SECONDS, otherwise=lambda: world.astra.run("clock", "accept"))


def limit_descriptors(world: World) -> None:
    with limited(world, resource.RLIMIT_NOFILE, count_descriptors, spare=3):
        world.hold()


def limit_memory(world: World) -> None:
    with limited(world, resource.RLIMIT_AS, measure_address_space, spare=4 << 20):
        world.hold()


def open_half(world: World) -> None:
    """Connect a hundred times and say half of something."""
    run = world.astra.root / "var" / "run"
    with contextlib.ExitStack() as connections:
        for number in range(100):
            name = socket_path.MCP if number % 2 else socket_path.NAME
            with contextlib.suppress(OSError):
                connection = socket_path.connect(run, name)
                connections.enter_context(connection)
                connection.send(b'{"jsonrpc": "2.' if number % 2 else b"POST /api/fl")
        world.hold()


FAULTS: dict[str, Fault] = {
    "daemon killed": kill_daemon,
    "holder killed": kill_holder,
    "daemon and holder killed": kill_daemon_and_holder,
    "some process killed": kill_any_process,
    "daemon hangs": hang_daemon,
    "disk full": fill_disk,
    "no inodes": take_inodes,
    "disk read-only": make_read_only,
    "disk slow": slow_disk,
    "clock jumps": jump_clock,
    "descriptors limited": limit_descriptors,
    "memory limited": limit_memory,
    "connections half open": open_half,
}


def find_obstacle(name: str, disk: Path) -> str:
    """Say why a fault cannot be made on this machine, or nothing."""
    if name in {"disk full", "no inodes", "disk read-only"} and not os.path.ismount(disk):
        return "mounting a small disk is not allowed here"
    if name == "disk slow" and not may_trace():
        return "strace is not here, or may not attach"
    return ""


def may_trace() -> bool:
    if shutil.which("strace") is None:
        return False
    with subprocess.Popen(["sleep", "600"]) as sleeper:
        command = ["strace", "-q", "-o", "/dev/null", "-p", str(sleeper.pid)]
        with subprocess.Popen(command, stderr=subprocess.PIPE) as tracer:
            try:
                tracer.wait(2)
                attached = False
            except subprocess.TimeoutExpired:
                attached = True
                tracer.send_signal(signal.SIGINT)
        sleeper.kill()
    return attached


# What faults are made of


def list_processes(data_root: Path) -> list[int]:
    """List the processes that name this data root in their command, but for this one."""
    pids: list[int] = []
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if os.fsencode(data_root) in (folder / "cmdline").read_bytes():
                pids.append(int(folder.name))
    return [pid for pid in pids if pid != os.getpid()]


@contextlib.contextmanager
def without_daemon(world: World, act: Callable[[], bool]) -> Generator[None]:
    """Act in a moment without work and without a daemon; what is under way ends first."""

    answers: list[str] = []

    def attempt() -> bool:
        done = world.astra.run("down")
        answers[:] = [done.stdout, done.stderr]
        with contextlib.suppress(AstraError, OSError, AssertionError):
            return act()
        return False

    world.may_work.clear()
    try:
        # A deployment that somebody waits for starts a daemon again and again.
        until(world.is_at_rest, seconds=MOST_SECONDS, otherwise=lambda: "the work never ended")
        until(
            attempt,
            seconds=MOST_SECONDS,
            otherwise=lambda: f"never without a daemon: {answers} {list_writers(world.disk)}",
        )
        yield
    finally:
        world.may_work.set()


def list_writers(disk: Path) -> list[str]:
    """Say which processes have which files of a disk open for writing."""
    writers: list[str] = []
    for link in Path("/proc").glob("[0-9]*/fd/*"):
        with contextlib.suppress(OSError):
            path = str(link.readlink())
            details = (link.parents[1] / "fdinfo" / link.name).read_text()
            flags = int(details.split("flags:")[1].split()[0], 8)
            if path.startswith(f"{disk}/") and flags & (os.O_WRONLY | os.O_RDWR):
                command = (link.parents[1] / "cmdline").read_bytes().replace(b"\0", b" ")
                writers.append(f"{path} by {command[:200].decode(errors='replace')}")
    return writers


def remount(disk: Path, mode: str) -> bool:
    command = ["mount", "-o", f"remount,{mode}", disk]
    return subprocess.run(command, check=False, capture_output=True).returncode == 0


def expect_words(world: World, words: list[str]) -> None:
    done = world.astra.run(*words)
    if "Traceback" in done.stderr + done.stdout:
        world.violations.append(f"astra {' '.join(words)} shows a traceback: {done.stderr[-600:]}")


@contextlib.contextmanager
def limited(
    world: World, kind: int, measure: Callable[[int], int], *, spare: int
) -> Generator[None]:
    """Let the daemon or the holder have little more of something than it has now."""
    pid = world.choose_server()
    with contextlib.suppress(ProcessLookupError, FileNotFoundError):
        soft, hard = resource.prlimit(pid, kind)
        resource.prlimit(pid, kind, (measure(pid) + spare, hard))
        try:
            yield
        finally:
            with contextlib.suppress(ProcessLookupError):
                resource.prlimit(pid, kind, (soft, hard))
        return
    yield


def count_descriptors(pid: int) -> int:
    return len(list(Path(f"/proc/{pid}/fd").iterdir()))


def measure_address_space(pid: int) -> int:
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[0])
    return pages * resource.getpagesize()
