"""Killing the daemon over and over while clients write: nothing acknowledged is ever lost.

It runs for TORTURE_SECONDS (10). `make soak` does this and much more, for as long as it is told.
"""

import json
import os
import random
import select
import signal
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from astra.interfaces.cli.client import Client
from astra.trusted.kernel.errors import AstraError
from astra.trusted.settings.environment import FLAGS
from driver import Astra

SECONDS = float(os.environ.get("TORTURE_SECONDS", "10"))
CLIENTS = 4
NOT_KNOWN = {"uncertain", "daemon_unavailable"}


@dataclass
class Writer:
    """A client that turns flags off, and remembers what it was told about each."""

    root: Path
    acknowledged: dict[int, str] = field(default_factory=dict[int, str])
    uncertain: int = 0
    surprises: list[str] = field(default_factory=list[str])

    def work(self, over: threading.Event) -> None:
        client = Client(self.root)
        while not over.is_set():
            flag = random.choice(list(FLAGS))
            try:
                answer = client.post("/api/flags", {"name": flag, "on": False})
            except AstraError as error:
                self.uncertain += 1
                if error.reason not in NOT_KNOWN:
                    self.surprises.append(repr(error.as_dict()))
            else:
                self.acknowledged[answer["sequence"]] = flag


@dataclass
class Killer:
    """Kills the daemon, whichever it is at the moment, at random moments.

    Each one has acknowledged something first, however slow the machine is.
    """

    root: Path
    writers: list[Writer]
    kills: int = 0

    def work(self, over: threading.Event) -> None:
        client, until = Client(self.root), time.monotonic() + SECONDS
        while time.monotonic() < until or self.kills < SECONDS / 4:
            known = self._acknowledged()
            try:
                pid = client.get("/api/status")["daemon"]["pid"]
            except AstraError:
                continue
            while self._acknowledged() == known:
                time.sleep(0.005)
            time.sleep(random.uniform(0, 0.3))
            self._kill(pid)
        over.set()

    def _acknowledged(self) -> int:
        return sum(len(writer.acknowledged) for writer in self.writers)

    def _kill(self, pid: int) -> None:
        descriptor = os.pidfd_open(pid)
        try:
            signal.pidfd_send_signal(descriptor, signal.SIGKILL)
            assert select.select([descriptor], [], [], 240)[0], f"process {pid} does not end"
        finally:
            os.close(descriptor)
        self.kills += 1


@pytest.mark.timeout(SECONDS + 600)
def test_no_acknowledged_record_is_lost_however_often_the_daemon_is_killed(
    astra: Astra, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, value in astra.environment.items():
        monkeypatch.setenv(name, value)
    writers = [Writer(astra.root) for _ in range(CLIENTS)]
    killer, over = Killer(astra.root, writers), threading.Event()
    threads = [threading.Thread(target=each.work, args=(over,)) for each in (*writers, killer)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    acknowledged = {
        sequence: flag for writer in writers for sequence, flag in writer.acknowledged.items()
    }
    uncertain = sum(writer.uncertain for writer in writers)
    with capsys.disabled():
        print(
            f"\n{killer.kills} kills in {SECONDS:g} s:"
            f" {len(acknowledged)} acknowledged, {uncertain} uncertain"
        )
    assert [problem for writer in writers for problem in writer.surprises] == []
    assert len(acknowledged) == sum(len(writer.acknowledged) for writer in writers)
    assert len(acknowledged) >= killer.kills >= SECONDS / 4
    examine(astra, acknowledged, uncertain)


def examine(astra: Astra, acknowledged: dict[int, str], uncertain: int) -> None:
    assert astra.json("ledger", "verify")["ok"]
    assert astra.json("ledger", "rebuild", "--check") == {"same": True, "differences": []}
    records = [json.loads(line) for line in astra.run("ledger", "export").stdout.splitlines()]
    assert [record["sequence"] for record in records] == list(range(1, len(records) + 1))
    kept = {
        record["sequence"]: record["data"] for record in records if record["type"] == "flag_set"
    }
    for sequence, flag in acknowledged.items():
        assert kept.get(sequence) == {"flag": flag, "on": False}
    assert len(kept) <= len(acknowledged) + uncertain, "something happened twice"
