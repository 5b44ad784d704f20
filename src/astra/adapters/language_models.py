"""A language model behind one narrow call: any OpenAI-compatible endpoint, or Anthropic's.

The library that speaks to them is imported at the first call: it is heavy, and most commands never
need it. Each call has its own connection and its own time-out, is tried once (whoever asks decides
on retries, by a clock of theirs), and fails as `ModelUnavailable` whatever went wrong inside.
"""

import asyncio
import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from astra.plans.ports import ModelUnavailable, Prompt, Reply, Usage
from astra.trusted.kernel.errors import BadSetting
from astra.trusted.kernel.text import one_line

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelRequest, ModelResponse
    from pydantic_ai.models import Model, ModelRequestParameters

SECONDS = 120.0
MOST_TOKENS = 8_000
LONGEST_ANSWER = 200_000
LONGEST_WAIT = 600
OPENAI, ANTHROPIC = "openai", "anthropic"
_HOSTS = {OPENAI: "https://api.openai.com/v1", ANTHROPIC: "https://api.anthropic.com"}
_ANSWER = "answer"
_LONGEST_NUMBER = 9


@dataclass(frozen=True, kw_only=True)
class Endpoint:
    """Which model, where, and with which key; as the operator's configuration says."""

    provider: str
    model: str
    base_url: str = ""
    key: str = field(default="", repr=False)

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

    @property
    def name(self) -> str:
        return self.endpoint.name

    def ask(self, prompt: Prompt, *, form: type[BaseModel]) -> Reply:
        try:
            return asyncio.run(self._ask(prompt, form))
        except Exception as error:  # noqa: BLE001 - a library and a server of somebody else
            raise unavailable(self.endpoint, error, self.seconds) from None

    async def _ask(self, prompt: Prompt, form: type[BaseModel]) -> Reply:
        from pydantic_ai.direct import model_request

        # Ours ends first, so that whoever waited hears how long, and not what a library calls it.
        later = 2 * self.seconds
        async with asyncio.timeout(self.seconds), client_of(self.endpoint, later) as client:
            response = await model_request(
                model_of(self.endpoint, client),
                [_messages(prompt)],
                model_settings={"max_tokens": MOST_TOKENS, "timeout": later},
                model_request_parameters=_wanted(form),
            )
        return read_response(response)


def unavailable(where: Endpoint, error: Exception, seconds: float) -> ModelUnavailable:
    return ModelUnavailable(
        f"the model {where.name} did not answer: {_said(where, error, seconds)}",
        next_step="look at [model] in astra.toml, its server and its key",
        patience=_patience(error),
    )


def _said(where: Endpoint, error: Exception, seconds: float) -> str:
    """Give a server's words without the key, which some say back."""
    if isinstance(error, TimeoutError):
        return f"nothing came of it within {seconds:g} seconds"
    words = _in_words(error)
    if where.key:
        words = words.replace(where.key, "[the key]")
    return one_line(words, 300)


def client_of(where: Endpoint, seconds: float) -> Any:
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


def model_of(where: Endpoint, client: Any) -> "Model[Any]":
    if where.provider == ANTHROPIC:
        from pydantic_ai.models.anthropic import AnthropicModel
        from pydantic_ai.providers.anthropic import AnthropicProvider

        return AnthropicModel(where.model, provider=AnthropicProvider(anthropic_client=client))
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider

    return OpenAIChatModel(where.model, provider=OpenAIProvider(openai_client=client))


def _messages(prompt: Prompt) -> "ModelRequest":
    from pydantic_ai.messages import ModelRequest, SystemPromptPart, UserPromptPart

    data = "\n\n".join(prompt.data)
    return ModelRequest(parts=[SystemPromptPart(prompt.rules), UserPromptPart(data)])


def _wanted(form: type[BaseModel]) -> "ModelRequestParameters":
    """Ask for the form as the arguments of one tool; models without tools may answer in text."""
    from pydantic_ai.models import ModelRequestParameters
    from pydantic_ai.tools import ToolDefinition

    tool = ToolDefinition(
        name=_ANSWER,
        description="Give your answer in this form.",
        parameters_json_schema=form.model_json_schema(),
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
            document = json_in(args if isinstance(args, str) else part.args_as_json_str())
            break
    return Reply(
        document=document if document is not None else json_in(text),
        text=text,
        usage=Usage(
            input_tokens=response.usage.input_tokens, output_tokens=response.usage.output_tokens
        ),
    )


def _in_words(error: BaseException) -> str:
    """Give what went wrong with what was behind it: a library may say too little."""
    first = last = error
    while last.__cause__ is not None:
        last = last.__cause__
    words = [str(each) or type(each).__name__ for each in (first, last)]
    return words[0] if words[1] in words[0] else f"{words[0]} ({words[1]})"


def _patience(error: BaseException) -> int:
    """Read for how long a server asks to be left alone, in seconds; it is not trusted far."""
    asked = ""
    found: BaseException | None = error
    while found is not None and not asked:
        headers = getattr(getattr(found, "response", None), "headers", {})
        asked = str(headers.get("retry-after", ""))
        found = found.__cause__
    whole = asked.isascii() and asked.isdecimal() and len(asked) <= _LONGEST_NUMBER
    return min(int(asked), LONGEST_WAIT) if whole else 0


def json_in(text: str) -> Any:
    r"""Find the JSON object in what a model wrote, or nothing.

    >>> json_in('Sure!\n```json\n{"a": 1}\n```')
    {'a': 1}
    >>> json_in("no idea") is None
    True
    """
    start, end = text.find("{"), text.rfind("}")
    if start < 0 or end < start or len(text) > LONGEST_ANSWER:
        return None
    try:
        return json.loads(text[start : end + 1])
    except (ValueError, RecursionError):
        return None
