"""The daemon's HTTP API. It parses, calls, and renders; the rules are elsewhere."""

import os
from collections.abc import Callable
from contextlib import suppress
from typing import Annotated, Any

from fastapi import Body, FastAPI, Header, Query, Request, Response
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from starlette.types import ASGIApp

from astra import __version__
from astra.bootstrap.runtime import Runtime
from astra.goals import method_files
from astra.interfaces.daemon import (
    alert_routes,
    archive_routes,
    belief_routes,
    change_routes,
    chat_routes,
    clock_routes,
    completion_routes,
    decision_routes,
    deploy_routes,
    desire_routes,
    device_routes,
    environment_routes,
    error_answers,
    goal_routes,
    inbox_routes,
    merge_permission_routes,
    metrics,
    notify_routes,
    numbers_routes,
    operator_routes,
    passkey_routes,
    permission_routes,
    plan_routes,
    readiness_routes,
    receipt_routes,
    research_routes,
    restore_routes,
    sandbox_routes,
    schedule_routes,
    server_routes,
    session_routes,
    smoke_routes,
    spend_routes,
    stop_routes,
    sync_routes,
    task_routes,
    tool_routes,
    verification_routes,
    worker_routes,
)
from astra.interfaces.daemon import status as standing
from astra.interfaces.daemon.activity import Activity, CountRequests
from astra.interfaces.daemon.capacity import LimitRequests
from astra.interfaces.daemon.events import Events, EventStream
from astra.interfaces.daemon.late_routes import LateRoute
from astra.interfaces.daemon.models import (
    BudgetShown,
    CheckedItem,
    ConfigurationChecked,
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
    StoryPage,
)
from astra.interfaces.daemon.parameters import AskedOn, Cursor, Off, parse_names
from astra.interfaces.daemon.session_routes import Reception
from astra.numbers import budget_usage
from astra.operations import alert_rules
from astra.trusted.door.requests import caller
from astra.trusted.file_ledger.indexed import IndexedLedger
from astra.trusted.kernel.errors import AstraError, BadInput
from astra.trusted.ledger import views
from astra.trusted.ledger.record import Record
from astra.trusted.policy import authority, contract, flags
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
    app = error_answers.Described(
        title="Astra",
        version=__version__,
        description="An agent's own source code, under a contract a human signed.",
        docs_url=None,
        redoc_url=None,
        responses=error_answers.describe_responses(),
    )
    app.router.route_class = LateRoute
    error_answers.add(app)
    app.add_middleware(LimitRequests, routes=app)
    app.add_middleware(CountRequests, activity=activity)
    app.state.events = Events(runtime.ledger)
    app.router.routes.append(Route("/mcp", endpoint=mcp, methods=["GET", "POST", "DELETE"]))
    reception = reception or Reception(site=None)
    session_routes.add(app, runtime, reception)
    passkey_routes.add(app, runtime, reception)
    device_routes.add(app, runtime)
    _add_status_routes(app, runtime, leave)
    numbers_routes.add(app, runtime)
    spend_routes.add(app, runtime)
    stop_routes.add(app, runtime)
    worker_routes.add(app, runtime)
    restore_routes.add(app, runtime)
    sandbox_routes.add(app, runtime)
    clock_routes.add(app, runtime, reception)
    archive_routes.add(app, runtime)
    _add_flag_routes(app, runtime)
    _add_configuration_routes(app, runtime)
    operator_routes.add(app, runtime)
    _add_ledger_routes(app, runtime)
    verification_routes.add(app, runtime)
    tool_routes.add(app, runtime)
    inbox_routes.add(app, runtime)
    permission_routes.add(app, runtime)
    merge_permission_routes.add(app, runtime)
    schedule_routes.add(app, runtime)
    for routes in (desire_routes, goal_routes, task_routes, research_routes, belief_routes):
        routes.add(app, runtime)
    change_routes.add(app, runtime)
    decision_routes.add(app, runtime)
    plan_routes.add(app, runtime)
    deploy_routes.add(app, runtime)
    sync_routes.add(app, runtime)
    readiness_routes.add(app, runtime)
    _add_operating_routes(app, runtime)
    chat_routes.add(app, runtime)
    completion_routes.add(app, runtime)
    return app


def _add_status_routes(app: FastAPI, runtime: Runtime, leave: Callable[[], None]) -> None:
    @app.get("/healthz")
    def healthz(response: Response) -> Health:
        if release := runtime.settings.release:
            response.headers["Astra-Release"] = release
        return Health(status="ok")

    @app.get("/metrics", response_class=PlainTextResponse)
    def show_metrics() -> PlainTextResponse:
        return PlainTextResponse(metrics.render(runtime), media_type=metrics.MEDIA_TYPE)

    @app.get("/api/status", response_model=Status)
    def status(astra_off: Off = "", asked_on: AskedOn = "") -> dict[str, Any]:
        return standing.status(runtime, off=parse_names(astra_off), asked_on=parse_names(asked_on))

    @app.get("/api/budgets", response_model=Page[BudgetShown])
    def list_budgets(days: Annotated[int, Query(ge=1, le=366)] = 14) -> dict[str, Any]:
        return {"items": budget_usage.list_consumption(runtime.ledger, days=days), "next": None}

    @app.post("/api/down")
    async def down(
        keep_app: Annotated[bool, Body(embed=True)] = False,  # noqa: FBT002 - a JSON member
    ) -> Leaving:
        runtime.deployer.ends_app = not keep_app
        leave()
        return Leaving(leaving=True, pid=os.getpid())


