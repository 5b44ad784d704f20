"""How many connections a listener has, so that whoever opens many keeps nobody else out.

Each takes a descriptor of the daemon, and those are limited. The daemon takes as many as it may
have, and a listener uses a part of them. When that is full, a new connection takes the place of the
one that has waited longest without a whole request; only where every one is being served does it
find none.
"""

import asyncio
import contextlib
import ctypes
import resource
from collections.abc import Iterable
from typing import cast

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

MOST = 2_000
_USEFUL = 16_384
_ARENA_MAX, _ARENAS = -8, 2
"""`M_ARENA_MAX` of malloc.h."""
_UNFINISHED = (h11.IDLE, h11.SEND_BODY)


def raise_descriptor_limit() -> None:
    """Take as many descriptors as are useful and allowed."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    useful = _USEFUL if hard == resource.RLIM_INFINITY else min(_USEFUL, hard)
    if soft != resource.RLIM_INFINITY and soft < useful:
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (useful, hard))


def limit_arenas() -> None:
    """Have threads share two heaps: one each, as glibc gives them, is never given back whole.

    Elsewhere than with glibc there is no such call, and no such habit.
    """
    with contextlib.suppress(AttributeError, OSError):
        ctypes.CDLL(None).mallopt(_ARENA_MAX, _ARENAS)


def most_connections() -> int:
    """Give how many connections one listener may have: a quarter of all descriptors."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return MOST if soft == resource.RLIM_INFINITY else min(MOST, soft // 4)


class BoundedProtocol(H11Protocol):
    """HTTP on one of so many connections."""

    waits_since = 0.0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.waits_since = self.loop.time()
        if len(self.connections) > self.most():
            find_longest_waiting(
                cast("Iterable[BoundedProtocol]", self.connections), self
            ).give_up()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if not self.is_unfinished():
            self.waits_since = self.loop.time()

    def most(self) -> int:
        return most_connections()

    def is_unfinished(self) -> bool:
        """Tell whether no whole request has come, so that nothing is lost but waiting."""
        return self.conn.their_state in _UNFINISHED

    def give_up(self) -> None:
        self.connections.discard(self)
        self.transport.abort()


def find_longest_waiting(
    connections: Iterable[BoundedProtocol], newest: BoundedProtocol
) -> BoundedProtocol:
    unfinished_connections = [
        one for one in connections if one is not newest and one.is_unfinished()
    ]
    return min(unfinished_connections, key=lambda one: one.waits_since, default=newest)
