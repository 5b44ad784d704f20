"""`astra smoke`: a quick check of the running server, safe to run in production.

Every probe calls a real part and changes nothing but the record: two records say that a run began
and what it came to. Probes run beside each other and each has a deadline, so that one that hangs is
a failed item and never a run that hangs. One run at a time; a probe that still hangs from an
earlier run is not started again.
"""

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from astra.trusted.kernel.errors import AstraError, Conflict
from astra.trusted.kernel.ids import random_id
from astra.trusted.kernel.masking import mask
from astra.trusted.kernel.text import one_line
from astra.trusted.ledger.ports import Ledger
from astra.trusted.ledger.record import Event, Record

STARTED, FINISHED = "smoke_started", "smoke_finished"
DEADLINE_SECONDS = 20.0
APPEND = "ledger append"
_LONGEST_DETAIL = 300
Probe = Callable[[], str]
"""Tries one part; says what it saw, or raises what is wrong."""


class ProbeFailed(AstraError):
    code = "smoke_failed"


@dataclass(frozen=True, kw_only=True)
class Item:
    name: str
    ok: bool
    milliseconds: float
    detail: str


@dataclass(frozen=True, kw_only=True)
class Report:
    id: str
    items: tuple[Item, ...]
    milliseconds: float
    at: str = ""

    @property
    def ok(self) -> bool:
        return all(item.ok for item in self.items)

    def as_dict(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "ok": self.ok,
            "at": self.at,
            "milliseconds": self.milliseconds,
            "items": [asdict(item) for item in self.items],
        }


@dataclass
class Smoke:
    ledger: Ledger
    probes: Mapping[str, Probe]
    """Read at every run: bootstrap fills them in when every part exists."""
    deadline_seconds: float = DEADLINE_SECONDS
    seconds: Callable[[], float] = time.perf_counter
    _running: threading.Lock = field(default_factory=threading.Lock, repr=False)
    _attempts: dict[str, "_Attempt"] = field(default_factory=dict[str, "_Attempt"], repr=False)

    def run(self, *, actor: str) -> Report:
        """Try every part once and record what came of it."""
        if not self._running.acquire(blocking=False):
            raise Conflict(
                "a smoke run is under way", next_step="wait for it: it takes seconds", code="busy"
            )
        try:
            return self._run_probes(random_id("smk"), actor)
        finally:
            self._running.release()

    def find_last(self) -> Report | None:
        """Give the newest run that came to its end."""
        record = self.ledger.newest(FINISHED)
        return _report_from_record(record) if record else None

    def _run_probes(self, run_id: str, actor: str) -> Report:
        began = self.seconds()
        appended = self._append_start(run_id, actor)
        items = (appended, *self._collect_items(began))
        report = Report(id=run_id, items=items, milliseconds=self._measure(began))
        if not appended.ok:  # what has no beginning in the record gets no end there
            return report
        data = {"items": [asdict(item) for item in items], "milliseconds": report.milliseconds}
        event = Event(type=FINISHED, actor=actor, subject=run_id, data={"ok": report.ok, **data})
        try:
            (record,) = self.ledger.append([event])
        except AstraError:  # the item about appending tells it already
            return report
        return _report_from_record(record)

    def _append_start(self, run_id: str, actor: str) -> Item:
        def append_and_find() -> str:
            (record,) = self.ledger.append([Event(type=STARTED, actor=actor, subject=run_id)])
            if self.ledger.record(record.sequence) != record:
                raise ProbeFailed(
                    f"record {record.sequence} was appended and the index does not have it",
                    next_step="astra ledger rebuild --check",
                )
            return f"record {record.sequence} is on disk and in the index"

        attempt = _Attempt(name=APPEND, probe=append_and_find, seconds=self.seconds)
        attempt.run()
        return attempt.read_item(self.seconds())

    def _collect_items(self, began: float) -> list[Item]:
        for name, probe in self.probes.items():
            before = self._attempts.get(name)
            if before is None or before.is_over():
                self._attempts[name] = _Attempt(name=name, probe=probe, seconds=self.seconds)
                self._attempts[name].start()
        end = began + self.deadline_seconds
        for name in self.probes:
            self._attempts[name].over.wait(max(0.0, end - self.seconds()))
        return [self._attempts[name].read_item(self.seconds()) for name in self.probes]

    def _measure(self, began: float) -> float:
        return round((self.seconds() - began) * 1000, 1)


@dataclass
class _Attempt:
    """One probe in a thread of its own."""

    name: str
    probe: Probe
    seconds: Callable[[], float]
    over: threading.Event = field(default_factory=threading.Event)
    began: float = 0.0
    item: Item | None = None

    def __post_init__(self) -> None:
        self.began = self.seconds()

    def start(self) -> None:
        threading.Thread(target=self.run, name=f"smoke {self.name}", daemon=True).start()

    def run(self) -> None:
        try:
            is_ok, detail = True, self.probe()
        except AstraError as error:
            is_ok, detail = False, f"{error.detail}; next: {error.next_step}"
        except Exception as error:  # noqa: BLE001 - whatever a part raises is this item's outcome
            is_ok, detail = False, f"{type(error).__name__}: {error}"
        self.item = self._make_item(self.seconds(), ok=is_ok, detail=detail)
        self.over.set()

    def is_over(self) -> bool:
        return self.over.is_set()

    def read_item(self, now: float) -> Item:
        """Give the outcome, or that there is none yet."""
        if self.is_over() and self.item:
            return self.item
        detail = f"no answer in {now - self.began:.0f} s; astra logs, astra status"
        return self._make_item(now, ok=False, detail=detail)

    def _make_item(self, now: float, *, ok: bool, detail: str) -> Item:
        return Item(
            name=self.name,
            ok=ok,
            milliseconds=round((now - self.began) * 1000, 1),
            detail=one_line(mask(detail), _LONGEST_DETAIL),
        )


def _report_from_record(record: Record) -> Report:
    return Report(
        id=str(record.subject),
        items=tuple(Item(**item) for item in record.data["items"]),
        milliseconds=record.data["milliseconds"],
        at=record.time,
    )
