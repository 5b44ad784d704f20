"""How a firing ends, in records: closed, tried again, given up, and what people are told.

Every firing that was claimed gets one of these, from the process that ran it or from the one that
finds what a dead process left.
"""

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from astra.schedules import events, model, views
from astra.schedules.model import Firing, Schedule, State
from astra.schedules.service import Timetable
from astra.trusted.kernel.clock import Clock, format_time
from astra.trusted.kernel.errors import DuplicateKey, StaleVersion
from astra.trusted.kernel.ids import is_id
from astra.trusted.kernel.text import one_line
from astra.trusted.ledger.ports import Ledger
from astra.trusted.ledger.record import Event

_TRIES = 20
_SUCCEEDED = "succeeded"
_IDS = ("id", "approval_id", "goal_id", "desire_id")
_WORTH_TELLING = frozenset({"needs_approval", "unknown_tool", "tier_too_low", "bad_arguments"})


class Ending(NamedTuple):
    """How an attempt went."""

    state: State
    reason: str
    detail: str = ""
    milliseconds: float = 0.0
    about: tuple[str, ...] = ()
    """The ids of what it was about, which make the firing a part of their stories."""


class Ended(NamedTuple):
    schedule: Schedule
    firing: Firing
    ending: Ending


def read_ending(values: Sequence[Any]) -> Ending:
    """Read an ending as a job's outcome has it; one of an older Astra is about nothing."""
    state, reason, detail, milliseconds, *about = values
    ids = tuple(str(value) for value in (about[0] if about else ()))
    return Ending(State(state), reason, detail, milliseconds, ids)


INTERRUPTED = Ending(
    State.INTERRUPTED, "interrupted", "the daemon ended while it ran; how far it came is unknown"
)


def judge_answer(answer: Mapping[str, Any]) -> Ending:
    """Say how a tool that answered went: a command that failed and a refusal are no success."""
    verdict = str(answer.get("verdict", _SUCCEEDED))
    if "exit_code" in answer and verdict != _SUCCEEDED:
        last_line = str(answer.get("stderr", "")).strip().rpartition("\n")[2]
        reason = str(answer.get("reason", verdict))
        detail = f"{reason}: {one_line(last_line)}" if last_line else reason
        return Ending(State.FAILED, verdict, detail)
    if answer.get("success") is False:
        return Ending(State.FAILED, str(answer.get("code", "failed")), str(answer.get("reason")))
    return Ending(State.SUCCEEDED, "ok")


def list_ids(facts: Mapping[str, Any]) -> tuple[str, ...]:
    """Name what an answer, or a refusal, is about.

    >>> list_ids({"id": "goal_0123abcd", "desire_id": None, "text": "des_0123abcd"})
    ('goal_0123abcd',)
    """
    values = (facts.get(name) for name in _IDS)
    return tuple(value for value in values if isinstance(value, str) and is_id(value))


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
        for ended_firing in self._append_endings(over):
            self._follow_up(ended_firing)
        return over

    def _append_endings(self, over: Sequence[Ended]) -> list[Ended]:
        """Close firings; those that were cancelled meanwhile are closed already."""
        try:
            self.ledger.append(
                [event for ended_firing in over for event in _make_ending_events(*ended_firing)]
            )
        except DuplicateKey:
            if len(over) == 1:
                return []
            return [
                recorded
                for ended_firing in over
                for recorded in self._append_endings([ended_firing])
            ]
        return list(over)

    def _follow_up(self, ended: Ended) -> None:
        schedule, firing, ending = ended
        slows = schedule.definition.slow_after or schedule.definition.slow_below
        if slows and ending.state in (State.SUCCEEDED, State.FAILED):
            self._adjust_cadence(schedule.id, succeeded=ending.state is State.SUCCEEDED)
        if ending.reason in _WORTH_TELLING:
            self._append_notice(schedule, firing, ending)

    def record_interruption(self, schedule: Schedule, firing: Firing, *, repeatable: bool) -> None:
        """Close a firing that died with its daemon; try again only what may happen twice."""
        if not (repeatable and self._try_again(schedule, firing, INTERRUPTED)):
            self.drop(firing, INTERRUPTED)

    def drop(self, firing: Firing, ending: Ending) -> None:
        """Close a firing without more ado, unless it is closed already."""
        with contextlib.suppress(DuplicateKey):
            self.ledger.append([_make_closed_event(firing, ending)])

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

    def _append_notice(self, schedule: Schedule, firing: Firing, ending: Ending) -> None:
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

    def _adjust_cadence(self, identifier: str, *, succeeded: bool) -> None:
        """Slow a schedule down, or bring it back to normal, where it asked for that."""
        for _ in range(_TRIES):
            schedule = self.timetable.get(identifier)
            successes, runs = views.count_outcomes(self.ledger, identifier, most=model.RATED)
            unreliable = model.is_unreliable(schedule.definition, successes, runs)
            factor = model.cadence(schedule, succeeded=succeeded, unreliable=unreliable)
            if factor == schedule.factor:
                return
            next_run = None
            if not (schedule.paused or schedule.deleted):
                next_run = self.timetable.next_run(schedule, factor=factor)
            why = "it succeeded" if succeeded else f"{schedule.failures} failures in a row"
            if unreliable:
                why = f"{successes} of the last {runs} firings succeeded"
            event = events.adjusted(schedule, factor, next_run, why=why)
            with contextlib.suppress(StaleVersion):
                self.ledger.append([event], expect={identifier: schedule.version})
                return


def _make_ending_events(schedule: Schedule, firing: Firing, ending: Ending) -> list[Event]:
    ending_events = [_make_closed_event(firing, ending)]
    if ending.state is State.FAILED and schedule.definition.attempts > 1:
        text = f"{schedule.definition.name} failed {firing.attempt} times: {ending.detail}"
        ending_events.append(events.gave_up(firing, reason=ending.reason))
        ending_events.append(
            events.noticed(schedule.id, kind="gave_up", text=text, correlation=firing.correlation)
        )
    return ending_events


def _make_closed_event(firing: Firing, ending: Ending) -> Event:
    return events.closed(
        firing,
        about=ending.about,
        outcome=ending.state,
        reason=ending.reason,
        detail=ending.detail,
        milliseconds=ending.milliseconds,
    )
