"""Running code in a box: `run_in_sandbox`, and reaching out through its proxy: `fetch_url`."""

from urllib.parse import urlsplit

from pydantic import Field

from astra.tools.services import Services
from astra.tools.source import PERSONA
from astra.trusted.calls.registry import Answer, AnyTool, Arguments, Hints, Tool
from astra.trusted.kernel.errors import BadInput, Refused
from astra.trusted.kernel.masking import mask
from astra.trusted.policy import domains
from astra.trusted.policy.call import Footprint, Tier
from astra.trusted.sandbox.ports import Verdict, request_for

_LONGEST_OUTPUT = 64_000
_USUAL_OUTPUT = 8_000


class RunArguments(Arguments):
    command: list[str] = Field(
        min_length=1, max_length=256, description="the program, then its arguments"
    )
    seconds: float = Field(default=60, gt=0, le=600, description="how long it may take")
    explain: bool = Field(default=False, description="also say what the box can touch (`can`)")
    characters: int = Field(
        default=_USUAL_OUTPUT, ge=1, le=_LONGEST_OUTPUT, description="of each output, at most"
    )


class RunAnswer(Answer):
    verdict: str
    reason: str
    exit_code: int | None
    seconds: float
    stdout: str
    stderr: str
    cut: bool
    can: str | None = Field(default=None, exclude_if=lambda value: value is None)


class FetchArguments(Arguments):
    url: str = Field(max_length=4000, description="https://… or http://…")
    characters: int = Field(
        default=16_000, ge=1, le=_LONGEST_OUTPUT, description="of the page, at most"
    )


class FetchAnswer(Answer):
    url: str
    status: int
    content_type: str
    text: str
    cut: bool


def _run_command(arguments: RunArguments, services: Services) -> RunAnswer:
    request = request_for(
        tuple(arguments.command),
        arguments.seconds,
        actor=services.actor,
        correlation=services.correlation,
        label=services.correlation,
    )
    services.cancellation.raise_if_asked()
    outcome = services.boxes.run(request)
    if outcome.verdict is Verdict.STOPPED_BY_OPERATOR:
        services.cancellation.raise_if_asked()
    explain = arguments.explain or not outcome.confined
    stdout, stderr = _decode_masked(outcome.stdout), _decode_masked(outcome.stderr)
    return RunAnswer(
        verdict=str(outcome.verdict),
        reason=outcome.reason,
        exit_code=outcome.exit_code,
        seconds=round(outcome.seconds, 3),
        stdout=_keep_ends(stdout, arguments.characters),
        stderr=_keep_ends(stderr, arguments.characters),
        cut=max(len(stdout), len(stderr)) > arguments.characters,
        can=services.boxes.describe_grants(arguments.seconds) if explain else None,
    )


def _fetch_url(arguments: FetchArguments, services: Services) -> FetchAnswer:
    services.cancellation.raise_if_asked()
    response = services.boxes.fetch(
        arguments.url,
        _parse_grant(arguments.url),
        actor=services.actor,
        correlation=services.correlation,
        label=services.correlation,
    )
    text = _decode_masked(response.body)
    return FetchAnswer(
        url=arguments.url,
        status=response.status,
        content_type=response.content_type,
        text=text[: arguments.characters],
        cut=len(text) > arguments.characters,
    )


def _find_footprint(arguments: FetchArguments, _services: Services) -> Footprint:
    return Footprint(domains=(_parse_grant(arguments.url),))


def _parse_grant(url: str) -> str:
    """Name the one host and port that this address needs."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise _make_url_error(url) from None
    if parts.scheme not in {"http", "https"} or not parts.hostname or parts.username is not None:
        raise _make_url_error(url)
    host = f"{parts.hostname}:{port}" if port else parts.hostname
    try:
        return str(domains.parse_grant(host))
    except (BadInput, Refused) as error:
        raise BadInput(error.detail, code="bad_url", next_step=error.next_step) from None


def _make_url_error(url: str) -> BadInput:
    return BadInput(
        f"{url[:200]!r} is not an address this tool can fetch",
        code="bad_url",
        next_step="give http:// or https://, a host name, and no user or password",
    )


def _keep_ends(text: str, characters: int) -> str:
    r"""Keep how an output begins and, more of it, how it ends: errors come last.

    >>> _keep_ends("0123456789", 4)
    '0\n… (6 characters left out)\n789'
    """
    if len(text) <= characters:
        return text
    first = characters // 4
    left_out = f"\n… ({len(text) - characters} characters left out)\n"
    return text[:first] + left_out + text[len(text) - (characters - first) :]


def _decode_masked(raw: bytes) -> str:
    """Give what came out of a box as text: masked, as every text that an agent reads."""
    return mask(raw.decode("utf-8", errors="replace"))


TOOLS: tuple[AnyTool, ...] = (
    Tool(
        name="run_in_sandbox",
        title="Run in the sandbox",
        description="Runs a command (shell, tests, scripts) in your sandbox, confined: no"
        " secrets, no network but what a plan grants.",
        text_members=("stdout", "stderr"),
        input=RunArguments,
        output=RunAnswer,
        tier=Tier.LOCAL_WRITE,
        flags=PERSONA,
        slow=True,
        hints=Hints(destructive=True, idempotent=False),
        handler=_run_command,
    ),
    Tool(
        name="fetch_url",
        title="Fetch a URL",
        description="Fetches a web page through the egress proxy. Needs a one-time approval.",
        text_members=("text",),
        input=FetchArguments,
        output=FetchAnswer,
        tier=Tier.EXTERNAL,
        flags=PERSONA,
        slow=True,
        hints=Hints(open_world=True),
        handler=_fetch_url,
        footprint=_find_footprint,
        tier_in_plan=Tier.LOCAL_WRITE,
    ),
)
