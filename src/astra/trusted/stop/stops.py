"""The stop of all work: a file that needs no daemon, and the record that outlives the file."""

import contextlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from astra.trusted.kernel.clock import Clock
from astra.trusted.kernel.errors import Conflict, DuplicateKey
from astra.trusted.ledger.ports import Ledger
from astra.trusted.ledger.record import Record
from astra.trusted.policy import stopping
from astra.trusted.policy.authority import Signed
from astra.trusted.policy.stopping import StopRecord
from astra.trusted.sandbox import boxes
from astra.trusted.stop import report as stop_report
from astra.trusted.stop.machines import Alone, Machines
from astra.trusted.stop.reaching import StopReach


class Stops:
    def __init__(
        self,
        root: Path,
        ledger: Ledger,
        clock: Clock,
        *,
        held: Callable[[], bool] = lambda: False,
        machines: Machines | None = None,
    ) -> None:
        """Work is stopped as well while the ledger is `held`, which no start ends."""
        self._root, self._ledger, self._clock, self._held = root, ledger, clock, held
        self._records = StopRecord(ledger)
        self.reach = StopReach(root=root, ledger=ledger, machines=machines or Alone())

    def is_stopped(self) -> bool:
        """Tell whether work is stopped: the file says so at once, the record also without it."""
        return boxes.is_stopped(self._root) or bool(self._records.find_stop()) or self._held()

    def read_current_stop(self) -> tuple[str, dict[str, Any]]:
        """Give the id and the report of the stop that a start has to name."""
        if boxes.is_stopped(self._root):
            return stop_report.read(self._root)
        return self._records.find_stop(), {}

    def stop_all(self, *, keep_app: bool, actor: str) -> dict[str, Any]:
        """End everything at once, then write it into the chain; the report says what survives."""
        stop_id, stop_outcome = stop_report.stop_now(self._root, keep_app=keep_app)
        recorded = self.record(actor=actor)
        return {
            "stop": stop_id,
            "recorded": recorded,
            "machines": self.await_machines(),
            **stop_report.as_dict(stop_outcome),
        }

    def await_machines(self) -> list[dict[str, Any]]:
        """Say of each machine that shares the chain whether the stop in force is verified there."""
        stop_id, _ = self.read_current_stop()
        return self.reach.await_machines(stop_id) if stop_id else []

    def record(self, *, actor: str) -> bool:
        """Write the stop in force into the chain, once; tell whether it is there."""
        stop_id, report = self.read_current_stop()
        if not stop_id or not self.is_stopped() or stopping.was_ended(self._ledger, stop_id):
            return False
        self._append_stop(stop_id, report, actor)
        return True

    def start_again(self, stop_id: str, signed: Signed) -> Record:
        """End a stop on the operator's word: first the record, then the file."""
        if self._held():
            raise Conflict(
                "this data root waits for more than a start: the ledger is held",
                code="ledger_held",
                next_step="astra restore",
            )
        current, _ = self.read_current_stop()
        if not self.is_stopped() or current != stop_id:
            raise Conflict(
                "that is not the stop in force", code="other_stop", next_step="astra start"
            )
        event = stopping.build_started_event(self._ledger, stop_id, signed, now=self._clock.now())
        (record,) = self._ledger.append([event])
        stop_report.clear(self._root)
        return record

    def settle(self) -> None:
        """Write down a stop that came while no daemon ran; clear one that a signature had ended."""
        if not (boxes.is_stopped(self._root) or stop_report.has_report(self._root)):
            return
        stop_id, report = stop_report.read(self._root)
        if stopping.was_ended(self._ledger, stop_id):
            stop_report.clear(self._root)
            return
        self._append_stop(stop_id, report, "daemon")

    def _append_stop(self, stop_id: str, report: dict[str, Any], actor: str) -> None:
        with contextlib.suppress(DuplicateKey):
            self._ledger.append([stopping.build_stopped_event(stop_id, report, actor=actor)])
