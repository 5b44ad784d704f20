"""Faults of several machines, made on one: servers that die, standbys, networks that are cut."""

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field
from typing import Self

import psycopg

from astra.interfaces import socket_path
from astra.trusted.kernel.ids import random_id
from driver import Astra
from postgres_server import DAEMON, PostgresServer, find_programs, run_as
from worker_process import PATIENCE, eventually

SERVER = "astra.interfaces.daemon.server"


@dataclass
class Writers:
    """One writer at each daemon, who keeps what was acknowledged and when."""

    machines: Sequence[Astra]
    acknowledged: dict[str, tuple[int, float]] = field(
        default_factory=dict[str, tuple[int, float]], init=False
    )
    refused: set[str] = field(default_factory=set[str], init=False)
    _over: threading.Event = field(default_factory=threading.Event, init=False)

    def __enter__(self) -> Self:
        self._threads = [
            threading.Thread(target=self._write, args=[number])
            for number in range(len(self.machines))
        ]
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self._over.set()
        for thread in self._threads:
            thread.join()

    def wait_for_each(self, *, since: float = 0.0, count: int = 1) -> None:
        """Wait until each daemon acknowledged so many records since then."""
        eventually(lambda: all(answers >= count for answers in self._count_since(since)))

    def _count_since(self, since: float) -> list[int]:
        answers = list(self.acknowledged.values())
        return [
            sum(number == asked and moment >= since for asked, moment in answers)
            for number in range(len(self.machines))
        ]

    def _write(self, number: int) -> None:
        while not self._over.wait(0.05):
            text = random_id("wish")
            done = self.machines[number].run("desires", "record", text, "--json")
            if done.returncode == 0:
                self.acknowledged[text] = (number, time.monotonic())
            else:
                self.refused.add(done.stdout + done.stderr)


def count_lines(server: PostgresServer, database: str, texts: Sequence[str]) -> list[int]:
    """Count the records of each text that somebody was told is recorded."""
    with server.connect(database, "postgres") as connection:
        rows = connection.execute(
            'SELECT line FROM astra.record WHERE line LIKE \'%"type":"desire_recorded"%\''
        ).fetchall()
    lines = [str(line) for (line,) in rows]
    return [sum(text in line for line in lines) for text in texts]


def kill_server(server: PostgresServer) -> None:
    """Kill the server and everything it started, as a machine that loses its power does."""
    assert server.process is not None
    os.killpg(server.process.pid, signal.SIGKILL)
    server.process.wait(PATIENCE)
    server.process = None


class Standby(PostgresServer):
    """A streaming standby of a server, which can take its place."""

    def __init__(self, primary: PostgresServer) -> None:
        self.primary = primary
        super().__init__(options=primary.options)

    def __post_init__(self) -> None:
        subprocess.run(["chown", "--reference", self.primary.data, self.folder], check=True)
        words = [str(find_programs() / "pg_basebackup"), "-U", "postgres", "-R", "-X", "stream"]
        words += ["-c", "fast", "-h", str(self.primary.folder), "-D", str(self.data)]
        subprocess.run([*run_as(), *words], check=True, capture_output=True, cwd="/")
        self.start()
        with self.primary.connect("postgres", "postgres") as connection:
            connection.execute("ALTER SYSTEM SET synchronous_standby_names = '*'")
            connection.execute("SELECT pg_reload_conf()")
        eventually(self._is_synchronous)

    def promote(self) -> None:
        words = [str(find_programs() / "pg_ctl"), "promote", "-w", "-D", str(self.data)]
        subprocess.run([*run_as(), *words], check=True, capture_output=True, cwd="/")

    def _is_synchronous(self) -> bool:
        with self.primary.connect("postgres", "postgres") as connection:
            rows = connection.execute("SELECT sync_state FROM pg_stat_replication").fetchall()
        return ("sync",) in rows


def make_address(database: str, *servers: PostgresServer) -> str:
    """Name a database on whichever of some servers takes writes."""
    hosts = ",".join(str(server.folder) for server in servers)
    return f"postgresql://{DAEMON}@/{database}?host={hosts}&target_session_attrs=read-write"


@dataclass
class Network:
    """A namespace with a network of its own, and a cable to it that can be pulled."""

    number: int = field(default_factory=lambda: os.getpid() % 250)

    @property
    def name(self) -> str:
        return f"astra-net-{os.getpid()}"

    @property
    def cable(self) -> str:
        return f"av{os.getpid()}"

    @property
    def own_address(self) -> str:
        return f"10.213.{self.number}.1"

    def build(self) -> None:
        far_address = f"10.213.{self.number}.2/24"
        _run_ip("netns", "add", self.name)
        _run_ip(
            "link", "add", self.cable, "type", "veth", "peer", "name", "far", "netns", self.name
        )
        _run_ip("addr", "add", f"{self.own_address}/24", "dev", self.cable)
        _run_ip("link", "set", self.cable, "up")
        _run_ip("-n", self.name, "addr", "add", far_address, "dev", "far")
        _run_ip("-n", self.name, "link", "set", "far", "up")
        _run_ip("-n", self.name, "link", "set", "lo", "up")

    def cut(self) -> None:
        _run_ip("link", "set", self.cable, "down")

    def mend(self) -> None:
        _run_ip("link", "set", self.cable, "up")

    def remove(self) -> None:
        with contextlib.suppress(subprocess.CalledProcessError):
            _run_ip("netns", "del", self.name)


def explain_no_network() -> str:
    """Say why this machine lets nobody make a network of its own, or nothing."""
    probe = f"astra-probe-{os.getpid()}"
    try:
        _run_ip("netns", "add", probe)
        _run_ip("netns", "del", probe)
    except FileNotFoundError:
        return "the command `ip` is missing: apt-get install iproute2"
    except subprocess.CalledProcessError as error:
        return f"network namespaces cannot be made here: {error.stderr.strip()}"
    return ""


def _run_ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True, capture_output=True, text=True)


@contextlib.contextmanager
def running_daemon(astra: Astra, *before: str) -> Generator[int]:
    """Run a daemon that stays, with words before its command; gives its process."""
    program = before or (sys.executable, "-I", "-m", SERVER)
    process = subprocess.Popen(
        [*program, "--data-root", str(astra.root), "--stay"],
        env=astra.environment,
        cwd=astra.folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        eventually((astra.root / "var" / "run" / socket_path.NAME).exists)
        yield process.pid
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait(PATIENCE)


def measure_seconds(condition: Callable[[], object]) -> float:
    begun = time.monotonic()
    eventually(condition)
    return time.monotonic() - begun


def restart_server(server: PostgresServer) -> None:
    """Start it again; one that was killed may have to wait until its memory is free."""

    def is_started() -> bool:
        try:
            server.start()
        except (AssertionError, psycopg.Error):
            return False
        return True

    eventually(is_started)
