"""Real workers for tests: `astra worker` in processes with data folders of their own."""

import os
import signal
import subprocess
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from astra.trusted.file_ledger import owner_lock
from deploying import until
from driver import COMMAND, Astra

PATIENCE = 240.0


@dataclass
class WorkerProcess:
    astra: Astra
    words: tuple[str, ...] = ()
    process: subprocess.Popen[bytes] | None = field(default=None, init=False)

    def start(self) -> "WorkerProcess":
        self.process = subprocess.Popen(
            self.astra.start(COMMAND, "worker", *self.words),
            env=self.astra.environment,
            cwd=self.astra.folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        return self

    @property
    def pid(self) -> int:
        """Give the process that owns the data folder: a warm start stands before it."""
        pid = owner_lock.find_holder(self.astra.root / "var" / "run" / "owner.lock")
        assert pid is not None
        return pid

    def send(self, number: signal.Signals) -> None:
        os.kill(self.pid, number)

    def wait(self) -> int:
        assert self.process is not None
        return self.process.wait(PATIENCE)

    def end(self) -> None:
        self.astra.end()
        if self.process is not None:
            self.process.kill()
            self.process.wait(PATIENCE)


def eventually(condition: Callable[[], Any], seconds: float = PATIENCE) -> Any:
    return until(condition, seconds=seconds)


def list_workers(asked: Astra) -> dict[str, dict[str, Any]]:
    """Give what `astra workers` shows, by the folder of each."""
    items = asked.json("workers")["items"]
    return {item["name"].split(":", 1)[1]: item for item in items}


def find_worker(asked: Astra, worker: WorkerProcess, state: str = "ready") -> dict[str, Any] | None:
    item = list_workers(asked).get(str(worker.astra.root))
    return item if item is not None and item["state"] == state else None
