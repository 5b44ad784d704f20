"""The daemon's HTTP API. It parses, calls, and renders; the rules are elsewhere."""

import os
from collections.abc import Callable
from typing import Annotated, Any

from fastapi import Body, FastAPI, Header, Query, Request, Response
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from starlette.types import ASGIApp

from astra import __version__
from astra.bootstrap.runtime import Runtime
from astra.interfaces.daemon import (
    change_routes,
    chat_routes,
    clock_routes,
    completion_routes,
    deploy_routes,
    desire_routes,
    device_routes,
    metrics,
    numbers_routes,
    passkey_routes,
    plan_routes,
    readiness_routes,
    restore_routes,
    sandbox_routes,
    schedule_routes,
    session_routes,
    stop_routes,
    tool_routes,
    verification_routes,
)
from astra.interfaces.daemon import status as standing
from astra.interfaces.daemon.activity import Activity, CountRequests
from astra.interfaces.daemon.events import Events, EventStream
from astra.interfaces.daemon.models import (
    BudgetShown,
    ConfigurationShown,
    ConfigurationSigned,
    FlagSet,
    FlagShown,
    HeadShown,
    Health,
    Leaving,
    OperatorRotated,
    OperatorShown,
    Page,
    Rebuilt,
    RecordShown,
    Status,
)
from astra.interfaces.daemon.session_routes import Reception
from astra.trusted.door import problems
from astra.trusted.door.capacity import LimitRequests
from astra.trusted.door.requests import AskedOn, Cursor, Off, caller, names
from astra.trusted.kernel.errors import BadInput
from astra.trusted.ledger import views
from astra.trusted.ledger.record import Record
from astra.trusted.policy import authority, budgets, contract, flags
from astra.trusted.policy.authority import Signed

_LONGEST_STORY = 10_000


def build(
    runtime: Runtime,
    activity: Activity,
    leave: Callable[[], None],
    mcp: ASGIApp,
    *,
    reception: Reception | None = None,
) -> FastAPI:
    app = problems.Described(
        title="Astra",
        version=__version__,
        description="An agent's own source code, under a contract a human signed.",
        docs_url=None,
        redoc_url=None,
        responses=problems.documented(),
    )
    problems.add(app)
    app.add_middleware(LimitRequests, routes=app)
    app.add_middleware(CountRequests, activity=activity)
    app.state.events = Events(runtime.ledger)
    app.router.routes.append(Route("/mcp", endpoint=mcp, methods=["GET", "POST", "DELETE"]))
    reception = reception or Reception(site=None)
    session_routes.add(app, runtime, reception)
    passkey_routes.add(app, runtime, reception)
    device_routes.add(app, runtime)
    _status_routes(app, runtime, leave)
    numbers_routes.add(app, runtime)
    stop_routes.add(app, runtime)
    restore_routes.add(app, runtime)
    sandbox_routes.add(app, runtime)
    clock_routes.add(app, runtime, reception)
    _flag_routes(app, runtime)
    _configuration_routes(app, runtime)
    _ledger_routes(app, runtime)
    verification_routes.add(app, runtime)
    tool_routes.add(app, runtime)
    schedule_routes.add(app, runtime)
    desire_routes.add(app, runtime)
    change_routes.add(app, runtime)
    plan_routes.add(app, runtime)
    deploy_routes.add(app, runtime)
    readiness_routes.add(app, runtime)
    chat_routes.add(app, runtime)
    completion_routes.add(app, runtime)
    return app


def _status_routes(app: FastAPI, runtime: Runtime, leave: Callable[[], None]) -> None:
    @app.get("/healthz")
    def healthz() -> Health:
        return Health(status="ok")

    @app.get("/metrics", response_class=PlainTextResponse)
    def show_metrics() -> PlainTextResponse:
        return PlainTextResponse(metrics.render(runtime), media_type=metrics.MEDIA_TYPE)

    @app.get("/api/status", response_model=Status)
    def status(astra_off: Off = "", asked_on: AskedOn = "") -> dict[str, Any]:
        return standing.status(runtime, off=names(astra_off), asked_on=names(asked_on))

    @app.get("/api/budgets", response_model=Page[BudgetShown])
    def list_budgets(days: Annotated[int, Query(ge=1, le=366)] = 14) -> dict[str, Any]:
        return {"items": budgets.consumption(runtime.ledger, days=days), "next": None}

    @app.post("/api/down")
    async def down(
        keep_app: Annotated[bool, Body(embed=True)] = False,  # noqa: FBT002 - a JSON member
    ) -> Leaving:
        runtime.deployer.ends_app = not keep_app
        leave()
        return Leaving(leaving=True, pid=os.getpid())


