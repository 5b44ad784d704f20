r"""Reads the server name out of the first message of a TLS client.

Gives a name only when there is exactly one, in one well-formed ClientHello; everything else is
refused, because the server behind an allowed name must not be asked for another.

>>> server_name(b"GET / HTTP/1.1\r\n")
Traceback (most recent call last):
    ...
astra.trusted.egress.client_hello.NotTls: not_tls
"""

import struct

LARGEST_HELLO = 64 * 1024
_HANDSHAKE, _CLIENT_HELLO, _SERVER_NAME, _HOST_NAME = 22, 1, 0, 0
_RECORD_HEADER, _RANDOM = 5, 34


class NotTls(ValueError):
    """The bytes are no ClientHello with one server name; the text is a stable code."""


class Incomplete(Exception):
    """More bytes are needed to tell."""


def server_name(data: bytes) -> str:
    """Give the server name asked for, or raise Incomplete or NotTls."""
    try:
        return _read_server_name(_read_hello(data))
    except struct.error:
        raise NotTls("not_tls") from None


def _read_hello(data: bytes) -> bytes:
    """Join the records of the first handshake message."""
    message = b""
    while True:
        if data and data[0] != _HANDSHAKE:
            raise NotTls("not_tls")
        if len(data) < _RECORD_HEADER:
            raise Incomplete
        _kind, major, _minor, length = struct.unpack_from(">BBBH", data)
        if major != 3 or length == 0:  # noqa: PLR2004 - every TLS version says 3 here
            raise NotTls("not_tls")
        fragment = data[_RECORD_HEADER : _RECORD_HEADER + length]
        message += fragment
        _refuse_other_messages(message)
        if len(message) >= 4 and len(message) >= 4 + _decode_uint24(message[1:4]):  # noqa: PLR2004
            return message[4 : 4 + _decode_uint24(message[1:4])]
        if len(fragment) < length:
            raise Incomplete
        data = data[_RECORD_HEADER + length :]


def _refuse_other_messages(message: bytes) -> None:
    if message and message[0] != _CLIENT_HELLO:
        raise NotTls("not_tls")
    if len(message) >= 4 and _decode_uint24(message[1:4]) > LARGEST_HELLO:  # noqa: PLR2004
        raise NotTls("not_tls")


def _read_server_name(hello: bytes) -> str:
    remainder = _skip_vector(hello[_RANDOM:], ">B")  # the id of an earlier connection
    remainder = _skip_vector(remainder, ">H")  # cipher suites
    remainder = _skip_vector(remainder, ">B")  # compression methods
    names = [
        body
        for kind, body in _parse_extensions(_read_vector(remainder, ">H"))
        if kind == _SERVER_NAME
    ]
    if not names:
        raise NotTls("sni_missing")
    if len(names) > 1:
        raise NotTls("sni_ambiguous")
    return _only_host(_read_vector(names[0], ">H"))


def _only_host(entries: bytes) -> str:
    kind, length = struct.unpack_from(">BH", entries)
    if kind != _HOST_NAME or len(entries) != 3 + length:
        raise NotTls("sni_ambiguous")
    try:
        return entries[3:].decode("ascii")
    except UnicodeDecodeError:
        raise NotTls("sni_ambiguous") from None


def _parse_extensions(data: bytes) -> list[tuple[int, bytes]]:
    extensions: list[tuple[int, bytes]] = []
    while data:
        (kind,) = struct.unpack_from(">H", data)
        body = _read_vector(data[2:], ">H")
        extensions.append((kind, body))
        data = data[4 + len(body) :]
    return extensions


def _read_vector(data: bytes, size: str) -> bytes:
    (length,) = struct.unpack_from(size, data)
    start = struct.calcsize(size)
    if len(data) < start + length:
        raise NotTls("not_tls")
    return data[start : start + length]


def _skip_vector(data: bytes, size: str) -> bytes:
    return data[struct.calcsize(size) + len(_read_vector(data, size)) :]


def _decode_uint24(data: bytes) -> int:
    return int.from_bytes(data, "big")
