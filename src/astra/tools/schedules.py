"""Schedules as tools: `astra.schedule.*`, and what became of their firings."""

from typing import Any, Literal

from pydantic import Field

from astra.schedules.model import Definition, Overlap
from astra.tools import pages
from astra.tools.services import Services
from astra.trusted.calls.registry import Answer, AnyTool, Arguments, Hints, Tool
from astra.trusted.policy.call import Tier

SEEN = "`etag` you saw; refused if it changed"
_ID = Field(max_length=80, description="sch_…")
_LIKE_CREATE = "as create"
_ABOUT: dict[str, str] = {
    "name": "what to call it",
    "cron_expression": "cron: five fields, or @hourly, @daily, …",
    "timezone": "IANA name",
    "target_tool": "the tool to run",
    "payload": "its arguments",
    "safety_tier": "at least the tool's own",
    "per_day_budget": "firings a UTC day",
    "overlap": "while the one before runs",
    "catch_up_seconds": "how late a missed firing may run",
    "attempts": "tries in all",
    "backoff_seconds": "pause before the second try",
    "jitter_seconds": "up to so much more",
    "after": "schedules to succeed first",
    "slow_after": "slow down after so many failures",
    "slow_below": "or below this success rate, in %",
    "slowest": "then only every n-th firing",
}


class CreateArguments(Arguments):
    name: str = Field(min_length=1, max_length=200, description=_ABOUT["name"])
    cron_expression: str = Field(max_length=200, description=_ABOUT["cron_expression"])
    timezone: str = Field(default="UTC", max_length=60, description=_ABOUT["timezone"])
    target_tool: str = Field(max_length=100, description=_ABOUT["target_tool"])
    payload: dict[str, Any] = Field(default_factory=dict, description=_ABOUT["payload"])
    safety_tier: int | None = Field(default=None, ge=0, le=2, description=_ABOUT["safety_tier"])
    per_day_budget: int = Field(default=4, description=_ABOUT["per_day_budget"])
    overlap: Overlap = Field(default=Overlap.SKIP, description=_ABOUT["overlap"])
    catch_up_seconds: int = Field(default=3600, description=_ABOUT["catch_up_seconds"])
    attempts: int = Field(default=1, description=_ABOUT["attempts"])
    backoff_seconds: int = Field(default=60, description=_ABOUT["backoff_seconds"])
    jitter_seconds: int = Field(default=0, description=_ABOUT["jitter_seconds"])
    after: list[str] = Field(default_factory=list, max_length=20, description=_ABOUT["after"])
    slow_after: int = Field(default=0, description=_ABOUT["slow_after"])
    slow_below: int = Field(default=0, description=_ABOUT["slow_below"])
    slowest: int = Field(default=1, description=_ABOUT["slowest"])


class ScheduleChange(Arguments):
    seen: str | None = Field(default=None, max_length=64, description=SEEN)
    name: str | None = Field(default=None, min_length=1, max_length=200, description=_LIKE_CREATE)
    cron_expression: str | None = Field(default=None, max_length=200, description=_LIKE_CREATE)
    timezone: str | None = Field(default=None, max_length=60, description=_LIKE_CREATE)
    target_tool: str | None = Field(default=None, max_length=100, description=_LIKE_CREATE)
    payload: dict[str, Any] | None = Field(default=None, description=_LIKE_CREATE)
    safety_tier: int | None = Field(default=None, ge=0, le=2, description=_LIKE_CREATE)
    per_day_budget: int | None = Field(default=None, description=_LIKE_CREATE)
    overlap: Overlap | None = Field(default=None, description=_LIKE_CREATE)
    catch_up_seconds: int | None = Field(default=None, description=_LIKE_CREATE)
    attempts: int | None = Field(default=None, description=_LIKE_CREATE)
    backoff_seconds: int | None = Field(default=None, description=_LIKE_CREATE)
    jitter_seconds: int | None = Field(default=None, description=_LIKE_CREATE)
    after: list[str] | None = Field(default=None, max_length=20, description=_LIKE_CREATE)
    slow_after: int | None = Field(default=None, description=_LIKE_CREATE)
    slow_below: int | None = Field(default=None, description=_LIKE_CREATE)
    slowest: int | None = Field(default=None, description=_LIKE_CREATE)


