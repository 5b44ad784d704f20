import http.server
import json
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from astra.adapters import http_head
from astra.adapters.model_gateway import Call, Caps, ModelGateway, Upstream
from astra.kernel.errors import BadSetting

KEY = "sk-the-operators-own"


class Endpoint(http.server.BaseHTTPRequestHandler):
    """A model endpoint that notes what it is asked and reports what it costs."""

    seen: list[dict[str, Any]]
    usage: dict[str, int] | None

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.seen.append({"path": self.path, "headers": headers, "body": body})
        answer = {"choices": [], **({"usage": self.usage} if self.usage else {})}
        text = json.dumps(answer)
        if body.get("stream"):
            text = f'data: {{"choices": []}}\n\ndata: {text}\n\ndata: [DONE]\n\n'
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Set-Cookie", "crumb=1")
        self.end_headers()
        self.wfile.write(text.encode())

    def do_GET(self) -> None:
        self.seen.append({"path": self.path})
        self.send_response(302)
        self.send_header("Location", "https://evil.net/")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_args: object) -> None:
        pass


@pytest.fixture
def endpoint() -> Iterator[Any]:
    handler = type("EndpointOfThis", (Endpoint,), {"seen": [], "usage": {"total_tokens": 40}})
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    handler.url = f"http://127.0.0.1:{server.server_address[1]}/api/v1"  # type: ignore[attr-defined]
    yield handler
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture
def ask(yard: Any, endpoint: Any) -> Any:
    """Run a script in a box whose gateway leads to the endpoint."""

    def run(
        script: str, *, models: tuple[str, ...] = (), **caps: int
    ) -> tuple[Any, Any, list[Call]]:
        calls: list[Call] = []
        gateway = ModelGateway(
            upstream=Upstream(url=endpoint.url, key=KEY, models=models),
            caps=Caps(**caps),
            record=calls.append,
        )
        outcome = yard.sh(script, gateway=gateway)
        return outcome, gateway.spent(), calls

    return run


CURL = "curl -s -w '%{http_code}\\n' -H 'Content-Type: application/json'"
CHAT = f"{CURL} $OPENAI_BASE_URL/chat/completions"


def test_the_key_is_added_outside_and_the_clients_own_is_dropped(ask: Any, endpoint: Any) -> None:
    script = f"""{CHAT} -H 'Authorization: Bearer stolen' -H 'x-api-key: stolen' \
        -H 'Cookie: a=b' -H 'X-Forwarded-For: 1.2.3.4' -d '{{"model": "m"}}'; env"""
    outcome, spent, calls = ask(script)
    (seen,) = endpoint.seen
    assert seen["path"] == "/api/v1/chat/completions"
    assert seen["headers"]["authorization"] == f"Bearer {KEY}"
    assert not {"x-api-key", "cookie", "x-forwarded-for"} & set(seen["headers"])
    assert KEY.encode() not in outcome.stdout
    assert b"crumb=1" not in outcome.stdout
    assert (spent.calls, spent.tokens) == (1, 40)
    assert [(call.path, call.model, call.allowed, call.status) for call in calls] == [
        ("/chat/completions", "m", True, 200)
    ]


def test_calls_are_capped(ask: Any, endpoint: Any) -> None:
    outcome, spent, calls = ask(f"for n in 1 2 3; do {CHAT} -d '{{}}' -o /dev/null; done", calls=2)
    assert outcome.stdout.split() == [b"200", b"200", b"429"]
    assert len(endpoint.seen) == 2
    assert (spent.calls, spent.refused) == (2, 1)
    assert calls[-1].reason == "calls"


def test_tokens_are_capped_and_a_call_may_ask_for_no_more_than_is_left(
    ask: Any, endpoint: Any
) -> None:
    body = '{"max_tokens": 9999}'
    outcome, spent, _calls = ask(
        f"for n in 1 2 3; do {CHAT} -d '{body}' -o /dev/null; done", tokens=50
    )
    assert outcome.stdout.split() == [b"200", b"200", b"429"]
    assert [seen["body"]["max_tokens"] for seen in endpoint.seen] == [50, 10]
    assert spent.tokens == 80


@pytest.mark.parametrize(
    ("path", "body", "name"),
    [
        ("$OPENAI_BASE_URL/chat/completions", "{}", "max_completion_tokens"),
        ("$OPENAI_BASE_URL/responses", "{}", "max_output_tokens"),
        ("$ANTHROPIC_BASE_URL/v1/messages", '{"max_tokens": null}', "max_tokens"),
        ("$ANTHROPIC_BASE_URL/v1/messages", '{"max_tokens": 1e9}', "max_tokens"),
    ],
)
def test_a_call_that_names_no_ceiling_gets_one(
    ask: Any, endpoint: Any, path: str, body: str, name: str
) -> None:
    ask(f"{CURL} {path} -d '{body}' -o /dev/null", tokens=50)
    assert endpoint.seen[0]["body"][name] in {25, 50}


