"""The model adapter against a real server on loopback, in both dialects, by one contract."""

import contextlib
import gzip
import json
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from pydantic import ValidationError

from astra.adapters.asking_modes import AskingMode, AskingModes
from astra.adapters.language_models import (
    LONGEST_ANSWER,
    LanguageModel,
)
from astra.adapters.model_endpoints import LONGEST_WAIT, endpoint
from astra.adapters.model_streams import Patience
from astra.adapters.model_transport import LARGEST_BODY
from astra.plans.answers import find_fences
from astra.plans.forms import ActionForm, DecompositionForm, PlainText
from astra.plans.ports import ModelCancelled, ModelUnavailable, Prompt
from astra.trusted.kernel.cancellation import watch_cancellation
from astra.trusted.kernel.errors import BadSetting
from model_server import ModelServer, Raw, as_json

PROMPT = Prompt(rules="be brief", data=("one", "two"), version="working-1")


@dataclass(frozen=True, kw_only=True)
class Dialect:
    """One way to speak to a model, and a server that speaks it."""

    name: str
    server: ModelServer
    modes: AskingModes = field(default_factory=AskingModes)

    def model(self, silence_seconds: float = 60.0) -> LanguageModel:
        anthropic = self.name == "anthropic"
        where = self.server.origin if anthropic else self.server.url
        return LanguageModel(
            endpoint=endpoint(f"{self.name}:tiny", where, "the-key"),
            patience=Patience(silence_seconds=silence_seconds),
            modes=self.modes,
        )

    def ask(self, said: Any) -> Any:
        self.server.say = lambda _request: said
        return self.model().ask(PROMPT, form=ActionForm)

    def heard(self) -> list[tuple[str, str]]:
        """Give what the server was told, by who is said to say it."""
        (call,) = self.server.calls
        said = [("system", call["system"])] if "system" in call else []
        said += [(each["role"], each["content"]) for each in call["messages"]]
        return [(role, _text(content)) for role, content in said]


def _text(content: Any) -> str:
    return content if isinstance(content, str) else "".join(part["text"] for part in content)


@pytest.fixture(params=["openai", "anthropic"])
def dialect(request: pytest.FixtureRequest) -> Iterator[Dialect]:
    server = ModelServer(lambda _request: {"kind": "done", "output": "x"})
    yield Dialect(name=request.param, server=server)
    server.close()


def test_an_answer_in_the_form_is_a_document_with_its_tokens(dialect: Dialect) -> None:
    reply = dialect.ask({"kind": "done", "output": "x"})
    assert reply.document == {"kind": "done", "output": "x"}
    assert (reply.usage.input_tokens, reply.usage.output_tokens) == (100, 20)


def test_rules_and_data_are_apart_and_the_key_goes_along(dialect: Dialect) -> None:
    dialect.ask({"kind": "done"})
    (rules, data) = dialect.heard()
    assert rules == ("system", "be brief")
    assert data[0] == "user"
    assert data[1].startswith("one\n\ntwo")
    assert dialect.server.calls[0]["model"] == "tiny"
    (headers,) = dialect.server.headers
    sent = headers.get("x-api-key") or headers["authorization"]
    assert sent.removeprefix("Bearer ") == "the-key"


def test_a_hosted_model_is_asked_for_a_tool_call_that_may_be_left_out(dialect: Dialect) -> None:
    """A model without tools answers in text, and is read all the same."""
    dialect.modes.remember(dialect.model().endpoint.url, "tiny", AskingMode.TOOL)
    dialect.ask({"kind": "done"})
    (call,) = dialect.server.calls
    (tool,) = call["tools"]
    schema = tool["input_schema"] if dialect.name == "anthropic" else tool["function"]["parameters"]
    assert set(schema["properties"]) == set(ActionForm.model_fields)
    choice = call.get("tool_choice", "auto")
    assert choice in ("auto", {"type": "auto"})


@pytest.fixture
def local() -> Iterator[Dialect]:
    """A server of somebody's own: nobody knows what it can."""
    server = ModelServer(lambda _request: {"kind": "done", "output": "x"})
    yield Dialect(name="openai", server=server)
    server.close()


