"""Goals as tools: create, list, show, have executed. No tool adopts a goal; the operator does."""

from typing import Any, Literal

from pydantic import Field

from astra.goals.model import LONGEST_TEXT, MOST_CRITERIA
from astra.goals.service import TOP_DESIRE
from astra.tools import pages
from astra.tools.services import Services
from astra.tools.source import PERSONA
from astra.trusted.calls.registry import Answer, AnyTool, Arguments, Hints, Tool
from astra.trusted.kernel.errors import BadInput
from astra.trusted.kernel.paging import LARGEST_PAGE
from astra.trusted.policy.call import Tier

_LONGEST_ID = 80
Category = Literal["user_requested", "introspection", "exploration", "maintenance"]


class CreateArguments(Arguments):
    text: str = Field(min_length=1, max_length=LONGEST_TEXT, description="what is to be achieved")
    category: Category = Field(default="user_requested", description="its origin")
    task: str = Field(
        default="achieve", max_length=64, description="a task of a method: implement_feature, …"
    )
    criteria: list[dict[str, str]] = Field(
        default=[],
        max_length=MOST_CRITERIA,
        description="each a command, file, outcome (kept) or metric (NAME below N)",
    )
    deadline: str | None = Field(default=None, max_length=40, description="ISO 8601, with offset")
    budget: dict[str, int | str] | None = Field(
        default=None, description="model_calls, tokens, minutes, money"
    )
    priority: int = Field(default=0, ge=0, le=100, description="higher first")
    parent: str | None = Field(default=None, max_length=_LONGEST_ID, description="goal_…")


class CriterionCheck(Answer):
    criterion: str
    holds: bool
    detail: str


class GoalAnswer(Answer):
    id: str
    text: str
    state: str
    source: str
    desire_id: str | None
    approval_id: str | None
    created_at: str
    correlation: str
    category: str
    task: str
    criteria: list[dict[str, str]]
    deadline: str | None
    budget: dict[str, int | str] = Field(description="money with its currency")
    usage: dict[str, float]
    money_limit: float | None = Field(description="in all, for each time it was signed for")
    priority: int
    parent: str | None
    held: str
    why: str
    checks: list[CriterionCheck]
    asks_model: bool = Field(description="whether a model is asked how to decompose it")


class GoalTask(Answer):
    goal: str
    id: str
    kind: str
    title: str
    path: str
    state: str
    attempt: int
    waits_on: str
    reason: str
    detail: str
    outputs: dict[str, Any]
    started_at: str | None
    finished_at: str | None
    milliseconds: float
    model_calls: int
    tokens: int
    begun: int = Field(description="how often it was begun in all")


class GoalDetails(GoalAnswer):
    tasks: list[GoalTask]
    shortened: bool = False


class OneGoal(Arguments):
    id: str = Field(max_length=_LONGEST_ID, description="goal_…")
    full: bool = pages.Full


class ListArguments(Arguments):
    limit: int | None = pages.limit_field(LARGEST_PAGE)
    after: int = Field(default=0, ge=0, lt=1 << 62, description="`next` of the page before")


class GoalPage(Answer):
    items: list[GoalAnswer]
    next: int | None


class ExecuteArguments(Arguments):
    goal: str | None = Field(default=None, max_length=_LONGEST_ID, description="goal_…")
    goal_source: Literal["top_desire"] | None = Field(
        default=None, description="instead: the strongest desire"
    )


def _create_goal(arguments: CreateArguments, services: Services) -> GoalDetails:
    goal = services.goals.adoption.create(
        arguments.model_dump(mode="json"),
        actor=services.actor,
        correlation=services.correlation,
    )
    return GoalDetails.model_validate(services.goals.describe_goal(goal.id))


def _list_goals(arguments: ListArguments, services: Services) -> GoalPage:
    def query(limit: int) -> GoalPage:
        goals, following = services.goals.book.list_goals(limit=limit, after=arguments.after)
        items = [goal.as_dict() for goal in goals]
        return GoalPage.model_validate({"items": items, "next": following})

    return pages.fit_page(query, arguments.limit)


def _show_goal(arguments: OneGoal, services: Services) -> GoalDetails:
    details = services.goals.describe_goal(arguments.id)
    return GoalDetails.model_validate(pages.shorten_document(details, full=arguments.full))


def _execute_goal(arguments: ExecuteArguments, services: Services) -> GoalDetails:
    if arguments.goal and not arguments.goal_source:
        goal = services.goals.execute(arguments.goal)
    elif arguments.goal_source == TOP_DESIRE and not arguments.goal:
        goal = services.goals.execute_top_desire(actor=services.actor)
    else:
        raise BadInput(
            f"execute_goal takes a goal, or goal_source: {TOP_DESIRE}",
            next_step="give one of the two",
        )
    return GoalDetails.model_validate(services.goals.describe_goal(goal.id))


TOOLS: tuple[AnyTool, ...] = (
    Tool(
        name="astra.goals.create",
        title="Propose a goal",
        description="Proposes a goal: it is planned and waits for the operator's signature.",
        input=CreateArguments,
        output=GoalDetails,
        tier=Tier.LOCAL_WRITE,
        hints=Hints(idempotent=False),
        handler=_create_goal,
        aliases=("goals.create", "goals_create"),
    ),
    Tool(
        name="astra.goals.list",
        title="List goals",
        description="Lists goals in the order they were created.",
        input=ListArguments,
        output=GoalPage,
        tier=Tier.READ,
        handler=_list_goals,
    ),
    Tool(
        name="astra.goals.show",
        title="Show a goal",
        description="Shows a goal: its state, its tasks, what it waits for and used up.",
        input=OneGoal,
        output=GoalDetails,
        tier=Tier.READ,
        handler=_show_goal,
    ),
    Tool(
        name="execute_goal",
        title="Execute a goal",
        description="Executes an adopted goal; a proposed one waits for the operator.",
        input=ExecuteArguments,
        output=GoalDetails,
        tier=Tier.LOCAL_WRITE,
        flags=(*PERSONA, "ASTRA_CODE_WRITE_ENABLED"),
        handler=_execute_goal,
    ),
)
