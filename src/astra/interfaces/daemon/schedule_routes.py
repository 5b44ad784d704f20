"""Schedules over HTTP. Whatever changes one goes through the counter, as every door does.

But for what takes one out of service at an operator's or the command line's word: that is a record
alone, as for plans and goals, and so is written on a full disk too.
"""

from datetime import datetime
from typing import Annotated, Any

from fastapi import Body, FastAPI, Query, Request

from astra.bootstrap.runtime import Runtime
from astra.interfaces.daemon.models import ApprovalDetails, Explained, Page
from astra.interfaces.daemon.parameters import Off, ReadAs
from astra.interfaces.daemon.tool_routes import run_tool
from astra.interfaces.daemon.work_models import FiringShown, ScheduleCreated, ScheduleShown
from astra.schedules import cron, wording
from astra.tools.schedules import CreateArguments, ScheduleChange
from astra.trusted.door.requests import caller, limits, principal
from astra.trusted.kernel.errors import BadInput
from astra.trusted.policy.call import Role
from astra.trusted.policy.limits import NO_LIMITS

_YEARS = range(1970, 9000)
NewSchedule = Annotated[dict[str, Any], Body(), ReadAs(CreateArguments)]
ChangedSchedule = Annotated[dict[str, Any], Body(), ReadAs(ScheduleChange)]


def add(app: FastAPI, runtime: Runtime) -> None:
    _add_read_routes(app, runtime)
    _add_write_routes(app, runtime)
    _add_run_routes(app, runtime)


def _add_read_routes(app: FastAPI, runtime: Runtime) -> None:
    @app.get("/api/schedules", response_model=Page[ScheduleShown])
    def list_schedules(  # noqa: PLR0917 - a query parameter each
        request: Request,
        state: Annotated[str | None, Query()] = None,
        tier: Annotated[int | None, Query()] = None,
        tool: Annotated[str | None, Query()] = None,
        text: Annotated[str | None, Query()] = None,
        cursor: Annotated[str | None, Query()] = None,
        limit: Annotated[int, Query(ge=1, le=1000)] = 100,
    ) -> dict[str, Any]:
        arguments = {"state": state, "tier": tier, "tool": tool, "text": text, "cursor": cursor}
        return _call_schedule_tool(runtime, request, "list", {**arguments, "limit": limit})

    @app.get("/api/schedules/explain")
    def explain(
        cron_expression: Annotated[str, Query(max_length=200)],
        timezone: Annotated[str, Query(max_length=60)] = "UTC",
    ) -> Explained:
        """Say in words when something would run, and its next five times."""
        calendar = cron.parse(cron_expression, timezone)
        upcoming = calendar.upcoming(runtime.clock.now(), 5)
        return Explained(
            in_words=wording.describe_cron(cron_expression),
            next_runs=[firing.isoformat() for firing in upcoming],
        )

    @app.get("/api/schedules/{identifier}", response_model=ScheduleShown)
    def show_schedule(
        identifier: str, start: Annotated[str | None, Query()] = None
    ) -> dict[str, Any]:
        schedule = runtime.timetable.get(identifier)
        moment = _parse_moment(start, "start") if start else None
        return runtime.timetable.describe_schedule(schedule, start=moment)

    @app.get("/api/schedules/{identifier}/history", response_model=Page[FiringShown])
    def schedule_history(
        request: Request,
        identifier: str,
        cursor: Annotated[int | None, Query()] = None,
        limit: Annotated[int, Query(ge=1, le=1000)] = 100,
    ) -> dict[str, Any]:
        arguments = {"id": identifier, "cursor": cursor, "limit": limit}
        return _call_schedule_tool(runtime, request, "history", arguments)


