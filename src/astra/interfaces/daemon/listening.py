"""The loopback port: on 127.0.0.1 and on ::1, or not at all.

A browser may take either of them for `localhost`; whoever listened on the one we left free would be
given our pages' requests.
"""

import contextlib
import errno
import socket
from collections.abc import Iterator

from astra.trusted.kernel.errors import AstraError

_ATTEMPTS = 20
_BACKLOG = 2048
_FAMILIES = ((socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1"))


class PortUnavailable(AstraError):
    code = "port_unavailable"
    http_status = 503


def listen(port: int) -> tuple[socket.socket, socket.socket]:
    """Listen on both loopback addresses; port 0 finds a number that is free on both."""
    for _ in range(1 if port else _ATTEMPTS):
        with contextlib.ExitStack() as exit_stack:
            try:
                first, second = _open_listeners(port, exit_stack)
            except OSError as error:
                if port or error.errno != errno.EADDRINUSE:
                    raise _make_port_error(port, error) from None
                continue
            exit_stack.pop_all()
            return first, second
    raise _make_port_error(port, OSError(errno.EADDRINUSE, "no number is free on both"))


def _open_listeners(port: int, opened: contextlib.ExitStack) -> tuple[socket.socket, socket.socket]:
    listeners: list[socket.socket] = []
    for family, address in _FAMILIES:
        listener = opened.enter_context(socket.socket(family, socket.SOCK_STREAM, _TCP))
        for level, name in _list_socket_options(family):
            listener.setsockopt(level, name, 1)
        listener.bind((address, port))
        listener.listen(_BACKLOG)
        port = listener.getsockname()[1]
        listeners.append(listener)
    return listeners[0], listeners[1]


_TCP = socket.IPPROTO_TCP
"""Named, because without it asyncio leaves answers waiting for the peer."""


def _list_socket_options(family: int) -> Iterator[tuple[int, int]]:
    yield socket.SOL_SOCKET, socket.SO_REUSEADDR
    if family == socket.AF_INET6:
        yield socket.IPPROTO_IPV6, socket.IPV6_V6ONLY


def _make_port_error(port: int, error: OSError) -> PortUnavailable:
    if error.errno == errno.EADDRINUSE:
        return PortUnavailable(
            f"port {port} of 127.0.0.1 or ::1 is already in use",
            code="port_taken",
            next_step="end that program, or choose another port: astra up --port 8701",
            port=port,
        )
    if error.errno in {errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT}:
        return PortUnavailable(
            "this machine has no ::1; a page at localhost is safe only on both loopback addresses",
            code="no_loopback",
            next_step="switch IPv6 on for the loopback device, or run `astra up --no-port`",
        )
    return PortUnavailable(
        f"cannot listen on port {port}: {error.strerror}",
        next_step="choose another port: astra up --port 8701",
        port=port,
    )
