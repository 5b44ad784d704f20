"""Every way out that is not a granted host and port, tried on the proxy itself."""

import socket
import ssl
from collections.abc import Callable
from typing import Any

import pytest

Proxy = Callable[..., socket.socket]


def say(client: socket.socket, text: bytes | str) -> bytes:
    """Send bytes and read until the proxy hangs up."""
    client.sendall(text.encode("latin-1") if isinstance(text, str) else text)
    answer = b""
    try:
        while data := client.recv(65536):
            answer += data
    except ConnectionResetError:
        pass
    return answer


def connect(target: str) -> str:
    return f"CONNECT {target} HTTP/1.1\r\nHost: {target}\r\n\r\n"


def get(url: str, *headers: str, host: str = "example.com") -> str:
    return "\r\n".join([f"GET {url} HTTP/1.1", f"Host: {host}", *headers, "", ""])


def only_reason(world: Any) -> str:
    (attempt,) = world.attempts
    assert attempt.allowed == (attempt.sent > 0), "a refusal means that nothing left"
    return str(attempt.reason)


@pytest.mark.parametrize(
    ("target", "reason"),
    [
        ("evil.net:443", "not_granted"),
        ("api.example.com:443", "not_granted"),
        ("evil-example.com:443", "not_granted"),
        ("example.com.evil.net:443", "not_granted"),
        ("example.com:22", "port_not_granted"),
        ("example.com:8443", "port_not_granted"),
        ("example.com:0", "port_not_granted"),
        ("example.com:99999", "port_not_granted"),
        ("example.com", "bad_host"),
        ("example.com:", "bad_host"),
        ("example.com:443:443", "bad_host"),
        ("example.com:+443", "bad_host"),
        ("user@example.com:443", "userinfo"),
        ("example.com@evil.net:443", "userinfo"),
        ("example.com:443@evil.net:443", "userinfo"),
        ("127.0.0.1:443", "ip_literal"),
        ("127.1:443", "ip_literal"),
        ("2130706433:443", "ip_literal"),
        ("0x7f000001:443", "ip_literal"),
        ("0x7f.0.0.1:443", "ip_literal"),
        ("0177.0.0.1:443", "ip_literal"),
        ("93.184.216.34:443", "ip_literal"),
        ("1.1.1.1.:443", "ip_literal"),
        ("[::1]:443", "ip_literal"),
        ("[::ffff:127.0.0.1]:443", "ip_literal"),
        ("[fe80::1%25lo]:443", "ip_literal"),
        ("::1:443", "bad_host"),
        ("localhost:443", "not_granted"),
        ("*.example.com:443", "bad_host"),
        ("example..com:443", "bad_host"),
        (".example.com:443", "bad_host"),
        ("exa%6dple.com:443", "bad_host"),
        ("example.com/:443", "bad_host"),
        ("http://example.com:443", "bad_host"),
    ],
)
def test_a_tunnel_to_anything_else_is_refused_and_nothing_is_dialled(
    proxy: Proxy, world: Any, target: str, reason: str
) -> None:
    answer = say(proxy(), connect(target))
    assert answer.startswith(b"HTTP/1.1 403 ")
    assert f"X-Astra-Refused: {reason}".encode() in answer
    assert only_reason(world) == reason
    assert world.dialled == []


