"""Requests that the proxy itself takes to a host over TLS, with a secret that the box never holds.

    http://127.0.0.1:3128/https/HOST/PATH   →   https://HOST/PATH, with the header of its secret

Inside a tunnel nothing can be added, so a box that is to use a secret speaks plainly to the proxy
of its own network namespace, and the proxy speaks TLS to the host. The host in the path decides
which secret it is; a secret cannot be asked for by name. The request's own header of that name, its
Host and what belongs to one connection are dropped. An answer has the secret masked, in its head
and in its body, and one whose encoding would hide it is refused.
"""

import re
import socket
import ssl
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from astra.trusted.egress.http_head import LARGEST_HEAD, Head
from astra.trusted.egress.proxy_request import Denied, origin_request, parse_authority
from astra.trusted.egress.secret_masking import SecretMasking
from astra.trusted.settings.egress_settings import TLS_PORT, EgressSecret

PREFIX = "/https/"
LONGEST_SECRET = 8 * 1024
_CHUNK, _LONGEST_SIZE_LINE = 65536, 256
_VALUE = re.compile(r"[!-~](?:[ -~]*[!-~])?")
_STATUS = re.compile(rb"HTTP/1\.[01] ([2-5][0-9]{2})(?: [\t -~\x80-\xff]*)?")
_INTERIM = re.compile(rb"HTTP/1\.[01] 1[0-9]{2}(?: |$)")
_HEADER = re.compile(rb"([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*([\t -~\x80-\xff]*)")
_SIZE = re.compile(rb"([0-9a-fA-F]{1,8})(?:;.*)?")
_LENGTH = re.compile(rb"[0-9]{1,15}")
_NOT_PASSED_ON = frozenset(
    {
        *(b"connection", b"keep-alive", b"transfer-encoding", b"trailer", b"upgrade"),
        *(b"proxy-connection",),
    }
)
_END = b"\r\n\r\n"


@dataclass(frozen=True, kw_only=True)
class SecretHeader:
    """A secret that a box may have added, and where its value is read at each use."""

    secret: EgressSecret
    read: Callable[[], str]

    def read_value(self) -> str:
        """Read the value; raises Denied where there is none that a header can carry."""
        try:
            value = self.read()
        except OSError:
            raise Denied("no_secret_value") from None
        if len(value) > LONGEST_SECRET or not _VALUE.fullmatch(value):
            raise Denied("no_secret_value")
        return value


def parse_target(target: str) -> tuple[str, int, str]:
    """Split `/https/HOST[:PORT]/PATH`; the host is read as in a tunnel, in one way only."""
    authority, slash, path = target.removeprefix(PREFIX).partition("/")
    if not slash and "?" in authority:
        raise Denied("bad_request")
    host, port = parse_authority(authority, TLS_PORT)
    return host, port, f"/{path.partition('#')[0]}"


def find_secrets(
    secrets: tuple[SecretHeader, ...], host: str, port: int
) -> tuple[SecretHeader, ...]:
    """Give the secrets for exactly this host and port, or refuse: without one, use a tunnel."""
    matching = tuple(item for item in secrets if item.secret.is_for(host, port))
    if not matching:
        raise Denied("no_secret")
    return matching


def build_request(head: Head, path: str, authority: str, added: dict[str, str]) -> bytes:
    """Write the request as it leaves: for this host, with the secret, asking for plain bytes."""
    of_connection = {
        name.strip().lower()
        for value in head.header_values("connection")
        for name in value.split(",")
    } - {"content-length", "transfer-encoding"}
    replaced = {"host", "accept-encoding", "connection", *of_connection, *map(str.lower, added)}
    headers = (
        ("Host", authority),
        *((name, value) for name, value in head.headers if name.lower() not in replaced),
        *added.items(),
        ("Accept-Encoding", "identity"),
    )
    plain = Head(method=head.method, target=head.target, version=head.version, headers=headers)
    return origin_request(plain, path)


