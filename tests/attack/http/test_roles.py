"""Who may what at the port: a table, tried with every role on every route."""

from typing import Any

import pytest

from astra.trusted.door.rules import RULES, SOCKET_ONLY
from astra.trusted.policy.call import Role
from deploying import until
from http_driver import Served, problem

Holders = dict[str, str]


@pytest.fixture(scope="module")
def holders(site: Served) -> Holders:
    routes = [route for route, rule in RULES.items() if Role.SERVICE in rule.roles]
    everything = [option for route in routes for option in ("--route", route)]
    options = {"service": everything}
    return {role: site.token(role, *options.get(role, []))["secret"] for role in Role}


@pytest.mark.parametrize("role", [None, *Role])
@pytest.mark.parametrize("route", sorted(RULES))
def test_a_route_lets_in_the_roles_its_rule_names_and_nobody_else(
    site: Served, holders: Holders, route: str, role: Role | None
) -> None:
    method, path = route.split(" ")
    rule = RULES[route]
    path = path.replace("{identifier}", "apr_00000000").replace("{name}", "no_such_tool")
    harmless = "application/x-nothing" if method != "GET" else "application/json"
    with (
        site.client(holders[role] if role else "", Accept="text/plain") as http,
        http.stream(method, path, content=b"{", headers={"Content-Type": harmless}) as said,
    ):
        status, kind = said.status_code, said.headers.get("content-type", "")
        code = "" if said.is_success or "json" not in kind else str(_read(said).get("code"))
    if rule is SOCKET_ONLY:
        assert (status, code) == (403, "socket_only")
    elif rule.public:
        assert code not in {"not_recognised", "wrong_role", "socket_only"} or path == "/api/session"
    elif role is None:
        assert (status, code) == (401, "not_recognised")
    elif role in rule.roles:
        assert code not in {"not_recognised", "wrong_role", "socket_only"}
    else:
        assert (status, code) == (403, "wrong_role")


def _read(said: Any) -> dict[str, Any]:
    said.read()
    return said.json()


def test_an_agents_token_is_an_agent_and_no_more(site: Served, holders: Holders) -> None:
    claims = {"Astra-Operator": "true", "X-Role": "operator"}
    with site.client(holders["agent"], **claims) as http:
        listed = {tool["name"] for tool in http.get("/api/tools").json()["items"]}
        assert "astra_flags_set" not in listed
        body = {"name": "PERSONA_MODE_ENABLED", "on": False}
        problem(http.post("/api/tools/astra_flags_set", json=body), 403, "operator_only")
        problem(http.get("/api/ledger"), 403, "wrong_role")
        problem(http.get("/api/events"), 403, "wrong_role")
        assert http.post("/api/tools/astra_health", json={}).is_success
    until(lambda: "agent:token:tok_" in [actor[:16] for actor in _list_callers(site)])


def _list_callers(site: Served) -> list[str]:
    """List who asked for the health; other tests of this module call other tools."""
    words = ("ledger", "tail", "--type", "tool_called", "--count", "1000")
    records = site.astra.json(*words)["items"]
    return [record["actor"] for record in records if record["data"]["tool"] == "astra.health"]


def test_a_viewer_changes_nothing_not_even_as_an_agent(site: Served, holders: Holders) -> None:
    with site.client(holders["viewer"]) as http:
        assert http.get("/api/status").is_success
        for path in ("/api/desires", "/api/tools/write_file", "/api/stop", "/api/schedules"):
            problem(http.post(path, json={}), 403, "wrong_role")


def test_a_revoked_token_is_nobody(site: Served) -> None:
    made = site.token("viewer")
    with site.client(made["secret"]) as http:
        assert http.get("/api/status").is_success
        site.astra.json("tokens", "revoke", made["id"])
        problem(http.get("/api/status"), 401, "not_recognised")
    assert site.astra.json("tokens", "list")["items"][-1]["ended"]


def test_tokens_take_the_operators_signature(site: Served, holders: Holders) -> None:
    from datetime import UTC, datetime

    from astra.trusted.policy import access

    content = access.token_content(
        "mine", name="mine", role="operator", days=1, now=datetime.now(UTC)
    )
    with site.client(holders["operator"]) as http:
        unsigned = {"content": content, "authority": {}}
        problem(http.post("/api/tokens", json=unsigned), 403, "signature_rejected")
    with site.client("mine") as http:
        problem(http.get("/api/status"), 401, "not_recognised")
