"""Plans: draft one, answer questions about it, list and look at them.

An agent may write a plan; it cannot decide on one. There is no tool here that approves, starts or
widens anything.
"""

from typing import Any

from pydantic import Field

from astra.plans.book import LONGEST_DESCRIPTION, MOST_CHANNELS
from astra.plans.drafting import LONGEST_ANSWER
from astra.plans.model import AgentPlan
from astra.plans.states import State
from astra.tools import pages
from astra.tools.services import Services
from astra.trusted.calls.registry import Answer, AnyTool, Arguments, Hints, Tool
from astra.trusted.kernel.errors import BadInput
from astra.trusted.kernel.paging import LARGEST_PAGE
from astra.trusted.policy.call import Tier

_PLANNING = ("AGENT_PLANNING_ENABLED",)
_LONGEST_ID = 80


class DraftArguments(Arguments):
    description: str = Field(
        default="", max_length=LONGEST_DESCRIPTION, description="what to do, in words"
    )
    goal: str = Field(default="", max_length=_LONGEST_ID, description="goal_…")
    plan: dict[str, Any] | None = Field(
        default=None,
        description="goals, checkpoints, manifest, estimated_duration_minutes",
    )
    notification_channels: list[str] = Field(
        default=[], max_length=MOST_CHANNELS, description="names the operator gave to channels"
    )


class OneArguments(Arguments):
    id: str = Field(max_length=_LONGEST_ID, description="the plan's id")


class GetArguments(OneArguments):
    full: bool = pages.Full


class AnswerArguments(OneArguments):
    answer: str = Field(min_length=1, max_length=LONGEST_ANSWER, description="in your words")


class ListArguments(Arguments):
    state: State | None = Field(default=None, description="only in this state")
    limit: int | None = pages.limit_field(LARGEST_PAGE)
    cursor: int | None = pages.NumberCursor


class Drafted(Answer):
    id: str
    state: str
    reason: str
    detail: str
    questions: list[str]
    approval_id: str | None
    next: str


class Short(Answer):
    id: str
    state: str
    reason: str
    description: str
    goals: list[str]
    checkpoints: int
    checkpoints_done: int
    asks: bool
    steps: int
    created_at: str
    updated_at: str | None


class PlanPage(Answer):
    items: list[Short]
    next: int | None


class CheckpointCost(Answer):
    checkpoint: int
    steps: int
    tokens: int
    milliseconds: int = Field(description="of the steps that are over")
    outcomes: dict[str, int] = Field(description="how many steps ended how, or how they stand")


class Shown(Short):
    detail: str
    plan: dict[str, Any] | None
    plan_hash: str | None
    manifest: dict[str, Any] | None
    grants: dict[str, Any] | None
    grants_hash: str | None
    approval_id: str | None
    questions: list[str]
    round: int
    block: dict[str, Any] | None
    usage: dict[str, int]
    progress: dict[str, Any]
    steps_taken: list[dict[str, Any]] = Field(description="the last fifty")
    costs: list[CheckpointCost] = Field(description="of all steps, for each checkpoint begun")
    messages: list[dict[str, Any]]
    silenced: bool
    correlation: str
    next: str
    shortened: bool = False


def _draft_plan(arguments: DraftArguments, services: Services) -> Drafted:
    description, story = _find_purpose(arguments, services)
    if arguments.plan is not None:
        plan = services.plans.draft(
            arguments.plan,
            description=description,
            channels=arguments.notification_channels,
            actor=services.actor,
            correlation=story,
        )
    elif description.strip():
        plan = services.drafting.request(
            description,
            channels=arguments.notification_channels,
            actor=services.actor,
            correlation=story,
        )
    else:
        raise BadInput("there is nothing to plan", next_step="give a description or a plan")
    return _describe_draft(plan, services)


def _find_purpose(arguments: DraftArguments, services: Services) -> tuple[str, str]:
    """Give what a plan is for, and in which story; a goal says it in its own words."""
    if not arguments.goal:
        return arguments.description, services.correlation
    goal = services.goals.book.get(arguments.goal)
    return arguments.description.strip() or goal.text, goal.correlation


def _answer_question(arguments: AnswerArguments, services: Services) -> Drafted:
    answered = services.drafting.answer(arguments.id, arguments.answer, actor=services.actor)
    return _describe_draft(answered, services)


def _list_plans(arguments: ListArguments, services: Services) -> PlanPage:
    def query(limit: int) -> PlanPage:
        plans, cursor = services.plans.register.list_plans(
            state=arguments.state, limit=limit, after=arguments.cursor or 0
        )
        items = [Short.model_validate(plan.summarise()) for plan in plans]
        return PlanPage(items=items, next=cursor)

    return pages.fit_page(query, arguments.limit)


def _get_plan(arguments: GetArguments, services: Services) -> Shown:
    plan = services.plan_views.show_plan(arguments.id)
    return Shown.model_validate(pages.shorten_document(plan, full=arguments.full))


def _describe_draft(plan: AgentPlan, services: Services) -> Drafted:
    return Drafted.model_validate(services.plan_views.show_plan(plan.id))


TOOLS: tuple[AnyTool, ...] = (
    Tool(
        name="astra.plans.draft",
        title="Draft a plan",
        description="Plans longer work (a project, a night's work) with the permissions it needs;"
        " the operator decides.",
        input=DraftArguments,
        output=Drafted,
        tier=Tier.LOCAL_WRITE,
        flags=_PLANNING,
        hints=Hints(idempotent=False),
        handler=_draft_plan,
    ),
    Tool(
        name="astra.plans.answer",
        title="Answer a plan's questions",
        description="Answers what drafting asked about a description that was not clear.",
        input=AnswerArguments,
        output=Drafted,
        tier=Tier.LOCAL_WRITE,
        flags=_PLANNING,
        hints=Hints(idempotent=False),
        handler=_answer_question,
    ),
    Tool(
        name="astra.plans.list",
        title="List plans",
        description="Lists plans and the state each is in.",
        input=ListArguments,
        output=PlanPage,
        tier=Tier.READ,
        handler=_list_plans,
    ),
    Tool(
        name="astra.plans.get",
        title="Show a plan",
        description="Shows a plan: its manifest, its grants, its steps and messages.",
        input=GetArguments,
        output=Shown,
        tier=Tier.READ,
        handler=_get_plan,
    ),
)
