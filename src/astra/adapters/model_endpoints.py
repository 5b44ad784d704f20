"""Where a language model is, who serves it, and how a call to it fails.

Any OpenAI-compatible endpoint, or Anthropic's. The libraries that speak to them are imported when a
client is opened: they are heavy, and most commands never need them.
"""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from astra.adapters.asking_modes import AskingMode
from astra.adapters.model_calls import read_status
from astra.plans.ports import ModelUnavailable
from astra.trusted.kernel.errors import BadSetting
from astra.trusted.kernel.masking import mask
from astra.trusted.kernel.text import one_line

if TYPE_CHECKING:
    from pydantic_ai.models import Model
    from pydantic_ai.settings import ModelSettings

MOST_TOKENS = 8_000
LONGEST_WAIT = 600
OPENAI, ANTHROPIC = "openai", "anthropic"
_HOSTS = {OPENAI: "https://api.openai.com/v1", ANTHROPIC: "https://api.anthropic.com"}
_LONGEST_NUMBER = 9
_BYTES_A_TOKEN = 600


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


def make_unavailable(
    where: Endpoint, error: Exception, *, is_stream_missing: bool = False
) -> ModelUnavailable:
    return ModelUnavailable(
        f"the model {where.name} did not answer: {_explain_failure(where, error)}",
        next_step="look at [model] in astra.toml, its server and its key",
        patience=_read_retry_after(error),
        upstream_status=read_status(error),
        is_stream_missing=is_stream_missing,
    )


def _explain_failure(where: Endpoint, error: Exception) -> str:
    """Give a server's words without the key, which some say back, and without other secrets."""
    error_text = _in_words(error)
    if where.key:
        error_text = error_text.replace(where.key, "[the key]")
    return one_line(mask(error_text), 300)


def open_client(where: Endpoint, seconds: float) -> Any:
    from astra.adapters.model_transport import LARGEST_BODY, bounded_client

    # A stream wraps each token in an event of its own.
    most_bytes = max(LARGEST_BODY, where.output_tokens * _BYTES_A_TOKEN)
    options: dict[str, Any] = {
        "api_key": where.key or "none",
        "base_url": where.url,
        "timeout": seconds,
        "max_retries": 0,
        "http_client": bounded_client(seconds, most_bytes=most_bytes),
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
