"""The command line's HTTP: what the daemon sends arrives whole, or is an error."""

import socket
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from astra.interfaces.cli.http_socket import send_request


def exchange(answer: bytes) -> tuple[int, bytes]:
    """Send a request to somebody who answers with these bytes and hangs up."""
    here, there = socket.socketpair()
    with here, there:
        sender = threading.Thread(target=lambda: (there.sendall(answer), there.shutdown(1)))
        sender.start()
        try:
            with send_request(here, "POST", "/api/x", {"Host": "localhost"}, b"{}") as response:
                body = response.read()
        finally:
            sender.join()
        assert there.recv(10_000).startswith(b"POST /api/x HTTP/1.1\r\nHost: localhost\r\n")
    return response.status, body


def chunked(chunks: list[bytes]) -> bytes:
    framed = b"".join(b"%x\r\n%s\r\n" % (len(chunk), chunk) for chunk in chunks)
    return b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + framed + b"0\r\n\r\n"


@given(st.binary(max_size=2000))
def test_a_body_of_a_known_size_arrives_whole(body: bytes) -> None:
    head = f"HTTP/1.1 409 Conflict\r\nContent-Length: {len(body)}\r\n\r\n".encode()
    assert exchange(head + body) == (409, body)


@given(st.lists(st.binary(min_size=1, max_size=300), max_size=8))
def test_a_body_in_chunks_arrives_whole(chunks: list[bytes]) -> None:
    assert exchange(chunked(chunks)) == (200, b"".join(chunks))


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"SSH-2.0-x\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nab",
        b"HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"HTTP/1.1 200 OK\r\n" + b"a: b\r\n" * 200,
    ],
)
def test_an_answer_that_is_cut_or_is_not_http_is_an_error(answer: bytes) -> None:
    with pytest.raises(OSError, match="answer"):
        exchange(answer)


def test_events_are_read_line_by_line_as_they_come() -> None:
    here, there = socket.socketpair()
    with there:
        there.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n6\r\nfirst\n\r\n")
        with send_request(here, "GET", "/api/events", {}, None) as response:
            assert response.readline() == b"first\n"
            there.sendall(b"7\r\nsecond\n\r\n")
            assert response.readline() == b"second\n"


def test_no_header_can_be_smuggled_in() -> None:
    here, there = socket.socketpair()
    with here, there, pytest.raises(ValueError, match="line break"):
        send_request(here, "GET", "/x", {"Astra-Off": "a\r\nHost: evil"}, None)