@pytest.mark.parametrize(
    "raw",
    [
        b"CONNECT example.com\0.evil.net:443 HTTP/1.1\r\n\r\n",
        b"CONNECT ex\xc3\xa4mple.com:443 HTTP/1.1\r\n\r\n",
        b"CONNECT example.com:443 HTTP/2.0\r\n\r\n",
        b"CONNECT  example.com:443 HTTP/1.1\r\n\r\n",
        b"CONNECT\texample.com:443 HTTP/1.1\r\n\r\n",
        b"CONNECT example.com:443 HTTP/1.1\nHost: x\n\n\r\n\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"connect example.com:443 HTTP/1.1\r\n\r\n",
        b"\x16\x03\x01\x00\x05hello",
        b"\r\n\r\nGET / HTTP/1.1\r\n\r\n",
        b"GET http://example.com/ HTTP/1.1\r\nHost : example.com\r\n\r\n",
        b"GET http://example.com/ HTTP/1.1\r\nHost: example.com\r\n folded\r\n\r\n",
        b"GET http://example.com/ HTTP/1.1\r\nHost: example.com\r\nX: \x01\r\n\r\n",
        b"GET http://example.com/ HTTP/1.1\r\nHost: example.com\rX: y\r\n\r\n",
        b"GET http://example.com/a b HTTP/1.1\r\nHost: example.com\r\n\r\n",
        b"GET /hello HTTP/1.1\r\nHost: example.com\r\n\r\n",
        b"GET https://example.com/ HTTP/1.1\r\nHost: example.com\r\n\r\n",
        b"GET ftp://example.com/ HTTP/1.1\r\nHost: example.com\r\n\r\n",
        b"GET http://example.com/ HTTP/1.1\r\n" + b"X: " + b"y" * 40000 + b"\r\n\r\n",
    ],
)
def test_what_is_no_plain_request_is_refused(proxy: Proxy, world: Any, raw: bytes) -> None:
    say(proxy(), raw)
    assert only_reason(world) == "bad_request"
    assert world.dialled == []


@pytest.mark.parametrize("raw", [b"\x05\x01\x00", b"\x04\x01\x01\xbb\x5d\xb8\xd8\x22\x00"])
def test_socks_is_refused_without_an_answer(proxy: Proxy, world: Any, raw: bytes) -> None:
    assert say(proxy(), raw) == b""
    assert only_reason(world) == "socks"


@pytest.mark.parametrize(
    "address",
    [
        *("127.0.0.1", "10.0.0.1", "192.168.1.1", "172.16.0.1", "169.254.169.254", "0.0.0.0"),
        *("100.64.0.1", "224.0.0.1", "::1", "fe80::1", "fd00::1", "::ffff:127.0.0.1"),
        *("64:ff9b::a00:1", "2002:7f00:1::", "168.63.129.16"),
    ],
)
def test_a_granted_name_that_leads_inside_is_refused(
    proxy: Proxy, world: Any, address: str
) -> None:
    world.addresses["example.com"] = [address]
    say(proxy(), connect("example.com:443"))
    assert only_reason(world) == "internal_address"
    assert world.dialled == []


def test_the_address_that_was_checked_is_the_one_dialled(proxy: Proxy, world: Any) -> None:
    """A name that changes its address between two questions is asked once."""
    answers = [["93.184.216.34"], ["127.0.0.1"]]
    object.__setattr__(world, "addresses", _Changing(answers))
    say(proxy(), get("http://example.com/hello"))
    assert world.resolved == ["example.com"]
    assert world.dialled == [("93.184.216.34", 80)]


def test_of_several_addresses_only_public_ones_are_dialled(proxy: Proxy, world: Any) -> None:
    world.addresses["example.com"] = ["127.0.0.1", "::1", "93.184.216.34"]
    assert b"hello" in say(proxy(), get("http://example.com/hello"))
    assert world.dialled == [("93.184.216.34", 80)]


def test_a_name_without_an_address_is_said_to_have_none(proxy: Proxy, world: Any) -> None:
    world.addresses["example.com"] = []
    say(proxy(), connect("example.com:443"))
    assert only_reason(world) == "cannot_resolve"


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("evil.net", "sni_mismatch"),
        ("api.example.com", "sni_mismatch"),
        ("example.com.evil.net", "sni_mismatch"),
        (None, "sni_missing"),
    ],
)
def test_tls_for_another_server_than_the_tunnel_is_refused(
    proxy: Proxy, world: Any, name: str | None, reason: str
) -> None:
    client = _tunnel(proxy())
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    with pytest.raises((ssl.SSLError, OSError)):
        context.wrap_socket(client, server_hostname=name)
    assert _settled(client, world) == reason
    assert world.seen == []