def _flag_routes(app: FastAPI, runtime: Runtime) -> None:
    @app.get("/api/flags", response_model=Page[FlagShown])
    def list_flags(astra_off: Off = "", asked_on: AskedOn = "") -> dict[str, Any]:
        effective = runtime.switches.flags(off=names(astra_off), asked_on=names(asked_on))
        return {"items": [flag.as_dict() for flag in effective.values()], "next": None}

    @app.post("/api/flags", response_model=FlagSet)
    def set_flag(
        request: Request,
        name: Annotated[str, Body()],
        on: Annotated[bool, Body()],
        signature: Annotated[dict[str, Any] | None, Body(alias="authority")] = None,
        seen: Annotated[int | None, Body(description="`sequence` of the flag, to turn on")] = None,
    ) -> dict[str, Any]:
        """Set a flag. Off is free and never refused; on is refused to who saw it as it was."""
        if on:
            record = _turn_on(runtime, name, Signed.read(signature), seen)
        else:
            record = runtime.switches.turn_off(name, actor=caller(request))
        return {**runtime.switches.flags()[name].as_dict(), "sequence": record.sequence}


def _turn_on(runtime: Runtime, name: str, signed: Signed, seen: int | None) -> Record:
    version = flags.version(runtime.ledger)
    if seen is not None:
        flags.refuse_if_changed(runtime.ledger, name, seen)
    event = flags.turn_on(runtime.ledger, name, signed, now=runtime.clock.now())
    return runtime.ledger.append([event], expect={flags.SUBJECT: version})[0]


def _configuration_routes(app: FastAPI, runtime: Runtime) -> None:
    @app.get("/api/config")
    def show_configuration() -> ConfigurationShown:
        text = contract.signed_text(runtime.ledger)
        return ConfigurationShown(
            text=text,
            sha256=contract.content(text)["sha256"],
            state=standing.configuration_state(runtime),
            file=str(runtime.root.configuration),
        )

    @app.post("/api/config")
    def sign_configuration(
        text: Annotated[str, Body()],
        signature: Annotated[dict[str, Any], Body(alias="authority")],
        seen: Annotated[str | None, Body(description="`sha256` of the one it replaces")] = None,
    ) -> ConfigurationSigned:
        version = contract.version(runtime.ledger)
        if seen is not None:
            contract.refuse_if_changed(runtime.ledger, seen)
        signed = Signed.read(signature)
        event = contract.sign(runtime.ledger, text, signed, now=runtime.clock.now())
        (record,) = runtime.ledger.append([event], expect={contract.SUBJECT: version})
        runtime.views.renew()
        return ConfigurationSigned(sequence=record.sequence, sha256=record.data["sha256"])

    @app.get("/api/operator")
    def show_operator() -> OperatorShown:
        keys = authority.keys(runtime.ledger)
        return OperatorShown(
            root_id=keys.root_id, public_key=keys.operator, throwaway=keys.throwaway
        )

    @app.post("/api/operator")
    def rotate_operator(
        new_key: Annotated[str, Body()], signed: Annotated[dict[str, Any], Body(alias="authority")]
    ) -> OperatorRotated:
        event = authority.rotation(
            runtime.ledger, new_key, Signed.read(signed), now=runtime.clock.now()
        )
        (record,) = runtime.ledger.append([event])
        return OperatorRotated(public_key=new_key, sequence=record.sequence)


def _ledger_routes(app: FastAPI, runtime: Runtime) -> None:
    ledger, events = runtime.ledger, app.state.events

    @app.get("/api/ledger", response_model=Page[RecordShown])
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
    def head() -> HeadShown:
        """Give the newest record that no crash takes back."""
        found = views.settled_head(ledger)
        return HeadShown(sequence=found.sequence, hash=found.hash, time=found.time)

    @app.get("/api/ledger/story/{identifier}", response_model=Page[RecordShown])
    def story(
        identifier: str,
        limit: Annotated[int, Query(ge=1, le=_LONGEST_STORY)] = _LONGEST_STORY,
        cursor: Cursor = None,
    ) -> dict[str, Any]:
        found = views.story(ledger, identifier, limit=limit + 1, after=cursor or 0)
        more = len(found) > limit
        return _listed(found[:limit], found[limit - 1].sequence if more else None)

    @app.post("/api/ledger/rebuild", response_model_exclude_none=True)
    def rebuild(check: Annotated[bool, Query()] = False) -> Rebuilt:  # noqa: FBT002 - a query parameter
        if check:
            differences = ledger.compare_rebuilt()
            return Rebuilt(same=not differences, differences=differences)
        return Rebuilt(records=ledger.rebuild())

    @app.get("/api/events", response_class=Response, responses=_STREAM)
    def follow_events(
        after: Annotated[int | None, Query(ge=0)] = None,
        last_event_id: Annotated[str, Header()] = "",
    ) -> EventStream:
        start = after if after is not None else ledger.head().sequence
        if last_event_id:
            start = _sequence(last_event_id)
        return EventStream(events, start)


_STREAM: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "server-sent events, one a record: `id` is its sequence, `event` its type,"
        " `data` the record itself",
        "content": {"text/event-stream": {"schema": {"type": "string"}}},
    }
}


def _listed(records: list[Record], cursor: int | None) -> dict[str, Any]:
    return {"items": [record.as_dict() for record in records], "next": cursor}


def _sequence(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= _LONGEST_SEQUENCE):
        raise BadInput("Last-Event-ID is not a sequence", next_step="send the id of an event")
    return int(text)


_LONGEST_SEQUENCE = 18