def test_a_server_of_ones_own_is_asked_by_a_schema_with_its_definitions(local: Dialect) -> None:
    local.server.say = lambda _request: {"subtasks": []}
    reply = local.model().ask(PROMPT, form=DecompositionForm)
    assert reply.document == {"subtasks": []}
    (call,) = local.server.calls
    wanted = call["response_format"]["json_schema"]
    assert set(wanted["schema"]["properties"]) == set(DecompositionForm.model_fields)
    assert "$defs" in wanted["schema"]
    assert "tools" not in call


def test_a_server_without_schemas_is_found_out_once(local: Dialect) -> None:
    def say(request: dict[str, Any]) -> Any:
        return 400 if "response_format" in request else {"kind": "done"}

    local.server.say = say
    for _ in range(2):
        assert local.model().ask(PROMPT, form=ActionForm).document == {"kind": "done"}
    asked = ["schema" if "response_format" in call else "tool" for call in local.server.calls]
    assert asked == ["schema", "tool", "tool"]


def test_a_server_that_ignores_schema_and_tools_is_told_the_form_in_words(local: Dialect) -> None:
    local.server.say = lambda _request: "I would rather chat."
    for _ in range(3):
        assert local.model().ask(PROMPT, form=ActionForm).document is None
    keys = [("response_format" in call, "tools" in call) for call in local.server.calls]
    assert keys == [(True, False), (False, True), (False, False)]
    assert '"kind": "tool" | "code"' in local.server.calls[-1]["messages"][1]["content"]


def test_an_answer_cut_off_in_the_middle_does_not_unlearn_schemas(local: Dialect) -> None:
    for _ in range(2):
        assert local.ask('{"kind": "done", "output": "and th').document is None
    assert all("response_format" in call for call in local.server.calls)


def test_what_no_way_of_asking_mends_is_not_remembered(local: Dialect) -> None:
    """A prompt that is too long is refused in every mode; the next one is asked as before."""
    with pytest.raises(ModelUnavailable):
        local.ask(400)
    assert [call["stream"] for call in local.server.calls] == [True] * 3 + [False] * 3
    assert local.ask({"kind": "done"}).document == {"kind": "done"}
    local.server.calls.clear()
    with pytest.raises(ModelUnavailable):
        local.ask(400)
    assert len(local.server.calls) == 3, "it has streamed before, so streams are not the trouble"
    assert local.ask({"kind": "done"}).document == {"kind": "done"}
    assert "response_format" in local.server.calls[-1]


def test_a_question_in_plain_text_asks_for_no_form(local: Dialect) -> None:
    local.server.say = lambda _request: "```python\nx = 1\n```"
    reply = local.model().ask(PROMPT, form=PlainText)
    assert find_fences(reply.text) == ["x = 1"]
    (call,) = local.server.calls
    assert not {"tools", "response_format"} & set(call)
    assert call["messages"][1]["content"] == "one\n\ntwo"


@pytest.mark.parametrize(
    ("said", "document"),
    [
        ('{"kind": "done"}', {"kind": "done"}),
        ('Here:\n```json\n{"kind": "done"}\n```', {"kind": "done"}),
        ('{"kind": "done"} is what I would do. {x}', {"kind": "done"}),
        ('```json\n[{"kind": "done"}]\n```', [{"kind": "done"}]),
        ("I would rather not", None),
        ("{" * 500, None),
        ("[" * 100_000, None),
    ],
    ids=["bare", "fenced", "prose behind", "list of one", "none", "open", "deep"],
)
def test_an_answer_in_plain_text_is_read_or_is_nothing(
    dialect: Dialect, said: str, document: Any
) -> None:
    assert dialect.ask(said).document == document


def test_an_answer_that_is_too_long_is_nothing(dialect: Dialect) -> None:
    long = {"kind": "done", "output": "x" * LONGEST_ANSWER}
    assert dialect.ask(long).document is None
    assert dialect.ask(json.dumps(long)).document is None


@pytest.mark.parametrize("status", [401, 403, 404, 408, 409, 429, 500, 502, 503, 529])
def test_whatever_goes_wrong_is_one_error_and_one_call(dialect: Dialect, status: int) -> None:
    with pytest.raises(ModelUnavailable) as failed:
        dialect.ask(status)
    assert len(dialect.server.calls) == 1, "retries belong to whoever asks"
    assert str(status) in failed.value.detail
    assert "the-key" not in failed.value.detail


