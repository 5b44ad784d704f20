"""Refusals in the record: each one that says something new, and a count of the others.

Whoever is refused can be refused again at once, as often as it likes. So in a minute, of one actor,
tool and reason, a refusal has a record of its own (`tool_refused`) only while its arguments are new
(or nearly so) and the actor has had few of them; the others are counted, and when the minute is
over one record (`tool_refusals_counted`) says how many there were. A door that refused the same
before (a session that has spent its calls) has the others counted only. What a plan or a schedule
was refused is always a record: their own budgets bound it, and their stories tell it.
"""

import threading
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from astra.trusted.ledger.record import Event
from astra.trusted.policy import telemetry
from astra.trusted.policy.call import Call
from astra.trusted.policy.caps import REFUSALS_A_MINUTE
from astra.trusted.policy.decision import Decision, Reason

WINDOW_SECONDS = 60.0
_OF_ONE_KIND, _OF_THE_SAME = 20, 3
_ANY_TOOL = ""
_Kind = tuple[str, str, Reason]


@dataclass
class _Window:
    """What one actor was refused for one reason, since the first of it."""

    began: float
    first: Call
    arguments: Counter[str] = field(default_factory=Counter[str])
    """How often each had a record of its own, by the digest of its arguments."""
    counted: int = 0


class Refusals:
    def __init__(self, seconds: Callable[[], float], *, is_tool: Callable[[str], bool]) -> None:
        """Take what tells a tool's name from a word that a caller made up."""
        self._seconds = seconds
        self._is_tool = is_tool
        self._lock = threading.Lock()
        self._windows: dict[_Kind, _Window] = {}
        self._recorded: Counter[str] = Counter()

    def note(self, call: Call, decision: Decision) -> list[Event]:
        """Give what is to be recorded about a refusal: itself, counts that are due, or nothing."""
        if call.schedule_id is not None or call.plan_id is not None:
            return [telemetry.build_refused_event(call, decision)]
        flood = decision.reason is Reason.TOO_MANY_CALLS  # not worth looking at what was sent
        digest = "" if flood else telemetry.arguments_digest(call.arguments)
        with self._lock:
            due = self._take_due()
            is_new = self._is_new(self._find_window(call, decision), digest, str(call.actor))
        return [*due, telemetry.build_refused_event(call, decision)] if is_new else due

    def count(self, call: Call, decision: Decision) -> list[Event]:
        """Count a refusal that has no record of its own; gives the counts that are due."""
        with self._lock:
            due = self._take_due()
            self._find_window(call, decision).counted += 1
        return due

    def due(self, *, leaving: bool = False) -> list[Event]:
        """Give the counts of the windows that are over; of all, when the daemon leaves."""
        with self._lock:
            return self._take_due(leaving=leaving)

    def _find_window(self, call: Call, decision: Decision) -> _Window:
        tool = call.tool if self._is_tool(call.tool) else _ANY_TOOL
        kind = (str(call.actor), tool, decision.reason)
        first = replace(call, arguments={})  # which may be large, and the window stays a while
        return self._windows.setdefault(kind, _Window(began=self._seconds(), first=first))

    def _is_new(self, window: _Window, digest: str, actor: str) -> bool:
        if (
            window.arguments[digest] >= _OF_THE_SAME
            or window.arguments.total() >= _OF_ONE_KIND
            or self._recorded[actor] >= REFUSALS_A_MINUTE
        ):
            window.counted += 1
            return False
        window.arguments[digest] += 1
        self._recorded[actor] += 1
        return True

    def _take_due(self, *, leaving: bool = False) -> list[Event]:
        now = self._seconds()
        over = [
            kind
            for kind, window in self._windows.items()
            if leaving or now - window.began >= WINDOW_SECONDS
        ]
        ended = [(kind, self._windows.pop(kind)) for kind in over]
        for (actor, *_), window in ended:
            self._recorded[actor] -= window.arguments.total()
        self._recorded += Counter()  # drops those at zero
        return [
            telemetry.refusals_counted(
                window.first, tool, reason, count=window.counted, seconds=now - window.began
            )
            for (_, tool, reason), window in ended
            if window.counted
        ]
