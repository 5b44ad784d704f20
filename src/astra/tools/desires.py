"""Desires: record, reinforce, list, show, prune, and ask for a promotion.

No tool here makes a goal: `astra.desires.promote` puts a request before the operator and answers
that it has to wait.
"""

from typing import Any, NoReturn

from pydantic import Field

from astra.desires.model import (
    LONGEST_SEARCH,
    LONGEST_TAG,
    LONGEST_TEXT,
    MOST_TAGS,
    REINFORCEMENT,
    Filter,
)
from astra.tools.services import Services
from astra.trusted.calls.registry import Answer, AnyTool, Arguments, Hints, Tool
from astra.trusted.kernel.errors import NeedsApproval
from astra.trusted.kernel.paging import LARGEST_PAGE
from astra.trusted.policy.call import Tier

_LONGEST_ID, _LONGEST_CURSOR = 80, 80


class RecordArguments(Arguments):
    text: str = Field(min_length=1, max_length=LONGEST_TEXT, description="what you would like")
    strength: float = Field(default=1.0, ge=0, le=1)
    tags: list[str] = Field(default=[], max_length=MOST_TAGS)
    context: str | dict[str, Any] | None = Field(default=None, description="where it came from")


class DesireAnswer(Answer):
    id: str
    text: str
    strength: float
    tags: list[str]
    context: Any
    state: str
    recorded_at: str
    reinforcements: int
    reinforced_at: str | None
    goal_id: str | None


class OneArguments(Arguments):
    id: str = Field(max_length=_LONGEST_ID)


class ReinforceArguments(OneArguments):
    amount: float = Field(default=REINFORCEMENT, gt=0, le=1, description="how much to add")


class ListArguments(Arguments):
    limit: int = Field(default=10, ge=1, le=LARGEST_PAGE)
    min_strength: float = Field(default=0.0, ge=0, le=1)
    tag: str | None = Field(default=None, max_length=LONGEST_TAG)
    search: str | None = Field(default=None, max_length=LONGEST_SEARCH)
    faded: bool = Field(default=False, description="also what has faded below 0.1")
    cursor: str | None = Field(default=None, max_length=_LONGEST_CURSOR)


class DesirePage(Answer):
    items: list[DesireAnswer]
    next: str | None


class Nothing(Arguments):
    pass


class Pruned(Answer):
    pruned: int


class SuggestArguments(Arguments):
    limit: int = Field(default=5, ge=1, le=20)


class Evidence(Answer):
    strength: float
    reinforcements: int
    recurrence: int
    since: str
    why: str


class Suggestion(Answer):
    desire: DesireAnswer
    evidence: Evidence


class Suggestions(Answer):
    items: list[Suggestion]
    next: None = None


class Never(Answer):
    """The answer of a promotion is always that it waits."""


def _record(arguments: RecordArguments, services: Services) -> DesireAnswer:
    desire = services.desires.record(
        arguments.text,
        strength=arguments.strength,
        tags=arguments.tags,
        context=arguments.context,
        actor=services.actor,
        correlation=services.correlation,
    )
    return DesireAnswer.model_validate(desire)


def _reinforce(arguments: ReinforceArguments, services: Services) -> DesireAnswer:
    desire = services.desires.reinforce(arguments.id, arguments.amount, actor=services.actor)
    return DesireAnswer.model_validate(desire)


def _list(arguments: ListArguments, services: Services) -> DesirePage:
    desire_filter = Filter(
        min_strength=arguments.min_strength,
        tag=arguments.tag,
        search=arguments.search,
        faded=arguments.faded,
    )
    page = services.desires.listed(desire_filter, limit=arguments.limit, cursor=arguments.cursor)
    return DesirePage.model_validate(page)


def _show(arguments: OneArguments, services: Services) -> DesireAnswer:
    return DesireAnswer.model_validate(services.desires.get(arguments.id))


def _prune(_arguments: Nothing, services: Services) -> Pruned:
    count = services.desires.prune(actor=services.actor, correlation=services.correlation)
    return Pruned(pruned=count)


def _suggest(arguments: SuggestArguments, services: Services) -> Suggestions:
    suggestions = services.promotions.suggestions(limit=arguments.limit)
    return Suggestions(items=[Suggestion.model_validate(suggestion) for suggestion in suggestions])


def _promote(arguments: OneArguments, services: Services) -> NoReturn:
    approval = services.promotions.request(arguments.id, actor=services.actor)
    raise NeedsApproval(
        f"{arguments.id} becomes a goal once the operator has approved it",
        next_step=f"tell the operator to look at {approval}: `astra approve {approval}`",
        approval_id=approval,
    )


TOOLS: tuple[AnyTool, ...] = (
    Tool(
        name="astra.desires.record",
        title="Record a desire",
        description="Remembers something you would like, with a strength that fades with time.",
        input=RecordArguments,
        output=DesireAnswer,
        tier=Tier.LOCAL_WRITE,
        hints=Hints(idempotent=False),
        handler=_record,
    ),
    Tool(
        name="astra.desires.reinforce",
        title="Reinforce a desire",
        description="Raises a desire's strength, to 1 at most; it fades from there.",
        input=ReinforceArguments,
        output=DesireAnswer,
        tier=Tier.LOCAL_WRITE,
        hints=Hints(idempotent=False),
        handler=_reinforce,
    ),
    Tool(
        name="astra.desires.list",
        title="List desires",
        description="Lists your desires, the strongest now first.",
        input=ListArguments,
        output=DesirePage,
        tier=Tier.READ,
        handler=_list,
    ),
    Tool(
        name="astra.desires.show",
        title="Show a desire",
        description="Shows one desire, even when it has faded.",
        input=OneArguments,
        output=DesireAnswer,
        tier=Tier.READ,
        handler=_show,
    ),
    Tool(
        name="astra.desires.suggest",
        title="Suggest promotions",
        description="Names desires that might be worth a goal, and why.",
        input=SuggestArguments,
        output=Suggestions,
        tier=Tier.READ,
        handler=_suggest,
    ),
    Tool(
        name="astra.desires.promote",
        title="Ask for a promotion",
        description="Asks the operator to make a goal of a desire. It decides nothing itself.",
        input=OneArguments,
        output=Never,
        tier=Tier.LOCAL_WRITE,
        handler=_promote,
    ),
    Tool(
        name="astra.desires.prune",
        title="Prune desires",
        description="Puts away the desires that have faded below 0.1.",
        input=Nothing,
        output=Pruned,
        tier=Tier.LOCAL_WRITE,
        handler=_prune,
    ),
)
