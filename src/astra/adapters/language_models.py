"""A language model behind one narrow call: any OpenAI-compatible endpoint, or Anthropic's.

The library that speaks to them is imported at the first call: it is heavy, and most commands never
need it. Each call has its own connection and its own time-out, is tried once (whoever asks decides
on retries, by a clock of theirs), and fails as `ModelUnavailable` whatever went wrong inside. One
that nobody wants any more (`cancellation`) is closed at once, as `ModelCancelled`. How a
server is asked for a form (`asking_modes`) is found out at the first call and remembered: only a
server that does not know that way is asked once more, in the next one.
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
from astra.adapters.model_calls import (
    FREE,
    Charge,
    Sending,
    read_report,
    read_status,
    request_reply,
)
from astra.plans.answers import find_document, shorten_middle
from astra.plans.forms import PlainText
from astra.plans.ports import ModelCancelled, ModelUnavailable, Prompt, Reply, Usage
from astra.spend.model import SpendRefused
from astra.spend.usage import MOST_TOKENS as MOST_TOKENS_REPORTED
from astra.trusted.kernel import cancellation
from astra.trusted.kernel.errors import BadSetting, LedgerError
from astra.trusted.kernel.text import one_line

if TYPE_CHECKING:
    from collections.abc import Coroutine

    from pydantic_ai.messages import ModelRequest, ModelResponse
    from pydantic_ai.models import Model, ModelRequestParameters
    from pydantic_ai.settings import ModelSettings

SECONDS = 120.0
MOST_TOKENS = 8_000
LONGEST_ANSWER = 200_000
LONGEST_WAIT = 600
OPENAI, ANTHROPIC = "openai", "anthropic"
_HOSTS = {OPENAI: "https://api.openai.com/v1", ANTHROPIC: "https://api.anthropic.com"}
_ANSWER = "answer"
_LONGEST_NUMBER = 9
_LOOK_SECONDS = 0.2
"""How often a call looks whether its answer is still wanted."""
_CHARACTERS_A_TOKEN, _SHORTEST = 3, 400


@dataclass(frozen=True, kw_only=True)
class Endpoint:
    """Which model, where, and with which key; as the operator's configuration says."""

    provider: str
    model: str
    base_url: str = ""
    key: str = field(default="", repr=False)
    temperature: float | None = None
    """None leaves it to the server."""
    output_tokens: int = MOST_TOKENS
    context_tokens: int = 0
    """How much it can read and write in one call; 0 where nobody knows."""

    @property
    def first_mode(self) -> AskingMode:
        """How it is asked for a form while nobody knows better; the hosted ones know tools well."""
        return AskingMode.SCHEMA if self.is_compatible else AskingMode.TOOL

    @property
    def is_compatible(self) -> bool:
        """Tell a server of somebody's own, whose abilities nobody knows, from the hosted ones."""
        return self.provider == OPENAI and bool(self.base_url)

    @property
    def name(self) -> str:
        return f"{self.provider}:{self.model}"

    @property
    def url(self) -> str:
        """Where it is called: never where the environment of the daemon says."""
        return self.base_url or _HOSTS[self.provider]


def endpoint(name: str, base_url: str, key: str) -> Endpoint:
    """Read a model's name.

    >>> endpoint("anthropic:some-model", "", "k").provider
    'anthropic'
    >>> endpoint("qwen", "http://localhost:8080/v1", "").provider
    'openai'
    """
    provider, _, model = name.partition(":")
    if provider not in {OPENAI, ANTHROPIC} and base_url:
        return Endpoint(provider=OPENAI, model=name, base_url=base_url, key=key)
    if provider not in {OPENAI, ANTHROPIC} or not model:
        raise BadSetting(
            f"model.name is {one_line(name, 80)!r}",
            next_step="write openai:NAME, anthropic:NAME, or any NAME together with base_url",
            key="model.name",
        )
    return Endpoint(provider=provider, model=model, base_url=base_url, key=key)


