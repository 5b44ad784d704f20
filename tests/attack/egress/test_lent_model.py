"""The model that Astra lends to a coding agent: it reaches that model, and nothing else by it."""

import json
import socket
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from astra.adapters.lent_model import HOST, LentModel
from astra.adapters.model_calls import FREE
from astra.adapters.model_endpoints import Endpoint
from astra.adapters.model_streams import Patience
from astra.plans.ports import Usage
from astra.trusted.egress.egress_proxy import Attempt, EgressProxy, Internet
from astra.trusted.policy.domains import parse_grants
from model_server import ModelServer, Raw, as_json

KEY = "sk-the-key-of-the-operator"
ASKED = {"messages": [{"role": "user", "content": "hello"}]}


class Lent:
    """A model on loopback, and what a program in a box gets when it calls it."""

    def __init__(self) -> None:
        self.server = ModelServer(self.answer)
        self.said: Any = "hi"
        self.used: list[Usage] = []

    def answer(self, _request: dict[str, Any]) -> Any:
        return self.said

    def lend(self, url: str = "", *, keep_alive: float = 60.0) -> LentModel:
        where = Endpoint(
            provider="openai",
            model="small",
            base_url=url or self.server.url,
            key=KEY,
            output_tokens=500,
        )
        return LentModel(
            endpoint=where,
            charge=FREE,
            patience=Patience(),
            count=self.used.append,
            keep_alive_seconds=keep_alive,
        )

    def post(self, document: Any, path: str = "/v1/chat/completions") -> tuple[int, Any]:
        return self.send(write_request(json.dumps(document).encode(), path))

    def send(self, request: bytes) -> tuple[int, Any]:
        with self.lend().connect() as program:
            program.sendall(request)
            return read_answer(program)


@pytest.fixture
def lent() -> Iterator[Lent]:
    made = Lent()
    yield made
    made.server.close()


def write_request(body: bytes, path: str = "/v1/chat/completions", method: str = "POST") -> bytes:
    head = f"{method} {path} HTTP/1.1\r\nHost: {HOST}\r\nContent-Length: {len(body)}\r\n\r\n"
    return head.encode() + body


def read_all(program: socket.socket) -> bytes:
    program.settimeout(60)
    return b"".join(iter(lambda: program.recv(65536), b""))


def read_answer(program: socket.socket) -> tuple[int, Any]:
    head, _, body = read_all(program).partition(b"\r\n\r\n")
    return int(head.split()[1]), json.loads(body)


def test_the_operators_model_and_bounds_hold_whatever_a_program_asks_for(lent: Lent) -> None:
    wishes = {"model": "dear", "max_tokens": 10**7, "n": 50, "store": True, "user": "x"}
    status, answer = lent.post({**ASKED, **wishes})
    assert (status, answer["choices"][0]["message"]["content"]) == (200, "hi")
    (call,) = lent.server.calls
    assert call == {**ASKED, "model": "small", "max_tokens": 500}
    assert lent.server.headers[0]["authorization"] == f"Bearer {KEY}"
    assert lent.used == [Usage(input_tokens=100, output_tokens=20)]


def test_a_program_is_streamed_to_and_its_tokens_are_known_all_the_same(lent: Lent) -> None:
    with lent.lend().connect() as program:
        program.sendall(write_request(json.dumps({**ASKED, "stream": True}).encode()))
        answer = read_all(program)
    assert b"text/event-stream" in answer
    assert answer.endswith(b"data: [DONE]\n\n")
    assert lent.server.calls[0]["stream_options"] == {"include_usage": True}
    assert lent.used == [Usage(input_tokens=100, output_tokens=20)]


@pytest.mark.parametrize("said", [KEY, Raw(status=401, body=f"wrong key {KEY}".encode())])
def test_a_server_that_says_its_key_back_tells_the_box_nothing(lent: Lent, said: Any) -> None:
    lent.said = said
    with lent.lend().connect() as program:
        program.sendall(write_request(json.dumps(ASKED).encode()))
        answer = read_all(program)
    assert b"*" * len(KEY) in answer
    assert KEY.encode() not in answer


def test_a_servers_refusal_reaches_the_program_in_its_own_words(lent: Lent) -> None:
    lent.said = as_json({"error": {"message": "too long a prompt"}}, status=400)
    assert lent.post(ASKED) == (400, {"error": {"message": "too long a prompt"}})
    assert lent.used == []


