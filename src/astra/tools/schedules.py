"""Schedules as tools: `astra.schedule.*`, and what became of firings: `tasks_*`."""

from typing import Any

from pydantic import Field

from astra.schedules.model import Definition
from astra.tools.services import Services
from astra.trusted.calls.registry import Answer, AnyTool, Arguments, Tool
from astra.trusted.policy.call import Tier

Cron = Field(max_length=200, description="five fields, or @hourly @daily @weekly @monthly @yearly")
Overlap = Field(description="what to do while the one before runs: skip, queue, cancel-previous")


SEEN = "`etag` of the schedule you looked at; refused when it is another by now"


class CreateArguments(Arguments):
    name: str = Field(min_length=1, max_length=200)
    cron_expression: str = Cron
    timezone: str = Field(default="UTC", max_length=60, description="an IANA name: Europe/Berlin")
    target_tool: str = Field(max_length=100)
    payload: dict[str, Any] = Field(default_factory=dict, description="the tool's arguments")
    safety_tier: int | None = Field(
        default=None, ge=0, le=2, description="at least the tool's own tier, which is the default"
    )
    per_day_budget: int = Field(default=4, description="firings a UTC day; tier 0 has no limit")
    overlap: str = Field(default="skip", description=Overlap.description)
    catch_up_seconds: int = Field(
        default=3600, description="how late a missed firing may still run"
    )
    attempts: int = Field(default=1, description="how often a failing firing is tried in all")
    backoff_seconds: int = Field(default=60, description="pause before the second; then doubled")
    jitter_seconds: int = Field(default=0, description="up to so much more")
    after: list[str] = Field(
        default_factory=list, max_length=20, description="schedules that must have succeeded first"
    )
    slow_after: int = Field(default=0, description="slow down after so many failures; 0: never")
    slowest: int = Field(default=1, description="at the slowest, only every so manieth firing")


class ModifyArguments(Arguments):
    id: str
    seen: str | None = Field(default=None, max_length=64, description=SEEN)
    name: str | None = Field(default=None, min_length=1, max_length=200)
    cron_expression: str | None = Field(default=None, max_length=200)
    timezone: str | None = Field(default=None, max_length=60)
    target_tool: str | None = Field(default=None, max_length=100)
    payload: dict[str, Any] | None = None
    safety_tier: int | None = Field(default=None, ge=0, le=2)
    per_day_budget: int | None = None
    overlap: str | None = None
    catch_up_seconds: int | None = None
    attempts: int | None = None
    backoff_seconds: int | None = None
    jitter_seconds: int | None = None
    after: list[str] | None = Field(default=None, max_length=20)
    slow_after: int | None = None
    slowest: int | None = None


class OneSchedule(Arguments):
    id: str


class ResumeArguments(OneSchedule):
    seen: str | None = Field(default=None, max_length=64, description=SEEN)


class ListArguments(Arguments):
    state: str | None = Field(default=None, description="active or paused")
    tier: int | None = Field(default=None, ge=0, le=2)
    tool: str | None = None
    text: str | None = Field(default=None, max_length=200, description="in name or payload")
    cursor: str | None = Field(default=None, description="`next` of the page before")
    limit: int = Field(default=100, ge=1, le=1000)


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
    id: str
    cursor: int | None = None
    limit: int = Field(default=100, ge=1, le=1000)


class TaskArguments(Arguments):
    schedule_id: str | None = None
    outcome: str | None = Field(default=None, description="succeeded, failed, skipped, …")
    cursor: int | None = None
    limit: int = Field(default=100, ge=1, le=1000)


class TraceArguments(Arguments):
    trace: str = Field(description="the correlation id of a story: cor_…")


class FailedArguments(Arguments):
    schedule_id: str | None = None
    limit: int = Field(default=10, ge=1, le=100)


class Task(Answer):
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


class Tasks(Answer):
    items: list[Task]
    next: int | None


def _definition_fields(arguments: CreateArguments, services: Services) -> dict[str, Any]:
    fields = arguments.model_dump()
    if fields["safety_tier"] is None:
        facts = services.schedules.catalogue.facts(arguments.target_tool)
        fields["safety_tier"] = facts.tier
    return fields


def _creates_loosely(arguments: CreateArguments, services: Services) -> str:
    return services.schedules.loosened(_definition_fields(arguments, services))


def _modifies_loosely(arguments: ModifyArguments, services: Services) -> str:
    changes = arguments.model_dump(exclude={"id", "seen"}, exclude_none=True)
    return services.schedules.loosened(changes, arguments.id)


def _create(arguments: CreateArguments, services: Services) -> Created:
    definition = Definition.read(_definition_fields(arguments, services))
    services.schedules.refuse_flood(definition)
    schedule, created = services.schedules.create(definition, actor=services.actor)
    return Created.model_validate({**services.schedules.shown(schedule), "created": created})