def _add_operating_routes(app: FastAPI, runtime: Runtime) -> None:
    server_routes.add(app, runtime)
    smoke_routes.add(app, runtime)
    environment_routes.add(app, runtime)
    alert_routes.add(app, runtime)
    notify_routes.add(app, runtime)
    receipt_routes.add(app, runtime)


def _add_flag_routes(app: FastAPI, runtime: Runtime) -> None:
    @app.get("/api/flags", response_model=Page[FlagShown])
    def list_flags(astra_off: Off = "", asked_on: AskedOn = "") -> dict[str, Any]:
        effective = runtime.switches.flags(
            off=parse_names(astra_off), asked_on=parse_names(asked_on)
        )
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


def _add_configuration_routes(app: FastAPI, runtime: Runtime) -> None:
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
        method_files.check_signable(text)
        alert_rules.read_rules(text)
        operator_signature = Signed.read(signature)
        event = contract.sign(runtime.ledger, text, operator_signature, now=runtime.clock.now())
        (record,) = runtime.ledger.append([event], expect={contract.SUBJECT: version})
        runtime.views.renew()
        return ConfigurationSigned(sequence=record.sequence, sha256=record.data["sha256"])

    @app.post("/api/config/check")
    def check_configuration() -> ConfigurationChecked:
        """Try astra.toml as it lies in the data root, signed or not, in boxes."""
        items = [CheckedItem(**item.as_dict()) for item in runtime.config_check.run()]
        return ConfigurationChecked(ok=all(item.ok for item in items), items=items)

    @app.get("/api/operator")
    def show_operator() -> OperatorShown:
        keys = authority.find_keys(runtime.ledger)
        return OperatorShown(
            root_id=keys.root_id, public_key=keys.operator, throwaway=keys.throwaway
        )

    @app.post("/api/operator")
    def rotate_operator(
        new_key: Annotated[str, Body()], signed: Annotated[dict[str, Any], Body(alias="authority")]
    ) -> OperatorRotated:
        event = authority.build_rotation_event(
            runtime.ledger, new_key, Signed.read(signed), now=runtime.clock.now()
        )
        (record,) = runtime.ledger.append([event])
        return OperatorRotated(public_key=new_key, sequence=record.sequence)


def _add_ledger_routes(app: FastAPI, runtime: Runtime) -> None:
    ledger, events = runtime.ledger, app.state.events

    @app.get("/api/ledger", response_model=Page[RecordShown])
    def list_records(
        after: Annotated[int, Query(ge=0)] = 0,
        limit: Annotated[int, Query(ge=1, le=1000)] = 100,
        last: Annotated[int, Query(ge=0, le=1000)] = 0,
        record_type: Annotated[str, Query(alias="type")] = "",
    ) -> dict[str, Any]:
        _settle(ledger)
        records = (
            views.newest_records(ledger, count=last, type_=record_type)
            if last
            else views.records(ledger, after=after, limit=limit, type_=record_type)
        )
        more = not last and len(records) == limit
        return _render_page(records, records[-1].sequence if more else None)

    @app.get("/api/ledger/head")
    def head() -> HeadShown:
        """Give the newest record that no crash takes back."""
        head_record = views.settled_head(ledger)
        return HeadShown(
            sequence=head_record.sequence, hash=head_record.hash, time=head_record.time
        )

    @app.get("/api/ledger/story/{identifier}", response_model=StoryPage)
    def story(
        identifier: str,
        limit: Annotated[int, Query(ge=1, le=_LONGEST_STORY)] = _LONGEST_STORY,
        cursor: Cursor = None,
    ) -> dict[str, Any]:
        _settle(ledger)
        records = views.story(ledger, identifier, limit=limit + 1, after=cursor or 0)
        more = len(records) > limit
        page = _render_page(records[:limit], records[limit - 1].sequence if more else None)
        moves = runtime.beliefs.book.list_moves([record.sequence for record in records[:limit]])
        return {**page, "beliefs": [move.as_dict() for move in moves]}

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
            start = _parse_event_id(last_event_id)
        return EventStream(events, start)


def _settle(ledger: IndexedLedger) -> None:
    """Have what was recorded a moment ago in the index: whoever saw a refusal finds it told."""
    with suppress(OSError, AstraError):  # a disk that fails keeps nobody from reading
        ledger.sync()


_STREAM: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "server-sent events, one a record: `id` is its sequence, `event` its type,"
        " `data` the record itself",
        "content": {"text/event-stream": {"schema": {"type": "string"}}},
    }
}


def _render_page(records: list[Record], cursor: int | None) -> dict[str, Any]:
    return {"items": [RecordShown.show(record) for record in records], "next": cursor}


def _parse_event_id(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= _LONGEST_SEQUENCE):
        raise BadInput("Last-Event-ID is not a sequence", next_step="send the id of an event")
    return int(text)


_LONGEST_SEQUENCE = 18
