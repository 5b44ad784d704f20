"""A server at an address: HTTP through an egress proxy that lets this one host through.

Every request is a connection of its own, recorded like those of boxes. The daemon speaks to the
proxy over a pair of sockets that nobody else holds. No redirect is followed, and an answer that is
too large, or later than somebody waits, is cut off.
"""

import contextlib
import http.client
import itertools
import socket
import ssl
import threading
import time
from collections.abc import Callable, Generator, Iterator
from urllib.parse import urlsplit

from astra.adapters.servers.messages import (
    LONGEST_MESSAGE,
    PROTOCOL,
    Incoming,
    Message,
    Patience,
    ServerUnavailable,
    encode_message,
    make_notification,
    make_request,
)
from astra.trusted.egress.egress_proxy import EgressProxy

_LOOK_SECONDS, _NOTICE_SECONDS = 0.05, 10.0
_OK, _ACCEPTED = 200, 202
_SPARE_CONNECTIONS = 64  # for calls that are on their way when the last one is counted
_ERRORS = (OSError, ValueError, http.client.HTTPException)


class HttpConnection:
    def __init__(
        self,
        server: str,
        url: str,
        proxy: EgressProxy,
        *,
        trust: Callable[[], ssl.SSLContext] = ssl.create_default_context,
        has_secrets: bool = False,
    ) -> None:
        """Take a proxy that adds secrets, where there are any: then it speaks TLS, not this."""
        self.server = server
        self._url, self._proxy, self._trust = urlsplit(url), proxy, trust
        self._tunnels = self._url.scheme == "https" and not has_secrets
        self._numbers = itertools.count(1)
        self._session = ""
        self._incoming = Incoming(_forget_reply)
        self._alive = True
        self._requests = 0

    def request(self, method: str, params: Message, patience: Patience) -> Message:
        number = next(self._numbers)
        with self._exchange(make_request(number, method, params), patience) as response:
            for raw in _read_messages(response):
                answer = self._incoming.read_answer(raw)
                if answer is not None and answer.get("id") == number:
                    self._session = response.getheader("Mcp-Session-Id") or self._session
                    return answer
        raise self._build_error("it answered with something else than it was asked")

    def notify(self, method: str, params: Message) -> None:
        message = make_notification(method, params)
        with self._exchange(message, Patience(seconds=_NOTICE_SECONDS)) as response:
            response.read(LONGEST_MESSAGE)

    def is_alive(self) -> bool:
        """Tell whether it can go on; before its proxy has let through all it may, it cannot."""
        return self._alive and self._requests < self._proxy.connection_limit - _SPARE_CONNECTIONS

    def list_changed(self) -> bool:
        return self._incoming.take_tools_changed()

    def close(self) -> None:
        self._alive = False
        self._proxy.close()

    @contextlib.contextmanager
    def _exchange(
        self, message: Message, patience: Patience
    ) -> Generator[http.client.HTTPResponse]:
        """Send one message and give the answer's head; whatever goes wrong is said once."""
        self._requests += 1
        watch = _Watch(patience)
        try:
            with contextlib.closing(self._open_connection(patience)) as connection:
                watch.begin(connection)
                connection.request("POST", self._path, encode_message(message), self._headers())
                response = connection.getresponse()
                if response.status not in {_OK, _ACCEPTED}:
                    raise self._build_error(f"it answered with the status {response.status}")
                yield response
        except _ERRORS as error:
            raise self._build_error(watch.why or _describe_failure(error)) from None
        finally:
            watch.end()

    def _open_connection(self, patience: Patience) -> http.client.HTTPConnection:
        ours, theirs = socket.socketpair()
        ours.settimeout(patience.seconds)
        self._proxy.serve_connection(theirs)
        host = self._url.hostname or ""
        connection = http.client.HTTPConnection(host, self._port, timeout=patience.seconds)
        try:
            if self._tunnels:
                _open_tunnel(ours, f"{host}:{self._port}")
                ours = self._trust().wrap_socket(ours, server_hostname=host)
        except BaseException:  # raised again; the pair of sockets goes
            ours.close()
            raise
        connection.sock = ours
        return connection

    @property
    def _port(self) -> int:
        return self._url.port or (443 if self._url.scheme == "https" else 80)

    @property
    def _path(self) -> str:
        path = self._url.path or "/"
        path = f"{path}?{self._url.query}" if self._url.query else path
        if self._tunnels:
            return path
        if self._url.scheme == "https":
            return f"/https/{self._url.hostname}:{self._port}{path}"
        return f"http://{self._url.hostname}:{self._port}{path}"

    def _headers(self) -> dict[str, str]:
        port = "" if self._url.port is None else f":{self._url.port}"
        session = {"Mcp-Session-Id": self._session} if self._session else {}
        return {
            "Host": f"{self._url.hostname}{port}",
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
            "Accept-Encoding": "identity",
            "MCP-Protocol-Version": PROTOCOL,
            **session,
        }

    def _build_error(self, why: str) -> ServerUnavailable:
        refusal = self._proxy.summarise_attempts().refused
        cause = f" (the egress proxy: {refusal})" if refusal else ""
        return ServerUnavailable(
            f"the server {self.server} cannot be reached: {why}{cause}",
            next_step="tell the operator to look at `astra servers list` and `astra doctor`",
        )


