"""Beliefs: query them, reflect on one, propose one. No tool takes or sets a number."""

from typing import Any

from pydantic import Field

from astra.beliefs.claims import CLAIMS, LONGEST_SCOPE, ScopeKind
from astra.beliefs.model import LONGEST_STATEMENT
from astra.tools.services import Services
from astra.trusted.calls.registry import Answer, AnyTool, Arguments, Tool
from astra.trusted.kernel.paging import LARGEST_PAGE
from astra.trusted.policy.call import Tier

_LONGEST_ID, _LONGEST_CURSOR = 80, 40


class QueryArguments(Arguments):
    scope: str | None = Field(
        default=None,
        max_length=LONGEST_SCOPE,
        description="only about this path, test, tool, …",
    )
    proposed: bool = Field(default=False, description="what was only said, instead of what counts")
    limit: int = Field(default=20, ge=1, le=LARGEST_PAGE, description="how many")
    cursor: str | None = Field(
        default=None, max_length=_LONGEST_CURSOR, description="`next` of the page before"
    )


class ReflectArguments(Arguments):
    id: str = Field(max_length=_LONGEST_ID, description="bel_…")


class ProposeArguments(Arguments):
    statement: str = Field(min_length=1, max_length=LONGEST_STATEMENT, description="what is so")
    claim: str = Field(
        default="",
        max_length=40,
        description="what is claimed",
        json_schema_extra={"enum": [*CLAIMS]},
    )
    scope_kind: str = Field(
        default="",
        max_length=20,
        description="of what",
        json_schema_extra={"enum": [*ScopeKind]},
    )
    scope: str = Field(default="", max_length=LONGEST_SCOPE, description="which one")


class EvidenceItem(Answer):
    sequence: int
    kind: str
    sign: str
    day: str
    weight: float
    type: str = ""
    story: str = ""


class BeliefAnswer(Answer):
    id: str
    statement: str
    claim: str
    scope: dict[str, str]
    state: str
    mean: float
    lower: float
    upper: float
    uncertainty: float
    supporting: float
    opposing: float
    evidence_count: int
    evidence: list[EvidenceItem]
    changed: int | None
    reason: str


class BeliefPage(Answer):
    items: list[BeliefAnswer]
    next: str | None


class BeliefDay(Answer):
    day: str
    mean: float
    lower: float
    upper: float
    uncertainty: float
    supporting: float
    opposing: float


class ConflictingBelief(Answer):
    id: str
    statement: str
    state: str
    mean: float
    lower: float
    upper: float
    uncertainty: float
    supporting: float
    opposing: float


class BeliefStatement(Answer):
    sequence: int
    actor: str
    text: str


class BeliefDetails(BeliefAnswer):
    history: list[BeliefDay]
    conflicts: list[ConflictingBelief]
    statements: list[BeliefStatement]


def _query_beliefs(arguments: QueryArguments, services: Services) -> BeliefPage:
    options: dict[str, Any] = arguments.model_dump()
    return BeliefPage.model_validate(services.beliefs.list_page(**options))


def _reflect_on_belief(arguments: ReflectArguments, services: Services) -> BeliefDetails:
    return BeliefDetails.model_validate(services.beliefs.describe(arguments.id))


def _propose_belief(arguments: ProposeArguments, services: Services) -> BeliefDetails:
    belief = services.beliefs.book.propose(
        arguments.statement,
        claim=arguments.claim,
        kind=arguments.scope_kind,
        scope=arguments.scope,
        actor=services.actor,
        correlation=services.correlation,
    )
    return BeliefDetails.model_validate(services.beliefs.describe(belief.id))


TOOLS: tuple[AnyTool, ...] = (
    Tool(
        name="query_beliefs",
        title="Query beliefs",
        description="Lists what outcomes say about tests, folders, methods, tools and schedules.",
        input=QueryArguments,
        output=BeliefPage,
        tier=Tier.READ,
        handler=_query_beliefs,
    ),
    Tool(
        name="reflect_on_belief",
        title="Reflect on a belief",
        description="Shows one belief: the records behind it, its history, what contradicts it.",
        input=ReflectArguments,
        output=BeliefDetails,
        tier=Tier.READ,
        handler=_reflect_on_belief,
    ),
    Tool(
        name="propose_belief",
        title="Propose a belief",
        description="Keeps a statement of yours, without weight: only outcomes move numbers.",
        input=ProposeArguments,
        output=BeliefDetails,
        tier=Tier.LOCAL_WRITE,
        handler=_propose_belief,
    ),
)
