"""A secret that the proxy adds goes to its host alone, and comes back to nobody."""

import base64
import contextlib
import socket
import ssl
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest

from astra.trusted.egress.egress_proxy import EgressProxy
from astra.trusted.egress.secret_masking import SecretMasking
from astra.trusted.egress.secured_request import SecretHeader
from astra.trusted.kernel.errors import BadSetting
from astra.trusted.policy.domains import parse_grants
from astra.trusted.settings.configuration import parse
from astra.trusted.settings.egress_settings import EgressSecret

VALUE = "s3cr3t/value+x"
Ask = Callable[..., bytes]
Notes = list[tuple[str, str, int]]
SECRET = EgressSecret(name="API", hosts=("api.example.com",))


@pytest.fixture
def notes() -> list[tuple[str, str, int]]:
    return []


@pytest.fixture
def ask(world: Any, heads: list[str], notes: Notes) -> Iterator[Ask]:
    """Give a function that sends one request to a proxy with the secret, and gives the answer."""
    with contextlib.ExitStack() as stack:

        def send(raw: str, *grants: str, value: str = VALUE, trusting: bool = True) -> bytes:
            listener = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
            trust = ssl.create_default_context(cafile=world.authority if trusting else None)
            made = EgressProxy(
                grants=parse_grants(grants or ("api.example.com", "example.com", "evil.net")),
                record=world.attempts.append,
                announce=world.announce,
                internet=replace(world.internet, trust=lambda: trust),
                secrets=(SecretHeader(secret=SECRET, read=lambda: value),),
                note_secret=lambda *note: notes.append(note),
            )
            made.serve(listener)
            with socket.create_connection(listener.getsockname(), timeout=10) as client:
                client.sendall(raw.encode())
                answer = b"".join(iter(lambda: client.recv(65536), b""))
            made.close()
            return answer

        yield send


def get(target: str, *headers: str, method: str = "GET") -> str:
    return "\r\n".join([f"{method} {target} HTTP/1.1", "Host: 127.0.0.1:3128", *headers, "", ""])


def test_the_secret_is_added_for_its_host_over_tls_and_recorded_by_name(
    ask: Ask, heads: list[str], notes: Notes, world: Any
) -> None:
    answer = ask(get("/https/api.example.com/plain?a=1"))
    assert answer.startswith(b"HTTP/1.1 200")
    assert "GET /plain?a=1" in heads[0]
    assert f"Authorization: Bearer {VALUE}" in heads[0]
    assert "Host: api.example.com\n" in heads[0]
    assert notes == [("API", "api.example.com", 443)]
    (attempt,) = world.attempts
    assert (attempt.host, attempt.port, attempt.allowed) == ("api.example.com", 443, True)


@pytest.mark.parametrize("path", ["plain", "chunks", "spellings", "redirect"])
def test_an_answer_that_says_the_secret_again_has_it_masked(ask: Ask, path: str) -> None:
    answer = ask(get(f"/https/api.example.com/{path}"))
    assert b"HTTP/1.1" in answer
    for spelling in (VALUE, base64.b64encode(VALUE.encode()).decode(), VALUE.encode().hex()):
        assert spelling.encode() not in answer
    assert b"%2Fvalue" not in answer
    assert b"*" * 8 in answer


def test_an_encoded_answer_is_refused(ask: Ask, world: Any) -> None:
    assert VALUE.encode() not in ask(get("/https/api.example.com/zipped"))
    assert world.attempts[-1].reason == "encoded_answer"


def test_an_answer_with_two_lengths_is_refused(ask: Ask, world: Any) -> None:
    ask(get("/https/api.example.com/twice"))
    assert world.attempts[-1].reason == "bad_answer"


@pytest.mark.parametrize(
    ("target", "reason"),
    [
        ("/https/evil.net/", "no_secret"),
        ("/https/example.com/", "no_secret"),
        ("/https/api.example.com:8443/", "no_secret"),
        ("/https/api.example.com.evil.net/", "no_secret"),
        ("/https/evil-api.example.com/", "no_secret"),
        ("/https/api.example.com@evil.net/", "userinfo"),
        ("/https/evil.net:443@api.example.com/", "userinfo"),
        ("/https/evil.net%2F@api.example.com/", "userinfo"),
        ("/https/evil.net\\.api.example.com/", "bad_host"),
        ("/https/api.example.com%00.evil.net/", "bad_host"),
        ("/https/127.0.0.1/", "ip_literal"),
        ("/https/[::1]/", "ip_literal"),
        ("/https//api.example.com/", "bad_host"),
        ("/https/?api.example.com/", "bad_host"),
        ("/https/api.example.com?x", "bad_request"),
    ],
)
def test_no_spelling_of_a_host_gets_the_secret_of_another(  # noqa: PLR0917 - fixtures
    ask: Ask, heads: list[str], notes: list[object], world: Any, target: str, reason: str
) -> None:
    answer = ask(get(target))
    assert world.attempts[-1].reason == reason
    assert b"403" in answer.partition(b"\r\n")[0]
    assert (heads, notes) == ([], [])


