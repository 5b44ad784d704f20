"""Plans: draft one, answer questions about it, list and look at them.

An agent may write a plan; it cannot decide on one. There is no tool here that approves, starts or
widens anything.
"""

from typing import Any

from pydantic import Field

from astra.plans.book import LONGEST_DESCRIPTION, MOST_CHANNELS
from astra.plans.drafting import LONGEST_ANSWER
from astra.plans.model import AgentPlan
from astra.tools.services import Services
from astra.trusted.calls.registry import Answer, AnyTool, Arguments, Hints, Tool
from astra.trusted.kernel.errors import BadInput
from astra.trusted.kernel.paging import LARGEST_PAGE
from astra.trusted.policy.call import Tier

_PLANNING = ("AGENT_PLANNING_ENABLED",)
_LONGEST_ID = 80


class DraftArguments(Arguments):
    description: str = Field(
        default="", max_length=LONGEST_DESCRIPTION, description="what is to be done, in words"
    )
    plan: dict[str, Any] | None = Field(
        default=None,
        description="the plan itself: goals, checkpoints, manifest, estimated_duration_minutes",
    )
    notification_channels: list[str] = Field(default=[], max_length=MOST_CHANNELS)


class OneArguments(Arguments):
    id: str = Field(max_length=_LONGEST_ID)


class AnswerArguments(OneArguments):
    answer: str = Field(min_length=1, max_length=LONGEST_ANSWER)


class ListArguments(Arguments):
    state: str | None = Field(default=None, max_length=40)
    limit: int = Field(default=50, ge=1, le=LARGEST_PAGE)
    cursor: int | None = Field(default=None, ge=0, lt=1 << 62)


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


def _draft(arguments: DraftArguments, services: Services) -> Drafted:
    if arguments.plan is not None:
        plan = services.plans.draft(
            arguments.plan,
            description=arguments.description,
            channels=arguments.notification_channels,
            actor=services.actor,
            correlation=services.correlation,
        )
    elif arguments.description.strip():
        plan = services.drafting.request(
            arguments.description,
            channels=arguments.notification_channels,
            actor=services.actor,
            correlation=services.correlation,
        )
    else:
        raise BadInput("there is nothing to plan", next_step="give a description or a plan")
    return _short(plan, services)


def _answer(arguments: AnswerArguments, services: Services) -> Drafted:
    answered = services.drafting.answer(arguments.id, arguments.answer, actor=services.actor)
    return _short(answered, services)


def _list(arguments: ListArguments, services: Services) -> PlanPage:
    plans, cursor = services.plans.register.listed(
        state=arguments.state, limit=arguments.limit, after=arguments.cursor or 0
    )
    items = [Short.model_validate(plan.short()) for plan in plans]
    return PlanPage(items=items, next=cursor)


def _get(arguments: OneArguments, services: Services) -> Shown:
    return Shown.model_validate(services.plan_views.shown(arguments.id))


def _short(plan: AgentPlan, services: Services) -> Drafted:
    return Drafted.model_validate(services.plan_views.shown(plan.id))


TOOLS: tuple[AnyTool, ...] = (
    Tool(
        name="astra.plans.draft",
        title="Draft a plan",
        description="Puts a plan with its permission manifest before the operator, who decides."
        " Give the plan itself, or a description that the configured model drafts from.",
        input=DraftArguments,
        output=Drafted,
        tier=Tier.LOCAL_WRITE,
        flags=_PLANNING,
        hints=Hints(idempotent=False),
        handler=_draft,
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
        handler=_answer,
    ),
    Tool(
        name="astra.plans.list",
        title="List plans",
        description="Lists plans and the state each is in.",
        input=ListArguments,
        output=PlanPage,
        tier=Tier.READ,
        handler=_list,
    ),
    Tool(
        name="astra.plans.get",
        title="Show a plan",
        description="Shows a plan: its manifest, its grants, its steps and messages.",
        input=OneArguments,
        output=Shown,
        tier=Tier.READ,
        handler=_get,
    ),
)
