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
from astra.trusted.sandbox.ports import request_for

_LONGEST_OUTPUT = 64_000


class RunArguments(Arguments):
    command: list[str] = Field(
        min_length=1, max_length=256, description='the program and its arguments, e.g. ["ls", "-l"]'
    )
    seconds: float = Field(default=60, gt=0, le=600, description="how long it may take")


class RunAnswer(Answer):
    verdict: str
    reason: str
    exit_code: int | None
    seconds: float
    stdout: str
    stderr: str
    cut: bool
    can: str


class FetchArguments(Arguments):
    url: str = Field(max_length=4000, description="https://… or http://…")


class FetchAnswer(Answer):
    url: str
    status: int
    content_type: str
    text: str
    cut: bool


def _run(arguments: RunArguments, services: Services) -> RunAnswer:
    request = request_for(
        tuple(arguments.command),
        arguments.seconds,
        actor=services.actor,
        correlation=services.correlation,
    )
    outcome = services.boxes.run(request)
    stdout, stderr = _text(outcome.stdout), _text(outcome.stderr)
    return RunAnswer(
        verdict=str(outcome.verdict),
        reason=outcome.reason,
        exit_code=outcome.exit_code,
        seconds=round(outcome.seconds, 3),
        stdout=stdout[:_LONGEST_OUTPUT],
        stderr=stderr[:_LONGEST_OUTPUT],
        cut=max(len(stdout), len(stderr)) > _LONGEST_OUTPUT,
        can=services.boxes.in_words(),
    )


def _fetch(arguments: FetchArguments, services: Services) -> FetchAnswer:
    response = services.boxes.fetch(
        arguments.url,
        _grant(arguments.url),
        actor=services.actor,
        correlation=services.correlation,
    )
    text = _text(response.body)
    return FetchAnswer(
        url=arguments.url,
        status=response.status,
        content_type=response.content_type,
        text=text[:_LONGEST_OUTPUT],
        cut=len(text) > _LONGEST_OUTPUT,
    )


def _reaches(arguments: FetchArguments, _services: Services) -> Footprint:
    return Footprint(domains=(_grant(arguments.url),))


def _grant(url: str) -> str:
    """Name the one host and port that this address needs."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise _bad(url) from None
    if parts.scheme not in {"http", "https"} or not parts.hostname or parts.username is not None:
        raise _bad(url)
    host = f"{parts.hostname}:{port}" if port else parts.hostname
    try:
        return str(domains.parse_grant(host))
    except (BadInput, Refused) as error:
        raise BadInput(error.detail, code="bad_url", next_step=error.next_step) from None


def _bad(url: str) -> BadInput:
    return BadInput(
        f"{url[:200]!r} is not an address this tool can fetch",
        code="bad_url",
        next_step="give http:// or https://, a host name, and no user or password",
    )


def _text(raw: bytes) -> str:
    """Give what came out of a box as text: masked, as every text that an agent reads."""
    return mask(raw.decode("utf-8", errors="replace"))


TOOLS: tuple[AnyTool, ...] = (
    Tool(
        name="run_in_sandbox",
        title="Run in the sandbox",
        description="Runs a command in your sandbox folder, confined: no secrets, and no network"
        " but what a plan grants.",
        input=RunArguments,
        output=RunAnswer,
        tier=Tier.LOCAL_WRITE,
        flags=PERSONA,
        slow=True,
        hints=Hints(destructive=True, idempotent=False),
        handler=_run,
    ),
    Tool(
        name="fetch_url",
        title="Fetch a URL",
        description="Fetches a web page through the egress proxy. Needs a one-time approval.",
        input=FetchArguments,
        output=FetchAnswer,
        tier=Tier.EXTERNAL,
        flags=PERSONA,
        slow=True,
        hints=Hints(open_world=True),
        handler=_fetch,
        footprint=_reaches,
        tier_in_plan=Tier.LOCAL_WRITE,
    ),
)
