"""The daemon's HTTP API. It parses, calls, and renders; the rules are elsewhere."""

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Callable
from typing import Annotated, Any

from fastapi import Body, FastAPI, Header, Query, Request
from fastapi.responses import JSONResponse, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp

from astra import __version__
from astra.bootstrap import runtime as running
from astra.bootstrap.runtime import Runtime
from astra.interfaces.daemon import (
    change_routes,
    deploy_routes,
    desire_routes,
    plan_routes,
    readiness_routes,
    sandbox_routes,
    schedule_routes,
    stop_routes,
    tool_routes,
)
from astra.interfaces.daemon.activity import Activity, CountRequests
from astra.interfaces.daemon.requests import AskedOn, Off, caller, names
from astra.kernel.errors import AstraError, BadInput
from astra.ledger import views
from astra.ledger.record import Record
from astra.policy import authority, budgets, contract, flags
from astra.policy.authority import Signed

_log = logging.getLogger("astra.daemon")


def build(runtime: Runtime, activity: Activity, leave: Callable[[], None], mcp: ASGIApp) -> FastAPI:
    app = FastAPI(title="Astra", version=__version__)
    app.add_exception_handler(AstraError, _problem)
    app.add_exception_handler(Exception, _unexpected)

    app.add_middleware(CountRequests, activity=activity)
    app.router.routes.append(Route("/mcp", endpoint=mcp))
    _status_routes(app, runtime, leave)
    stop_routes.add(app, runtime)
    sandbox_routes.add(app, runtime)
    _flag_routes(app, runtime)
    _configuration_routes(app, runtime)
    _ledger_routes(app, runtime, activity)
    tool_routes.add(app, runtime)
    schedule_routes.add(app, runtime)
    desire_routes.add(app, runtime)
    change_routes.add(app, runtime)
    plan_routes.add(app, runtime)
    deploy_routes.add(app, runtime)
    readiness_routes.add(app, runtime)
    return app


def _status_routes(app: FastAPI, runtime: Runtime, leave: Callable[[], None]) -> None:
    @app.get("/healthz")
    def healthz() -> dict[str, str]:
        return {"status": "ok"}

    @app.get("/api/status")
    def status(astra_off: Off = "", asked_on: AskedOn = "") -> dict[str, Any]:
        return running.status(runtime, off=names(astra_off), asked_on=names(asked_on))

    @app.get("/api/budgets")
    def list_budgets(days: Annotated[int, Query(ge=1, le=366)] = 14) -> dict[str, Any]:
        return {"items": budgets.consumption(runtime.ledger, days=days), "next": None}

    @app.post("/api/down")
    async def down(
        keep_app: Annotated[bool, Body(embed=True)] = False,  # noqa: FBT002 - a JSON member
    ) -> dict[str, bool]:
        runtime.deployer.ends_app = not keep_app
        leave()
        return {"leaving": True}


def _flag_routes(app: FastAPI, runtime: Runtime) -> None:
    @app.get("/api/flags")
    def list_flags(astra_off: Off = "", asked_on: AskedOn = "") -> dict[str, Any]:
        effective = runtime.flags(off=names(astra_off), asked_on=names(asked_on))
        return {"items": [flag.as_dict() for flag in effective.values()], "next": None}

    @app.post("/api/flags")
    def set_flag(
        request: Request,
        name: Annotated[str, Body()],
        on: Annotated[bool, Body()],
        authority: Annotated[dict[str, Any] | None, Body()] = None,
    ) -> dict[str, Any]:
        if on:
            signed = Signed.read(authority)
            event = flags.turn_on(runtime.ledger, name, signed, now=runtime.clock.now())
            (record,) = runtime.ledger.append([event])
        else:
            record = runtime.turn_off(name, actor=caller(request))
        return {**runtime.flags()[name].as_dict(), "sequence": record.sequence}


