"""How a firing ends, in records: closed, tried again, given up, and what people are told.

Every firing that was claimed gets one of these, from the process that ran it or from the one that
finds what a dead process left.
"""

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from astra.schedules import events, model
from astra.schedules.model import Firing, Schedule, State
from astra.schedules.service import Timetable
from astra.trusted.kernel.clock import Clock, format_time
from astra.trusted.kernel.errors import DuplicateKey, StaleVersion
from astra.trusted.ledger.ports import Ledger
from astra.trusted.ledger.record import Event

_TRIES = 20
_WORTH_TELLING = frozenset({"needs_approval", "unknown_tool", "tier_too_low", "bad_arguments"})


class Ending(NamedTuple):
    """How an attempt went."""

    state: State
    reason: str
    detail: str = ""
    milliseconds: float = 0.0


class Ended(NamedTuple):
    schedule: Schedule
    firing: Firing
    ending: Ending


INTERRUPTED = Ending(
    State.INTERRUPTED, "interrupted", "the daemon ended while it ran; how far it came is unknown"
)


@dataclass(frozen=True)
class Endings:
    ledger: Ledger
    clock: Clock
    timetable: Timetable

    def record(self, ended: Sequence[Ended]) -> list[Ended]:
        """Write endings down, together if possible; gives those whose firing is over."""
        over = [
            ended_firing for ended_firing in ended if not self._try_again_if_failed(ended_firing)
        ]
        for ended_firing in self._append(over):
            self._follow_up(ended_firing)
        return over

    def _append(self, over: Sequence[Ended]) -> list[Ended]:
        """Close firings; those that were cancelled meanwhile are closed already."""
        try:
            self.ledger.append([event for ended_firing in over for event in _ended(*ended_firing)])
        except DuplicateKey:
            if len(over) == 1:
                return []
            return [recorded for ended_firing in over for recorded in self._append([ended_firing])]
        return list(over)

    def _follow_up(self, ended: Ended) -> None:
        schedule, firing, ending = ended
        if schedule.definition.slow_after and ending.state in (State.SUCCEEDED, State.FAILED):
            self._adjust(schedule.id, succeeded=ending.state is State.SUCCEEDED)
        if ending.reason in _WORTH_TELLING:
            self._tell(schedule, firing, ending)

    def interrupted(self, schedule: Schedule, firing: Firing, *, repeatable: bool) -> None:
        """Close a firing that died with its daemon; try again only what may happen twice."""
        if not (repeatable and self._try_again(schedule, firing, INTERRUPTED)):
            self.drop(firing, INTERRUPTED)

    def drop(self, firing: Firing, ending: Ending) -> None:
        """Close a firing without more ado, unless it is closed already."""
        with contextlib.suppress(DuplicateKey):
            self.ledger.append([_closed(firing, ending)])

    def _try_again_if_failed(self, ended: Ended) -> bool:
        return ended.ending.state is State.FAILED and self._try_again(*ended)

    def _try_again(self, schedule: Schedule, firing: Firing, ending: Ending) -> bool:
        due = model.retry_at(schedule.definition, firing, self.clock.now())
        if due is None:
            return False
        event = events.retried(
            firing,
            due=format_time(due),
            reason=ending.reason,
            detail=ending.detail,
            milliseconds=ending.milliseconds,
        )
        with contextlib.suppress(DuplicateKey):
            self.ledger.append([event])
        return True

    def _tell(self, schedule: Schedule, firing: Firing, ending: Ending) -> None:
        """Raise a notice, once a day for the same reason: a schedule a minute must not flood."""
        day = format_time(self.clock.now())[:10]
        event = events.noticed(
            schedule.id,
            kind=ending.reason,
            text=f"{schedule.definition.name} did not run: {ending.detail}",
            correlation=firing.correlation,
            next_step=f"astra schedules history {schedule.id}",
        )
        with contextlib.suppress(DuplicateKey):
            key = f"notice:{schedule.id}:{ending.reason}:{day}"
            self.ledger.append([replace(event, key=key)])

    def _adjust(self, identifier: str, *, succeeded: bool) -> None:
        """Slow a schedule down, or bring it back to normal, where it asked for that."""
        for _ in range(_TRIES):
            schedule = self.timetable.get(identifier)
            factor = model.cadence(schedule, succeeded=succeeded)
            if factor == schedule.factor:
                return
            next_run = None
            if not schedule.paused:
                next_run = self.timetable.next_run(schedule, factor=factor)
            why = "it succeeded" if succeeded else f"{schedule.failures} failures in a row"
            event = events.adjusted(schedule, factor, next_run, why=why)
            with contextlib.suppress(StaleVersion):
                self.ledger.append([event], expect={identifier: schedule.version})
                return


def _ended(schedule: Schedule, firing: Firing, ending: Ending) -> list[Event]:
    ending_events = [_closed(firing, ending)]
    if ending.state is State.FAILED and schedule.definition.attempts > 1:
        text = f"{schedule.definition.name} failed {firing.attempt} times: {ending.detail}"
        ending_events.append(events.gave_up(firing, reason=ending.reason))
        ending_events.append(
            events.noticed(schedule.id, kind="gave_up", text=text, correlation=firing.correlation)
        )
    return ending_events


def _closed(firing: Firing, ending: Ending) -> Event:
    return events.closed(
        firing,
        outcome=ending.state,
        reason=ending.reason,
        detail=ending.detail,
        milliseconds=ending.milliseconds,
    )
