"""The persona behind OpenAI's chat completions, for programs that speak those.

The persona keeps its own rules and uses its own tools: what a client sends as `system` is shown to
the model as data, and `tools` are refused. A client sends the whole conversation each time; where
that is one of ours, word for word, the answer is added to it.
"""

import json
import time
from collections.abc import Iterable, Sequence
from typing import Annotated, Any, Literal

from fastapi import Body, FastAPI, Request, Response
from fastapi.responses import JSONResponse
from pydantic import BaseModel, ConfigDict, Field

from astra.bootstrap.runtime import Runtime
from astra.interfaces.daemon.chat_routes import answered
from astra.interfaces.daemon.turn_stream import PROBLEM, TurnStream
from astra.persona import conversations
from astra.persona.turn import FAILED, LIMIT, Heard, Turn
from astra.trusted.door import problems
from astra.trusted.door.requests import caller
from astra.trusted.kernel.errors import AstraError, BadInput

MODEL = "astra"
_DONE = b"data: [DONE]\n\n"
_REFUSED = ("tools", "tool_choice", "functions", "function_call", "response_format", "audio")
_LONGEST_HISTORY = 60_000
_WHO = {"user": conversations.PERSON, "assistant": conversations.PERSONA}


class Part(BaseModel):
    type: Literal["text"] = Field(description="the persona reads text only")
    text: str


class Said(BaseModel):
    role: Literal["system", "developer", "user", "assistant"]
    content: str | list[Part] = ""

    @property
    def text(self) -> str:
        given = self.content
        return given if isinstance(given, str) else "".join(part.text for part in given)


class StreamOptions(BaseModel):
    include_usage: bool = False


class CompletionAsked(BaseModel):
    """What OpenAI's clients send; what is not named here has no effect."""

    model_config = ConfigDict(extra="allow")

    model: str = MODEL
    messages: list[Said] = Field(min_length=1, max_length=1000)
    stream: bool = False
    stream_options: StreamOptions | None = None
    n: Literal[1] | None = None


class ModelShown(BaseModel):
    id: str
    object: Literal["model"] = "model"
    created: int
    owned_by: Literal["astra"] = "astra"


class Models(BaseModel):
    object: Literal["list"] = "list"
    data: list[ModelShown]


def add(app: FastAPI, runtime: Runtime) -> None:
    @app.get("/v1/models")
    def list_models() -> Models:
        """Name the persona, where it can be talked with now."""
        try:
            runtime.chat.available()
        except AstraError:
            return Models(data=[])
        return Models(data=[ModelShown(id=MODEL, created=int(runtime.started_at.timestamp()))])

    @app.post("/v1/chat/completions", response_class=Response, responses=_COMPLETIONS)
    def complete(request: Request, asked: Annotated[CompletionAsked, Body()]) -> Response:
        try:
            turn = _turn(runtime, asked, caller(request))
        except AstraError as error:
            return _problem(error)
        if asked.stream:
            usage = asked.stream_options is not None and asked.stream_options.include_usage
            chunks = _Chunks(turn, usage=usage)
            return TurnStream(turn, chunks.frames, first=[chunks.first()])
        return _whole(turn)


_COMPLETIONS: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "a completion as OpenAI describes it, or its chunks",
        "content": {
            "application/json": {"schema": {"type": "object"}},
            "text/event-stream": {"schema": {"type": "string"}},
        },
    }
}


def _turn(runtime: Runtime, asked: CompletionAsked, actor: str) -> Turn:
    given = asked.model_extra or {}
    if refused := [name for name in _REFUSED if given.get(name)]:
        raise BadInput(
            f"the persona uses its own tools and answers in text; {refused[0]} is not taken",
            code="unsupported_parameter",
            next_step=f"leave {', '.join(refused)} out",
        )
    *before, last = asked.messages
    if last.role != "user":
        raise BadInput("the last message is not the user's", next_step="end with role `user`")
    found = runtime.chat.conversations.continuing(_chain(before))
    return runtime.chat.ask(
        last.text,
        actor=actor,
        conversation=found.id if found else None,
        told="" if found else _told(before),
    )


def _chain(said: Sequence[Said]) -> str:
    """Name what a client says went before, as our own conversations are named."""
    chain = ""
    for each in said:
        if each.role in _WHO:
            chain = conversations.link(chain, _WHO[each.role], each.text)
    return chain or "-"


def _told(said: Sequence[Said]) -> str:
    return "\n\n".join(f"{each.role}: {each.text}" for each in said)[-_LONGEST_HISTORY:]


def _problem(error: AstraError) -> Response:
    """Say it as a problem, and once more where OpenAI's clients look."""
    response = problems.rendered(error)
    body = json.loads(bytes(response.body))
    told = {"message": f"{error.detail}; {error.next_step}", "type": "astra", "code": error.reason}
    return JSONResponse(
        {**body, "error": told},
        status_code=max(response.status_code, 400),
        media_type=problems.MEDIA_TYPE,
    )


def _whole(turn: Turn) -> Response:
    answer = answered(turn)
    if answer["ended"] == FAILED:
        trouble = answer["trouble"]
        return _problem(
            AstraError(trouble["detail"], next_step=trouble["next_step"], code=trouble["code"])
        )
    message = {"role": "assistant", "content": answer["text"]}
    choice = {"index": 0, "message": message, "finish_reason": _reason(answer["ended"])}
    return JSONResponse(
        {
            "id": f"chatcmpl-{turn.asked}",
            "object": "chat.completion",
            "created": int(time.time()),
            "model": MODEL,
            "choices": [choice],
            "usage": _usage(answer["usage"]),
            "conversation": turn.conversation,
        }
    )


class _Chunks:
    def __init__(self, turn: Turn, *, usage: bool) -> None:
        self._id = f"chatcmpl-{turn.asked}"
        self._usage = usage
        self._created = int(time.time())

    def first(self) -> bytes:
        return self._chunk({"role": "assistant", "content": ""})

    def frames(self, heard: Heard) -> Iterable[bytes]:
        if heard.kind == "text":
            yield self._chunk({"content": heard.data["text"]})
        elif heard.kind == "end":
            yield from self._end(heard.data)
        elif heard.kind == PROBLEM:
            yield _error(heard.data)
            yield _DONE

    def _end(self, answer: Any) -> Iterable[bytes]:
        if answer["ended"] == FAILED:
            yield _error(answer["trouble"])
        else:
            yield self._chunk({}, finish=_reason(answer["ended"]))
        if self._usage:
            yield self._document({"choices": [], "usage": _usage(answer["usage"])})
        yield _DONE

    def _chunk(self, delta: dict[str, Any], finish: str | None = None) -> bytes:
        return self._document({"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]})

    def _document(self, content: dict[str, Any]) -> bytes:
        named = {"id": self._id, "object": "chat.completion.chunk", "created": self._created}
        return _data({**named, "model": MODEL, **content})


def _error(trouble: Any) -> bytes:
    words = f"{trouble['detail']}; {trouble['next_step']}"
    return _data({"error": {"message": words, "type": "astra", "code": trouble["code"]}})


def _data(document: Any) -> bytes:
    return f"data: {json.dumps(document)}\n\n".encode()


def _reason(ended: str) -> str:
    return "length" if ended == LIMIT else "stop"


def _usage(usage: dict[str, int]) -> dict[str, int]:
    return {
        "prompt_tokens": usage["input_tokens"],
        "completion_tokens": usage["output_tokens"],
        "total_tokens": usage["tokens"],
    }
