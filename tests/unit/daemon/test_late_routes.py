"""Routes are put together when they are first asked for, and answer as FastAPI's own do."""

import threading
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace
from typing import Annotated, Any, cast

import pytest
from fastapi import Body, FastAPI
from fastapi.routing import APIRoute
from fastapi.testclient import TestClient
from starlette.routing import Route

from astra.interfaces.daemon import app as api
from astra.interfaces.daemon.activity import Activity
from astra.interfaces.daemon.late_routes import LateRoute

PLACES = (
    "",
    "/",
    "//",
    "/api",
    "/api/",
    "/api/plans/../flags",
    "/API/FLAGS",
    "/api/flags%00",
    "api/flags",
    "/x/api/flags",
)


def test_no_route_is_put_together_before_it_is_asked_for() -> None:
    routes = [route for route in build_api().routes if isinstance(route, LateRoute)]

    assert len(routes) > 150
    assert [route.path for route in routes if is_whole(route)] == []


def test_every_path_and_method_leads_where_it_would_with_fastapis_own_routes() -> None:
    late = [route for route in build_api().routes if isinstance(route, LateRoute)]
    ready = [make_ready_route(route) for route in late]
    for path in {variant for route in late for variant in vary(route.path)} | {*PLACES}:
        assert name_answers(late, path, "GET") == name_answers(ready, path, "GET")
    for method in ("HEAD", "POST", "PUT", "DELETE", "OPTIONS", "get", ""):
        for path in ("/api/flags", "/api/plans/7", "/api/changes/7/reject"):
            assert name_answers(late, path, method) == name_answers(ready, path, method)


def test_below_another_path_it_answers_as_fastapis_own_do() -> None:
    route = make_app(LateRoute).routes[-1]
    scope = {"type": "http", "path": "/below/things/7", "root_path": "/below", "method": "PUT"}

    match, told = route.matches(scope)

    assert match.name == "FULL"
    assert told["path_params"] == {"number": "7"}


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("PUT", "/things/7", {"size": 3}),
        ("PUT", "/things/7", {"size": "three"}),
        ("PUT", "/things/seven", {"size": 3}),
        ("PUT", "/things/7", None),
        ("POST", "/things/7", {"size": 3}),
        ("GET", "/things/7/more", None),
        ("GET", "/openapi.json", None),
    ],
)
def test_answers_are_those_of_fastapis_own_routes(method: str, path: str, body: Any) -> None:
    answers = [
        TestClient(make_app(kind)).request(method, path, json=body)
        for kind in (LateRoute, APIRoute)
    ]

    assert answers[0].status_code == answers[1].status_code
    assert answers[0].content == answers[1].content
    assert answers[0].headers == answers[1].headers


def test_those_who_ask_at_once_get_the_same_whole_route() -> None:
    for _ in range(20):
        route = cast("Any", make_app(LateRoute).routes[-1])
        start = threading.Barrier(8)

        def ask(name: str, route: Any = route, start: threading.Barrier = start) -> Any:
            start.wait(timeout=60)
            return getattr(route, name)

        with ThreadPoolExecutor(8) as pool:
            handlers = set(pool.map(ask, ["app"] * 8))

        assert handlers == {route.app}


def test_what_no_route_has_is_said_by_its_name() -> None:
    route = make_app(LateRoute).routes[-1]

    with pytest.raises(AttributeError, match="no colour"):
        _ = cast("Any", route).colour


def build_api() -> FastAPI:
    nothing = cast("Any", SimpleNamespace(ledger=None))
    return api.build(nothing, Activity(), lambda: None, cast("Any", None))


def make_app(kind: type[APIRoute]) -> FastAPI:
    app = FastAPI()
    app.router.route_class = kind

    @app.put("/things/{number}")
    def put_thing(number: int, size: Annotated[int, Body(embed=True)]) -> dict[str, int]:
        return {"number": number, "size": size}

    return app


def is_whole(route: LateRoute) -> bool:
    return "app" in vars(route)


def make_ready_route(route: LateRoute) -> Route:
    """Make the same route as Starlette does, which knows its pattern from the beginning."""
    ready = Route(route.path, route.endpoint, methods=sorted(route.methods))
    ready.methods = set(route.methods)  # FastAPI adds no HEAD where there is GET
    return ready


def vary(path: str) -> set[str]:
    filled = path.replace("{", "").replace("}", "").replace(":path", "")
    return {filled, filled + "/", filled + "\n", filled[:-1]}


def name_answers(routes: Any, path: str, method: str) -> list[tuple[str, str, Any]]:
    scope = {"type": "http", "path": path, "root_path": "", "method": method}
    matches = [(route.path, *route.matches(dict(scope))) for route in routes]
    return [
        (route, match.name, told["path_params"])
        for route, match, told in matches
        if match.name != "NONE"
    ]
