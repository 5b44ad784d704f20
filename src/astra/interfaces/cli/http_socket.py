"""HTTP on the daemon's socket, as little of it as the daemon speaks.

The standard library's client brings the parsers of mail and TLS along, which cost a command more
time than its answer. The peer is our own daemon, as the kernel vouches; what does not read like its
answer is an `OSError`, as a connection that breaks is.
"""

import io
import socket
from collections.abc import Mapping
from typing import Any, Self

_LONGEST_LINE = 64 << 10
_MOST_HEADERS = 100
BAD_REQUEST = 400


class Response:
    """An answer whose body is read as it comes."""

    def __init__(self, stream: io.BufferedReader, connection: socket.socket) -> None:
        self._connection = connection
        self._stream = stream
        self.status = _read_status(stream)
        self.headers = _read_headers(stream)
        self._body = self._open_body()

    def read(self) -> bytes:
        return self._body.read()

    def readline(self) -> bytes:
        return self._body.readline()

    def close(self) -> None:
        self._stream.close()
        self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def _open_body(self) -> io.BufferedReader:
        if self.headers.get("transfer-encoding") == "chunked":
            return io.BufferedReader(_ChunkedBody(self._stream))
        length = self.headers.get("content-length")
        return io.BufferedReader(_SizedBody(self._stream, _read_size(length or "0", 10)))


def send_request(
    connection: socket.socket,
    method: str,
    target: str,
    headers: Mapping[str, str],
    payload: bytes | None,
) -> Response:
    """Send one request and read the head of its answer; the connection is for this one alone."""
    fields = {**headers, "Connection": "close"}
    if payload is not None:
        fields["Content-Length"] = str(len(payload))
    lines = [f"{method} {target} HTTP/1.1", *(f"{name}: {text}" for name, text in fields.items())]
    if any("\r" in line or "\n" in line for line in lines):
        raise ValueError("a line break in the head of a request")
    connection.sendall("\r\n".join([*lines, "", ""]).encode("latin-1") + (payload or b""))
    stream = connection.makefile("rb")
    try:
        return Response(stream, connection)
    except OSError:
        stream.close()
        raise


class _SizedBody(io.RawIOBase):
    """A body of a known length; one that ends before is an error, never a shorter body."""

    def __init__(self, stream: io.BufferedReader, size: int) -> None:
        self._stream, self._left = stream, size

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> int:
        if not self._left:
            return 0
        piece = _read_some(self._stream, min(len(buffer), self._left))
        buffer[: len(piece)] = piece
        self._left -= len(piece)
        return len(piece)


class _ChunkedBody(io.RawIOBase):
    """A body that comes in chunks, each with its length before it."""

    def __init__(self, stream: io.BufferedReader) -> None:
        self._stream = stream
        self._left = 0
        self._is_over = False

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> int:
        if not self._left and not self._begin_chunk():
            return 0
        piece = _read_some(self._stream, min(len(buffer), self._left))
        buffer[: len(piece)] = piece
        self._left -= len(piece)
        if not self._left:
            _read_line(self._stream)
        return len(piece)

    def _begin_chunk(self) -> bool:
        if not self._is_over:
            self._left = _read_size(_read_line(self._stream).partition(";")[0], 16)
            self._is_over = not self._left
        return not self._is_over


def _read_some(stream: io.BufferedReader, size: int) -> bytes:
    piece = stream.read1(size)
    if not piece:
        raise ConnectionError("the answer ended in the middle")
    return piece


def _read_line(stream: io.BufferedReader) -> str:
    line = stream.readline(_LONGEST_LINE)
    if not line.endswith(b"\n"):
        raise ConnectionError("the answer ended in the middle of a line")
    return line.decode("latin-1").rstrip("\r\n")


def _read_status(stream: io.BufferedReader) -> int:
    version, _, status_text = _read_line(stream).partition(" ")
    if not version.startswith("HTTP/1."):
        raise ConnectionError("the answer is not HTTP")
    return _read_size(status_text[:3], 10)


def _read_headers(stream: io.BufferedReader) -> dict[str, str]:
    headers: dict[str, str] = {}
    for _ in range(_MOST_HEADERS):
        line = _read_line(stream)
        if not line:
            return headers
        name, _, text = line.partition(":")
        headers[name.strip().lower()] = text.strip()
    raise ConnectionError("the answer has too many headers")


def _read_size(text: str, base: int) -> int:
    try:
        size = int(text.strip(), base)
    except ValueError:
        raise ConnectionError(f"the answer has a bad number: {text[:20]!r}") from None
    if size < 0:
        raise ConnectionError(f"the answer has a bad number: {text[:20]!r}")
    return size