class OneSchedule(Arguments):
    id: str = _ID


class ModifyArguments(ScheduleChange, OneSchedule):
    """A schedule's id, then what becomes of it: the fields of the last base come first."""


class ResumeArguments(OneSchedule):
    seen: str | None = Field(default=None, max_length=64, description=SEEN)


class ListArguments(Arguments):
    state: Literal["active", "paused", "deleted"] | None = Field(
        default=None, description="only these"
    )
    tier: int | None = Field(default=None, ge=0, le=2, description="only of this tier")
    tool: str | None = Field(default=None, description="only of this tool")
    text: str | None = Field(default=None, max_length=200, description="in name or payload")
    cursor: str | None = pages.Cursor
    limit: int | None = pages.limit_field(1000)


class Shown(Answer):
    id: str
    name: str
    cron_expression: str
    timezone: str
    target_tool: str
    payload: dict[str, Any]
    safety_tier: int
    per_day_budget: int
    overlap: str
    catch_up_seconds: int
    attempts: int
    backoff_seconds: int
    jitter_seconds: int
    after: list[str]
    slow_after: int
    slow_below: int
    slowest: int
    state: str
    next_run: str | None
    next_runs: list[str]
    created_at: str
    modified: bool
    every: int
    failures: int
    etag: str


class Created(Shown):
    created: bool


class Listing(Answer):
    items: list[Shown]
    next: str | None


class HistoryArguments(Arguments):
    id: str = _ID
    cursor: int | None = pages.NumberCursor
    limit: int | None = pages.limit_field(1000)


class Firing(Answer):
    id: str
    schedule_id: str
    name: str
    tool: str
    fire_time: str
    kind: str
    outcome: str
    reason: str
    detail: str
    attempt: int
    count: int
    until: str | None
    next_attempt: str | None
    started_at: str | None
    closed_at: str | None
    milliseconds: float
    trace: str


class Firings(Answer):
    items: list[Firing]
    next: int | None


def _definition_fields(arguments: CreateArguments, services: Services) -> dict[str, Any]:
    fields = arguments.model_dump(mode="json")
    if fields["safety_tier"] is None:
        facts = services.schedules.catalogue.facts(arguments.target_tool)
        fields["safety_tier"] = facts.tier
    return fields


def _creates_loosely(arguments: CreateArguments, services: Services) -> str:
    return services.schedules.describe_loosening(_definition_fields(arguments, services))


def _modifies_loosely(arguments: ModifyArguments, services: Services) -> str:
    changes = arguments.model_dump(mode="json", exclude={"id", "seen"}, exclude_none=True)
    return services.schedules.describe_loosening(changes, arguments.id)


def _find_target(
    arguments: CreateArguments | ModifyArguments | ResumeArguments, services: Services
) -> str:
    """Name the tool that the schedule calls, as it would be afterwards."""
    target = None if isinstance(arguments, ResumeArguments) else arguments.target_tool
    if target is None and not isinstance(arguments, CreateArguments):
        target = str(services.schedules.get(arguments.id).definition.target_tool)
    return target or ""


def _create_schedule(arguments: CreateArguments, services: Services) -> Created:
    definition = Definition.read(_definition_fields(arguments, services))
    services.schedules.refuse_flood(definition)
    schedule, created = services.schedules.create(definition, actor=services.actor)
    return Created.model_validate(
        {**services.schedules.describe_schedule(schedule), "created": created}
    )


