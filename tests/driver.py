"""A real data root, driven through the real command in processes of its own."""

import json
import os
import select
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from astra.bootstrap.build import build_runtime
from astra.bootstrap.runtime import Runtime
from astra.interfaces import socket_path
from astra.schedules import events
from astra.schedules.model import Schedule
from astra.testing import SetClock
from astra.trusted.file_ledger import owner_lock
from astra.trusted.kernel.clock import format_time
from astra.trusted.settings import environment
from warm_start import run_warm, warm

COMMAND = "astra.interfaces.cli.main"
PASSPHRASE = "correct horse battery"


@dataclass
class Astra:
    folder: Path
    extra: dict[str, str] = field(default_factory=dict[str, str])
    start: Callable[..., list[str]] = warm

    @property
    def root(self) -> Path:
        return self.folder / "data"

    @property
    def environment(self) -> dict[str, str]:
        return {
            "PATH": os.environ["PATH"],
            "HOME": str(self.folder / "home"),
            "XDG_CONFIG_HOME": str(self.folder / "config"),
            "AGENT_DATA_ROOT": str(self.root),
            "ASTRA_OPERATOR_PASSPHRASE": PASSPHRASE,
            **self.extra,
        }

    def run(self, *words: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
        environment = {**self.environment, **environment}
        if self.start is warm:
            return run_warm(COMMAND, *words, environment=environment, folder=self.folder)
        return subprocess.run(
            self.start(COMMAND, *words),
            env=environment,
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            start_new_session=True,
        )

    def json(self, *words: str | Path, code: int = 0, **environment: str) -> Any:
        done = self.run(*words, "--json", **environment)
        assert done.returncode == code, f"{done.stdout}\n{done.stderr}"
        return json.loads(done.stdout)

    def sign_target(self, *lines: str) -> None:
        """Sign these settings of the target beside its repository and branch, and nothing else."""
        path = self.root / "astra.toml"
        place = [line for line in path.read_text().splitlines() if line[:6] in {"repo =", "branch"}]
        path.write_text("\n".join(["[target]", *place, *lines, ""]))
        self.json("config", "sign")

    def follow(self, wanted: str) -> None:
        """Follow the ledger from its first record until one of a type comes."""
        words = ["ledger", "tail", "--follow", "--count", "1000", "--json"]
        with subprocess.Popen(
            self.start(COMMAND, *words),
            env=self.environment,
            cwd=self.folder,
            stdout=subprocess.PIPE,
            text=True,
        ) as following:
            assert following.stdout is not None
            for line in following.stdout:
                if json.loads(line)["type"] == wanted:
                    break
            following.terminate()

    def copied_to(self, other: "Astra") -> "Astra":
        """Copy the data root, the keys and the target to another folder, owners and modes too."""
        for name in ("target", "data", "config"):
            copy(self.folder / name, other.folder)
        return other

    def daemon_pid(self) -> int:
        return self.json("status")["daemon"]["pid"]

    def kill_daemon(self) -> None:
        """Kill it the hard way, and come back when nothing of it is left."""
        kill_process(self.daemon_pid())

    def end(self) -> None:
        """Leave nothing running when a test is over, without the time that a command takes."""
        run = self.root / "var" / "run"
        if {path.name for path in run.glob("*.sock")} - {socket_path.NAME, socket_path.MCP}:
            self.run("down")  # which ends an app in its own way
        pid = owner_lock.find_holder(run / "owner.lock")
        if pid not in (None, os.getpid()):
            kill_process(pid)


def kill_process(pid: int) -> None:
    """Kill it the hard way, and come back when nothing of it is left."""
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)
    wait_for_end(pid)


@contextmanager
def past(astra: Astra, **ago: float) -> Iterator[Runtime]:
    """Open a data root in this process, on a clock that is behind."""
    clock = SetClock(datetime.now(UTC) - timedelta(**ago))
    runtime = build_runtime(environment.load(astra.environment), clock=clock)
    try:
        yield runtime
    finally:
        runtime.close()


def let_it_be_overdue(runtime: Runtime, schedule: Schedule, **ago: float) -> None:
    """Have a schedule wait since some time ago, as one does while no daemon runs."""
    since = format_time(datetime.now(UTC) - timedelta(**ago))
    runtime.ledger.append([events.adjusted(schedule, 1, since, why="a test")])


def stay_within_a_day(seconds: int = 120) -> None:
    """Let midnight pass first where it is near: budgets are for a day in UTC, by the real clock."""
    now = datetime.now(UTC)
    left = 86_400 - (now.hour * 3600 + now.minute * 60 + now.second)
    if left <= seconds:
        time.sleep(left + 1)


def copy(folder: Path, into: Path) -> None:
    subprocess.run(["cp", "--archive", str(folder), str(into)], check=True)


def make_repository(path: Path) -> Path:
    path.mkdir()
    (path / "agent.py").write_text("def answer() -> int:\n    return 42\n")
    identity = ["-c", "user.name=Someone", "-c", "user.email=someone@localhost"]
    for words in (["init", "-q", "-b", "trunk"], ["add", "."], [*identity, "commit", "-qm", "one"]):
        subprocess.run(["git", *words], cwd=path, check=True)
    return path


def wait_for_end(pid: int) -> None:
    try:
        descriptor = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    try:
        ready, _, _ = select.select([descriptor], [], [], 240)
        assert ready, f"process {pid} is still there"
    finally:
        os.close(descriptor)