def _add_write_routes(app: FastAPI, runtime: Runtime) -> None:
    @app.post("/api/schedules", response_model=ScheduleCreated)
    def create_schedule(
        request: Request, fields: NewSchedule, astra_off: Off = ""
    ) -> dict[str, Any]:
        return _call_schedule_tool(runtime, request, "create", fields, off=astra_off)

    @app.post("/api/schedules/{identifier}", response_model=ScheduleShown)
    def modify_schedule(
        request: Request, identifier: str, fields: ChangedSchedule, astra_off: Off = ""
    ) -> dict[str, Any]:
        return _call_schedule_tool(
            runtime, request, "modify", {**fields, "id": identifier}, off=astra_off
        )

    @app.post("/api/schedules/{identifier}/pause", response_model=ScheduleShown)
    def pause_schedule(request: Request, identifier: str, astra_off: Off = "") -> dict[str, Any]:
        if _calls_as_agent(request):
            return _call_schedule_tool(runtime, request, "pause", {"id": identifier}, off=astra_off)
        schedule = runtime.timetable.pause(identifier, actor=caller(request))
        return runtime.timetable.describe_schedule(schedule)

    @app.post("/api/schedules/{identifier}/resume", response_model=ScheduleShown)
    def resume_schedule(
        request: Request,
        identifier: str,
        seen: Annotated[str | None, Body(embed=True, description="`etag` of the schedule")] = None,
        astra_off: Off = "",
    ) -> dict[str, Any]:
        arguments = {"id": identifier, **({"seen": seen} if seen else {})}
        return _call_schedule_tool(runtime, request, "resume", arguments, off=astra_off)

    @app.post("/api/schedules/{identifier}/delete", response_model=ScheduleShown)
    def delete_schedule(request: Request, identifier: str, astra_off: Off = "") -> dict[str, Any]:
        """Take a schedule out of service for good; its history stays."""
        if _calls_as_agent(request):
            return _call_schedule_tool(
                runtime, request, "delete", {"id": identifier}, off=astra_off
            )
        schedule = runtime.timetable.delete(identifier, actor=caller(request))
        return runtime.timetable.describe_schedule(schedule)


def _add_run_routes(app: FastAPI, runtime: Runtime) -> None:
    @app.post("/api/schedules/{identifier}/run", response_model=FiringShown | Page[FiringShown])
    def run_schedule(
        request: Request,
        identifier: str,
        start: Annotated[str | None, Body(embed=True)] = None,
        end: Annotated[str | None, Body(embed=True)] = None,
    ) -> dict[str, Any]:
        executor, actor = runtime.executor, f"agent:{caller(request)}"
        if not (start or end):
            return executor.by_hand.run_now(identifier, actor=actor)
        if not (start and end):
            raise BadInput("a backfill has a start and an end", next_step="give both")
        stretch = _parse_moment(start, "start"), _parse_moment(end, "end")
        return {"items": executor.by_hand.backfill(identifier, *stretch, actor=actor), "next": None}

    @app.post("/api/schedules/{identifier}/approval", response_model=ApprovalDetails)
    def request_approval(request: Request, identifier: str) -> dict[str, Any]:
        actor = f"agent:{caller(request)}"
        approval = runtime.executor.by_hand.request_approval(identifier, actor=actor)
        return runtime.desk.details(approval)


def _call_schedule_tool(
    runtime: Runtime, request: Request, verb: str, arguments: dict[str, Any], *, off: str = ""
) -> dict[str, Any]:
    return run_tool(runtime, request, f"astra.schedule.{verb}", arguments, off=off)


def _calls_as_agent(request: Request) -> bool:
    """Tell whether the gate decides: a program with a token calls, or somebody with limits."""
    who = principal(request)
    return who is not None and (who.role is not Role.OPERATOR or limits(request) != NO_LIMITS)


def _parse_moment(text: str, name: str) -> datetime:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        moment = None
    if moment is None or moment.tzinfo is None or moment.year not in _YEARS:
        raise BadInput(
            f"{text[:60]!r} is no time with an offset",
            next_step="write it like 2026-03-29T00:00:00+01:00 or 2026-03-28T23:00:00Z",
            field=name,
        )
    return moment
