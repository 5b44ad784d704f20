"""Every route has a rule, so that nobody opens one to the port by forgetting it."""

from types import SimpleNamespace
from typing import Any, cast

from starlette.routing import Route

from astra.interfaces.daemon import app as api
from astra.interfaces.daemon.activity import Activity
from astra.trusted.door.rules import AGENTS_ONLY, RULES
from astra.trusted.policy.call import Role

BEHIND_TOOLS = (
    "/api/tools",
    "/api/desires",
    "/api/schedules",
    "/api/awareness",
    "/api/changes",
    "/api/agents",
    "/api/goals",
    "/api/beliefs",
    "/api/research",
)


def routes() -> set[str]:
    nothing = cast("Any", SimpleNamespace(ledger=None))
    app = api.build(nothing, Activity(), lambda: None, cast("Any", None))
    return {
        f"{method} {route.path}"
        for route in app.routes
        if isinstance(route, Route)
        for method in (route.methods or ()) - {"HEAD"}
    }


def test_every_route_has_a_rule_and_every_rule_a_route() -> None:
    assert routes() == set(RULES)


def test_agents_reach_their_tools_and_nothing_else() -> None:
    for route, rule in RULES.items():
        path = route.split(" ")[1]
        if Role.AGENT in rule.roles and rule is not AGENTS_ONLY and path != "/api/session":
            assert path.startswith(BEHIND_TOOLS), route


def test_a_viewer_only_reads_and_brings_a_device_to_be_told_on() -> None:
    assert {
        route
        for route, rule in RULES.items()
        if Role.VIEWER in rule.roles and not route.startswith("GET ")
    } == {"POST /api/devices", "DELETE /api/devices/{identifier}"}


def test_strangers_get_in_and_nothing_else() -> None:
    public = {route for route, rule in RULES.items() if rule.public}
    assert public == {
        "GET /healthz",
        "GET /openapi.json",
        "POST /api/session",
        "POST /api/session/challenge",
        "POST /api/session/passkey",
        "POST /api/passkeys/enrolments/options",
        "POST /api/passkeys/enrolments/made",
        "POST /api/passkeys/enrolments/outcome",
        "POST /api/passkeys/enrolments/session",
    }
