"""Moves bytes between two connections, counted against a budget, in both directions at once."""

import contextlib
import selectors
import socket
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

from astra.trusted.egress.http_head import BadHead

_CHUNK = 65536
_FULL = 4 * _CHUNK
_LONGEST_LINE = 1024


class OverBudget(Exception):
    """More bytes than the run may move."""


class Counts(Protocol):
    sent: int
    received: int


@dataclass
class ByteBudget:
    left: int
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def spend(self, count: int) -> None:
        with self._lock:
            self.left -= count
            if self.left < 0:
                raise OverBudget


@dataclass(frozen=True, kw_only=True)
class Meter:
    """Spends the budget before bytes move, and counts them as sent once the kernel took them."""

    budget: ByteBudget
    counts: Counts

    def count_received(self, count: int) -> None:
        self.budget.spend(count)
        self.counts.received += count

    def count_sent(self, count: int) -> None:
        self.counts.sent += count

    def send(self, server: socket.socket, data: bytes) -> None:
        """Send all of it; whatever breaks it off, what left is counted."""
        self.budget.spend(len(data))
        unsent = memoryview(data)
        while unsent:
            count = server.send(unsent)
            self.count_sent(count)
            unsent = unsent[count:]


def relay(
    client: socket.socket,
    server: socket.socket,
    meter: Meter,
    *,
    idle: float,
    client_may_send: bool = True,
) -> bool:
    """Relay until the server is done; False when the client sent although it may not."""
    near = _Side(connection=client, read=meter.budget.spend)
    far = _Side(connection=server, read=meter.count_received, written=meter.count_sent)
    with selectors.DefaultSelector() as ready:
        while not far.finished or near.waiting:
            _register_sides(ready, near, far)
            events = ready.select(idle)
            if not events:
                raise TimeoutError
            for key, mask in events:
                side, peer = (near, far) if key.fileobj is client else (far, near)
                bytes_read = _move_bytes(side, peer, mask)
                if bytes_read and side is near and not client_may_send:
                    return False
            _pass_on_the_end(near, far)
    return True


def forward_body(
    client: socket.socket, server: socket.socket, data: bytes, length: int | None, meter: Meter
) -> bytes:
    """Forward exactly one request body; give what came behind it."""
    reader = _Reader(client, data)

    def pass_on(part: bytes) -> None:
        meter.send(server, part)

    if length is None:
        _forward_chunks(reader, pass_on)
    else:
        _forward_exactly(reader, length, pass_on)
    return reader.data


def _ignore_count(_count: int) -> None:
    """Count nothing: what comes back to the box was counted when it was received."""


@dataclass(kw_only=True)
class _Side:
    """One connection, the bytes that wait to be written to it, and who counts what moves."""

    connection: socket.socket
    read: Callable[[int], None]
    written: Callable[[int], None] = _ignore_count
    waiting: bytearray = field(default_factory=bytearray)
    reading: bool = True
    finished: bool = False

    def __post_init__(self) -> None:
        self.connection.settimeout(0)


@dataclass
class _Reader:
    connection: socket.socket
    data: bytes

    def receive_more(self) -> None:
        received = self.connection.recv(_CHUNK)
        if not received:
            raise BadHead("bad_request")
        self.data += received

    def read_some(self, most: int) -> bytes:
        if not self.data:
            self.receive_more()
        part, self.data = self.data[:most], self.data[most:]
        return part

    def read_line(self) -> bytes:
        while b"\r\n" not in self.data:
            if len(self.data) > _LONGEST_LINE:
                raise BadHead("ambiguous_length")
            self.receive_more()
        line, _end, self.data = self.data.partition(b"\r\n")
        return line


def _forward_exactly(reader: _Reader, length: int, pass_on: Callable[[bytes], None]) -> None:
    while length:
        part = reader.read_some(min(length, _CHUNK))
        length -= len(part)
        pass_on(part)


def _forward_chunks(reader: _Reader, pass_on: Callable[[bytes], None]) -> None:
    """Forward chunks without extensions or trailers, which readers understand differently."""
    while True:
        size = reader.read_line()
        if not 0 < len(size) <= 8 or not all(c in b"0123456789abcdefABCDEF" for c in size):  # noqa: PLR2004
            raise BadHead("ambiguous_length")
        length = int(size, 16)
        pass_on(size + b"\r\n")
        _forward_exactly(reader, length, pass_on)
        if reader.read_line():
            raise BadHead("ambiguous_length")
        pass_on(b"\r\n")
        if length == 0:
            return


def _move_bytes(side: _Side, other: _Side, mask: int) -> int:
    """Write what waits for this side and read what it has; give the number of bytes read."""
    if mask & selectors.EVENT_WRITE:
        count = side.connection.send(side.waiting)
        side.written(count)
        del side.waiting[:count]
    if not mask & selectors.EVENT_READ:
        return 0
    data = side.connection.recv(_CHUNK)
    side.reading = bool(data)
    side.read(len(data))
    other.waiting += data
    return len(data)


def _register_sides(ready: selectors.BaseSelector, near: _Side, far: _Side) -> None:
    for side, peer in ((near, far), (far, near)):
        events = selectors.EVENT_WRITE if side.waiting else 0
        if side.reading and len(peer.waiting) < _FULL:
            events |= selectors.EVENT_READ
        if side.connection in ready.get_map():
            ready.unregister(side.connection)
        if events:
            ready.register(side.connection, events)


def _pass_on_the_end(near: _Side, far: _Side) -> None:
    """Tell the server that the client has said everything; the client learns it by the close."""
    far.finished = not far.reading
    if not near.reading and not far.waiting and not near.finished:
        near.finished = True
        with contextlib.suppress(OSError):
            far.connection.shutdown(socket.SHUT_WR)
