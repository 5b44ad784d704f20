"""Tasks over HTTP: of changes, goals and schedules, as the tools and the command show them."""

from typing import Annotated, Any

from fastapi import FastAPI, Query
from pydantic import BaseModel, ConfigDict, Field

from astra.bootstrap.runtime import Runtime
from astra.interfaces.daemon.models import Page
from astra.tasks.book import Filter, TaskBook
from astra.tools.tasks import TaskAnswer
from astra.trusted.kernel.paging import LARGEST_PAGE

Document = dict[str, Any]


class TaskQuery(BaseModel):
    model_config = ConfigDict(extra="ignore")

    state: str | None = None
    outcome: str | None = None
    source: str | None = None
    trace: str | None = None
    schedule_id: str | None = None
    limit: int = Field(default=50, ge=1, le=LARGEST_PAGE)
    cursor: str | None = None


def add(app: FastAPI, runtime: Runtime) -> None:
    book = TaskBook(runtime.ledger)

    @app.get("/api/tasks", response_model=Page[TaskAnswer])
    def list_tasks(asked: Annotated[TaskQuery, Query()]) -> Document:
        task_filter = Filter(**asked.model_dump(exclude={"limit", "cursor"}))
        tasks, following = book.list_page(task_filter, limit=asked.limit, cursor=asked.cursor)
        return {"items": [task.as_dict() for task in tasks], "next": following}

    @app.get("/api/tasks/{identifier}", response_model=TaskAnswer)
    def show_task(identifier: str) -> Document:
        return book.get(identifier).as_dict()
