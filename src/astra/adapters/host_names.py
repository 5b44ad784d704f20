"""Asks the name server of this machine about a few names at once, for a few seconds.

A question cannot be taken back once the C library has it, so that each runs in a thread which may
outlive the answer; there are never more of them than `MOST_QUESTIONS`, however often somebody asks.
"""

import socket
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

MOST_QUESTIONS = 20
_NOT_THERE = frozenset({socket.EAI_NONAME, getattr(socket, "EAI_NODATA", socket.EAI_NONAME)})


def _ask_system(name: str) -> list[str]:
    """Resolve a whole name: the dot at its end keeps the machine's search domains out of it."""
    rows = socket.getaddrinfo(f"{name}.", None, type=socket.SOCK_STREAM)
    return sorted({str(row[4][0]) for row in rows})


@dataclass(frozen=True, kw_only=True)
class HostNames:
    ask: Callable[[str], list[str]] = _ask_system
    seconds: float = 5.0
    _free: threading.BoundedSemaphore = field(
        default_factory=lambda: threading.BoundedSemaphore(MOST_QUESTIONS)
    )

    def resolve(self, names: Sequence[str]) -> Mapping[str, list[str] | None]:
        """Give what is known of each name when the time is up."""
        answers: dict[str, list[str] | None] = {}
        threads = [thread for name in names if (thread := self._begin(name, answers))]
        deadline = time.monotonic() + self.seconds
        for thread in threads:
            thread.join(max(0.0, deadline - time.monotonic()))
        return {name: answers.get(name) for name in names}

    def _begin(self, name: str, answers: dict[str, list[str] | None]) -> threading.Thread | None:
        """Ask in a thread of its own, unless too many questions are still open."""
        if not self._free.acquire(blocking=False):
            return None
        thread = threading.Thread(target=self._answer, args=(name, answers), daemon=True)
        try:
            thread.start()
        except RuntimeError:  # there is no room for a thread
            self._free.release()
            return None
        return thread

    def _answer(self, name: str, answers: dict[str, list[str] | None]) -> None:
        try:
            answers[name] = self.ask(name)
        except socket.gaierror as error:
            answers[name] = [] if error.errno in _NOT_THERE else None
        except (OSError, ValueError):
            answers[name] = None
        finally:
            self._free.release()
