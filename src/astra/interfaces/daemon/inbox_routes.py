"""Everything that waits for a person, in one list for every door."""

from typing import Any

from fastapi import FastAPI
from pydantic import Field

from astra.bootstrap.runtime import Runtime
from astra.deployments.changes import FailedChanges
from astra.inbox.inbox import Inbox
from astra.interfaces.daemon.alarms import find_alarms
from astra.interfaces.daemon.models import Page, Shape


class InboxItemShown(Shape):
    id: str
    kind: str = Field(
        description="what a request is for, or `waiting_plan`, `resting_change`, `held_goal`,"
        " `failed_deployment`, `waiting_signature`, `alert`"
    )
    title: str = Field(description="what it is, in one line, written by the server")
    why: str = Field(description="why it waits")
    waiting_since: str
    command: str = Field(description="what moves it on, in a terminal")
    subject_id: str
    expires_at: str | None = Field(description="of a request: when it is withdrawn")


def add(app: FastAPI, runtime: Runtime) -> None:
    @app.get("/api/inbox", response_model=Page[InboxItemShown])
    def list_inbox() -> dict[str, Any]:
        """List everything that waits for a person; every door counts the same things."""
        items = _make_inbox(runtime).list_items()
        return {"items": [item.as_dict() for item in items], "next": None}


def _make_inbox(runtime: Runtime) -> Inbox:
    return Inbox(
        desk=runtime.desk,
        plans=runtime.planning.register,
        changes=runtime.changes.book,
        goals=runtime.goals.book,
        find_change_to_revert=FailedChanges(runtime.changes).find_taken_back,
        alarms=lambda: find_alarms(runtime),
    )
