r"""Reads the head of an HTTP request strictly: what two programs could read differently is refused.

Lines end in CR LF, names are tokens directly followed by a colon, nothing is folded, no byte is a
control or beyond ASCII, and the length of the body has one meaning.

>>> head = parse_head(b"GET http://example.com/ HTTP/1.1\r\nHost: example.com\r\n\r\n")
>>> head.method, head.target, head.header_value("host")
('GET', 'http://example.com/', 'example.com')
"""

import re
import socket
from dataclasses import dataclass

LARGEST_HEAD = 32 * 1024
_END = b"\r\n\r\n"
_REQUEST = re.compile(rb"([A-Z]{1,20}) ([!-~]{1,8192}) (HTTP/1\.[01])")
_HEADER = re.compile(rb"([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*([ \t!-~]*)")
_LENGTH = re.compile(r"[0-9]{1,15}")


class BadHead(ValueError):
    """The head cannot be read in one way only; `reason` is a stable code."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True, kw_only=True)
class Head:
    method: str
    target: str
    version: str
    headers: tuple[tuple[str, str], ...]

    def header_values(self, name: str) -> list[str]:
        return [value for key, value in self.headers if key.lower() == name]

    def header_value(self, name: str) -> str | None:
        values = self.header_values(name)
        if len(values) > 1:
            raise BadHead("repeated_header")
        return values[0] if values else None


def read_head(connection: socket.socket) -> tuple[bytes, bytes]:
    """Read up to the end of the head; give the head and what came behind it."""
    data = b""
    while _END not in data:
        more = connection.recv(8192)
        if not more or len(data) > LARGEST_HEAD:
            raise BadHead("bad_request" if data else "nothing_sent")
        data += more
        _refuse_other_protocols(data)
    head, _end, surplus = data.partition(_END)
    if len(head) > LARGEST_HEAD:
        raise BadHead("bad_request")
    return head + _END, surplus


def parse_head(data: bytes) -> Head:
    first, *lines = data.removesuffix(_END).split(b"\r\n")
    request = _REQUEST.fullmatch(first)
    headers = [_HEADER.fullmatch(line) for line in lines]
    if request is None or not all(headers):
        raise BadHead("bad_request")
    return Head(
        method=request[1].decode(),
        target=request[2].decode(),
        version=request[3].decode(),
        headers=tuple((h[1].decode(), h[2].decode().strip()) for h in headers if h),
    )


def body_length(head: Head) -> int | None:
    """Give the length of the body, None for chunks; refuses a head that says both or neither."""
    length, coding = head.header_value("content-length"), head.header_value("transfer-encoding")
    if length is not None and coding is not None:
        raise BadHead("ambiguous_length")
    if coding is not None:
        if coding.lower() != "chunked" or head.version != "HTTP/1.1":
            raise BadHead("ambiguous_length")
        return None
    if length is not None and not _LENGTH.fullmatch(length):
        raise BadHead("ambiguous_length")
    return int(length or 0)


def _refuse_other_protocols(data: bytes) -> None:
    if data[0] in {4, 5}:
        raise BadHead("socks")
    if not b"A"[0] <= data[0] <= b"Z"[0]:
        raise BadHead("bad_request")