@pytest.mark.parametrize(
    ("status", "asked", "wait"),
    [
        (429, "30", 30),
        (529, "7", 7),
        (503, "0", 0),
        (429, "9999999", LONGEST_WAIT),
        (429, "Wed, 21 Oct 2026 07:28:00 GMT", 0),
        (429, "-5", 0),
        (429, "soon", 0),
        (429, "9" * 5_000, 0),
    ],
)
def test_a_server_may_ask_for_patience_up_to_a_bound(
    dialect: Dialect, status: int, asked: str, wait: int
) -> None:
    with pytest.raises(ModelUnavailable) as failed:
        dialect.ask(as_json({"error": {"message": "slow down"}}, status=status, Retry_After=asked))
    assert failed.value.patience == wait


def test_a_server_that_says_the_key_back_does_not_get_it_into_the_record(dialect: Dialect) -> None:
    with pytest.raises(ModelUnavailable) as failed:
        dialect.ask(as_json({"error": {"message": "bad key the-key given"}}, status=401))
    assert "bad key" in failed.value.detail
    assert "the-key" not in failed.value.detail


@pytest.mark.parametrize(
    "answer",
    [
        Raw(body=b""),
        Raw(body=b"<html>gateway</html>", headers={"Content-Type": "text/html"}),
        Raw(body=b"\xff\xfe\x00", headers={"Content-Type": "application/json"}),
        Raw(body=b"[" * 100_000, headers={"Content-Type": "application/json"}),
        Raw(body=b'{"choices": [', promised=5_000, headers={"Content-Type": "application/json"}),
        as_json({}),
        as_json([]),
        as_json(None),
        as_json("text"),
        as_json({"choices": [], "content": []}),
        as_json({"choices": [{}], "content": [{}]}),
        as_json({"choices": "x", "content": "x", "usage": "x", "model": 5}),
        as_json({"choices": None, "content": None, "usage": {"input_tokens": -1}}),
    ],
    ids=lambda answer: f"{answer.body[:20]!r}/{answer.promised}",
)
def test_garbage_is_no_answer_and_never_a_stack_trace(dialect: Dialect, answer: Raw) -> None:
    try:
        reply = dialect.ask(answer)
    except ModelUnavailable as error:
        assert "did not answer" in error.detail
        assert "\n" not in error.detail
    else:
        assert reply.document is None
    ways = [call["stream"] for call in dialect.server.calls]
    assert ways in ([True], [True, False]), "once as a stream, and once more without"


@pytest.mark.parametrize("value", [[], "x", 5, None, [{"kind": "done"}]])
def test_arguments_that_are_no_object_are_no_stack_trace(dialect: Dialect, value: Any) -> None:
    answer = {
        "id": "1",
        "type": "message",
        "object": "chat.completion",
        "role": "assistant",
        "created": 1,
        "model": "tiny",
        "stop_reason": "tool_use",
        "content": [{"type": "tool_use", "id": "t", "name": "answer", "input": value}],
        "choices": [
            {
                "index": 0,
                "finish_reason": "tool_calls",
                "message": {
                    "role": "assistant",
                    "tool_calls": [
                        {
                            "id": "t",
                            "type": "function",
                            "function": {"name": "answer", "arguments": json.dumps(value)},
                        }
                    ],
                },
            }
        ],
        "usage": {"input_tokens": 1, "output_tokens": 1, "prompt_tokens": 1},
    }
    try:
        found = dialect.ask(as_json(answer)).document
    except ModelUnavailable:
        return
    if found != {"kind": "done"}:
        with pytest.raises(ValidationError):
            ActionForm.model_validate(found)


def test_a_server_that_never_answers_is_given_up(dialect: Dialect) -> None:
    over = threading.Event()
    dialect.server.say = lambda _request: over.wait(300) and 500
    try:
        with pytest.raises(ModelUnavailable, match=r"it said nothing for 0.5 seconds"):
            dialect.model(silence_seconds=0.5).ask(PROMPT, form=ActionForm)
    finally:
        over.set()