def _modify(arguments: ModifyArguments, services: Services) -> Shown:
    changes = arguments.model_dump(exclude={"id", "seen"}, exclude_none=True)
    schedule = services.schedules.modify(
        arguments.id, changes, actor=services.actor, seen=arguments.seen
    )
    return Shown.model_validate(services.schedules.shown(schedule))


def _pause(arguments: OneSchedule, services: Services) -> Shown:
    schedule = services.schedules.pause(arguments.id, actor=services.actor)
    return Shown.model_validate(services.schedules.shown(schedule))


def _resume(arguments: ResumeArguments, services: Services) -> Shown:
    services.schedules.refuse_flood()
    schedule = services.schedules.resume(arguments.id, actor=services.actor, seen=arguments.seen)
    return Shown.model_validate(services.schedules.shown(schedule))


def _list(arguments: ListArguments, services: Services) -> Listing:
    filters = arguments.model_dump(exclude={"cursor"})
    items, cursor = services.schedules.listed(**filters, after=arguments.cursor or "")
    return Listing.model_validate({"items": items, "next": cursor})


def _history(arguments: HistoryArguments, services: Services) -> Tasks:
    return _tasks(
        services, schedule_id=arguments.id, before=arguments.cursor, limit=arguments.limit
    )


def _list_tasks(arguments: TaskArguments, services: Services) -> Tasks:
    filters = arguments.model_dump(exclude={"cursor"})
    return _tasks(services, **filters, before=arguments.cursor)


def _by_trace(arguments: TraceArguments, services: Services) -> Tasks:
    return _tasks(services, trace=arguments.trace)


def _last_failed(arguments: FailedArguments, services: Services) -> Tasks:
    return _tasks(services, **arguments.model_dump(), outcome="failed")


def _tasks(services: Services, **asked: Any) -> Tasks:
    items, cursor = services.schedules.history(**asked)
    return Tasks.model_validate({"items": items, "next": cursor})


TOOLS: tuple[AnyTool, ...] = (
    Tool(
        name="astra.schedule.create",
        title="Create a schedule",
        description="Runs a tool on a clock, within its tier and a budget a day. The same content"
        " is the same schedule. A budget above the signed ceiling waits for a signature.",
        input=CreateArguments,
        output=Created,
        tier=Tier.LOCAL_WRITE,
        handler=_create,
        loosens=_creates_loosely,
    ),
    Tool(
        name="astra.schedule.modify",
        title="Modify a schedule",
        description="Changes fields of a schedule; its id stays, its approvals do not. Raising its"
        " budget above the signed ceiling waits for a signature.",
        input=ModifyArguments,
        output=Shown,
        tier=Tier.LOCAL_WRITE,
        handler=_modify,
        loosens=_modifies_loosely,
    ),
    Tool(
        name="astra.schedule.pause",
        title="Pause a schedule",
        description="Stops a schedule until it is resumed.",
        input=OneSchedule,
        output=Shown,
        tier=Tier.LOCAL_WRITE,
        handler=_pause,
    ),
    Tool(
        name="astra.schedule.resume",
        title="Resume a schedule",
        description="Lets a paused schedule run again, from now on.",
        input=ResumeArguments,
        output=Shown,
        tier=Tier.LOCAL_WRITE,
        handler=_resume,
    ),
    Tool(
        name="astra.schedule.list",
        title="List schedules",
        description="Lists schedules with their next five firings; filter by state, tier, tool or"
        " text.",
        input=ListArguments,
        output=Listing,
        tier=Tier.READ,
        handler=_list,
    ),
    Tool(
        name="astra.schedule.history",
        title="History of a schedule",
        description="Says of each firing, newest first, what ran, when, how long, or why it did"
        " not.",
        input=HistoryArguments,
        output=Tasks,
        tier=Tier.READ,
        handler=_history,
    ),
    Tool(
        name="tasks_list",
        title="List tasks",
        description="Lists firings of all schedules, newest first; filter by schedule or outcome.",
        input=TaskArguments,
        output=Tasks,
        tier=Tier.READ,
        handler=_list_tasks,
    ),
    Tool(
        name="tasks_by_trace",
        title="Tasks of a story",
        description="Lists the firings that belong to one story.",
        input=TraceArguments,
        output=Tasks,
        tier=Tier.READ,
        handler=_by_trace,
    ),
    Tool(
        name="tasks_last_failed",
        title="Tasks that failed last",
        description="Lists the firings that failed, newest first, with the reason.",
        input=FailedArguments,
        output=Tasks,
        tier=Tier.READ,
        handler=_last_failed,
    ),
)
