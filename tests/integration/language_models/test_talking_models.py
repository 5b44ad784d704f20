"""A model that talks, against a real server on loopback, in both dialects, by one contract."""

import threading
from collections.abc import Iterator
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler
from typing import Any

import pytest

from astra.adapters.asking_modes import AskingModes
from astra.adapters.language_models import LONGEST_ANSWER
from astra.adapters.model_endpoints import endpoint
from astra.adapters.model_streams import Patience
from astra.adapters.model_transport import LARGEST_BODY
from astra.adapters.talking_models import TalkingModel
from astra.persona.speech import (
    Cut,
    Dialogue,
    FromPerson,
    FromPersona,
    FromTools,
    Offered,
    Result,
    Spoken,
    Wanted,
)
from astra.plans.ports import ModelUnavailable
from model_server import ModelServer, QuietServer, Raw, Use

LOOK = Offered(
    name="look",
    description="look at it",
    schema={"type": "object", "properties": {"at": {"type": "string"}}},
)
HELLO = Dialogue(rules="be brief", utterances=[FromPerson("hello")], tools=[LOOK])


@dataclass(frozen=True, kw_only=True)
class Dialect:
    name: str
    server: ModelServer

    def model(self, seconds: float = 60.0) -> TalkingModel:
        where = self.server.origin if self.name == "anthropic" else self.server.url
        return TalkingModel(
            endpoint=endpoint(f"{self.name}:tiny", where, "the-key"),
            patience=Patience(silence_seconds=seconds),
        )

    def converse(self, said: Any, dialogue: Dialogue = HELLO) -> tuple[Spoken, list[str]]:
        self.server.say = lambda _request: said
        pieces: list[str] = []
        return self.model().converse(dialogue, say=pieces.append, cut=Cut()), pieces


@pytest.fixture(params=["openai", "anthropic"])
def dialect(request: pytest.FixtureRequest) -> Iterator[Dialect]:
    server = ModelServer(lambda _request: "hello")
    yield Dialect(name=request.param, server=server)
    server.close()


def test_it_talks_piece_by_piece(dialect: Dialect) -> None:
    spoken, pieces = dialect.converse("hello there you")
    assert pieces == ["hello", " there", " you"]
    assert (spoken.text, spoken.calls, spoken.cut) == ("hello there you", (), False)
    assert (spoken.usage.input_tokens, spoken.usage.output_tokens) == (100, 20)


def test_a_call_has_its_name_and_arguments(dialect: Dialect) -> None:
    spoken, pieces = dialect.converse(Use(tool="look", arguments={"at": "the sky"}))
    assert pieces == []
    (wanted,) = spoken.calls
    assert (wanted.tool, wanted.arguments) == ("look", {"at": "the sky"})
    assert wanted.id


def test_what_was_said_and_done_before_is_told_in_turns(dialect: Dialect) -> None:
    utterances = [
        FromPerson("look up"),
        FromPersona("one moment", (Wanted(id="c1", tool="look", arguments={"at": "sky"}),)),
        FromTools((Result(id="c1", tool="look", text="it is blue"),)),
    ]
    dialect.converse("blue", Dialogue(rules="be brief", utterances=utterances, tools=[LOOK]))
    (heard,) = dialect.server.calls
    roles = [each["role"] for each in heard["messages"] if each["role"] != "system"]
    answers = {"openai": "tool", "anthropic": "user"}[dialect.name]
    assert roles == ["user", "assistant", answers]
    assert "it is blue" in str(heard["messages"][-1])
    assert "be brief" in str(heard.get("system") or heard["messages"][0])
    tool = heard["tools"][0]
    assert tool.get("name") or tool["function"]["name"] == "look"


