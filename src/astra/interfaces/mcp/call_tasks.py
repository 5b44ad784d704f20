"""Long calls as tasks: a handle at once, the answer when the client asks for it.

The extension `io.modelcontextprotocol/tasks` of the 2026 protocol. A client that declares it gets a
handle for a slow tool's call that is not over within a moment; everything else is answered as ever.

- A task belongs to the caller who made it; to others it does not exist.
- It goes on when its client is gone, and keeps the daemon. `tasks/cancel` ends it, with what it
  runs in a box.
- Its answer is kept for some minutes after the end, and nowhere but in memory: what a call did is
  in the ledger.
- The gate, the budget and the record of a call are the same with and without a task.
"""

import asyncio
import contextlib
import secrets
from collections.abc import Callable, Coroutine
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from mcp.shared.exceptions import MCPError
from mcp_types import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    MISSING_REQUIRED_CLIENT_CAPABILITY,
    CallToolResult,
)

from astra.interfaces.mcp.departure import Departure

EXTENSION = "io.modelcontextprotocol/tasks"
_AT_ONCE_SECONDS = 0.5
_KEPT = timedelta(minutes=10)
_LONGEST = timedelta(hours=1)
_POLL_MILLISECONDS = 1_000
_MOST, _MOST_OF_OWNER = 256, 32
Work = Coroutine[Any, Any, CallToolResult]


def _utc_now() -> datetime:
    return datetime.now(UTC)


@dataclass
class CallTask:
    id: str
    owner: str
    work: "asyncio.Task[CallToolResult]"
    created: datetime
    ended: datetime | None = None

    @property
    def status(self) -> str:
        if not self.work.done():
            return "working"
        if self.work.cancelled():
            return "cancelled"
        return "failed" if self.work.exception() else "completed"

    def describe(self) -> dict[str, Any]:
        """Give what is told of it at all times."""
        last_update = self.ended or self.created
        lifetime = (self.ended - self.created) + _KEPT if self.ended else _LONGEST
        return {
            "taskId": self.id,
            "status": self.status,
            "createdAt": self.created.isoformat(),
            "lastUpdatedAt": last_update.isoformat(),
            "ttlMs": int(lifetime.total_seconds() * 1000),
            "pollIntervalMs": _POLL_MILLISECONDS,
        }

    def describe_outcome(self) -> dict[str, Any]:
        """Give what came of it, which is the answer the call would have had."""
        if self.status == "completed":
            result = self.work.result()
            return {"result": result.model_dump(by_alias=True, mode="json", exclude_none=True)}
        if self.status == "failed":
            error = self.work.exception()
            reason = error.error if isinstance(error, MCPError) else None
            code = reason.code if reason else INTERNAL_ERROR
            message = reason.message if reason else "the call failed inside Astra"
            return {"statusMessage": message, "error": {"code": code, "message": message}}
        return {}


class CallTasks:
    def __init__(
        self,
        hold: Callable[[], AbstractContextManager[None]] = contextlib.nullcontext,
        *,
        now: Callable[[], datetime] = _utc_now,
        at_once_seconds: float = _AT_ONCE_SECONDS,
    ) -> None:
        """Take what keeps the daemon while a task works."""
        self._hold = hold
        self._now = now
        self._at_once_seconds = at_once_seconds
        self._tasks: dict[str, CallTask] = {}

    async def begin(
        self, owner: str, work: Work, departure: Departure | None = None
    ) -> CallToolResult | dict[str, Any]:
        """Give the answer of a call that is soon over, and otherwise the handle of its task.

        Until there is a handle, a client that goes away takes its call with it.
        """
        running = asyncio.create_task(work)
        call_off = departure.when_gone(running.cancel) if departure else lambda: None
        try:
            seconds = self._at_once_seconds if self._has_room(owner) else None
            await asyncio.wait({running}, timeout=seconds)
        except asyncio.CancelledError:
            running.cancel()
            raise
        finally:
            call_off()
        if running.cancelled():
            raise MCPError(INTERNAL_ERROR, "the client went away, so its call was cancelled")
        if running.done():
            return running.result()
        task = self._keep(owner, running)
        return {"resultType": "task", **task.describe()}

    def find(self, owner: str, task_id: str) -> CallTask:
        self._forget_old()
        task = self._tasks.get(task_id)
        if task is None or task.owner != owner:
            raise MCPError(
                INVALID_PARAMS,
                "there is no such task of yours, or it ended too long ago; next: look at what was"
                " done with the tools that list and show",
                {"code": "unknown_task"},
            )
        return task

    def cancel(self, owner: str, task_id: str) -> None:
        """Ask a task to end; one that is over stays as it is."""
        self.find(owner, task_id).work.cancel()

    async def end_all(self) -> None:
        """End every task: nobody can ask for the answers once this process is gone."""
        working = [task.work for task in self._tasks.values() if not task.work.done()]
        for work in working:
            work.cancel()
        await asyncio.gather(*working, return_exceptions=True)
        self._tasks.clear()

    def _has_room(self, owner: str) -> bool:
        """Tell whether one more task may be kept; without room a call is answered as any other."""
        self._forget_old()
        theirs = sum(task.owner == owner for task in self._tasks.values())
        return len(self._tasks) < _MOST and theirs < _MOST_OF_OWNER

    def _keep(self, owner: str, running: "asyncio.Task[CallToolResult]") -> CallTask:
        task = CallTask(f"tsk_{secrets.token_hex(16)}", owner, running, created=self._now())
        self._tasks[task.id] = task
        daemon_hold = contextlib.ExitStack()
        daemon_hold.enter_context(self._hold())

        def note_end(_work: object) -> None:
            task.ended = self._now()
            daemon_hold.close()

        running.add_done_callback(note_end)
        return task

    def _forget_old(self) -> None:
        horizon = self._now() - _KEPT
        for task in list(self._tasks.values()):
            if task.ended and task.ended < horizon:
                del self._tasks[task.id]


def is_declared(capabilities: Any) -> bool:
    """Tell whether a client says that it understands tasks."""
    extensions = capabilities.extensions if capabilities is not None else None
    return EXTENSION in (extensions or {})


def build_missing_capability() -> MCPError:
    return MCPError(
        MISSING_REQUIRED_CLIENT_CAPABILITY,
        f"this needs the extension {EXTENSION}; next: declare it in the client's capabilities",
        {"requiredCapabilities": {"extensions": {EXTENSION: {}}}},
    )
