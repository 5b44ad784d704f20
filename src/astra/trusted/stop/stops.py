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


class Stops:
    def __init__(
        self,
        root: Path,
        ledger: Ledger,
        clock: Clock,
        *,
        held: Callable[[], bool] = lambda: False,
    ) -> None:
        """Work is stopped as well while the ledger is `held`, which no start ends."""
        self._root, self._ledger, self._clock, self._held = root, ledger, clock, held
        self._records = StopRecord(ledger)

    def stopped(self) -> bool:
        """Tell whether work is stopped: the file says so at once, the record also without it."""
        return boxes.is_stopped(self._root) or bool(self._records.in_force()) or self._held()

    def in_force(self) -> tuple[str, dict[str, Any]]:
        """Give the id and the report of the stop that a start has to name."""
        if boxes.is_stopped(self._root):
            return stop_report.read(self._root)
        return self._records.in_force(), {}

    def record(self, *, actor: str) -> bool:
        """Write the stop in force into the chain, once; tell whether it is there."""
        stop_id, report = self.in_force()
        if not stop_id or not self.stopped() or stopping.was_ended(self._ledger, stop_id):
            return False
        self._append(stop_id, report, actor)
        return True

    def start_again(self, stop_id: str, signed: Signed) -> Record:
        """End a stop on the operator's word: first the record, then the file."""
        if self._held():
            raise Conflict(
                "this data root waits for more than a start: the ledger is held",
                code="ledger_held",
                next_step="astra restore",
            )
        current, _ = self.in_force()
        if not self.stopped() or current != stop_id:
            raise Conflict(
                "that is not the stop in force", code="other_stop", next_step="astra start"
            )
        event = stopping.started(self._ledger, stop_id, signed, now=self._clock.now())
        (record,) = self._ledger.append([event])
        stop_report.clear(self._root)
        return record

    def settle(self) -> None:
        """Write down a stop that came while no daemon ran; clear one that a signature had ended."""
        if not (boxes.is_stopped(self._root) or stop_report.present(self._root)):
            return
        stop_id, report = stop_report.read(self._root)
        if stopping.was_ended(self._ledger, stop_id):
            stop_report.clear(self._root)
            return
        self._append(stop_id, report, "daemon")

    def _append(self, stop_id: str, report: dict[str, Any], actor: str) -> None:
        with contextlib.suppress(DuplicateKey):
            self._ledger.append([stopping.stopped(stop_id, report, actor=actor)])
