"""Killing the daemon over and over while clients write: nothing acknowledged is ever lost.

It runs for TORTURE_SECONDS (20), and much longer with `make soak`.
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
from astra.kernel.errors import AstraError
from astra.settings.environment import FLAGS
from driver import Astra

SECONDS = float(os.environ.get("TORTURE_SECONDS", "20"))
CLIENTS = 4
NOT_KNOWN = {"uncertain", "daemon_unavailable"}


@dataclass
class Writer:
    """A client that turns flags off, and remembers what it was told about each."""

    root: Path
    acknowledged: dict[int, str] = field(default_factory=dict[int, str])
    uncertain: int = 0
    surprises: list[str] = field(default_factory=list[str])

    def work(self, until: float) -> None:
        client = Client(self.root)
        while time.monotonic() < until:
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
    """Kills the daemon, whichever it is at the moment, at random moments."""

    root: Path
    kills: int = 0

    def work(self, until: float) -> None:
        client = Client(self.root)
        while time.monotonic() < until:
            try:
                pid = client.get("/api/status")["daemon"]["pid"]
            except AstraError:
                continue
            time.sleep(random.uniform(0, 0.3))
            self._kill(pid)

    def _kill(self, pid: int) -> None:
        descriptor = os.pidfd_open(pid)
        try:
            signal.pidfd_send_signal(descriptor, signal.SIGKILL)
            assert select.select([descriptor], [], [], 30)[0], f"process {pid} does not end"
        finally:
            os.close(descriptor)
        self.kills += 1


@pytest.mark.serial
@pytest.mark.timeout(SECONDS + 100)
def test_no_acknowledged_record_is_lost_however_often_the_daemon_is_killed(
    astra: Astra, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, value in astra.environment.items():
        monkeypatch.setenv(name, value)
    writers, killer = [Writer(astra.root) for _ in range(CLIENTS)], Killer(astra.root)
    until = time.monotonic() + SECONDS
    threads = [threading.Thread(target=each.work, args=(until,)) for each in (*writers, killer)]
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
    assert killer.kills >= SECONDS / 4
    assert len(acknowledged) > killer.kills
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
