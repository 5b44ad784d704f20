import socket

import pytest
from hypothesis import given
from hypothesis import strategies as st

from astra.trusted.egress import http_head
from astra.trusted.egress.http_head import BadHead


def test_a_plain_head_is_read() -> None:
    head = http_head.parse_head(b"POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\n")
    assert (head.method, head.target, head.header_value("host")) == ("POST", "/a", "x")
    assert http_head.body_length(head) == 3


def test_what_comes_behind_the_head_is_kept_apart() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        theirs.sendall(b"GET / HTTP/1.1\r\n\r\nrest")
        assert http_head.read_head(ours) == (b"GET / HTTP/1.1\r\n\r\n", b"rest")


@pytest.mark.parametrize(
    "raw",
    [
        b"GET / HTTP/1.1\nHost: x\r\n\r\n",
        b"GET /\r\n\r\n",
        b"get / HTTP/1.1\r\n\r\n",
        b"GET / HTTP/1.1\r\nNo colon\r\n\r\n",
        b"GET / HTTP/1.1\r\n: x\r\n\r\n",
        b"GET / HTTP/1.1\r\nA : x\r\n\r\n",
        b"GET / HTTP/1.1\r\nA: x\r\n b\r\n\r\n",
        b"GET / HTTP/1.1\r\nA: \x7f\r\n\r\n",
        b"GET /\xe4 HTTP/1.1\r\n\r\n",
    ],
)
def test_a_head_that_can_be_read_in_two_ways_is_refused(raw: bytes) -> None:
    with pytest.raises(BadHead):
        http_head.parse_head(raw)


@given(st.binary(max_size=100))
def test_any_bytes_are_a_head_or_refused(data: bytes) -> None:
    try:
        head = http_head.parse_head(data + b"\r\n\r\n")
    except BadHead:
        return
    assert head.target.isascii()
    assert "\r" not in str(head.headers).replace("\\r", "\r")
