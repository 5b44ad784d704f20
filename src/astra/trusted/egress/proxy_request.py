"""What a client of the proxy asks for, read in one way only or denied with a reason."""

import re
import socket

from astra.trusted.egress import client_hello
from astra.trusted.egress.http_head import Head
from astra.trusted.kernel.errors import BadInput
from astra.trusted.policy import domains

HTTP = 80
_HOP_BY_HOP = {
    *("connection", "proxy-connection", "proxy-authorization", "proxy-authenticate", "keep-alive"),
    *("te", "trailer", "upgrade", "expect"),
}
_PORT = re.compile("[0-9]{1,5}")


class Denied(Exception):
    """The proxy says no; `reason` is one of `egress_proxy.REASONS`."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


def parse_authority(text: str, default_port: int | None) -> tuple[str, int]:
    if "@" in text:
        raise Denied("userinfo")
    if text.startswith("["):
        raise Denied("ip_literal")
    host, colon, port = text.partition(":")
    if not _PORT.fullmatch(port if colon or default_port is None else "0"):
        raise Denied("bad_host")
    try:
        name = domains.normalise_host(host)
    except BadInput as error:
        raise Denied("ip_literal" if "IP address" in error.detail else "bad_host") from None
    return name, int(port) if colon else int(default_port or 0)


def parse_absolute_url(target: str) -> tuple[str, int, str]:
    """Split `http://host:port/path`; other schemes have no business here."""
    scheme, separator, after_scheme = target.partition("://")
    if scheme.lower() != "http" or not separator:
        raise Denied("bad_request")
    authority_end = min(
        (after_scheme.index(mark) for mark in "/?#" if mark in after_scheme),
        default=len(after_scheme),
    )
    host, port = parse_authority(after_scheme[:authority_end], HTTP)
    path = after_scheme[authority_end:].partition("#")[0]
    return host, port, path if path.startswith("/") else "/" + path


def check_host_header(head: Head, host: str, port: int) -> None:
    host_header = head.header_value("host")
    if host_header is None and head.version == "HTTP/1.0":
        return
    if host_header is None or parse_authority(host_header, HTTP) != (host, port):
        raise Denied("host_mismatch")


def origin_request(head: Head, path: str) -> bytes:
    dropped = _HOP_BY_HOP | {
        name.strip().lower()
        for value in head.header_values("connection")
        for name in value.split(",")
    }
    dropped -= {"host", "content-length", "transfer-encoding"}
    lines = [
        f"{head.method} {path} HTTP/1.1",
        *(f"{name}: {value}" for name, value in head.headers if name.lower() not in dropped),
        "Connection: close",
    ]
    return "\r\n".join([*lines, "", ""]).encode("ascii")


def read_checked_hello(client: socket.socket, data: bytes, host: str) -> bytes:
    """Read the first TLS message and refuse a server name that is not the tunnel's."""
    while True:
        try:
            server_name = client_hello.server_name(data) if data else None
        except client_hello.Incomplete:
            server_name = None
        except client_hello.NotTls as error:
            raise Denied(str(error)) from None
        if server_name is not None:
            _refuse_other_name(server_name, host)
            return data
        more = client.recv(16384)
        if not more or len(data) > client_hello.LARGEST_HELLO:
            raise Denied("not_tls")
        data += more


def _refuse_other_name(asked: str, host: str) -> None:
    try:
        same = domains.normalise_host(asked) == host
    except BadInput:
        same = False
    if not same:
        raise Denied("sni_mismatch")