@pytest.mark.parametrize(
    "first",
    [
        b"GET / HTTP/1.1\r\nHost: evil.net\r\n\r\n",
        b"SSH-2.0-OpenSSH_9\r\n",
        b"\x05\x01\x00",
        b"\x00" * 100,
        b"\x16\x02\x00\x00\x05hello",
        b"\x16\x03\x01\x00\x05\x02\x00\x00\x01x",
        b"\x16\x03\x01\x00\x00",
        b"\x16\x03\x01\x00\x04\x01\xff\xff\xff",
        b"\x17\x03\x03\x00\x05hello",
        b"\x16\x03\x01\x00\x06\x01\x00\x00\x02\x03\x03",
    ],
)
def test_anything_but_tls_in_a_tunnel_is_refused(proxy: Proxy, world: Any, first: bytes) -> None:
    client = _tunnel(proxy())
    say(client, first)
    assert only_reason(world) == "not_tls"
    assert world.seen == []


def test_bytes_sent_together_with_the_connect_are_judged_too(proxy: Proxy, world: Any) -> None:
    say(proxy(), connect("example.com:443") + "GET / HTTP/1.1\r\n\r\n")
    assert only_reason(world) == "not_tls"
    assert world.seen == []


@pytest.mark.parametrize(
    "second", ["GET http://evil.net/ HTTP/1.1\r\nHost: evil.net\r\n\r\n", "x", "\r\n"]
)
def test_a_second_request_behind_the_first_never_leaves(
    proxy: Proxy, world: Any, second: str
) -> None:
    say(proxy(), get("http://example.com/hello") + second)
    assert only_reason(world) == "pipelined"
    (attempt,) = world.attempts
    assert attempt.allowed
    first = "GET /hello HTTP/1.1\r\nHost: example.com\r\nConnection: close\r\n\r\n"
    assert attempt.sent == len(first)
    assert len(world.seen) <= 1
    assert world.dialled == [("93.184.216.34", 80)]


@pytest.mark.parametrize(
    "headers",
    [
        ("Content-Length: 5", "Transfer-Encoding: chunked"),
        ("Transfer-Encoding: chunked, identity",),
        ("Transfer-Encoding: xchunked",),
        ("Content-Length: +5",),
        ("Content-Length: 0x5",),
        ("Content-Length: 5, 5",),
        ("Content-Length: -1",),
    ],
)
def test_a_body_of_two_lengths_is_refused(
    proxy: Proxy, world: Any, headers: tuple[str, ...]
) -> None:
    say(proxy(), get("http://example.com/", *headers) + "hello")
    assert only_reason(world) == "ambiguous_length"
    assert world.dialled == []


@pytest.mark.parametrize(
    "headers",
    [
        ("Content-Length: 5", "Content-Length: 6"),
        ("Transfer-Encoding: chunked", "Transfer-Encoding: identity"),
        ("Host: evil.net",),
    ],
)
def test_a_header_that_counts_once_may_not_come_twice(
    proxy: Proxy, world: Any, headers: tuple[str, ...]
) -> None:
    say(proxy(), get("http://example.com/", *headers))
    assert only_reason(world) == "repeated_header"


@pytest.mark.parametrize(
    "chunks",
    ["zz\r\nhello\r\n", "5;ext=1\r\nhello\r\n0\r\n\r\n", "0\r\nTrailer: x\r\n\r\n", "-5\r\n"],
)
def test_chunks_that_can_be_read_in_two_ways_are_refused(
    proxy: Proxy, world: Any, chunks: str
) -> None:
    head = get("http://example.com/", "Transfer-Encoding: chunked")
    say(proxy(), head + chunks)
    assert only_reason(world) == "ambiguous_length"


@pytest.mark.parametrize("host", ["evil.net", "example.com:81", "example.com@evil.net", ""])
def test_a_host_header_that_names_another_host_is_refused(
    proxy: Proxy, world: Any, host: str
) -> None:
    say(proxy(), get("http://example.com/hello", host=host))
    assert only_reason(world) in {"host_mismatch", "userinfo", "bad_host"}
    assert world.dialled == []


