"""A server on the other end of a pipe: its command runs in a box, and speaks a message a line.

The box has what the server's signed entry grants and is in the registry of boxes like every other,
so a stop ends it without asking anybody here. One that answers nothing when it is told that nobody
waits any more is ended. Output that no request explains is bounded.
"""

import contextlib
import itertools
import os
import socket
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from astra.adapters.servers.messages import (
    LONGEST_MESSAGE,
    Incoming,
    Message,
    Patience,
    ServerUnavailable,
    encode_message,
    make_notification,
    make_request,
    quote_server,
)
from astra.trusted.kernel.errors import AstraError
from astra.trusted.sandbox.ports import Boxes, BoxRequest, Outcome

START_SECONDS = 60.0
_SEND_SECONDS, _GRACE_SECONDS, _LOOK_SECONDS = 10.0, 2.0, 0.05
_MOST_UNASKED = 64 * 1024 * 1024
_STDERR_TAIL = 4_000


@dataclass
class _Waiter:
    arrived: threading.Event = field(default_factory=threading.Event)
    answer: Message | None = None


class BoxedConnection:
    """Starts a box, keeps its thread, and speaks to it until one of the two ends."""

    def __init__(
        self,
        server: str,
        boxes: Boxes,
        request: Callable[["BoxedConnection"], BoxRequest],
        seconds: Callable[[], float] = time.monotonic,
    ) -> None:
        self.server = server
        self._boxes, self._seconds = boxes, seconds
        self._request = request(self)
        self._incoming = Incoming(self._send_quietly)
        self._numbers = itertools.count(1)
        self._waiters: dict[int, _Waiter] = {}
        self._lock, self._sending = threading.Lock(), threading.Lock()
        self._line, self._stderr, self._unasked = bytearray(), bytearray(), 0
        self._socket: socket.socket | None = None
        self._started, self._ended = threading.Event(), threading.Event()
        self._why_ended = ""
        threading.Thread(target=self._run_box, name=f"server-{server}", daemon=True).start()

    def await_start(self) -> None:
        """Wait until the command runs; raises ServerUnavailable where it does not."""
        deadline = self._seconds() + START_SECONDS
        while not self._started.wait(_LOOK_SECONDS):
            if self._ended.is_set() or self._seconds() > deadline:
                raise self._build_error()

    def on_started(self, descriptor: int) -> None:
        """Hear from the box's thread where the command's standard input is."""
        self._socket = socket.socket(fileno=os.dup(descriptor))
        self._socket.settimeout(_SEND_SECONDS)
        self._started.set()

    def on_output(self, stream: str, data: bytes) -> None:
        """Hear from the box's thread what the command wrote."""
        if stream == "stderr":
            self._stderr = (self._stderr + data)[-_STDERR_TAIL:]
            return
        self._unasked += len(data)
        *lines, unfinished_line = (bytes(self._line) + data).split(b"\n")
        self._line = bytearray(unfinished_line)
        if len(unfinished_line) > LONGEST_MESSAGE or self._unasked > _MOST_UNASKED:
            self._line.clear()
            self._end(f"it wrote more than {LONGEST_MESSAGE >> 20} MiB in one message")
            return
        for line in lines:
            self._take_line(line)

    def request(self, method: str, params: Message, patience: Patience) -> Message:
        number, waiter = next(self._numbers), _Waiter()
        with self._lock:
            self._waiters[number] = waiter
        try:
            self._unasked = 0
            self._send(make_request(number, method, params))
            return self._await_answer(number, waiter, patience)
        finally:
            with self._lock:
                self._waiters.pop(number, None)

    def notify(self, method: str, params: Message) -> None:
        self._send(make_notification(method, params))

    def is_alive(self) -> bool:
        return self._started.is_set() and not self._ended.is_set() and not self._why_ended

    def list_changed(self) -> bool:
        return self._incoming.take_tools_changed()

    def close(self) -> None:
        """Let the server end by itself when its input ends, and end its box where it does not."""
        if self._socket is not None:
            with contextlib.suppress(OSError):
                self._socket.shutdown(socket.SHUT_WR)
        if not self._ended.wait(_GRACE_SECONDS):
            self._end("it is not needed any more")

    def _run_box(self) -> None:
        try:
            outcome = self._boxes.run(self._request)
            self._why_ended = self._why_ended or _describe_end(outcome)
        except AstraError as error:
            self._why_ended = error.detail
        finally:
            self._ended.set()
            if self._socket is not None:
                self._socket.close()

    def _take_line(self, line: bytes) -> None:
        answer = self._incoming.read_answer(line) if line.strip() else None
        number = answer.get("id") if answer else None
        with self._lock:
            waiter = self._waiters.get(number) if isinstance(number, int) else None
        if waiter is not None:
            waiter.answer = answer
            waiter.arrived.set()

    def _await_answer(self, number: int, waiter: _Waiter, patience: Patience) -> Message:
        deadline = self._seconds() + patience.seconds
        while not waiter.arrived.wait(_LOOK_SECONDS):
            if self._ended.is_set():
                raise self._build_error()
            late = f"no answer within {patience.seconds:g} s" if self._seconds() > deadline else ""
            if why := patience.is_over() or late:
                self._give_up(number, waiter, why)
        return waiter.answer or {}

    def _give_up(self, number: int, waiter: _Waiter, why: str) -> None:
        """Tell the server that nobody waits; one that does not even answer that is ended."""
        self._send_quietly(
            make_notification("notifications/cancelled", {"requestId": number, "reason": why})
        )
        if not waiter.arrived.wait(_GRACE_SECONDS):
            self._end(why)
        raise ServerUnavailable(
            f"the call of {self.server} was ended: {why}",
            next_step="look first at what it had done; call it again if it is still needed",
        )

    def _send(self, message: Message) -> None:
        try:
            with self._sending:
                if self._socket is None:
                    raise self._build_error()
                self._socket.sendall(encode_message(message) + b"\n")
        except OSError:
            self._end("it does not read what it is sent")
            raise self._build_error() from None

    def _send_quietly(self, message: Message) -> None:
        with contextlib.suppress(AstraError):
            self._send(message)

    def _end(self, why: str) -> None:
        self._why_ended = self._why_ended or why
        self._boxes.end(self._request.label, why)

    def _build_error(self) -> ServerUnavailable:
        error_lines = bytes(self._stderr).decode("utf-8", "replace").strip().splitlines()
        last = f"; the last thing it said: {quote_server(error_lines[-1])}" if error_lines else ""
        return ServerUnavailable(
            f"the server {self.server} does not run: {self._why_ended or 'it did not start'}{last}",
            next_step="tell the operator to look at `astra servers list` and `astra doctor`",
        )


def _describe_end(outcome: Outcome) -> str:
    return f"{outcome.reason} ({outcome.verdict})"
