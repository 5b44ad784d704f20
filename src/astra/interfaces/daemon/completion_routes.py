"""The persona behind OpenAI's chat completions, for programs that speak those.

The persona keeps its own rules and uses its own tools: what a client sends as `system` is shown to
the model as data, and `tools` are refused, as is every option that would change the answer and
cannot be honoured. A client sends the whole conversation each time; where
that is one of ours, word for word, the answer is added to it.
"""

import json
import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any, Literal

from fastapi import Body, FastAPI, Request, Response
from fastapi.responses import JSONResponse
from pydantic import BaseModel, ConfigDict, Field

from astra.bootstrap.runtime import Runtime
from astra.interfaces.daemon.chat_routes import complete_turn
from astra.interfaces.daemon.turn_stream import PROBLEM, TurnStream
from astra.persona import conversations
from astra.persona.turn import CUT, FAILED, LIMIT, Heard, Turn
from astra.plans.ports import ModelUnavailable
from astra.trusted.door import problems
from astra.trusted.door.requests import caller
from astra.trusted.kernel.errors import AstraError, BadInput, NotFound, Refused

MODEL = "astra"
_DONE = b"data: [DONE]\n\n"
_WITHOUT_EFFECT = frozenset(
    {"user", "metadata", "store", "safety_identifier", "prompt_cache_key", "parallel_tool_calls"}
)
"""What says nothing about the answer."""
_AS_EVER: dict[str, tuple[Any, ...]] = {
    "temperature": (1, 1.0),
    "top_p": (1, 1.0),
    "presence_penalty": (0, 0.0),
    "frequency_penalty": (0, 0.0),
    "logprobs": (False,),
    "response_format": ({"type": "text"},),
    "modalities": (["text"],),
    "service_tier": ("auto", "default"),
    "tool_choice": ("none", "auto"),
}
"""Options whose values ask for what happens anyway; no other value can be honoured."""
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
        content = self.content
        return content if isinstance(content, str) else "".join(part.text for part in content)


class StreamOptions(BaseModel):
    include_usage: bool = False


class CompletionAsked(BaseModel):
    """What OpenAI's clients send; an option that cannot be honoured is refused by its name."""

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
            return Models(data=[_show_model(runtime, MODEL)])
        except AstraError:
            return Models(data=[])

    @app.get("/v1/models/{model}")
    def show_model(model: str) -> ModelShown:
        return _show_model(runtime, model)

    @app.post("/v1/chat/completions", response_class=Response, responses=_COMPLETIONS)
    def complete(request: Request, asked: Annotated[CompletionAsked, Body()]) -> Response:
        turn = _start_turn(runtime, asked, caller(request))
        if asked.stream:
            usage = asked.stream_options is not None and asked.stream_options.include_usage
            chunks = _Chunks(turn, usage=usage)
            return TurnStream(turn, chunks.frames, first=[chunks.first()])
        return _run_completion(turn)


_COMPLETIONS: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "a completion as OpenAI describes it, or its chunks",
        "content": {
            "application/json": {"schema": {"type": "object"}},
            "text/event-stream": {"schema": {"type": "string"}},
        },
    }
}


def _show_model(runtime: Runtime, name: str) -> ModelShown:
    """Describe the persona, where it can be talked with now."""
    _require_model(name)
    runtime.chat.require_available()
    return ModelShown(id=MODEL, created=int(runtime.started_at.timestamp()))


def _require_model(name: str) -> None:
    if name != MODEL:
        raise NotFound(
            f"there is no model {name[:100]!r}", code="model_not_found", next_step=f"use {MODEL!r}"
        )


def _refuse_options(options: dict[str, Any]) -> None:
    """Refuse what would be ignored; an option that is left empty asks for nothing."""
    refused_names = [
        name
        for name, value in options.items()
        if name not in _WITHOUT_EFFECT
        and value not in (None, [], {})
        and value not in _AS_EVER.get(name, ())
    ]
    if refused_names:
        raise BadInput(
            "the persona uses its own tools and the operator's settings, and answers in text;"
            f" {refused_names[0][:60]} is not taken",
            code="unsupported_parameter",
            next_step=f"leave {', '.join(name[:60] for name in refused_names[:5])} out",
            param=refused_names[0][:60],
        )