def _modify_schedule(arguments: ModifyArguments, services: Services) -> Shown:
    changes = arguments.model_dump(mode="json", exclude={"id", "seen"}, exclude_none=True)
    schedule = services.schedules.modify(
        arguments.id, changes, actor=services.actor, seen=arguments.seen
    )
    return Shown.model_validate(services.schedules.describe_schedule(schedule))


def _pause_schedule(arguments: OneSchedule, services: Services) -> Shown:
    schedule = services.schedules.pause(arguments.id, actor=services.actor)
    return Shown.model_validate(services.schedules.describe_schedule(schedule))


def _resume_schedule(arguments: ResumeArguments, services: Services) -> Shown:
    services.schedules.refuse_flood()
    schedule = services.schedules.resume(arguments.id, actor=services.actor, seen=arguments.seen)
    return Shown.model_validate(services.schedules.describe_schedule(schedule))


def _delete_schedule(arguments: OneSchedule, services: Services) -> Shown:
    schedule = services.schedules.delete(arguments.id, actor=services.actor)
    return Shown.model_validate(services.schedules.describe_schedule(schedule))


def _list_schedules(arguments: ListArguments, services: Services) -> Listing:
    filters = arguments.model_dump(exclude={"cursor", "limit"})

    def query(limit: int) -> Listing:
        items, cursor = services.schedules.list_schedules(
            **filters, limit=limit, after=arguments.cursor or ""
        )
        return Listing.model_validate({"items": items, "next": cursor})

    return pages.fit_page(query, arguments.limit)


def _list_history(arguments: HistoryArguments, services: Services) -> Firings:
    def query(limit: int) -> Firings:
        items, cursor = services.schedules.history(
            schedule_id=arguments.id, before=arguments.cursor, limit=limit
        )
        return Firings.model_validate({"items": items, "next": cursor})

    return pages.fit_page(query, arguments.limit)


TOOLS: tuple[AnyTool, ...] = (
    Tool(
        name="astra.schedule.create",
        title="Create a schedule",
        description="Runs a tool on a clock (cron, reminders, every night), within its tier and a"
        " budget a day.",
        input=CreateArguments,
        output=Created,
        tier=Tier.LOCAL_WRITE,
        handler=_create_schedule,
        runs_later=_find_target,
        loosens=_creates_loosely,
    ),
    Tool(
        name="astra.schedule.modify",
        title="Modify a schedule",
        description="Changes fields of a schedule; its id stays, its approvals do not.",
        input=ModifyArguments,
        output=Shown,
        tier=Tier.LOCAL_WRITE,
        hints=Hints(destructive=True),
        handler=_modify_schedule,
        runs_later=_find_target,
        loosens=_modifies_loosely,
    ),
    Tool(
        name="astra.schedule.pause",
        title="Pause a schedule",
        description="Stops a schedule until it is resumed.",
        input=OneSchedule,
        output=Shown,
        tier=Tier.LOCAL_WRITE,
        handler=_pause_schedule,
    ),
    Tool(
        name="astra.schedule.resume",
        title="Resume a schedule",
        description="Lets a paused schedule run again, from now on.",
        input=ResumeArguments,
        output=Shown,
        tier=Tier.LOCAL_WRITE,
        handler=_resume_schedule,
        runs_later=_find_target,
    ),
    Tool(
        name="astra.schedule.delete",
        title="Delete a schedule",
        description="Ends a schedule for good; its history stays.",
        input=OneSchedule,
        output=Shown,
        tier=Tier.LOCAL_WRITE,
        hints=Hints(destructive=True),
        handler=_delete_schedule,
    ),
    Tool(
        name="astra.schedule.list",
        title="List schedules",
        description="Lists schedules with their next five firings.",
        input=ListArguments,
        output=Listing,
        tier=Tier.READ,
        handler=_list_schedules,
    ),
    Tool(
        name="astra.schedule.history",
        title="History of a schedule",
        description="Says of each firing what ran, when, how long, or why not.",
        input=HistoryArguments,
        output=Firings,
        tier=Tier.READ,
        handler=_list_history,
    ),
)
