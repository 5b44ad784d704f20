"""Lists and calls tools for MCP sessions: one server a session, all in front of one counter.

    alias → session budget → lane → counter (audit, gate, tool) → answer

Tools run in the threads of their lane, never on the event loop. A call that its client takes back,
or whose client is gone, is cancelled with what it runs in a box. What a client says about itself
(its name, `_meta`, its opinion of a tool) reaches neither the counter nor the gate.
"""

import asyncio
import functools
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any

from mcp_types import (
    CallToolResult,
    ListToolsResult,
)

from astra.interfaces.daemon.capacity import Busy
from astra.interfaces.mcp import answers, instructions
from astra.interfaces.mcp.announcements import Announcements
from astra.interfaces.mcp.call_tasks import CallTasks
from astra.interfaces.mcp.catalogue import Catalogue
from astra.interfaces.mcp.departure import Departure
from astra.interfaces.mcp.lanes import SIZES, Lane, LaneName
from astra.interfaces.mcp.session import Session
from astra.trusted.calls.counter import Counter, Request
from astra.trusted.kernel.errors import AstraError
from astra.trusted.kernel.ids import random_id
from astra.trusted.ledger.ports import Ledger
from astra.trusted.policy.decision import Decision, Reason, deny

Report = Callable[[float, None, str], Awaitable[None]]
Flags = Callable[[frozenset[str]], Mapping[str, bool]]
_CANCEL_AGAIN_SECONDS = 0.25
_log = logging.getLogger("astra.mcp")


class ToolServer:
    def __init__(
        self,
        *,
        counter: Callable[[], Counter],
        ledger: Ledger,
        flags: Flags,
        progress_seconds: float = 2.0,
        tasks: CallTasks | None = None,
    ) -> None:
        """Take where the counter is found: a newly signed configuration brings a new one."""
        self.tasks = tasks or CallTasks()
        self.announcements = Announcements(
            ledger, self._everything_visible, counter().registry.imported_version
        )
        self._counter = counter
        self._flags = flags
        self._catalogue = Catalogue(counter().registry)
        self._progress_seconds = progress_seconds
        self._lanes = {name: Lane(name, size) for name, size in SIZES.items()}
        self._cancelling: set[asyncio.Task[None]] = set()

    @asynccontextmanager
    async def open(self) -> AsyncGenerator[None]:
        self.announcements.start()
        try:
            yield
        finally:
            self.announcements.stop()
            await self.tasks.end_all()
            for lane in self._lanes.values():
                await asyncio.to_thread(lane.threads.shutdown)

    def list_tools(self, session: Session) -> ListToolsResult:
        visible = self._catalogue.list_tools(
            self._flags(session.off),
            operator=session.operator,
            dotted=session.dotted,
            selection=session.selection,
            plain=session.plain,
            limits=session.limits,
        )
        return ListToolsResult(tools=visible)

    async def call(
        self,
        session: Session,
        name: str,
        arguments: Mapping[str, Any],
        report: Report | None = None,
        departure: Departure | None = None,
    ) -> CallToolResult:
        request = Request(
            name=name,
            arguments=arguments,
            actor=session.actor,
            off=session.off,
            correlation=random_id("cor"),
            limits=session.limits,
        )
        objection = self._find_objection(session, name)
        lane = self._lanes[self._choose_lane(session, name)]
        try:
            release = await lane.enter(session.key)
        except Busy as error:
            return answers.build_refusal(error, request.correlation or "")
        work = asyncio.get_running_loop().run_in_executor(
            lane.threads,
            functools.partial(self._answer_call, request, objection, session),
        )
        work.add_done_callback(lambda _work: release())  # not before, whoever stopped waiting
        if departure is not None:
            call_off = departure.when_gone(lambda: self._spawn_cancel(request, work))
            work.add_done_callback(lambda _work: call_off())
        return await self._await_answer(request, work, report)

    def _choose_lane(self, session: Session, name: str) -> LaneName:
        if session.operator:
            return LaneName.OPERATOR
        return LaneName.LONG if self.is_slow(name) else LaneName.SHORT

    def is_slow(self, name: str) -> bool:
        """Tell whether a tool takes long; one that is not there answers that at once."""
        registry = self._counter().registry
        return registry.has(name) and registry.find(name).slow

    def _find_objection(self, session: Session, name: str) -> Decision | None:
        """Say what of this session keeps a call from being made."""
        if not session.budget.take():
            return _session_spent(session)
        registry = self._counter().registry
        return session.selection.objection(registry.find(name)) if registry.has(name) else None

    async def _await_answer(
        self, request: Request, work: asyncio.Future[CallToolResult], report: Report | None
    ) -> CallToolResult:
        """Wait for an answer; who stops waiting for it cancels the call."""
        try:
            if report:
                await self._report_progress(work, report)
            return await asyncio.shield(work)
        except asyncio.CancelledError:
            self._spawn_cancel(request, work)
            raise

    def _spawn_cancel(self, request: Request, work: asyncio.Future[CallToolResult]) -> None:
        task = asyncio.create_task(self._cancel_call(request, work))
        self._cancelling.add(task)
        task.add_done_callback(self._cancelling.discard)

    async def _cancel_call(self, request: Request, work: asyncio.Future[CallToolResult]) -> None:
        """End what a call runs, until it is over: a box may start in this very moment."""
        request.cancellation.ask()
        while not work.done():
            await asyncio.to_thread(self._counter().cancel, request)
            await asyncio.wait({work}, timeout=_CANCEL_AGAIN_SECONDS)

    async def _report_progress(self, work: asyncio.Future[CallToolResult], report: Report) -> None:
        """Say every while that the work still runs, until it does not."""
        waited = 0.0
        while not (await asyncio.wait({work}, timeout=self._progress_seconds))[0]:
            waited += self._progress_seconds
            await report(waited, None, f"still running after {waited:.0f} s")

    def introduce(self, session: Session) -> str:
        flags = self._flags(session.off)
        offered = self._catalogue.select_tools(
            flags,
            operator=session.operator,
            selection=session.selection,
            limits=session.limits,
        )
        return instructions.write(session, flags, offered)

    def _answer_call(
        self, request: Request, objection: Decision | None, session: Session
    ) -> CallToolResult:
        correlation = request.correlation or ""
        try:
            if objection:
                again = session.budget.refused > 1
                error = self._counter().turn_away(request, objection, again=again)
                return answers.build_refusal(error, correlation)
            counter = self._counter()
            document = counter.call(request)
            text_members = counter.registry.find(request.name).text_members
            return answers.build_answer(
                document, correlation, text_members=text_members, plain=session.plain
            )
        except AstraError as error:
            return answers.build_refusal(error, correlation)
        except Exception:  # noqa: BLE001 - whatever it is, the client hears no stack trace
            _log.exception("%s failed (%s)", request.name[:100], correlation)
            return answers.build_fault(correlation)

    def _everything_visible(self) -> tuple[object, ...]:
        """Give all that is listed: a tool that was signed anew is another one."""
        flags = self._flags(frozenset())
        return tuple(self._catalogue.list_tools(flags, operator=True, dotted=True))


def _session_spent(session: Session) -> Decision:
    limit = session.budget.limit
    if session.budget.hourly:
        return deny(
            Reason.SESSION_SPENT,
            f"this token has made its {limit} calls of this hour",
            "sum up what you have and tell the operator; a new hour starts with a new budget",
        )
    return deny(
        Reason.SESSION_SPENT,
        f"this session has made its {limit} calls",
        "sum up what you have and tell the operator; a new session starts with a new budget",
    )