def test_a_host_that_is_not_granted_gets_no_secret_either(
    ask: Ask, heads: list[str], world: Any
) -> None:
    ask(get("/https/api.example.com/plain"), "example.com")
    assert world.attempts[-1].reason == "not_granted"
    assert heads == []


def test_a_host_header_of_the_box_names_nobody(ask: Ask, heads: list[str]) -> None:
    raw = get("/https/api.example.com/plain").replace("127.0.0.1:3128", "evil.net")
    ask(raw)
    assert "evil.net" not in heads[0]


def test_the_boxs_own_header_of_that_name_is_dropped(ask: Ask, heads: list[str]) -> None:
    headers = ("authorization: Bearer mine", "AUTHORIZATION: Basic bWluZQ==", "Accept-Encoding: br")
    ask(get("/https/api.example.com/plain", *headers))
    assert "mine" not in heads[0].lower()
    assert heads[0].lower().count("authorization") == 1
    assert "Accept-Encoding: identity" in heads[0]


def test_a_header_named_by_connection_does_not_take_the_secret_away_or_smuggle(
    ask: Ask, heads: list[str], world: Any
) -> None:
    answer = ask(get("/https/api.example.com/plain", "Connection: authorization, host"))
    assert b"you sent ***" in answer
    assert "Host: api.example.com\n" in heads[0]


def test_a_second_request_behind_the_first_is_refused(ask: Ask, world: Any) -> None:
    raw = get("/https/api.example.com/plain")
    ask(raw + raw)
    assert world.attempts[-1].reason == "pipelined"


def test_a_host_with_another_certificate_never_gets_it(
    ask: Ask, heads: list[str], notes: Notes, world: Any
) -> None:
    ask(get("/https/api.example.com/plain"), trusting=False)
    assert world.attempts[-1].reason == "bad_certificate"
    assert (heads, notes) == ([], [])


@pytest.mark.parametrize("value", ["", "a\r\nX-Evil: 1", "a\0b", " a", "x" * 9000, "é"])
def test_a_value_that_no_header_can_carry_is_not_sent(
    ask: Ask, heads: list[str], world: Any, value: str
) -> None:
    ask(get("/https/api.example.com/plain"), value=value)
    assert world.attempts[-1].reason == "no_secret_value"
    assert heads == []


def test_a_tunnel_to_the_same_host_carries_no_secret(ask: Ask, notes: list[object]) -> None:
    raw = "CONNECT api.example.com:443 HTTP/1.1\r\nHost: api.example.com:443\r\n\r\nnot tls"
    assert VALUE.encode() not in ask(raw)
    assert notes == []


def test_plain_http_to_the_same_host_carries_no_secret(
    ask: Ask, world: Any, notes: list[object]
) -> None:
    ask("GET http://api.example.com/hello HTTP/1.1\r\nHost: api.example.com\r\n\r\n")
    assert VALUE not in str(world.seen)
    assert notes == []


def test_a_body_goes_with_it_and_a_head_alone_comes_back_alone(ask: Ask, heads: list[str]) -> None:
    answer = ask(get("/https/api.example.com/plain", "Content-Length: 0", method="HEAD"))
    assert answer.endswith(b"\r\n\r\n")
    assert ask(get("/https/api.example.com/plain", "Content-Length: 3", method="POST") + "abc")
    assert heads[1].startswith("POST")


@pytest.mark.parametrize("size", [1, 2, 3, 5, 7, 100])
def test_a_secret_in_pieces_of_any_size_is_masked(size: int) -> None:
    masking = SecretMasking([VALUE])
    text = f"{VALUE[:5]}{VALUE}{VALUE[:3]} and {VALUE}!".encode()
    pieces = [text[index : index + size] for index in range(0, len(text), size)]
    masked = b"".join([*map(masking.feed, pieces), masking.finish()])
    assert VALUE.encode() not in masked
    assert len(masked) == len(text)


@pytest.mark.parametrize(
    "entry",
    [
        'name = "API"\nhosts = ["*.example.com"]',
        'name = "API"\nhosts = []',
        'name = "API"\nhosts = ["10.0.0.1"]',
        'name = "API"\nhosts = ["localhost"]',
        'name = "../x"\nhosts = ["a.example.com"]',
        'name = "API"\nhosts = ["a.example.com"]\nheader = "Host"',
        'name = "API"\nhosts = ["a.example.com"]\nheader = "X: y"',
        'name = "API"\nhosts = ["a.example.com"]\ntemplate = "fixed"',
        'name = "API"\nhosts = ["a.example.com", "a.example.com:443"]',
    ],
)
def test_an_entry_that_is_too_wide_is_not_signed(entry: str) -> None:
    with pytest.raises(BadSetting):
        parse(f"[[egress.secrets]]\n{entry}")
