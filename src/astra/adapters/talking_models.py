"""A language model that talks: piece by piece, with tools, until somebody cuts it off.

The same endpoints as `language_models`, by the same bounds. What counts as too slow is silence, not
length: a small model on a small machine may talk for minutes.
"""

import asyncio
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

from astra.adapters.asking_modes import EVERY_MODE, AskingModes
from astra.adapters.language_models import LONGEST_ANSWER, read_usage
from astra.adapters.model_calls import FREE, Charge, Sending
from astra.adapters.model_endpoints import Endpoint, make_settings, make_unavailable
from astra.adapters.model_streams import (
    Call,
    Patience,
    hear_stream,
    may_lack_streams,
    take_whole,
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
from astra.spend.model import SpendRefused
from astra.trusted.kernel.errors import LedgerError

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelMessage, ModelResponse
    from pydantic_ai.models import ModelRequestParameters


@dataclass(frozen=True, kw_only=True)
class TalkingModel:
    endpoint: Endpoint
    patience: Patience = field(default_factory=Patience)
    modes: AskingModes = EVERY_MODE
    charge: Charge = FREE

    @property
    def name(self) -> str:
        return self.endpoint.name

    def converse(self, dialogue: Dialogue, *, say: Say, cut: Cut) -> Spoken:
        reply = _Heard(say)
        try:
            asyncio.run(self._speak(dialogue, reply, cut))
        except asyncio.CancelledError:
            return Spoken(text=reply.text, cut=True)
        except (SpendRefused, LedgerError):
            raise
        except Exception as error:  # noqa: BLE001 - a library and a server of somebody else
            if cut.is_set():
                return Spoken(text=reply.text, cut=True)
            raise make_unavailable(self.endpoint, error) from None
        return reply.spoken()

    async def _speak(self, dialogue: Dialogue, heard: "_Heard", cut: Cut) -> None:
        """Hear a stream; where a server sends none, ask for the answer in one piece."""
        loop, task = asyncio.get_running_loop(), asyncio.current_task()
        assert task is not None  # noqa: S101 - this runs in one

        def interrupt() -> None:
            loop.call_soon_threadsafe(task.cancel)

        with cut.calls(interrupt):
            if not self.endpoint.is_compatible:
                await self._stream_reply(dialogue, heard)
            elif not await self._has_streamed(dialogue, heard):
                await self._take_reply(dialogue, heard)

    async def _has_streamed(self, dialogue: Dialogue, heard: "_Heard") -> bool:
        """Tell whether a stream brought an answer; a server that has none is remembered."""
        if not self.modes.streams(self.endpoint.url, self.endpoint.model):
            return False
        try:
            await self._stream_reply(dialogue, heard)
        except Exception as error:
            if heard.text or not may_lack_streams(error):
                raise
        if heard.is_anything:
            return True
        self.modes.remember_no_stream(self.endpoint.url, self.endpoint.model)
        return False

    async def _stream_reply(self, dialogue: Dialogue, heard: "_Heard") -> None:
        heard.response = await hear_stream(self._make_call(dialogue), heard.listen)

    async def _take_reply(self, dialogue: Dialogue, heard: "_Heard") -> None:
        heard.take(await take_whole(self._make_call(dialogue)))

    def _make_call(self, dialogue: Dialogue) -> Call:
        sending = Sending(
            model=self.endpoint.name,
            messages=_build_messages(dialogue),
            parameters=_build_parameters(dialogue.tools),
            settings=make_settings(self.endpoint, 2 * self.patience.longest),
            output_tokens=self.endpoint.output_tokens,
            context_tokens=self.endpoint.context_tokens,
        )
        return Call(
            endpoint=self.endpoint, sending=sending, charge=self.charge, patience=self.patience
        )


class _Heard:
    """What came of a stream so far."""

    def __init__(self, say: Say) -> None:
        self.text = ""
        self._say = say
        self.response: ModelResponse | None = None

    def listen(self, event: Any) -> bool:
        """Take a piece of a stream; tell whether that is as much as anybody wants to hear."""
        part = getattr(event, "part", None)
        if event.event_kind == "part_start" and getattr(part, "part_kind", "") == "text":
            self._append_text(str(getattr(part, "content", "")))
        elif event.event_kind == "part_delta" and event.delta.part_delta_kind == "text":
            self._append_text(event.delta.content_delta)
        return len(self.text) >= LONGEST_ANSWER

    def take(self, response: "ModelResponse") -> None:
        """Hear an answer that came in one piece."""
        parts = (part for part in response.parts if part.part_kind == "text")
        self._append_text(
            "".join(str(getattr(part, "content", "")) for part in parts)[:LONGEST_ANSWER]
        )
        self.response = response

    @property
    def is_anything(self) -> bool:
        return bool(self.text or (self.response and _read_calls(self.response)))

    def spoken(self) -> Spoken:
        response = self.response
        assert response is not None  # noqa: S101 - the stream ended
        return Spoken(
            text=self.text,
            calls=_read_calls(response),
            usage=read_usage(response),
            is_short=response.finish_reason == "length",
        )

    def _append_text(self, text: str) -> None:
        if text:
            self.text += text
            self._say(text)


def _read_calls(response: "ModelResponse") -> tuple[Wanted, ...]:
    return tuple(
        Wanted(id=part.tool_call_id, tool=part.tool_name, arguments=_parse_arguments(part.args))
        for part in response.parts
        if part.part_kind == "tool-call"
    )


def _parse_arguments(arguments: Any) -> dict[str, Any] | None:
    """Read what a model wrote as arguments; nothing at all means none are needed."""
    if not arguments:
        return {}
    try:
        document = json.loads(arguments) if isinstance(arguments, str) else arguments
    except (ValueError, RecursionError):
        return None
    return cast("dict[str, Any]", document) if isinstance(document, dict) else None


def _build_messages(dialogue: Dialogue) -> "list[ModelMessage]":
    from pydantic_ai.messages import ModelRequest, SystemPromptPart

    rules = ModelRequest(parts=[SystemPromptPart(dialogue.rules)])
    return [rules, *(_message_from_utterance(utterance) for utterance in dialogue.utterances)]


def _message_from_utterance(said: Utterance) -> "ModelMessage":
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
            call_parts = [
                ToolCallPart(item.tool, json.dumps(dict(item.arguments or {})), item.id)
                for item in calls
            ]
            return ModelResponse(parts=[*texts, *call_parts])
        case FromTools(results):
            return ModelRequest(
                parts=[ToolReturnPart(item.tool, item.text, item.id) for item in results]
            )


def _build_parameters(tools: Sequence[Offered]) -> "ModelRequestParameters":
    from pydantic_ai.models import ModelRequestParameters
    from pydantic_ai.tools import ToolDefinition

    return ModelRequestParameters(
        function_tools=[
            ToolDefinition(
                name=tool.name,
                description=tool.description,
                parameters_json_schema=dict(tool.schema),
            )
            for tool in tools
        ],
        allow_text_output=True,
    )