class _Watch:
    """Cuts a connection off when nobody waits for its answer any more."""

    def __init__(self, patience: Patience) -> None:
        self.why = ""
        self._patience = patience
        self._over = threading.Event()

    def begin(self, connection: http.client.HTTPConnection) -> None:
        watching = threading.Thread(target=self._watch, args=[connection.sock], daemon=True)
        watching.start()

    def end(self) -> None:
        self._over.set()

    def _watch(self, connection: socket.socket) -> None:
        deadline = time.monotonic() + self._patience.seconds
        while not self._over.wait(_LOOK_SECONDS):
            late = "no answer in time" if time.monotonic() > deadline else ""
            if why := self._patience.is_over() or late:
                self.why = why
                with contextlib.suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)
                return


def _open_tunnel(connection: socket.socket, authority: str) -> None:
    connection.sendall(f"CONNECT {authority} HTTP/1.1\r\nHost: {authority}\r\n\r\n".encode())
    head = b""
    while not head.endswith(b"\r\n\r\n"):
        byte = connection.recv(1)  # not one more: what follows is TLS
        if not byte:
            raise OSError("the egress proxy closed the tunnel")
        head += byte
    if b" 200 " not in head.partition(b"\r\n")[0]:
        raise OSError("the egress proxy refused the tunnel")


def _read_messages(response: http.client.HTTPResponse) -> Iterator[bytes]:
    """Give the messages of an answer: one document, or the events of a stream."""
    kind = (response.getheader("Content-Type") or "").partition(";")[0].strip().lower()
    if kind != "text/event-stream":
        yield _bounded(response.read(LONGEST_MESSAGE + 1))
        return
    lines: list[bytes] = []
    size = 0
    while line := response.readline(LONGEST_MESSAGE + 1):
        size += len(line)
        _bounded(line, size)
        field, _colon, value = line.rstrip(b"\r\n").partition(b":")
        if field == b"data":
            lines.append(value.removeprefix(b" "))
        elif not field and lines:
            yield b"\n".join(lines)
            lines.clear()


def _bounded(data: bytes, size: int | None = None) -> bytes:
    if (len(data) if size is None else size) > LONGEST_MESSAGE:
        raise ValueError(f"it sent more than {LONGEST_MESSAGE >> 20} MiB")
    return data


def _describe_failure(error: Exception) -> str:
    return str(error)[:200] or type(error).__name__


def _forget_reply(_message: Message) -> None:
    """Answer nothing that a server asks over HTTP: it waits, and its call ends in time."""