@dataclass(frozen=True, kw_only=True)
class LanguageModel:
    endpoint: Endpoint
    seconds: float = SECONDS
    modes: AskingModes = EVERY_MODE
    charge: Charge = FREE

    @property
    def name(self) -> str:
        return self.endpoint.name

    def ask(self, prompt: Prompt, *, form: type[BaseModel]) -> Reply:
        if form is PlainText:
            return self._ask_once(prompt, None)
        url, model = self.endpoint.url, self.endpoint.model
        first_mode = self.modes.find(url, model, self.endpoint.first_mode)
        if not self.endpoint.is_compatible:
            return self._ask_once(prompt, form, first_mode)
        mode, reply = self._ask_down_the_ladder(prompt, form, first_mode)
        if mode is AskingMode.SCHEMA and reply.document is None and ignores_schema(reply.text):
            mode = AskingMode.TOOL
        elif mode is AskingMode.TOOL and reply.document is None:
            mode = AskingMode.TEXT
        if mode is not first_mode:
            self.modes.remember(url, model, mode)
        return reply

    def _ask_down_the_ladder(
        self, prompt: Prompt, form: type[BaseModel], mode: AskingMode
    ) -> tuple[AskingMode, Reply]:
        """Ask in a mode, and in the next where the server says that it does not know this one."""
        try:
            return mode, self._ask_once(prompt, form, mode)
        except ModelUnavailable as error:
            lower = next_mode(mode)
            if lower is None or error.facts.get("upstream_status") not in UNSUPPORTED:
                raise
            try:
                return self._ask_down_the_ladder(prompt, form, lower)
            except ModelUnavailable:
                raise error from None

    def _ask_once(
        self, prompt: Prompt, form: type[BaseModel] | None, mode: AskingMode = AskingMode.TEXT
    ) -> Reply:
        try:
            return asyncio.run(_end_when_cancelled(self._request_reply(prompt, form, mode)))
        except (SpendRefused, LedgerError, ModelCancelled):
            raise
        except Exception as error:  # noqa: BLE001 - a library and a server of somebody else
            raise make_unavailable(self.endpoint, error, self.seconds) from None

    async def _request_reply(
        self, prompt: Prompt, form: type[BaseModel] | None, mode: AskingMode
    ) -> Reply:
        # Ours ends first, so that whoever waited hears how long, and not what a library calls it.
        later = 2 * self.seconds
        async with asyncio.timeout(self.seconds), open_client(self.endpoint, later) as client:
            sending = Sending(
                model=self.endpoint.name,
                messages=[_build_request(prompt, form, mode, self.endpoint)],
                parameters=_build_parameters(form, mode),
                settings=make_settings(self.endpoint, later),
                output_tokens=self.endpoint.output_tokens,
                context_tokens=self.endpoint.context_tokens,
            )
            model = make_model(self.endpoint, client)
            response = await request_reply(model, sending, self.charge)
        return read_response(response)


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


def make_unavailable(where: Endpoint, error: Exception, seconds: float) -> ModelUnavailable:
    return ModelUnavailable(
        f"the model {where.name} did not answer: {_explain_failure(where, error, seconds)}",
        next_step="look at [model] in astra.toml, its server and its key",
        patience=_read_retry_after(error),
        upstream_status=read_status(error),
    )


def _explain_failure(where: Endpoint, error: Exception, seconds: float) -> str:
    """Give a server's words without the key, which some say back."""
    if isinstance(error, TimeoutError):
        return f"nothing came of it within {seconds:g} seconds"
    error_text = _in_words(error)
    if where.key:
        error_text = error_text.replace(where.key, "[the key]")
    return one_line(error_text, 300)


def open_client(where: Endpoint, seconds: float) -> Any:
    from astra.adapters.model_transport import bounded_client

    options: dict[str, Any] = {
        "api_key": where.key or "none",
        "base_url": where.url,
        "timeout": seconds,
        "max_retries": 0,
        "http_client": bounded_client(seconds),
    }
    if where.provider == ANTHROPIC:
        from anthropic import AsyncAnthropic

        return AsyncAnthropic(**options)
    from openai import AsyncOpenAI

    return AsyncOpenAI(**options)


def make_model(where: Endpoint, client: Any) -> "Model[Any]":
    if where.provider == ANTHROPIC:
        from pydantic_ai.models.anthropic import AnthropicModel
        from pydantic_ai.providers.anthropic import AnthropicProvider

        return AnthropicModel(where.model, provider=AnthropicProvider(anthropic_client=client))
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider

    return OpenAIChatModel(where.model, provider=OpenAIProvider(openai_client=client))


def make_settings(where: Endpoint, seconds: float) -> "ModelSettings":
    settings: ModelSettings = {"max_tokens": where.output_tokens, "timeout": seconds}
    return settings if where.temperature is None else {**settings, "temperature": where.temperature}


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


def _in_words(error: BaseException) -> str:
    """Give what went wrong with what was behind it: a library may say too little."""
    first = last = error
    while last.__cause__ is not None:
        last = last.__cause__
    texts = [str(cause) or type(cause).__name__ for cause in (first, last)]
    return texts[0] if texts[1] in texts[0] else f"{texts[0]} ({texts[1]})"


def _read_retry_after(error: BaseException) -> int:
    """Read for how long a server asks to be left alone, in seconds; it is not trusted far."""
    retry_after = ""
    cause: BaseException | None = error
    while cause is not None and not retry_after:
        headers = getattr(getattr(cause, "response", None), "headers", {})
        retry_after = str(headers.get("retry-after", ""))
        cause = cause.__cause__
    is_number = (
        retry_after.isascii() and retry_after.isdecimal() and len(retry_after) <= _LONGEST_NUMBER
    )
    return min(int(retry_after), LONGEST_WAIT) if is_number else 0