@pytest.mark.parametrize(
    "said", [500, 401, Raw(body=b"\xff\xfe not events"), Raw(status=302), Raw(promised=10)], ids=str
)
def test_whatever_goes_wrong_is_one_error_without_the_key(dialect: Dialect, said: Any) -> None:
    with pytest.raises(ModelUnavailable) as error:
        dialect.converse(said)
    assert "the-key" not in error.value.detail


def test_a_stream_without_end_is_cut_off(dialect: Dialect) -> None:
    with pytest.raises(ModelUnavailable):
        dialect.converse(
            Raw(
                body=b": nothing yet\n\n" * (LARGEST_BODY // 10),
                headers={"Content-Type": "text/event-stream"},
            )
        )


def test_a_long_text_is_bounded(dialect: Dialect) -> None:
    spoken, _ = dialect.converse("x" * (LONGEST_ANSWER + 5000) + " y")
    assert len(spoken.text) < LONGEST_ANSWER + 6000


def test_a_cut_made_before_is_heard_at_once(dialect: Dialect) -> None:
    cut = Cut()
    cut.set()
    assert dialect.model().converse(HELLO, say=str, cut=cut).cut


class _Slow:
    """A server that says one word in OpenAI's dialect and then nothing."""

    def __init__(self) -> None:
        self.over = threading.Event()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                self.rfile.read(int(self.headers["Content-Length"]))
                self.send_response(200)
                self.send_header("Content-Type", "text/event-stream")
                self.end_headers()
                self.wfile.write(
                    b'data: {"id":"1","object":"chat.completion.chunk","created":1,"model":"m",'
                    b'"choices":[{"index":0,"delta":{"content":"well"},"finish_reason":null}]}\n\n'
                )
                self.wfile.flush()
                outer.over.wait(300)

            def log_message(self, *_arguments: Any) -> None:
                pass

        self.server = QuietServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, args=[0.02], daemon=True).start()

    def model(self, seconds: float = 60.0) -> TalkingModel:
        url = f"http://127.0.0.1:{self.server.server_address[1]}/v1"
        return TalkingModel(
            endpoint=endpoint("tiny", url, ""), patience=Patience(silence_seconds=seconds)
        )

    def close(self) -> None:
        self.over.set()
        self.server.shutdown()
        self.server.server_close()


@pytest.fixture
def slow() -> Iterator[_Slow]:
    server = _Slow()
    yield server
    server.close()


def test_somebody_else_can_cut_it_off_in_the_middle(slow: _Slow) -> None:
    cut, pieces = Cut(), list[str]()

    def say(text: str) -> None:
        pieces.append(text)
        threading.Thread(target=cut.set).start()

    spoken = slow.model().converse(HELLO, say=say, cut=cut)
    assert (spoken.text, spoken.cut, pieces) == ("well", True, ["well"])


def test_silence_is_what_counts_as_too_slow(slow: _Slow) -> None:
    with pytest.raises(ModelUnavailable) as error:
        slow.model(seconds=0.3).converse(HELLO, say=str, cut=Cut())
    assert "0.3 seconds" in error.value.detail


@pytest.mark.parametrize("refuses", [False, True], ids=["ignores stream", "refuses stream"])
@pytest.mark.parametrize("said", ["hello there", Use(tool="look", arguments={"at": "sky"})])
def test_a_server_that_cannot_stream_answers_in_one_piece_and_is_remembered(
    said: Any, *, refuses: bool
) -> None:
    server = ModelServer(lambda _request: said, streams=False)
    if refuses:
        server.say = lambda request: 400 if request.get("stream") else said
    modes = AskingModes()
    model = TalkingModel(endpoint=endpoint("tiny", server.url, ""), modes=modes)
    for _ in range(2):
        spoken = model.converse(HELLO, say=lambda _text: None, cut=Cut())
        assert spoken.text == (said if isinstance(said, str) else "")
        assert [call.tool for call in spoken.calls] == ([] if isinstance(said, str) else ["look"])
    assert [bool(call.get("stream")) for call in server.calls] == [True, False, False]
    server.close()
