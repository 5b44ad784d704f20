"""HTTP on a port, for strangers: nobody may keep a connection by saying nothing.

A request's head has to be complete within a time, and a peer that takes nothing of what was sent to
it is dropped by the kernel. (What a body may take is the front door's business.)
"""

import asyncio
from socket import IPPROTO_TCP, TCP_USER_TIMEOUT, socket

import h11

from astra.interfaces.daemon.connections import BoundedProtocol

HEAD_SECONDS = 15.0
_STALLED_MILLISECONDS = 60_000


class TcpProtocol(BoundedProtocol):
    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        connection: socket | None = transport.get_extra_info("socket")
        if connection is not None:
            connection.setsockopt(IPPROTO_TCP, TCP_USER_TIMEOUT, _STALLED_MILLISECONDS)
        self._expect_head()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.conn.their_state is h11.IDLE:
            self._expect_head()
        else:
            self._cancel_deadline()

    def connection_lost(self, exc: Exception | None) -> None:
        self._cancel_deadline()
        super().connection_lost(exc)

    def _expect_head(self) -> None:
        if self._deadline is None:
            self._deadline = self.loop.call_later(HEAD_SECONDS, self._abort_silent_peer)

    def _abort_silent_peer(self) -> None:
        self._deadline = None
        if self.conn.their_state is h11.IDLE and not self.transport.is_closing():
            self.transport.abort()

    def _cancel_deadline(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None
