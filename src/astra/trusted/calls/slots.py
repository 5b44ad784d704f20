"""How many calls of one actor run at once, and how many of them in boxes.

A slot is taken before the gate records anything, and is free again when the call is over. What a
plan or a schedule runs is bounded by its own workers and takes no slot.
"""

import threading
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from astra.trusted.policy.call import Call
from astra.trusted.policy.caps import BOXES_AT_ONCE, CALLS_AT_ONCE
from astra.trusted.policy.decision import Decision, Reason, deny


def _most_boxes() -> int:
    return BOXES_AT_ONCE.most


@dataclass(frozen=True, kw_only=True)
class Slots:
    most_boxes: Callable[[], int] = _most_boxes
    """Asked anew at every call that takes a box: the operator may sign another number."""
    _running: Counter[tuple[str, bool]] = field(default_factory=Counter[tuple[str, bool]])
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def take(self, call: Call, *, boxed: bool) -> Decision | None:
        """Take a slot for a call, or say why there is none."""
        if _bounded_otherwise(call):
            return None
        who, most = str(call.actor), self.most_boxes() if boxed else 0
        with self._lock:
            if boxed and self._running[who, True] >= most:
                return _denial_from_error(Reason.TOO_MANY_BOXES, BOXES_AT_ONCE.build_error(most))
            if self._running[who, True] + self._running[who, False] >= CALLS_AT_ONCE.most:
                return _denial_from_error(Reason.TOO_MANY_AT_ONCE, CALLS_AT_ONCE.build_error())
            self._running[who, boxed] += 1
        return None

    def give_back(self, call: Call, *, boxed: bool) -> None:
        if _bounded_otherwise(call):
            return
        slot = (str(call.actor), boxed)
        with self._lock:
            self._running[slot] -= 1
            if not self._running[slot]:
                del self._running[slot]


def _bounded_otherwise(call: Call) -> bool:
    return call.schedule_id is not None or call.plan_id is not None


def _denial_from_error(reason: Reason, error: Exception) -> Decision:
    return deny(reason, str(error), getattr(error, "next_step", ""))
