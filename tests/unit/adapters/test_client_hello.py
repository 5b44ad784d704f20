import ssl

import pytest
from hypothesis import given
from hypothesis import strategies as st

from astra.trusted.egress.client_hello import Incomplete, NotTls, server_name


def hello(name: str | None) -> bytes:
    """Let the real TLS library write a ClientHello."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    with pytest.raises(ssl.SSLWantReadError):
        context.wrap_bio(incoming, outgoing, server_hostname=name).do_handshake()
    return outgoing.read()


def test_the_name_a_real_client_asks_for_is_read() -> None:
    assert server_name(hello("example.com")) == "example.com"


def test_a_hello_without_a_name_is_refused() -> None:
    with pytest.raises(NotTls, match="sni_missing"):
        server_name(hello(None))


def test_every_beginning_of_a_hello_asks_for_more() -> None:
    whole = hello("example.com")
    for length in range(1, len(whole)):
        with pytest.raises(Incomplete):
            server_name(whole[:length])


def test_a_hello_spread_over_records_is_read_as_one() -> None:
    whole = hello("example.com")
    body = whole[5:]
    parts = [body[n : n + 50] for n in range(0, len(body), 50)]
    spread = b"".join(b"\x16\x03\x01" + len(p).to_bytes(2, "big") + p for p in parts)
    assert server_name(spread) == "example.com"


def test_two_names_are_refused() -> None:
    whole = bytearray(hello("example.com"))
    entry = whole.index(b"example.com") - 3
    extension = bytes(whole[entry - 6 : entry + 14])
    whole[entry - 6 : entry - 6] = extension
    for place, size in ((3, 2), (6, 3)):
        length = int.from_bytes(whole[place : place + size], "big") + len(extension)
        whole[place : place + size] = length.to_bytes(size, "big")
    extensions = _extensions_length_at(bytes(whole))
    length = int.from_bytes(whole[extensions : extensions + 2], "big") + len(extension)
    whole[extensions : extensions + 2] = length.to_bytes(2, "big")
    with pytest.raises(NotTls, match="sni_ambiguous"):
        server_name(bytes(whole))


@given(st.binary(max_size=200))
def test_any_bytes_are_a_name_or_refused_or_too_few(data: bytes) -> None:
    try:
        assert isinstance(server_name(data), str)
    except (NotTls, Incomplete):
        return


@given(st.integers(0, 511), st.integers(0, 255))
def test_one_changed_byte_never_breaks_the_reader(place: int, value: int) -> None:
    whole = bytearray(hello("example.com"))
    whole[place % len(whole)] = value
    try:
        server_name(bytes(whole))
    except (NotTls, Incomplete):
        return


def _extensions_length_at(data: bytes) -> int:
    place = 5 + 4 + 34
    place += 1 + data[place]
    place += 2 + int.from_bytes(data[place : place + 2], "big")
    return place + 1 + data[place]
