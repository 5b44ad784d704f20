"""A language model behind one narrow call: any OpenAI-compatible endpoint, or Anthropic's.

Each call has its own connection, is tried once (whoever asks decides on retries, by a clock of
theirs), and fails as `ModelUnavailable` whatever went wrong inside. One that nobody wants any more
(`cancellation`) is closed at once, as `ModelCancelled`. Answers are heard as streams, so that a
slow model may take its time and a silent one does not (`model_streams`). How a server is asked for
a form, and whether it streams (`asking_modes`), is found out at the first call and remembered: only
a server that does not know that way is asked once more, in the next one.
"""

import asyncio
import json
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, cast

from pydantic import BaseModel

from astra.adapters.asking_modes import (
    EVERY_MODE,
    UNSUPPORTED,
    AskingMode,
    AskingModes,
    describe_form,
    ignores_schema,
    next_mode,
)
from astra.adapters.model_calls import FREE, Charge, Sending, read_report
from astra.adapters.model_endpoints import Endpoint, make_settings, make_unavailable
from astra.adapters.model_streams import (
    Call,
    Patience,
    hear_stream,
    may_lack_streams,
    take_whole,
)
from astra.plans.answers import find_document, shorten_middle
from astra.plans.forms import PlainText
from astra.plans.ports import ModelCancelled, ModelUnavailable, Prompt, Reply, Usage
from astra.spend.model import SpendRefused
from astra.spend.usage import MOST_TOKENS as MOST_TOKENS_REPORTED
from astra.trusted.kernel import cancellation
from astra.trusted.kernel.errors import LedgerError

if TYPE_CHECKING:
    from collections.abc import Coroutine

    from pydantic_ai.messages import ModelRequest, ModelResponse
    from pydantic_ai.models import ModelRequestParameters

LONGEST_ANSWER = 200_000
_ANSWER = "answer"
_LOOK_SECONDS = 0.2
"""How often a call looks whether its answer is still wanted."""
_CHARACTERS_A_TOKEN, _SHORTEST = 3, 400


@dataclass(frozen=True, kw_only=True)
class LanguageModel:
    endpoint: Endpoint
    patience: Patience = field(default_factory=Patience)
    modes: AskingModes = EVERY_MODE
    charge: Charge = FREE

    @property
    def name(self) -> str:
        return self.endpoint.name

    def ask(self, prompt: Prompt, *, form: type[BaseModel]) -> Reply:
        if not self.endpoint.is_compatible:
            return self._ask_in_form(prompt, form, streams=True)
        if not self.modes.streams(self._url, self.endpoint.model):
            return self._ask_in_form(prompt, form, streams=False)
        return self._find_out_streams(prompt, form)

    @property
    def _url(self) -> str:
        return self.endpoint.url

    def _find_out_streams(self, prompt: Prompt, form: type[BaseModel]) -> Reply:
        """Ask for a stream; a server that has never sent one is asked once more, without."""
        try:
            reply = self._ask_in_form(prompt, form, streams=True)
        except ModelUnavailable as error:
            is_known = self.modes.knows_streams(self._url, self.endpoint.model)
            if is_known or not error.facts.get("is_stream_missing"):
                raise
        else:
            self.modes.remember_stream(self._url, self.endpoint.model)
            return reply
        reply = self._ask_in_form(prompt, form, streams=False)
        self.modes.remember_no_stream(self._url, self.endpoint.model)
        return reply

    def _ask_in_form(self, prompt: Prompt, form: type[BaseModel], *, streams: bool) -> Reply:
        if form is PlainText:
            return self._ask_once(_Question(prompt=prompt, form=None, streams=streams))
        url, model = self.endpoint.url, self.endpoint.model
        first_mode = self.modes.find(url, model, self.endpoint.first_mode)
        question = _Question(prompt=prompt, form=form, streams=streams, mode=first_mode)
        if not self.endpoint.is_compatible:
            return self._ask_once(question)
        mode, reply = self._ask_down_the_ladder(question)
        if mode is AskingMode.SCHEMA and reply.document is None and ignores_schema(reply.text):
            mode = AskingMode.TOOL
        elif mode is AskingMode.TOOL and reply.document is None:
            mode = AskingMode.TEXT
        if mode is not first_mode:
            self.modes.remember(url, model, mode)
        return reply

    def _ask_down_the_ladder(self, question: "_Question") -> tuple[AskingMode, Reply]:
        """Ask in a mode, and in the next where the server says that it does not know this one."""
        try:
            return question.mode, self._ask_once(question)
        except ModelUnavailable as error:
            lower = next_mode(question.mode)
            if lower is None or error.facts.get("upstream_status") not in UNSUPPORTED:
                raise
            try:
                return self._ask_down_the_ladder(replace(question, mode=lower))
            except ModelUnavailable:
                raise error from None

    def _ask_once(self, question: "_Question") -> Reply:
        try:
            return asyncio.run(_end_when_cancelled(self._request_reply(question)))
        except (SpendRefused, LedgerError, ModelCancelled):
            raise
        except Exception as error:  # noqa: BLE001 - a library and a server of somebody else
            is_missing = question.streams and may_lack_streams(error)
            raise make_unavailable(self.endpoint, error, is_stream_missing=is_missing) from None

    async def _request_reply(self, question: "_Question") -> Reply:
        call = Call(
            endpoint=self.endpoint,
            sending=self._make_sending(question),
            charge=self.charge,
            patience=self.patience,
        )
        if not question.streams:
            return read_response(await take_whole(call))
        return read_response(await hear_stream(call, _Length().is_enough))

    def _make_sending(self, question: "_Question") -> Sending:
        prompt, form, mode = question.prompt, question.form, question.mode
        return Sending(
            model=self.endpoint.name,
            messages=[_build_request(prompt, form, mode, self.endpoint)],
            parameters=_build_parameters(form, mode),
            settings=make_settings(self.endpoint, 2 * self.patience.longest),
            output_tokens=self.endpoint.output_tokens,
            context_tokens=self.endpoint.context_tokens,
        )