def _configuration_routes(app: FastAPI, runtime: Runtime) -> None:
    @app.get("/api/config")
    def show_configuration() -> dict[str, Any]:
        return {
            "text": contract.signed_text(runtime.ledger),
            "state": running.configuration_state(runtime),
            "file": str(runtime.root.configuration),
        }

    @app.post("/api/config")
    def sign_configuration(
        text: Annotated[str, Body()], authority: Annotated[dict[str, Any], Body()]
    ) -> dict[str, Any]:
        signed = Signed.read(authority)
        event = contract.sign(runtime.ledger, text, signed, now=runtime.clock.now())
        (record,) = runtime.ledger.append([event])
        runtime.reconfigure()
        return {"sequence": record.sequence, "sha256": record.data["sha256"]}

    @app.get("/api/operator")
    def show_operator() -> dict[str, Any]:
        keys = runtime.keys()
        return {"root_id": keys.root_id, "public_key": keys.operator, "throwaway": keys.throwaway}

    @app.post("/api/operator")
    def rotate_operator(
        new_key: Annotated[str, Body()], signed: Annotated[dict[str, Any], Body(alias="authority")]
    ) -> dict[str, Any]:
        event = authority.rotation(
            runtime.ledger, new_key, Signed.read(signed), now=runtime.clock.now()
        )
        (record,) = runtime.ledger.append([event])
        return {"public_key": new_key, "sequence": record.sequence}


def _ledger_routes(app: FastAPI, runtime: Runtime, activity: Activity) -> None:
    ledger = runtime.ledger

    @app.get("/api/ledger")
    def list_records(
        after: Annotated[int, Query(ge=0)] = 0,
        limit: Annotated[int, Query(ge=1, le=1000)] = 100,
        last: Annotated[int, Query(ge=0, le=1000)] = 0,
        record_type: Annotated[str, Query(alias="type")] = "",
    ) -> dict[str, Any]:
        found = (
            views.last(ledger, count=last, type_=record_type)
            if last
            else views.records(ledger, after=after, limit=limit, type_=record_type)
        )
        more = not last and len(found) == limit
        return _listed(found, found[-1].sequence if more else None)

    @app.get("/api/ledger/head")
    def head() -> dict[str, Any]:
        found = ledger.head()
        return {"sequence": found.sequence, "hash": found.hash, "time": found.time}

    @app.get("/api/ledger/story/{identifier}")
    def story(identifier: str) -> dict[str, Any]:
        return _listed(views.story(ledger, identifier), None)

    @app.post("/api/ledger/rebuild")
    def rebuild(check: Annotated[bool, Query()] = False) -> dict[str, Any]:  # noqa: FBT002 - a query parameter
        if check:
            differences = ledger.compare_rebuilt()
            return {"same": not differences, "differences": differences}
        return {"records": ledger.rebuild()}

    @app.get("/api/events")
    async def events(
        request: Request,
        after: Annotated[int | None, Query(ge=0)] = None,
        last_event_id: Annotated[str, Header()] = "",
    ) -> StreamingResponse:
        start = after if after is not None else ledger.head().sequence
        if last_event_id:
            start = _sequence(last_event_id)
        stream = _follow(runtime, activity, request, start)
        return StreamingResponse(stream, media_type="text/event-stream")


async def _follow(
    runtime: Runtime, activity: Activity, request: Request, after: int
) -> AsyncIterator[str]:
    """Stream records as server-sent events until the client or the daemon leaves."""
    yield ": following\n\n"
    while not (activity.leaving or await request.is_disconnected()):
        arrived = await asyncio.to_thread(runtime.ledger.wait, after, 1.0)
        if not arrived:
            yield ": still here\n\n"
            continue
        for record in await asyncio.to_thread(views.records, runtime.ledger, after=after):
            after = record.sequence
            yield f"id: {after}\nevent: {record.type}\ndata: {record.line}\n\n"


def _listed(records: list[Record], cursor: int | None) -> dict[str, Any]:
    return {"items": [record.as_dict() for record in records], "next": cursor}


def _sequence(text: str) -> int:
    if not text.isdigit():
        raise BadInput("Last-Event-ID is not a sequence", next_step="send the id of an event")
    return int(text)


async def _unexpected(request: Request, error: Exception) -> JSONResponse:
    """Say that something went wrong here; what it was is in the log, not in the answer."""
    _log.error("%s %s failed", request.method, request.url.path, exc_info=error)
    trouble = AstraError(
        "the daemon failed at this request", next_step="look at logs/daemon.log in the data root"
    )
    return await _problem(request, trouble)


async def _problem(_request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, AstraError)  # noqa: S101 - registered for it
    body = {"title": type(error).__name__, "status": error.http_status, **error.as_dict()}
    return JSONResponse(
        json.loads(json.dumps(body, default=str)),
        status_code=error.http_status,
        media_type="application/problem+json",
    )