def test_a_server_that_is_not_there_is_an_answer_without_its_address(lent: Lent) -> None:
    with lent.lend("http://127.0.0.1:1/v1").connect() as program:
        program.sendall(write_request(json.dumps(ASKED).encode()))
        status, answer = read_answer(program)
    assert status == 502
    assert "127.0.0.1" not in str(answer)


@pytest.mark.parametrize(
    ("request_bytes", "status"),
    [
        (write_request(b"{}", "/v1/files"), 404),
        (write_request(b"{}", "/v1/chat/completions", "DELETE"), 404),
        (write_request(b"{}", "/v1/../admin"), 404),
        (write_request(b"no json"), 400),
        (write_request(b'{"messages": "x"}'), 400),
        (write_request(b"[" * 200_000), 400),
        (write_request(b"").replace(b"Length: 0", b"Length: 999999999"), 413),
        (write_request(b"").replace(b"Content-Length: 0", b"Transfer-Encoding: chunked"), 413),
        (b"GET / HTTP/1.1\r\nA: " + b"x" * 100_000 + b"\r\n\r\n", 400),
        (b"\x16\x03\x01 no words\r\n\r\n", 400),
    ],
)
def test_what_is_no_call_of_the_model_never_reaches_it(
    lent: Lent, request_bytes: bytes, status: int
) -> None:
    assert lent.send(request_bytes)[0] == status
    assert lent.server.calls == []


def test_the_name_of_the_model_is_all_that_a_program_may_ask_about(lent: Lent) -> None:
    status, answer = lent.send(write_request(b"", "/v1/models", "GET"))
    assert (status, [item["id"] for item in answer["data"]]) == (200, ["small"])


def test_a_program_that_hangs_up_ends_the_call_of_the_model(lent: Lent) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        url = f"http://127.0.0.1:{listener.getsockname()[1]}/v1"
        program = lent.lend(url).connect()
        program.sendall(write_request(json.dumps(ASKED).encode()))
        server, _address = listener.accept()
        with server:
            server.settimeout(60)
            assert server.recv(65536).startswith(b"POST /v1/chat/completions")
            program.close()
            while server.recv(65536):  # until the call is given up
                pass
    assert lent.used == []


@pytest.mark.parametrize("streams", [False, True])
def test_a_slow_model_keeps_the_connection_open_and_its_answer_whole(
    lent: Lent, *, streams: bool
) -> None:
    may_answer = threading.Event()

    def answer(_request: dict[str, Any]) -> str:
        may_answer.wait(60)
        return "at last"

    lent.server.say = answer
    with lent.lend(keep_alive=0.01).connect() as program:
        program.sendall(write_request(json.dumps({**ASKED, "stream": streams}).encode()))
        program.settimeout(60)
        begun = program.recv(65536)
        while begun.endswith(b"\r\n\r\n"):
            begun += program.recv(65536)
        may_answer.set()
        _head, _, body = (begun + read_all(program)).partition(b"\r\n\r\n")
    if streams:
        lines = [line for line in body.splitlines() if line and not line.startswith(b":")]
        assert lines[-1] == b"data: [DONE]"
    else:
        assert json.loads(body)["choices"][0]["message"]["content"] == "at last"


@pytest.mark.parametrize(
    ("grants", "offered", "reason"),
    [
        ((), True, "not_granted"),
        (("example.com",), True, "not_granted"),
        ((f"{HOST}:443",), True, "port_not_granted"),
        ((f"{HOST}:80",), False, "cannot_resolve"),
        ((f"{HOST}:80",), True, "allowed"),
    ],
)
def test_a_box_reaches_it_only_where_it_is_granted_and_offered(
    lent: Lent, grants: tuple[str, ...], offered: bool, reason: str
) -> None:
    attempts: list[Attempt] = []
    looked_up: list[str] = []

    def resolve(host: str, _port: int) -> list[str]:
        looked_up.append(host)
        return []

    def dial(_address: str, _port: int) -> socket.socket:
        raise ConnectionRefusedError

    services = {HOST: lent.lend().connect} if offered else {}
    proxy = EgressProxy(
        grants=parse_grants(grants),
        record=attempts.append,
        internet=Internet(resolve=resolve, dial=dial, own_services=services),
    )
    program, near = socket.socketpair()
    proxy.serve_connection(near)
    with program:
        body = json.dumps(ASKED).encode()
        target = f"http://{HOST}/v1/chat/completions"
        program.sendall(write_request(body, target))
        answer = read_all(program)
    proxy.close()
    assert [attempt.reason for attempt in attempts] == [reason]
    assert (b" 200 " in answer.split(b"\r\n")[0]) == (reason == "allowed")
    assert looked_up == ([HOST] if reason == "cannot_resolve" else [])
