"""Nobody waits for a call any more: it is told so, and what it runs in a box is ended.

A call that has not begun does not begin. One that runs in a box carries a label by which the box is
ended, also when the box starts only after somebody asked. What works without a box is short and
runs to its end, because half of it might be done.
"""

import threading
from dataclasses import dataclass, field

from astra.trusted.kernel.errors import AstraError

WHY = "cancelled by its caller"


class CallCancelled(AstraError):
    code = "cancelled"
    http_status = 499


@dataclass(frozen=True)
class Cancellation:
    _asked: threading.Event = field(default_factory=threading.Event)

    def ask(self) -> None:
        self._asked.set()

    def is_asked(self) -> bool:
        return self._asked.is_set()

    def raise_if_asked(self) -> None:
        if self._asked.is_set():
            raise build_error()


def build_error() -> CallCancelled:
    return CallCancelled(
        "this call was cancelled before it was done: its client took it back or went away",
        next_step="call it again if it is still needed; look first at what it had done",
    )
