"""What a worker does again and again: a duty is looked at until the worker leaves.

Each duty has a thread of its own and works under the worker's lease: what it appends carries the
epoch, and is refused once the lease is over. A duty that raises rests for a while that grows, and
the others go on.
"""

from typing import Protocol


class Duty(Protocol):
    @property
    def name(self) -> str: ...

    @property
    def every(self) -> float:
        """Give how many seconds it rests after each look."""
        ...

    def run_once(self) -> None:
        """Do what is due now. It may take as long as it takes; nothing else waits for it."""
        ...

    def drain(self) -> None:
        """Begin nothing more, and bring what runs to an end: the worker leaves."""
        ...
