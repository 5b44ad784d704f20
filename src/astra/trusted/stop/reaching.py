"""A stop reaches every machine that shares the chain, and who does not answer is named.

The record of a stop is what reaches the others: each machine that reads it ends everything of its
own, proves the deaths, and records that it did (`stop_reached`). Whoever asked for the stop waits a
few seconds for those records and names the machines that have none. When a signature ends the stop,
each machine lets go of it the same way.
"""

import contextlib
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from astra.trusted.kernel.errors import AstraError, DuplicateKey
from astra.trusted.ledger.ports import Ledger
from astra.trusted.ledger.record import Event
from astra.trusted.policy import stopping
from astra.trusted.policy.stopping import StopRecord
from astra.trusted.sandbox import boxes
from astra.trusted.stop import report as stop_report
from astra.trusted.stop.machines import Machines

REACHED = "stop_reached"
PATIENCE_SECONDS = 5.0


@dataclass(kw_only=True)
class StopReach:
    root: Path
    ledger: Ledger
    machines: Machines

    def __post_init__(self) -> None:
        self._records = StopRecord(self.ledger)

    def find_due(self) -> str:
        """Name a stop that this machine has yet to carry out or let go of, or nothing."""
        if not self.machines.own_id:
            return ""
        stop_id = self._records.find_stop()
        if stop_id and not self.ledger.is_claimed(_build_key(stop_id, self.machines.own_id)):
            return stop_id
        return self._find_ended() or self._find_unrecorded()

    def carry_out(self) -> None:
        """End everything here and record it, or let go of a stop that a signature ended."""
        if self._find_ended():
            stop_report.clear(self.root)
            return
        if own_id := self._find_unrecorded():
            _, report = stop_report.read(self.root)
            with contextlib.suppress(DuplicateKey):
                self.ledger.append([stopping.build_stopped_event(own_id, report, actor="daemon")])
        if not (stop_id := self.find_due()):
            return
        report = self._stop_here(stop_id)
        data = {"stop": stop_id, "machine": self.machines.own_id, "report": dict(report)}
        key = _build_key(stop_id, self.machines.own_id)
        with contextlib.suppress(DuplicateKey):
            self.ledger.append([Event(type=REACHED, actor="daemon", data=data, key=key)])

    def await_machines(self, stop_id: str) -> list[dict[str, Any]]:
        """Wait a moment for the other machines; say of each whether the stop was verified there."""
        if not self.machines.own_id:
            return []
        with contextlib.suppress(AstraError):  # a record that comes later is looked at later
            self.carry_out()
        deadline = time.monotonic() + PATIENCE_SECONDS
        while True:
            states = self._list_states(stop_id)
            if all(state["reached"] for state in states) or time.monotonic() >= deadline:
                return states
            self.ledger.wait(self.ledger.head().sequence, 0.1)

    def _find_ended(self) -> str:
        """Name the stop whose file is here and that a signature ended elsewhere."""
        if not boxes.is_stopped(self.root):
            return ""
        stop_id, _ = stop_report.read(self.root)
        return stop_id if stopping.was_ended(self.ledger, stop_id) else ""

    def _find_unrecorded(self) -> str:
        """Name the stop of this machine that the chain does not tell of yet.

        The database may not have answered when it happened.
        """
        if not boxes.is_stopped(self.root) or not stop_report.has_report(self.root):
            return ""
        stop_id, _ = stop_report.read(self.root)
        return "" if self.ledger.is_claimed(f"stop:{stop_id}") else stop_id

    def _stop_here(self, stop_id: str) -> Mapping[str, Any]:
        own_id, own_report = stop_report.read(self.root)
        if boxes.is_stopped(self.root) and own_id == stop_id:
            return own_report
        record = self.ledger.newest(stopping.STOPPED)
        keep_app = bool(record and record.data["report"].get("keep_app"))
        _, outcome = stop_report.stop_now(self.root, keep_app=keep_app, stop_id=stop_id)
        return stop_report.as_dict(outcome)

    def _list_states(self, stop_id: str) -> list[dict[str, Any]]:
        """Give each machine with what it recorded; one that recorded nothing is not reached."""
        return [
            {
                **machine.as_dict(),
                "reached": self.ledger.is_claimed(_build_key(stop_id, machine.id)),
            }
            for machine in self.machines.list_machines()
        ]


def _build_key(stop_id: str, machine: str) -> str:
    return f"stop-reached:{stop_id}:{machine}"
