"""A conversation over HTTP with an address that the signed configuration names.

Over TLS with a certificate of that name, or plain; no redirect is followed, no proxy of the
environment used, and the whole conversation is over in time, however slowly the other end speaks.
"""

import http.client
import ssl
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from urllib.parse import urlsplit

CONVERSATION_ERRORS = (OSError, ValueError, http.client.HTTPException)
"""What goes wrong when somebody cannot be reached or does not speak HTTP."""


@contextmanager
def open_connection(
    address: str,
    *,
    seconds: float,
    trust: Callable[[], ssl.SSLContext] = ssl.create_default_context,
) -> Generator[http.client.HTTPConnection]:
    parts = urlsplit(address)
    host, port = parts.hostname or "", parts.port
    connection = (
        http.client.HTTPSConnection(host, port, timeout=seconds, context=trust())
        if parts.scheme == "https"
        else http.client.HTTPConnection(host, port, timeout=seconds)
    )
    limit = threading.Timer(seconds, _shut_connection, [connection])
    limit.daemon = True
    limit.start()
    try:
        yield connection
    finally:
        limit.cancel()
        connection.close()


def _shut_connection(connection: http.client.HTTPConnection) -> None:
    """End a conversation whose other end takes its time, byte by byte."""
    if connection.sock is not None:
        with suppress(OSError):
            connection.sock.shutdown(2)  # SHUT_RDWR
