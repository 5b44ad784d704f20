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
from astra.tools import pages
from astra.tools.services import Services
from astra.trusted.calls.registry import Answer, AnyTool, Arguments, Hints, Tool
from astra.trusted.kernel.errors import NeedsApproval
from astra.trusted.kernel.paging import LARGEST_PAGE
from astra.trusted.policy.call import Tier

_LONGEST_ID = 80


class RecordArguments(Arguments):
    text: str = Field(min_length=1, max_length=LONGEST_TEXT, description="the wish")
    strength: float = Field(default=1.0, ge=0, le=1, description="it fades from here")
    tags: list[str] = Field(default=[], max_length=MOST_TAGS, description="to find it by")
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
    id: str = Field(max_length=_LONGEST_ID, description="des_…")


class PromoteArguments(OneArguments):
    adopt: bool = Field(default=False, description="with its plan")


class ReinforceArguments(OneArguments):
    amount: float = Field(default=REINFORCEMENT, gt=0, le=1, description="how much to add")


class ListArguments(Arguments):
    limit: int = Field(default=10, ge=1, le=LARGEST_PAGE, description="how many")
    min_strength: float = Field(default=0.0, ge=0, le=1, description="only from this strength on")
    tag: str | None = Field(default=None, max_length=LONGEST_TAG, description="only with this tag")
    search: str | None = Field(default=None, max_length=LONGEST_SEARCH, description="in the text")
    faded: bool = Field(default=False, description="also what has faded below 0.1")
    cursor: str | None = pages.Cursor


class DesirePage(Answer):
    items: list[DesireAnswer]
    next: str | None


class Nothing(Arguments):
    pass


class Pruned(Answer):
    pruned: int


class SuggestArguments(Arguments):
    limit: int = Field(default=5, ge=1, le=20, description="how many")


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


def _record_desire(arguments: RecordArguments, services: Services) -> DesireAnswer:
    desire = services.desires.record(
        arguments.text,
        strength=arguments.strength,
        tags=arguments.tags,
        context=arguments.context,
        actor=services.actor,
        correlation=services.correlation,
    )
    return DesireAnswer.model_validate(desire)


def _reinforce_desire(arguments: ReinforceArguments, services: Services) -> DesireAnswer:
    desire = services.desires.reinforce(arguments.id, arguments.amount, actor=services.actor)
    return DesireAnswer.model_validate(desire)


def _list_desires(arguments: ListArguments, services: Services) -> DesirePage:
    desire_filter = Filter(
        min_strength=arguments.min_strength,
        tag=arguments.tag,
        search=arguments.search,
        faded=arguments.faded,
    )
    page = services.desires.list_desires(
        desire_filter, limit=arguments.limit, cursor=arguments.cursor
    )
    return DesirePage.model_validate(page)


def _show_desire(arguments: OneArguments, services: Services) -> DesireAnswer:
    return DesireAnswer.model_validate(services.desires.get(arguments.id))


def _prune_desires(_arguments: Nothing, services: Services) -> Pruned:
    count = services.desires.prune(actor=services.actor, correlation=services.correlation)
    return Pruned(pruned=count)


def _suggest_goals(arguments: SuggestArguments, services: Services) -> Suggestions:
    suggestions = services.promotions.suggestions(limit=arguments.limit)
    return Suggestions(items=[Suggestion.model_validate(suggestion) for suggestion in suggestions])


def _request_promotion(arguments: PromoteArguments, services: Services) -> NoReturn:
    request = services.goals.of_desires.ask if arguments.adopt else services.promotions.request
    approval = request(arguments.id, actor=services.actor)
    raise NeedsApproval(
        f"{arguments.id} becomes a goal once the operator has approved it",
        next_step=f"tell the operator that {approval} waits for them; they sign it with"
        f" `astra approve {approval}`",
        approval_id=approval,
    )


TOOLS: tuple[AnyTool, ...] = (
    Tool(
        name="astra.desires.record",
        title="Record a desire",
        description="Remembers something you would like (a wish, an idea), with a strength that"
        " fades.",
        input=RecordArguments,
        output=DesireAnswer,
        tier=Tier.LOCAL_WRITE,
        hints=Hints(idempotent=False),
        handler=_record_desire,
    ),
    Tool(
        name="astra.desires.reinforce",
        title="Reinforce a desire",
        description="Raises a desire's strength, to 1 at most; it fades from there.",
        input=ReinforceArguments,
        output=DesireAnswer,
        tier=Tier.LOCAL_WRITE,
        hints=Hints(idempotent=False),
        handler=_reinforce_desire,
    ),
    Tool(
        name="astra.desires.list",
        title="List desires",
        description="Lists your desires, the strongest now first.",
        input=ListArguments,
        output=DesirePage,
        tier=Tier.READ,
        handler=_list_desires,
    ),
    Tool(
        name="astra.desires.show",
        title="Show a desire",
        description="Shows one desire, even when it has faded.",
        input=OneArguments,
        output=DesireAnswer,
        tier=Tier.READ,
        handler=_show_desire,
    ),
    Tool(
        name="astra.desires.suggest",
        title="Suggest promotions",
        description="Names desires worth a goal, and why.",
        input=SuggestArguments,
        output=Suggestions,
        tier=Tier.READ,
        handler=_suggest_goals,
    ),
    Tool(
        name="astra.desires.promote",
        title="Ask for a promotion",
        description="Asks the operator to make a goal of a desire.",
        input=PromoteArguments,
        output=Never,
        tier=Tier.LOCAL_WRITE,
        handler=_request_promotion,
    ),
    Tool(
        name="astra.desires.prune",
        title="Prune desires",
        description="Puts away the desires that have faded below 0.1.",
        input=Nothing,
        output=Pruned,
        tier=Tier.LOCAL_WRITE,
        handler=_prune_desires,
    ),
)