def secure(connection: socket.socket, host: str, trust: ssl.SSLContext) -> ssl.SSLSocket:
    """Begin TLS with a certificate of exactly this host."""
    try:
        return trust.wrap_socket(connection, server_hostname=host)
    except ssl.SSLError:
        connection.close()
        raise Denied("bad_certificate") from None
    except OSError:
        connection.close()
        raise


class Answer:
    """The answer of a host: its head, then its body, with every secret masked."""

    def __init__(
        self,
        server: socket.socket,
        masking: SecretMasking,
        count: Callable[[int], None],
        *,
        has_body: bool,
    ) -> None:
        self._server, self._masking, self._count = server, masking, count
        self._data = b""
        self._has_body = has_body

    def read(self) -> Iterator[bytes]:
        """Give the answer, piece by piece, as the box may see it."""
        status, headers = self._read_final_head()
        _refuse_encoded(headers)
        kept_headers = [
            (name, value) for name, value in headers if name.lower() not in _NOT_PASSED_ON
        ]
        lines = [
            status,
            *(name + b": " + value for name, value in kept_headers),
            b"Connection: close",
        ]
        yield self._masking.mask(b"\r\n".join(lines)) + _END
        if not self._has_body or status.split(b" ")[1] in {b"204", b"304"}:
            return
        for part in self._read_body(headers):
            yield self._masking.feed(part)
        yield self._masking.finish()

    def _read_final_head(self) -> tuple[bytes, list[tuple[bytes, bytes]]]:
        while True:
            first, *lines = self._read_head().split(b"\r\n")
            if _INTERIM.match(first) and not first.split(b" ")[1].startswith(b"101"):
                continue  # 100 Continue and the like: the final head follows
            headers = [_HEADER.fullmatch(line) for line in lines]
            if not _STATUS.fullmatch(first) or not all(headers):
                raise Denied("bad_answer")
            return first, [(header[1], header[2]) for header in headers if header]

    def _read_head(self) -> bytes:
        while _END not in self._data:
            if len(self._data) > LARGEST_HEAD or not self._receive():
                raise Denied("bad_answer")
        head, _end, self._data = self._data.partition(_END)
        return head

    def _read_body(self, headers: list[tuple[bytes, bytes]]) -> Iterator[bytes]:
        coding = [value for name, value in headers if name.lower() == b"transfer-encoding"]
        length = [value for name, value in headers if name.lower() == b"content-length"]
        if coding:
            if coding != [b"chunked"] or length:
                raise Denied("bad_answer")
            yield from self._read_chunks()
        elif length:
            if len(set(length)) > 1 or not _LENGTH.fullmatch(length[0]):
                raise Denied("bad_answer")
            yield from self._read_exactly(int(length[0]))
        else:
            yield from self._read_to_end()

    def _read_chunks(self) -> Iterator[bytes]:
        while True:
            size = _SIZE.fullmatch(self._read_line())
            if size is None:
                raise Denied("bad_answer")
            if int(size[1], 16) == 0:
                return
            yield from self._read_exactly(int(size[1], 16))
            if self._read_line():
                raise Denied("bad_answer")

    def _read_line(self) -> bytes:
        while b"\r\n" not in self._data:
            if len(self._data) > _LONGEST_SIZE_LINE or not self._receive():
                raise Denied("bad_answer")
        line, _end, self._data = self._data.partition(b"\r\n")
        return line

    def _read_exactly(self, length: int) -> Iterator[bytes]:
        while length:
            if not self._data and not self._receive():
                return  # cut short: the client sees that too
            part, self._data = self._data[:length], self._data[length:]
            length -= len(part)
            yield part

    def _read_to_end(self) -> Iterator[bytes]:
        while self._data or self._receive():
            part, self._data = self._data, b""
            yield part

    def _receive(self) -> bool:
        received = self._server.recv(_CHUNK)
        self._count(len(received))
        self._data += received
        return bool(received)


def _refuse_encoded(headers: list[tuple[bytes, bytes]]) -> None:
    """Refuse an answer in which a secret could not be seen."""
    codings = [
        value.strip().lower() for name, value in headers if name.lower() == b"content-encoding"
    ]
    if any(coding not in {b"", b"identity"} for coding in codings):
        raise Denied("encoded_answer")