@pytest.mark.parametrize(
    "url",
    [
        "http://evil.net/",
        "http://example.com@evil.net/",
        "http://evil.net\\@example.com/",
        "http://evil.net#@example.com/",
        "http://127.0.0.1/",
        "http://[::1]/",
        "http:///example.com/",
        "http://example.com:22/",
    ],
)
def test_a_url_that_leads_elsewhere_is_refused(proxy: Proxy, world: Any, url: str) -> None:
    say(proxy(), get(url))
    assert not world.attempts[0].allowed
    assert world.dialled == []


def test_more_bytes_than_allowed_end_the_connection(proxy: Proxy, world: Any) -> None:
    (world.folder / "pages" / "large").write_bytes(bytes(500_000))
    answer = say(proxy(byte_limit=100_000), get("http://example.com/large"))
    assert len(answer) < 400_000
    assert only_reason(world) == "byte_limit"


def test_a_body_that_left_before_the_line_was_cut_is_recorded_as_sent(
    proxy: Proxy, world: Any
) -> None:
    head = get("http://example.com/x", "Transfer-Encoding: chunked").replace("GET", "POST", 1)
    say(proxy(), head + "6\r\nstolen\r\n" + "zz\r\n")
    (attempt,) = world.attempts
    assert attempt.reason == "ambiguous_length"
    assert attempt.allowed
    assert attempt.sent > len("6\r\nstolen\r\n")


def test_more_connections_than_allowed_are_refused_and_do_not_flood_the_record(
    proxy: Proxy, world: Any
) -> None:
    client = proxy(connection_limit=3)
    address = client.getpeername()
    say(client, connect("evil.net:443"))
    for _ in range(7):
        with socket.create_connection(address, timeout=10) as again:
            say(again, connect("evil.net:443"))
    reasons = [attempt.reason for attempt in world.attempts]
    assert reasons == ["not_granted"] * 3 + ["too_many"]


def test_when_an_attempt_cannot_be_recorded_nothing_more_leaves(proxy: Proxy, world: Any) -> None:
    def full(_attempt: object) -> None:
        raise OSError("the disk is full")

    world.attempts = type("Full", (), {"append": staticmethod(full)})()
    client = proxy()
    address = client.getpeername()
    assert b"hello" in say(client, get("http://example.com/hello"))
    with socket.create_connection(address, timeout=10) as again:
        assert b"cannot_record" in say(again, get("http://example.com/hello"))
    assert len(world.seen) == 1


def test_what_cannot_be_announced_is_not_dialled(proxy: Proxy, world: Any) -> None:
    def full(_host: str, _port: int) -> None:
        raise OSError("the disk is full")

    world.announce = full
    client = proxy()
    address = client.getpeername()
    assert b"cannot_record" in say(client, get("http://example.com/hello"))
    with socket.create_connection(address, timeout=10) as again:
        assert b"cannot_record" in say(again, get("http://example.com/hello"))
    assert (world.dialled, world.seen) == ([], [])


def test_an_open_tunnel_is_on_record_before_it_ends(proxy: Proxy, world: Any) -> None:
    client = _tunnel(proxy())
    assert world.opened == [("example.com", 443)]
    assert world.attempts == []
    client.close()


def test_what_is_refused_is_not_announced(proxy: Proxy, world: Any) -> None:
    say(proxy(), connect("evil.net:443"))
    assert only_reason(world) == "not_granted"
    assert world.opened == []


def test_a_connection_without_a_word_is_on_record(proxy: Proxy, world: Any) -> None:
    client = proxy()
    client.shutdown(socket.SHUT_WR)
    client.recv(1)
    assert only_reason(world) == "nothing_sent"


def _tunnel(client: socket.socket) -> socket.socket:
    client.sendall(connect("example.com:443").encode())
    assert client.recv(65536).startswith(b"HTTP/1.1 200 ")
    return client


def _settled(client: socket.socket, world: Any) -> str:
    """Give the reason once the proxy has hung up, which it does after reporting."""
    client.close()
    return only_reason(world)


class _Changing:
    """A name server that changes its mind."""

    def __init__(self, answers: list[list[str]]) -> None:
        self.answers = answers

    def get(self, _host: str, _default: object) -> list[str]:
        return self.answers.pop(0)
