"""Silence ends a call and length does not, against a real server and a clock that is set."""

import asyncio
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from typing import Any

import pytest

from astra.adapters.asking_modes import AskingModes
from astra.adapters.language_models import LanguageModel
from astra.adapters.model_calls import FREE, Sending
from astra.adapters.model_endpoints import endpoint, make_settings
from astra.adapters.model_streams import Call, Patience, StreamBroken, hear_stream, take_whole
from astra.plans.forms import ActionForm, PlainText
from astra.plans.ports import ModelUnavailable, Prompt
from model_server import ModelServer, QuietServer, Raw

PROMPT = Prompt(rules="be brief", data=("one",), version="working-1")
PIECES = 12
HOUR = 3_600.0


class Dripping:
    """A server that says a piece when it is let, and holds its connection open after the last."""

    def __init__(self, pieces: int) -> None:
        self.may_speak = threading.Semaphore()
        self.over = threading.Event()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                self.rfile.read(int(self.headers["Content-Length"]))
                self.send_response(200)
                self.send_header("Content-Type", "text/event-stream")
                self.end_headers()
                for number in range(pieces):
                    assert outer.may_speak.acquire(timeout=120)
                    self._say({"content": f"{number} "}, None)
                if pieces < PIECES:
                    outer.over.wait(120)
                else:
                    self._say({}, "stop")

            def _say(self, delta: dict[str, str], finish_reason: str | None) -> None:
                choice = {"index": 0, "delta": delta, "finish_reason": finish_reason}
                chunk = {"id": "1", "object": "chat.completion.chunk", "created": 1, "model": "m"}
                document = json.dumps({**chunk, "choices": [choice]})
                self.wfile.write(f"data: {document}\n\n".encode())
                self.wfile.flush()

            def log_message(self, *_arguments: Any) -> None:
                pass

        self._server = QuietServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self._server.serve_forever, args=[0.02], daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def close(self) -> None:
        self.over.set()
        self._server.shutdown()
        self._server.server_close()


class SetClock(asyncio.SelectorEventLoop):
    """An event loop whose hours pass when a test says so."""

    passed_seconds = 0.0

    def time(self) -> float:
        return super().time() + self.passed_seconds


def hear_for_hours(server: Dripping, patience: Patience, *, hours_a_piece: float) -> Any:
    """Hear a server whose every piece takes hours."""
    with asyncio.Runner(loop_factory=SetClock) as runner:
        loop = runner.get_loop()
        assert isinstance(loop, SetClock)

        def pass_hours(_event: Any) -> bool:
            loop.passed_seconds += hours_a_piece * HOUR
            server.may_speak.release()
            return False

        return runner.run(hear_stream(make_call(server.url, patience), pass_hours))


def make_call(url: str, patience: Patience) -> Call:
    from pydantic_ai.messages import ModelRequest, UserPromptPart
    from pydantic_ai.models import ModelRequestParameters

    where = endpoint("tiny", url, "")
    sending = Sending(
        model="tiny",
        messages=[ModelRequest(parts=[UserPromptPart("count")])],
        parameters=ModelRequestParameters(output_mode="text", allow_text_output=True),
        settings=make_settings(where, 1_000 * HOUR),
        output_tokens=100,
    )
    return Call(endpoint=where, sending=sending, charge=FREE, patience=patience)


@pytest.fixture
def drips() -> Iterator[Dripping]:
    server = Dripping(PIECES)
    yield server
    server.close()


@pytest.fixture
def stalls() -> Iterator[Dripping]:
    server = Dripping(PIECES - 1)
    yield server
    server.close()


def test_an_answer_may_take_far_longer_than_a_silence(drips: Dripping) -> None:
    patience = Patience(silence_seconds=2 * HOUR, call_seconds=100 * HOUR)
    response = hear_for_hours(drips, patience, hours_a_piece=1)
    assert "".join(part.content for part in response.parts).split()[-1] == str(PIECES - 1)


def test_a_silence_in_the_middle_ends_a_call(stalls: Dripping) -> None:
    patience = Patience(silence_seconds=2 * HOUR, call_seconds=100 * HOUR)
    with pytest.raises(TimeoutError, match="said nothing for 7200 seconds"):
        hear_for_hours(stalls, patience, hours_a_piece=3)


def test_a_server_that_never_ends_is_ended_by_the_whole_limit(stalls: Dripping) -> None:
    patience = Patience(silence_seconds=2 * HOUR, call_seconds=5 * HOUR)
    with pytest.raises(TimeoutError, match="not complete within 18000 seconds"):
        hear_for_hours(stalls, patience, hours_a_piece=1)


def test_an_answer_in_one_piece_has_the_whole_limit_only() -> None:
    over = threading.Event()
    server = ModelServer(lambda _request: over.wait(120) and 500)
    with pytest.raises(TimeoutError, match=r"not complete within 0.5 seconds"):
        asyncio.run(
            take_whole(make_call(server.url, Patience(silence_seconds=0.1, call_seconds=0.5)))
        )
    over.set()
    server.close()


def test_a_call_is_never_given_up_before_a_silence_would_be() -> None:
    assert Patience(silence_seconds=3_000, call_seconds=900).longest == 3_000


@pytest.mark.parametrize("form", [ActionForm, PlainText], ids=["form", "text"])
@pytest.mark.parametrize("refuses", [False, True], ids=["ignores stream", "refuses stream"])
def test_a_server_that_cannot_stream_is_found_out_once(form: Any, *, refuses: bool) -> None:
    server = ModelServer(lambda _request: '{"kind": "done"}', streams=False)
    if refuses:
        server.say = lambda request: 400 if request.get("stream") else '{"kind": "done"}'
    model = LanguageModel(endpoint=endpoint("tiny", server.url, ""), modes=AskingModes())
    for _ in range(2):
        assert model.ask(PROMPT, form=form).text == '{"kind": "done"}'
    streams = [bool(call.get("stream")) for call in server.calls]
    assert streams[-2:] == [False, False]
    assert all(streams[:-2])
    server.close()


def test_a_stream_that_breaks_off_is_no_answer_of_a_server_that_streams() -> None:
    """Half a function is worse than none: what has no end was not said to its end."""
    server = ModelServer(lambda _request: "all of it")
    model = LanguageModel(endpoint=endpoint("tiny", server.url, ""), modes=AskingModes())
    assert model.ask(PROMPT, form=PlainText).text == "all of it"
    chunk = {"id": "1", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    choice = {"index": 0, "delta": {"content": "half of"}, "finish_reason": None}
    body = f"data: {json.dumps({**chunk, 'choices': [choice]})}\n\n".encode()
    server.say = lambda _request: Raw(body=body, headers={"Content-Type": "text/event-stream"})
    with pytest.raises(ModelUnavailable, match="ended before its answer did"):
        model.ask(PROMPT, form=PlainText)
    with pytest.raises(StreamBroken):
        asyncio.run(hear_stream(make_call(server.url, Patience()), lambda _event: False))
    server.close()
