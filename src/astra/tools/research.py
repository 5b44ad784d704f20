"""Research as tools: ask a question within limits, and find what was researched before."""

from dataclasses import replace
from typing import Annotated, Any

from pydantic import Field

from astra.research.model import (
    DEEPEST,
    LONGEST_QUESTION,
    MOST_TASKS,
    MOST_URLS,
    USUAL_DEPTH,
    USUAL_TASKS,
    Request,
    Source,
    check_request,
)
from astra.tools.services import Services
from astra.tools.source import PERSONA
from astra.trusted.calls.registry import Answer, AnyTool, Arguments, Hints, Tool
from astra.trusted.policy.call import Footprint, Tier

_MOST_RECENT = 20


class AskArguments(Arguments):
    question: str = Field(min_length=1, max_length=LONGEST_QUESTION, description="what to find out")
    max_tasks: int = Field(default=USUAL_TASKS, ge=1, le=MOST_TASKS, description="searches")
    max_depth: int = Field(
        default=USUAL_DEPTH, ge=0, le=DEEPEST, description="levels of follow-up questions"
    )
    sources: list[Annotated[str, Field(json_schema_extra={"enum": [*Source]})]] = Field(
        default=[], max_length=len(Source), description="default: all"
    )
    urls: list[str] = Field(
        default=[],
        max_length=MOST_URLS,
        description="pages to read, of granted hosts only",
    )


class CitationAnswer(Answer):
    kind: str
    place: str
    quote: str
    commit: str = ""
    path: str = ""
    blob: str = ""
    start: int = 0
    end: int = 0
    sequence: int = 0
    hash: str = ""
    url: str = ""
    sha256: str = ""
    found: bool = True
    problem: str = ""


class FindingAnswer(Answer):
    claim: str
    by: str = Field(description="a model's name, or search for the server's own words")
    citations: list[CitationAnswer]


class ContestedAnswer(Answer):
    claims: list[str]


class SearchTaskAnswer(Answer):
    number: int
    sources: list[str]
    query: str
    depth: int
    parent: int | None
    url: str
    state: str
    passages: int
    trouble: str


class SessionBrief(Answer):
    id: str
    question: str
    state: str
    actor: str
    correlation: str
    started_at: str
    finished_at: str | None
    findings: int


class SessionAnswer(Answer):
    id: str
    question: str
    state: str
    commit: str
    actor: str
    correlation: str
    started_at: str
    finished_at: str | None
    sources: list[str]
    max_tasks: int
    max_depth: int
    narrative: str
    note: str
    unsupported: int = Field(description="claims whose quote was not found; they are not shown")
    tokens: int
    findings: list[FindingAnswer]
    contested: list[ContestedAnswer]
    open_questions: list[str]
    coverage: dict[str, Any] | None
    tasks: list[SearchTaskAnswer]
    remark: str


class RecentArguments(Arguments):
    topic: str = Field(min_length=1, max_length=LONGEST_QUESTION, description="about what")
    limit: int = Field(default=5, ge=1, le=_MOST_RECENT, description="how many")


class RecentAnswer(Answer):
    items: list[SessionBrief]


def _ask(arguments: AskArguments, services: Services) -> SessionAnswer:
    request = replace(_read_request(arguments), with_model=not services.plan_id)
    session = services.research.ask(request, actor=services.actor, correlation=services.correlation)
    return SessionAnswer.model_validate(session)


def _check_recent(arguments: RecentArguments, services: Services) -> RecentAnswer:
    items = services.research.book.find_recent(arguments.topic, limit=arguments.limit)
    return RecentAnswer.model_validate({"items": items})


def _find_footprint(arguments: AskArguments, services: Services) -> Footprint:
    """Name the hosts that would be reached: the granted ones, and no others."""
    request = services.research.leave_out_ungranted(_read_request(arguments))
    hosts = [services.research.name_host(url) for url in request.urls]
    return Footprint(domains=tuple(dict.fromkeys(hosts)))


def _read_request(arguments: AskArguments) -> Request:
    return check_request(
        arguments.question,
        max_tasks=arguments.max_tasks,
        max_depth=arguments.max_depth,
        sources=arguments.sources,
        urls=arguments.urls,
    )


TOOLS: tuple[AnyTool, ...] = (
    Tool(
        name="research_and_summarize",
        title="Research a question",
        description="Researches a question in your source, documents, ledger, notes and pages of"
        " granted hosts; each finding has quotes.",
        input=AskArguments,
        output=SessionAnswer,
        tier=Tier.LOCAL_WRITE,
        flags=PERSONA,
        slow=True,
        hints=Hints(idempotent=False, open_world=True),
        handler=_ask,
        footprint=_find_footprint,
    ),
    Tool(
        name="check_recent_research",
        title="Find earlier research",
        description="Finds earlier research about a topic, the closest first.",
        input=RecentArguments,
        output=RecentAnswer,
        tier=Tier.READ,
        flags=PERSONA,
        handler=_check_recent,
    ),
)
