"""A language model that talks: piece by piece, with tools, until somebody cuts it off.

The same endpoints as `language_models`, by the same bounds. What counts as too slow is silence, not
length: a small model on a small machine may talk for minutes.
"""

import asyncio
import json
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from astra.adapters.language_models import (
    LONGEST_ANSWER,
    MOST_TOKENS,
    SECONDS,
    Endpoint,
    client_of,
    model_of,
    unavailable,
)
from astra.persona.speech import (
    Cut,
    Dialogue,
    FromPerson,
    FromPersona,
    FromTools,
    Offered,
    Say,
    Spoken,
    Utterance,
    Wanted,
)
from astra.plans.ports import Usage

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelMessage, ModelResponse
    from pydantic_ai.models import ModelRequestParameters, StreamedResponse

LONGEST_TALK = 900.0


@dataclass(frozen=True, kw_only=True)
class TalkingModel:
    endpoint: Endpoint
    seconds: float = SECONDS

    @property
    def name(self) -> str:
        return self.endpoint.name

    def converse(self, dialogue: Dialogue, *, say: Say, cut: Cut) -> Spoken:
        heard = _Heard(say)
        try:
            asyncio.run(self._converse(dialogue, heard, cut))
        except asyncio.CancelledError:
            return Spoken(text=heard.text, cut=True)
        except Exception as error:  # noqa: BLE001 - a library and a server of somebody else
            if cut.is_set():
                return Spoken(text=heard.text, cut=True)
            raise unavailable(self.endpoint, error, self.seconds) from None
        return heard.spoken()

    async def _converse(self, dialogue: Dialogue, heard: "_Heard", cut: Cut) -> None:
        from pydantic_ai.direct import model_request_stream

        loop, task = asyncio.get_running_loop(), asyncio.current_task()
        assert task is not None  # noqa: S101 - this runs in one

        def interrupt() -> None:
            loop.call_soon_threadsafe(task.cancel)

        async with AsyncExitStack() as open_:
            open_.enter_context(cut.calls(interrupt))
            await open_.enter_async_context(asyncio.timeout(LONGEST_TALK))
            silence = await open_.enter_async_context(asyncio.timeout(self.seconds))
            client = await open_.enter_async_context(client_of(self.endpoint, LONGEST_TALK))
            stream = await open_.enter_async_context(
                model_request_stream(
                    model_of(self.endpoint, client),
                    _messages(dialogue),
                    model_settings={"max_tokens": MOST_TOKENS, "timeout": LONGEST_TALK},
                    model_request_parameters=_offered(dialogue.tools),
                )
            )
            await heard.listen(stream, lambda: silence.reschedule(loop.time() + self.seconds))


class _Heard:
    """What came of a stream so far."""

    def __init__(self, say: Say) -> None:
        self.text = ""
        self._say = say
        self._response: ModelResponse | None = None

    async def listen(self, stream: "StreamedResponse", alive: Any) -> None:
        async for event in stream:
            alive()
            part = getattr(event, "part", None)
            if event.event_kind == "part_start" and getattr(part, "part_kind", "") == "text":
                self._hear(str(getattr(part, "content", "")))
            elif event.event_kind == "part_delta" and event.delta.part_delta_kind == "text":
                self._hear(event.delta.content_delta)
            if len(self.text) >= LONGEST_ANSWER:
                break
        self._response = stream.get()

    def spoken(self) -> Spoken:
        response = self._response
        assert response is not None  # noqa: S101 - the stream ended
        usage = Usage(
            input_tokens=response.usage.input_tokens, output_tokens=response.usage.output_tokens
        )
        return Spoken(text=self.text, calls=_wanted(response), usage=usage)

    def _hear(self, text: str) -> None:
        if text:
            self.text += text
            self._say(text)


def _wanted(response: "ModelResponse") -> tuple[Wanted, ...]:
    return tuple(
        Wanted(id=part.tool_call_id, tool=part.tool_name, arguments=_object(part.args))
        for part in response.parts
        if part.part_kind == "tool-call"
    )


def _object(arguments: Any) -> dict[str, Any] | None:
    """Read what a model wrote as arguments; nothing at all means none are needed."""
    if not arguments:
        return {}
    try:
        found = json.loads(arguments) if isinstance(arguments, str) else arguments
    except (ValueError, RecursionError):
        return None
    return cast("dict[str, Any]", found) if isinstance(found, dict) else None


def _messages(dialogue: Dialogue) -> "list[ModelMessage]":
    from pydantic_ai.messages import ModelRequest, SystemPromptPart

    rules = ModelRequest(parts=[SystemPromptPart(dialogue.rules)])
    return [rules, *(_message(each) for each in dialogue.utterances)]


def _message(said: Utterance) -> "ModelMessage":
    from pydantic_ai.messages import (
        ModelRequest,
        ModelResponse,
        TextPart,
        ToolCallPart,
        ToolReturnPart,
        UserPromptPart,
    )

    match said:
        case FromPerson(text):
            return ModelRequest(parts=[UserPromptPart(text)])
        case FromPersona(text, calls):
            texts = [TextPart(text)] if text else []
            wanted = [
                ToolCallPart(each.tool, json.dumps(dict(each.arguments or {})), each.id)
                for each in calls
            ]
            return ModelResponse(parts=[*texts, *wanted])
        case FromTools(results):
            return ModelRequest(
                parts=[ToolReturnPart(each.tool, each.text, each.id) for each in results]
            )


def _offered(tools: Sequence[Offered]) -> "ModelRequestParameters":
    from pydantic_ai.models import ModelRequestParameters
    from pydantic_ai.tools import ToolDefinition

    return ModelRequestParameters(
        function_tools=[
            ToolDefinition(
                name=each.name,
                description=each.description,
                parameters_json_schema=dict(each.schema),
            )
            for each in tools
        ],
        allow_text_output=True,
    )
