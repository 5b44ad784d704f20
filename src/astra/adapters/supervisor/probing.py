"""Asks one instance for its health, over a connection that reaches no other.

An answer counts when it comes in time, with a status of 200 to 299, and does not name another
release: in an `Astra-Release` header, or in a member `release` of a JSON body. On the host's
network it counts only if a process of that very instance took the connection (`attribution`); the
question is finished after that is known. Each probe carries a nonce in `Astra-Probe`, so that an
app or its log can tell probes apart; an answer that gives another one back does not count.
"""

import contextlib
import http.client
import json
import secrets
import socket
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from astra.adapters.supervisor import attribution
from astra.deployments.ports import Checked

NONCE = "Astra-Probe"
_LARGEST_BODY = 65536
_FOREIGN = (
    "a process that is not of this release took the probe, or one of this release that hides what"
    " it holds; another release at the port is in the way"
)


@dataclass(frozen=True, kw_only=True)
class Probe:
    """How an instance is asked; `pids` are its processes, where others could take its place."""

    connect: Callable[[float], socket.socket]
    release: str
    host: str = "localhost"
    pids: Callable[[], list[int]] | None = None
    has_to_say_so: bool = False

    def check(self, path: str, *, seconds: float) -> Checked:
        try:
            connection = self.connect(seconds)
        except OSError as error:
            return Checked(ok=False, detail=f"nobody answers: {error}")
        # A socket's timeout counts from the last byte; this one counts for all of it.
        late = threading.Event()
        limit = threading.Timer(seconds, _shut_connection, [connection, late])
        limit.start()
        try:
            checked = self._ask_instance(connection, path, seconds)
        except (OSError, http.client.HTTPException, ValueError) as error:
            checked = Checked(
                ok=False, detail=f"no answer: {type(error).__name__} {str(error)[:200]}"
            )
        finally:
            limit.cancel()
            connection.close()
        if late.is_set() and not checked.foreign:  # what was cut off may look like a whole answer
            return Checked(ok=False, detail=f"no whole answer within {seconds:g} s")
        return checked

    def _ask_instance(self, connection: socket.socket, path: str, seconds: float) -> Checked:
        nonce = secrets.token_hex(16)
        question_start, question_end = _write_question(path, nonce, self.host)
        connection.sendall(question_start)
        if not self._is_own(connection, seconds):
            return Checked(ok=False, detail=_FOREIGN, foreign=True)
        connection.sendall(question_end)
        answer = http.client.HTTPResponse(connection, method="GET")
        with answer:
            answer.begin()
            return self._judge_answer(answer, nonce)

    def _is_own(self, connection: socket.socket, seconds: float) -> bool:
        if self.pids is None:
            return True
        inode = attribution.await_inode(connection, seconds)
        if inode is None:
            raise TimeoutError("nobody took the connection up")
        return attribution.is_held(inode, self.pids())

    def _judge_answer(self, answer: http.client.HTTPResponse, nonce: str) -> Checked:
        body = answer.read(_LARGEST_BODY)
        if not http.client.OK <= answer.status < http.client.MULTIPLE_CHOICES:
            return Checked(ok=False, detail=f"status {answer.status}: {_quote_body(body)}")
        name = answer.headers.get("Astra-Release") or _release_from_body(body)
        if name not in ({self.release} if self.has_to_say_so else {self.release, None}):
            return Checked(ok=False, detail=f"it says that it is release {str(name)[:100]!a}")
        if answer.headers.get(NONCE, nonce) != nonce:
            return Checked(ok=False, detail="it answered another probe than this one")
        return Checked(ok=True, detail=f"status {answer.status}")


def _write_question(path: str, nonce: str, host: str) -> tuple[bytes, bytes]:
    """Give the question in two pieces; a server answers nothing before the second."""
    if not path.isascii() or not path.isprintable() or " " in path:
        raise ValueError(f"{path!a} is no path of a URL")
    lines = (
        *(f"GET {path} HTTP/1.1", f"Host: {host}", "Accept-Encoding: identity"),
        *("Connection: close", "User-Agent: astra-health", f"{NONCE}: {nonce}"),
    )
    return "".join(f"{line}\r\n" for line in lines).encode(), b"\r\n"


def _release_from_body(body: bytes) -> str | None:
    try:
        document: Any = json.loads(body)
    except (ValueError, RecursionError):
        return None
    if isinstance(document, dict) and "release" in document:
        return str(document["release"])  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
    return None


def _quote_body(body: bytes) -> str:
    return ascii(body[:200].decode("utf-8", "replace"))[1:-1]


def _shut_connection(connection: socket.socket, late: threading.Event) -> None:
    late.set()
    with contextlib.suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)