@dataclass(frozen=True, kw_only=True)
class _Question:
    """What is asked once, and in which way."""

    prompt: Prompt
    form: type[BaseModel] | None
    streams: bool
    mode: AskingMode = AskingMode.TEXT


class _Length:
    """Counts what a stream brought, whatever it is: text, thoughts, a call's arguments."""

    def __init__(self) -> None:
        self._characters = 0

    def is_enough(self, event: Any) -> bool:
        piece = getattr(event, "part", None) or getattr(event, "delta", None)
        for name in ("content", "content_delta", "args", "args_delta"):
            if isinstance(text := getattr(piece, name, None), str):
                self._characters += len(text)
        return self._characters > 2 * LONGEST_ANSWER


async def _end_when_cancelled(work: "Coroutine[Any, Any, Reply]") -> Reply:
    """Wait for an answer, and close the connection as soon as nobody wants it any more."""
    task = asyncio.ensure_future(work)
    while not (await asyncio.wait({task}, timeout=_LOOK_SECONDS))[0]:
        if cancellation.is_cancelled():
            task.cancel()
            await asyncio.wait({task})
            raise ModelCancelled(
                "the model's answer was not waited for: what it was asked for has ended",
                next_step="nothing is left to do for this call",
            )
    return task.result()


def fit_prompt(prompt: Prompt, where: Endpoint) -> Prompt:
    """Shorten the longest parts in the middle, so that a prompt fits what a model can read."""
    if not where.context_tokens:
        return prompt
    room = where.context_tokens - min(where.output_tokens, where.context_tokens // 4)
    parts, most = list(prompt.data), max(1_000, room * _CHARACTERS_A_TOKEN - len(prompt.rules))
    while (total := sum(map(len, parts))) > most and (longest := max(map(len, parts))) > _SHORTEST:
        place = next(i for i, part in enumerate(parts) if len(part) == longest)
        parts[place] = shorten_middle(parts[place], max(_SHORTEST, longest - (total - most)))
    return replace(prompt, data=tuple(parts))


def _build_request(
    prompt: Prompt, form: type[BaseModel] | None, mode: AskingMode, where: Endpoint
) -> "ModelRequest":
    from pydantic_ai.messages import ModelRequest, SystemPromptPart, UserPromptPart

    prompt = fit_prompt(prompt, where)
    is_told = form is not None and mode is not AskingMode.TOOL
    data = "\n\n".join((*prompt.data, *([describe_form(form)] if form and is_told else ())))
    return ModelRequest(parts=[SystemPromptPart(prompt.rules), UserPromptPart(data)])


def _build_parameters(form: type[BaseModel] | None, mode: AskingMode) -> "ModelRequestParameters":
    """Ask for the form by its schema, or as the arguments of one tool that may be left out."""
    from pydantic_ai.models import ModelRequestParameters
    from pydantic_ai.output import OutputObjectDefinition
    from pydantic_ai.tools import ToolDefinition

    if form is None or mode is AskingMode.TEXT:
        return ModelRequestParameters(output_mode="text", allow_text_output=True)
    schema = form.model_json_schema()
    if mode is AskingMode.SCHEMA:
        output = OutputObjectDefinition(json_schema=schema, name=_ANSWER, strict=False)
        return ModelRequestParameters(output_mode="native", output_object=output)
    tool = ToolDefinition(
        name=_ANSWER,
        description="Give your answer in this form.",
        parameters_json_schema=schema,
        kind="output",
    )
    return ModelRequestParameters(output_mode="tool", output_tools=[tool], allow_text_output=True)


def read_response(response: "ModelResponse") -> Reply:
    """Take the document out of a response: a tool's arguments, or JSON somewhere in the text."""
    texts = [
        str(getattr(part, "content", "")) for part in response.parts if part.part_kind == "text"
    ]
    text = "".join(texts)[:LONGEST_ANSWER]
    document: Any = None
    for part in response.parts:
        if part.part_kind == "tool-call":
            args = part.args
            document = _read_arguments(args if isinstance(args, str) else part.args_as_json_str())
            break
    return Reply(
        document=document if document is not None else find_document(text),
        text=text,
        usage=read_usage(response),
    )


def read_usage(response: "ModelResponse") -> Usage:
    """Read what a server says it used; nothing that it says makes a sum smaller, or absurd."""
    report = read_report(response)
    return Usage(
        input_tokens=min(max(report.input_tokens, 0), MOST_TOKENS_REPORTED),
        output_tokens=min(max(report.output_tokens, 0), MOST_TOKENS_REPORTED),
    )


def _read_arguments(text: str) -> Any:
    """Read a call's arguments, or what can be read of them."""
    if len(text) > LONGEST_ANSWER:
        return None
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        return find_document(text)
    return cast("Any", document) if isinstance(document, dict | list) else None
