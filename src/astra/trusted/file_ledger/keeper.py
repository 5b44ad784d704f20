"""A thread beside the writer: it syncs lazy records, signs checkpoints, compresses finished months.

Its chores may fail (a full disk, say) without harm to what was acknowledged; they are tried again a
second later, and `trouble` says why for whoever looks at the status.
"""

import threading
import time
from typing import Protocol

from astra.trusted.kernel.errors import AstraError

LAZY_SYNC_SECONDS = 0.05
CHECKPOINT_SECONDS = 1.0


class Kept(Protocol):
    def sync(self) -> None: ...
    def write_checkpoint(self) -> None: ...
    def compress_finished(self) -> None: ...


class Keeper:
    def __init__(self, ledger: Kept) -> None:
        self._ledger = ledger
        self._changed = threading.Condition()
        self._due: dict[str, float] = {}
        self._stopping = False
        self._last_checkpoint = -CHECKPOINT_SECONDS
        self._thread = threading.Thread(target=self._run_loop, name="ledger-keeper", daemon=True)
        self.trouble = ""

    def start(self) -> None:
        self._thread.start()

    def sync_soon(self) -> None:
        self._schedule_chore("sync", time.monotonic() + LAZY_SYNC_SECONDS)

    def checkpoint_soon(self) -> None:
        self._schedule_chore("checkpoint", self._last_checkpoint + CHECKPOINT_SECONDS)

    def compress_soon(self) -> None:
        self._schedule_chore("compress", time.monotonic())

    def stop(self) -> None:
        with self._changed:
            self._stopping = True
            self._changed.notify()
        if self._thread.is_alive():
            self._thread.join()

    def _schedule_chore(self, chore: str, due: float) -> None:
        if chore in self._due:
            return
        with self._changed:
            self._due.setdefault(chore, due)
            self._changed.notify()

    def _run_loop(self) -> None:
        while chore := self._wait_for_chore():
            try:
                self._run_chore(chore)
                self.trouble = ""
            except (OSError, AstraError) as error:
                self.trouble = f"{chore}: {error}"
                self._schedule_chore(chore, time.monotonic() + CHECKPOINT_SECONDS)

    def _wait_for_chore(self) -> str | None:
        with self._changed:
            while not self._stopping:
                chore, due = min(
                    self._due.items(), key=lambda item: item[1], default=("", float("inf"))
                )
                wait = due - time.monotonic()
                if wait <= 0:
                    del self._due[chore]
                    return chore
                self._changed.wait(min(wait, threading.TIMEOUT_MAX))
            return None

    def _run_chore(self, chore: str) -> None:
        if chore == "sync":
            self._ledger.sync()
        elif chore == "checkpoint":
            self._last_checkpoint = time.monotonic()
            self._ledger.write_checkpoint()
        else:
            self._ledger.compress_finished()
