"""Asks one instance for its health, over a connection that reaches no other.

An answer counts when it comes in time, with a status of 200 to 299, and does not name another
release: in an `Astra-Release` header, or in a member `release` of a JSON body.
"""

import contextlib
import http.client
import json
import socket
import threading
from collections.abc import Callable
from typing import Any

from astra.deployments.ports import Checked

_LARGEST_BODY = 65536


def check(
    connect: Callable[[float], socket.socket],
    path: str,
    *,
    release: str,
    seconds: float,
    has_to_say_so: bool = False,
) -> Checked:
    try:
        connection = connect(seconds)
    except OSError as error:
        return Checked(ok=False, detail=f"nobody answers: {error}")
    # A socket's timeout counts from the last byte; this one counts for all of it.
    late = threading.Event()
    limit = threading.Timer(seconds, _cut, [connection, late])
    limit.start()
    try:
        checked = _ask(connection, path, {release} if has_to_say_so else {release, None})
    except (OSError, http.client.HTTPException, ValueError) as error:
        return Checked(ok=False, detail=f"no answer: {type(error).__name__} {str(error)[:200]}")
    finally:
        limit.cancel()
        connection.close()
    if late.is_set():  # an answer that was cut off may look like a whole one
        return Checked(ok=False, detail=f"no whole answer within {seconds:g} s")
    return checked


def _ask(connection: socket.socket, path: str, accepted: set[str | None]) -> Checked:
    asking = http.client.HTTPConnection("localhost")
    asking.sock = connection
    asking.request("GET", path, headers={"Connection": "close", "User-Agent": "astra-health"})
    with asking.getresponse() as answer:
        body = answer.read(_LARGEST_BODY)
        said = answer.headers.get("Astra-Release") or _named(body)
        if not http.client.OK <= answer.status < http.client.MULTIPLE_CHOICES:
            return Checked(ok=False, detail=f"status {answer.status}: {_shown(body)}")
    if said not in accepted:
        return Checked(ok=False, detail=f"it says that it is release {str(said)[:100]!a}")
    return Checked(ok=True, detail=f"status {answer.status}")


def _named(body: bytes) -> str | None:
    try:
        document: Any = json.loads(body)
    except (ValueError, RecursionError):
        return None
    if isinstance(document, dict) and "release" in document:
        return str(document["release"])  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
    return None


def _shown(body: bytes) -> str:
    return ascii(body[:200].decode("utf-8", "replace"))[1:-1]


def _cut(connection: socket.socket, late: threading.Event) -> None:
    late.set()
    with contextlib.suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)
