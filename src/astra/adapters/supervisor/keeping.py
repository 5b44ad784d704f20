"""Keeps Astra's own listening sockets in the holder, so that no app can take their port.

While a daemon runs, they are only held. When it is gone (its loan ends), whoever connects is told
so by the holder; the next daemon gets the same sockets back, and nobody could bind the port
meanwhile. A daemon that runs is not robbed: the sockets are given only when there is none.
"""

import contextlib
import select
import socket
import threading
from typing import Any

_LOOK_MILLISECONDS = 100
_PATIENCE = 1.0
_LARGEST_HEAD = 65536
_WORDS = b"Astra's daemon is not running. Start it: astra up\n"
_ANSWER = (
    b"HTTP/1.1 503 Service Unavailable\r\nContent-Type: text/plain\r\nRetry-After: 5\r\n"
    b"Connection: close\r\nContent-Length: %d\r\n\r\n%b" % (len(_WORDS), _WORDS)
)


class OwnListeners:
    def __init__(self) -> None:
        self._listeners: list[socket.socket] = []
        self._loan: socket.socket | None = None
        self._turn = 0
        self._lock = threading.Lock()

    def keep(self, listeners: list[socket.socket], connection: socket.socket) -> dict[str, Any]:
        """Hold these instead of those before, for the daemon at the other end."""
        loan = connection.dup()
        loan.settimeout(None)
        with self._lock:
            before = (*self._listeners, *((self._loan,) if self._loan else ()))
            self._listeners, self._loan = listeners, loan
            self._turn += 1
            threading.Thread(
                target=self._follow_loan, args=(loan.dup(), self._turn), daemon=True
            ).start()
        for old in before:
            old.close()
        return {"kept": len(listeners)}

    def give_listeners(self) -> list[socket.socket]:
        """Give copies to the next daemon; none while the one before is still there."""
        with self._lock:
            if self._loan is None or not _is_over(self._loan):
                return []
            self._turn += 1
            return list(self._listeners)

    def _follow_loan(self, loan: socket.socket, turn: int) -> None:
        """Wait for the end of the daemon, then answer in its place."""
        with loan, contextlib.suppress(OSError):
            while loan.recv(1):
                pass
        with self._lock:
            copies = [] if turn != self._turn else [listener.dup() for listener in self._listeners]
        with contextlib.ExitStack() as stack:
            for copied in copies:
                stack.enter_context(copied)
            while copies and turn == self._turn:
                self._answer_clients(_wait_for_clients(copies), turn)

    def _answer_clients(self, ready: list[socket.socket], turn: int) -> None:
        for listener in ready:
            with contextlib.suppress(OSError):
                if turn == self._turn:
                    _refuse_client(listener.accept()[0])


def _wait_for_clients(listeners: list[socket.socket]) -> list[socket.socket]:
    """Give those that somebody connects to; by poll, as numbers of descriptors may be high."""
    poll, by_number = select.poll(), {listener.fileno(): listener for listener in listeners}
    for number in by_number:
        poll.register(number, select.POLLIN)
    return [by_number[number] for number, _ in poll.poll(_LOOK_MILLISECONDS)]


def _is_over(loan: socket.socket) -> bool:
    try:
        return loan.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT) == b""
    except BlockingIOError:
        return False
    except OSError:
        return True


def _refuse_client(client: socket.socket) -> None:
    with client:
        client.settimeout(_PATIENCE)
        client.recv(_LARGEST_HEAD)
        client.sendall(_ANSWER)