class Torrent:
    """A server that answers with more than anybody wants, and notes how much went out."""

    def __init__(self, promised: int) -> None:
        self.sent = 0
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                self.rfile.read(int(self.headers["Content-Length"]))
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(promised))
                self.end_headers()
                with contextlib.suppress(OSError):
                    while outer.sent < promised:
                        outer.sent += self.wfile.write(b" " * 100_000)
                outer.over.set()

            def log_message(self, *_arguments: Any) -> None:
                pass

        self.over = threading.Event()
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self.server.server_address[1]}"


@pytest.mark.parametrize("provider", ["openai", "anthropic"])
def test_a_torrent_is_cut_off_and_never_held_whole(provider: str) -> None:
    torrent = Torrent(20 * LARGEST_BODY)
    where = torrent.origin if provider == "anthropic" else f"{torrent.origin}/v1"
    model = LanguageModel(endpoint=endpoint(f"{provider}:tiny", where, "the-key"))
    with pytest.raises(ModelUnavailable, match="more than"):
        model.ask(PROMPT, form=ActionForm)
    assert torrent.over.wait(300)
    assert torrent.sent < 10 * LARGEST_BODY
    torrent.server.shutdown()
    torrent.server.server_close()


def test_a_compressed_answer_is_not_unpacked(dialect: Dialect) -> None:
    """A few bytes can unpack to gigabytes; a server was told not to, and is not believed."""
    bomb = gzip.compress(b'{"id":"x"}' + b" " * 1_000_000)
    headers = {"Content-Type": "application/json", "Content-Encoding": "gzip"}
    with pytest.raises(ModelUnavailable, match="compressed"):
        dialect.ask(Raw(body=bomb, headers=headers))
    assert dialect.server.headers[0]["accept-encoding"] == "identity"


def test_a_redirect_is_not_followed(dialect: Dialect) -> None:
    """Neither the key nor what a plan read goes where the signed configuration did not say."""
    elsewhere = ModelServer(lambda _request: {"kind": "done", "output": "x"})
    path = "/v1/messages" if dialect.name == "anthropic" else "/v1/chat/completions"
    moved = Raw(status=307, headers={"Location": f"{elsewhere.origin}{path}"})
    with pytest.raises(ModelUnavailable):
        dialect.ask(moved)
    assert elsewhere.calls == []
    elsewhere.close()


def test_a_server_that_is_not_there_is_the_same_error(dialect: Dialect) -> None:
    gone = dialect.model()
    dialect.server.close()
    with pytest.raises(ModelUnavailable, match=r"did not answer: Connection error.*connection"):
        gone.ask(PROMPT, form=ActionForm)


def test_the_environment_redirects_nothing(
    dialect: Dialect, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The signed configuration says where a model is; its key goes nowhere else."""
    for name in ("OPENAI_BASE_URL", "ANTHROPIC_BASE_URL"):
        monkeypatch.setenv(name, dialect.server.origin)
    hosted = LanguageModel(endpoint=endpoint(f"{dialect.name}:tiny", "", "the-key"))
    assert dialect.server.origin not in hosted.endpoint.url
    assert hosted.endpoint.url.startswith("https://api.")


def test_a_name_says_who_serves_it() -> None:
    assert endpoint("openai:gpt", "", "").provider == "openai"
    assert endpoint("anthropic:claude", "", "").provider == "anthropic"
    assert endpoint("qwen3:4b", "http://localhost/v1", "").provider == "openai"
    with pytest.raises(BadSetting):
        endpoint("gpt", "", "")
    with pytest.raises(BadSetting):
        endpoint("other:gpt", "", "")


def test_a_key_is_not_shown() -> None:
    assert "the-key" not in repr(endpoint("openai:gpt", "", "the-key"))


def test_a_call_that_nobody_wants_any_more_is_closed_before_its_answer(dialect: Dialect) -> None:
    reached, go_on = threading.Event(), threading.Event()

    def hold(_request: Any) -> Any:
        reached.set()
        assert go_on.wait(300), "nobody let it go on"
        return {"kind": "done", "output": "too late"}

    dialect.server.say = hold
    with watch_cancellation(reached.is_set), pytest.raises(ModelCancelled):
        dialect.model(silence_seconds=600).ask(PROMPT, form=ActionForm)
    go_on.set()
    assert len(dialect.server.calls) == 1
