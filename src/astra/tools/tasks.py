"""Tasks as tools: `tasks_list`, `tasks_by_trace`, `tasks_last_failed`, as every door shows them."""

from pydantic import Field

from astra.tasks.book import LARGEST_PAGE, Filter, Task, TaskBook
from astra.tasks.sources import OF_CHANGES, OF_GOALS, OF_SCHEDULES, STATES
from astra.tools import pages
from astra.tools.services import Services
from astra.trusted.calls.registry import Answer, AnyTool, Arguments, Tool
from astra.trusted.policy.call import Tier

_LONGEST_ID = 80


class ListArguments(Arguments):
    schedule_id: str | None = Field(
        default=None, max_length=_LONGEST_ID, description="only of this schedule"
    )
    outcome: str | None = Field(default=None, max_length=40, description="succeeded, failed, …")
    state: str | None = Field(
        default=None,
        max_length=40,
        description="only these",
        json_schema_extra={"enum": [*STATES]},
    )
    source: str | None = Field(
        default=None,
        max_length=40,
        description="only of these",
        json_schema_extra={"enum": [OF_CHANGES, OF_GOALS, OF_SCHEDULES]},
    )
    cursor: str | None = pages.Cursor
    limit: int | None = pages.limit_field(LARGEST_PAGE)


class TraceArguments(Arguments):
    trace: str = Field(max_length=_LONGEST_ID, description="the correlation id of a story: cor_…")
    cursor: str | None = pages.Cursor
    limit: int | None = pages.limit_field(LARGEST_PAGE)


class FailedArguments(Arguments):
    schedule_id: str | None = Field(
        default=None, max_length=_LONGEST_ID, description="only of this schedule"
    )
    limit: int = Field(default=10, ge=1, le=100, description="how many")


class TaskAnswer(Answer):
    id: str
    kind: str
    source: str
    title: str
    tool: str
    schedule: str
    enabled: bool
    state: str
    outcome: str
    subject_id: str
    attempt: int
    waits_on: str
    reason: str
    detail: str
    created_at: str
    started_at: str | None
    finished_at: str | None
    milliseconds: float
    correlation: str
    trace: str


class TaskPage(Answer):
    items: list[TaskAnswer]
    next: str | None


def _list_tasks(arguments: ListArguments, services: Services) -> TaskPage:
    if arguments.schedule_id:
        services.schedules.get(arguments.schedule_id)
    task_filter = Filter(**arguments.model_dump(exclude={"cursor", "limit"}))
    return _read_page(services, task_filter, arguments.limit, arguments.cursor)


def _by_trace(arguments: TraceArguments, services: Services) -> TaskPage:
    task_filter = Filter(trace=arguments.trace)
    return _read_page(services, task_filter, arguments.limit, arguments.cursor)


def _last_failed(arguments: FailedArguments, services: Services) -> TaskPage:
    if arguments.schedule_id:
        services.schedules.get(arguments.schedule_id)
    book = TaskBook(services.ledger)
    tasks = book.list_failed(schedule_id=arguments.schedule_id, limit=arguments.limit)
    return _make_page(tasks, None)


def _read_page(
    services: Services, task_filter: Filter, limit: int | None, cursor: str | None
) -> TaskPage:
    book = TaskBook(services.ledger)

    def query(limit: int) -> TaskPage:
        return _make_page(*book.list_page(task_filter, limit=limit, cursor=cursor))

    return pages.fit_page(query, limit)


def _make_page(tasks: list[Task], following: str | None) -> TaskPage:
    return TaskPage.model_validate({"items": [task.as_dict() for task in tasks], "next": following})


TOOLS: tuple[AnyTool, ...] = (
    Tool(
        name="tasks_list",
        title="List tasks",
        description="Lists tasks of changes, goals and schedules, newest first.",
        input=ListArguments,
        output=TaskPage,
        tier=Tier.READ,
        handler=_list_tasks,
    ),
    Tool(
        name="tasks_by_trace",
        title="Tasks of a story",
        description="Lists the tasks that belong to one story.",
        input=TraceArguments,
        output=TaskPage,
        tier=Tier.READ,
        handler=_by_trace,
    ),
    Tool(
        name="tasks_last_failed",
        title="Tasks that failed last",
        description="Lists tasks that failed, newest first.",
        input=FailedArguments,
        output=TaskPage,
        tier=Tier.READ,
        handler=_last_failed,
    ),
)