def _start_turn(runtime: Runtime, asked: CompletionAsked, actor: str) -> Turn:
    _require_model(asked.model)
    _refuse_options(asked.model_extra or {})
    *before, last = asked.messages
    if last.role != "user":
        raise BadInput("the last message is not the user's", next_step="end with role `user`")
    chain, count = _link_messages(before)
    conversation = runtime.chat.conversations.find_by_chain(chain, count)
    return runtime.chat.ask(
        last.text,
        actor=actor,
        conversation=conversation.id if conversation else None,
        told="" if conversation else _render_history(before),
    )


def _link_messages(said: Sequence[Said]) -> tuple[str, int]:
    """Name what a client says went before, as our own conversations are named, and count it."""
    chain, count = "", 0
    for message in said:
        if message.role in _WHO:
            chain = conversations.extend_chain(chain, _WHO[message.role], message.text)
            count += 1
    return chain, count


def _render_history(said: Sequence[Said]) -> str:
    return "\n\n".join(f"{message.role}: {message.text}" for message in said)[-_LONGEST_HISTORY:]


def _run_completion(turn: Turn) -> Response:
    answer = complete_turn(turn)
    if trouble := _find_trouble(answer):
        return problems.render_problem(
            AstraError(
                trouble["detail"],
                next_step=trouble["next_step"],
                code=trouble["code"],
                upstream_status=trouble.get("upstream_status"),
            ),
            status=trouble["status"],
        )
    message = {"role": "assistant", "content": answer["text"]}
    choice = {"index": 0, "message": message, "finish_reason": _to_finish_reason(answer["ended"])}
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


def _find_trouble(answer: Mapping[str, Any]) -> dict[str, Any] | None:
    """Say what kept an answer from being whole; a model's own limit is not among it.

    The status of the model's server is kept where it speaks of the server; where it speaks of the
    key or the request, those are the operator's and not the client's. What Astra itself does not
    let the model do, such as spend more, is refused: no server is at fault.
    """
    if answer["ended"] == CUT:
        return {**_ENDED_EARLY, "status": 503}
    if answer["ended"] != FAILED:
        return None
    if answer["trouble"]["code"] != ModelUnavailable.code:
        return {**answer["trouble"], "status": Refused.http_status}
    upstream = answer["trouble"].get("upstream_status") or 0
    is_about_server = upstream in {408, 429} or upstream >= _BAD_GATEWAY - 2
    return {**answer["trouble"], "status": upstream if is_about_server else _BAD_GATEWAY}


_BAD_GATEWAY = 502
_ENDED_EARLY = {
    "code": "cut",
    "detail": "the answer was cut off before it was whole",
    "next_step": "ask again; what came of it is kept in the conversation",
}


class _Chunks:
    def __init__(self, turn: Turn, *, usage: bool) -> None:
        self._id = f"chatcmpl-{turn.asked}"
        self._usage = usage
        self._created = int(time.time())

    def first(self) -> bytes:
        return self._encode_chunk({"role": "assistant", "content": ""})

    def frames(self, heard: Heard) -> Iterable[bytes]:
        if heard.kind == "text":
            yield self._encode_chunk({"content": heard.data["text"]})
        elif heard.kind == "end":
            yield from self._encode_end(heard.data)
        elif heard.kind == PROBLEM:
            yield _encode_error({"status": _BAD_GATEWAY, **heard.data})
            yield _DONE

    def _encode_end(self, answer: Any) -> Iterable[bytes]:
        if trouble := _find_trouble(answer):
            yield _encode_error(trouble)
        else:
            yield self._encode_chunk({}, finish=_to_finish_reason(answer["ended"]))
        if self._usage:
            yield self._encode_document({"choices": [], "usage": _usage(answer["usage"])})
        yield _DONE

    def _encode_chunk(self, delta: dict[str, Any], finish: str | None = None) -> bytes:
        return self._encode_document(
            {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}
        )

    def _encode_document(self, content: dict[str, Any]) -> bytes:
        envelope = {"id": self._id, "object": "chat.completion.chunk", "created": self._created}
        return _encode_data({**envelope, "model": MODEL, **content})


def _encode_error(trouble: Mapping[str, Any]) -> bytes:
    return _encode_data({"error": problems.describe_openai_error(trouble)})


def _encode_data(document: Any) -> bytes:
    return f"data: {json.dumps(document)}\n\n".encode()


def _to_finish_reason(ended: str) -> str:
    return "length" if ended == LIMIT else "stop"


def _usage(usage: dict[str, int]) -> dict[str, int]:
    return {
        "prompt_tokens": usage["input_tokens"],
        "completion_tokens": usage["output_tokens"],
        "total_tokens": usage["tokens"],
    }
