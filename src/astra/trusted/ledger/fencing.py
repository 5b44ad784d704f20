"""Who does background work may be another a moment later: what it appends says under which lease.

Where several machines share one chain, the holder of a lease row does the background work. It may
be paused for longer than its lease lives, and another machine goes on meanwhile. So the threads
that do such work carry the lease and its epoch (a fence), and a ledger with leases checks it inside
the append, at the head of the chain: a holder that lost its lease can write nothing under it.

One machine on its own files has no lease, and no fence.
"""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from astra.trusted.kernel.errors import Conflict


class LeaseLost(Conflict):
    """Raised by an append under a lease that is another's by now: nothing was recorded."""

    code = "lease_lost"


@dataclass(frozen=True, slots=True)
class Fence:
    name: str
    holder: str
    epoch: int


_FENCE: ContextVar[Fence | None] = ContextVar("astra_fence", default=None)


def find_fence() -> Fence | None:
    """Give the lease that this thread works under, if any."""
    return _FENCE.get()


@contextmanager
def work_under(fence: Fence | None) -> Generator[None, None, None]:
    """Let everything that this thread appends be checked against a lease."""
    token = _FENCE.set(fence)
    try:
        yield
    finally:
        _FENCE.reset(token)


def bind_fence(work: Callable[[], None]) -> Callable[[], None]:
    """Give work that another thread does under the lease of this one."""
    fence = find_fence()

    def work_with_fence() -> None:
        with work_under(fence):
            work()

    return work_with_fence


def build_lost_error(fence: Fence) -> LeaseLost:
    return LeaseLost(
        f"the lease {fence.name} of epoch {fence.epoch} is over: another machine does that work",
        next_step="nothing: it is done there",
    )
