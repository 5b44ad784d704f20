"""The one loop for background work: due → claimed → run → recorded, for every lane.

It wakes when the ledger moved, when something ended, or when the next thing falls due, and looks at
each lane then; looking only asks and claims, and the work is done by threads of each lane's own
(`at_work`). What is due comes from the ledger, so there is no queue to lose. The lanes start and
stop together; stopping begins nothing more and waits for what runs as long as its lane says.
"""

import threading
import time
from collections.abc import Callable, Sequence

from astra.flow.at_work import LaneAtWork
from astra.flow.lane import Lane
from astra.trusted.kernel.clock import Clock
from astra.trusted.ledger.ports import Ledger
from astra.trusted.stop.machines import Alone, Machines

_WAKE_EVERY = 0.05
_LONGEST_WAIT = 30.0


class Background:
    def __init__(
        self,
        ledger: Ledger,
        clock: Clock,
        lanes: Sequence[Lane],
        *,
        woken: threading.Event | None = None,
        seconds: Callable[[], float] = time.monotonic,
        machines: Machines | None = None,
    ) -> None:
        """Put lanes together; `woken` is set by whoever claims work for a lane elsewhere.

        Where `machines` share the chain, a lane works while this one holds its lease.
        """
        find_term = (machines or Alone()).find_term
        self._ledger = ledger
        self._woken = woken or threading.Event()
        self._stopping = threading.Event()
        self._lanes = {
            lane.name: LaneAtWork(
                lane=lane,
                ledger=ledger,
                clock=clock,
                seconds=seconds,
                stopping=self._stopping,
                woken=self._woken,
                find_term=find_term,
            )
            for lane in lanes
        }
        self._threads = [
            threading.Thread(target=self._run_loop, name="background", daemon=True),
            threading.Thread(target=self._follow_ledger, name="background-ledger", daemon=True),
        ]

    def start(self) -> None:
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """Claim nothing more; what does not end in time ends with the daemon and is run again."""
        self._stopping.set()
        self._woken.set()
        for at_work in self._lanes.values():
            at_work.lane.leave()
        for thread in self._threads:
            while thread.is_alive():
                self._ledger.wake()
                thread.join(_WAKE_EVERY)
        for at_work in self._lanes.values():
            at_work.join()
            at_work.finish_claims()

    def run_due(self) -> int:
        """Run what is due now, in this thread, until nothing is; says how many items."""
        total = 0
        while count := sum(at_work.run_due() for at_work in self._lanes.values()):
            total += count
        return total

    @property
    def lanes(self) -> tuple[str, ...]:
        return tuple(self._lanes)

    def is_alive(self) -> bool:
        """Tell whether its threads run: once started, they end only when the daemon leaves."""
        return all(thread.is_alive() for thread in self._threads)

    def is_needed(self) -> bool:
        """Tell whether something runs, or the daemon has to stay for what will."""
        return any(at_work.is_needed() for at_work in self._lanes.values())

    def count_running(self, *lanes: str) -> int:
        return sum(self._lanes[name].running_count for name in lanes)

    def trouble(self, *lanes: str) -> str:
        """Say what fails now in the first of these lanes that has trouble."""
        troubles = (self._lanes[name].trouble for name in lanes or self._lanes)
        return next((trouble for trouble in troubles if trouble), "")

    def _run_loop(self) -> None:
        woken = True
        while not self._stopping.is_set():
            self._woken.clear()
            pause = min(at_work.look(woken=woken) for at_work in self._lanes.values())
            woken = self._woken.wait(max(0.0, pause))

    def _follow_ledger(self) -> None:
        """Wake the loop when the index holds more than it did: the head may be ahead of it."""
        while not self._stopping.is_set():
            position = self._ledger.position()
            self._woken.set()
            self._ledger.wait(position, _LONGEST_WAIT)