def test_calls_at_once_share_what_is_left(endpoint: Any) -> None:
    gateway = ModelGateway(upstream=Upstream(url=endpoint.url, key=KEY), caps=Caps(tokens=100))
    head = http_head.parse(b"POST /v1/messages HTTP/1.1\r\n\r\n")
    ceilings: list[int] = []
    for _ in range(5):
        payload, held = gateway._admitted(head, "/messages", b'{"max_tokens": 40}')
        ceilings.append(payload["max_tokens"])
        assert held == payload["max_tokens"]
        if sum(ceilings) == 100:
            break
    assert ceilings == [40, 40, 20]
    with pytest.raises(Exception, match="100 tokens"):
        gateway._admitted(head, "/messages", b"{}")


def test_a_stream_is_passed_on_and_counted(ask: Any, endpoint: Any) -> None:
    outcome, spent, _calls = ask(f"""{CHAT} -d '{{"stream": true}}'""")
    assert b"[DONE]" in outcome.stdout
    assert spent.tokens == 40
    assert endpoint.seen[0]["body"]["stream_options"] == {"include_usage": True}


def test_an_endpoint_that_reports_no_cost_is_counted_by_bytes(ask: Any, endpoint: Any) -> None:
    endpoint.usage = None
    _outcome, spent, calls = ask(f"{CHAT} -d '{{}}'")
    assert spent.tokens == (calls[0].sent + calls[0].received) // 3 > 0


@pytest.mark.parametrize(
    "request_",
    [
        "-X DELETE $OPENAI_BASE_URL/models",
        "$OPENAI_BASE_URL/files -d '{}'",
        "http://127.0.0.1:3129/admin -d '{}'",
        "--path-as-is $OPENAI_BASE_URL/../v1/chat/completions/../../files -d '{}'",
        "$OPENAI_BASE_URL/chat/completions -d 'not json'",
        "$OPENAI_BASE_URL/chat/completions -d '[]'",
        "$OPENAI_BASE_URL/chat/completions -H 'Transfer-Encoding: chunked' -d '{}'",
        "$OPENAI_BASE_URL/chat/completions -X PUT -d '{}'",
    ],
)
def test_what_is_no_model_call_is_refused_and_on_record(
    ask: Any, endpoint: Any, request_: str
) -> None:
    outcome, spent, calls = ask(f"{CURL} -o /dev/null {request_}")
    assert outcome.stdout.strip() in {b"403", b"400"}
    assert endpoint.seen == []
    assert (spent.calls, spent.refused, calls[0].allowed) == (0, 1, False)


def test_a_model_that_is_not_offered_and_a_body_too_large_are_refused(
    ask: Any, endpoint: Any
) -> None:
    script = (
        f"""{CHAT} -o /dev/null -d '{{"model": "dear"}}'; {CHAT} -o /dev/null -d '{"x" * 200}'"""
    )
    outcome, _spent, calls = ask(script, models=("cheap",), request_bytes=100)
    assert outcome.stdout.split() == [b"403", b"413"]
    assert [call.reason for call in calls] == ["not_a_model_call", "too_large"]
    assert endpoint.seen == []


def test_a_redirect_is_not_followed(ask: Any, endpoint: Any) -> None:
    outcome, _spent, _calls = ask(f"{CURL} -o /dev/null $OPENAI_BASE_URL/models")
    assert outcome.stdout.strip() == b"302"
    assert len(endpoint.seen) == 1


def test_an_endpoint_that_does_not_answer_is_said_to_be_silent(yard: Any) -> None:
    calls: list[Call] = []
    gateway = ModelGateway(
        upstream=Upstream(url="http://127.0.0.1:1/v1", key=KEY), record=calls.append
    )
    outcome = yard.sh(f"{CHAT} -o /dev/null -d '{{}}'", gateway=gateway)
    assert outcome.stdout.strip() == b"502"
    assert calls[0].reason == "no_answer"


def test_without_a_gateway_there_is_none(yard: Any) -> None:
    assert yard.sh("curl -s http://127.0.0.1:3129/").exit_code == 7


def test_the_key_does_not_show_in_words_and_a_bad_endpoint_is_refused() -> None:
    assert KEY not in repr(Upstream(url="https://models.example/v1", key=KEY))
    with pytest.raises(BadSetting):
        Upstream(url="ftp://x", key=KEY)
