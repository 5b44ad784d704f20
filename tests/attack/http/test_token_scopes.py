"""Tokens for less than their role: what they are tried for beyond it, at the real port."""

import asyncio
from typing import Any

import pytest
from mcp import MCPError

from astra.trusted.door.rules import RULES
from astra.trusted.policy import access
from astra.trusted.policy.call import Role
from http_driver import Served, problem
from mcp_driver import ERAS, names, over_http, refusal

WRITE = {"path": "notes/a.md", "content": "a"}
HEALTH = ("astra_health", "astra_smoke")


def test_a_service_reaches_the_routes_that_it_names_and_no_other(site: Served) -> None:
    token = site.token("service", "--for", "metrics")
    with site.client(token["secret"]) as http:
        assert http.get("/api/status").is_success
        assert http.get("/api/session").json()["role"] == "service"
        for route in sorted(RULES):
            method, path = route.split(" ")
            if route in token["limits"]["routes"] or route == "GET /api/session":
                continue
            if not RULES[route].roles:
                continue
            path = path.replace("{identifier}", "apr_00000000").replace("{name}", "astra_health")
            path = path.replace("{model}", "astra")
            code = "outside_scope" if Role.SERVICE in RULES[route].roles else "wrong_role"
            problem(
                http.request(method, path, content=b"{}" if method == "POST" else None), 403, code
            )


def test_a_service_without_routes_is_refused_before_anything_is_signed(site: Served) -> None:
    said = site.astra.json("tokens", "create", "x", "--role", "service", code=2)
    assert said["code"] == "service_without_routes"
    assert "--for metrics" in said["next_step"]


@pytest.mark.parametrize(
    "options",
    [
        ("--tool", "no_such_tool"),
        ("--route", "GET /api/nothing"),
        ("--route", "POST /api/down"),
        ("--toolset", "nonsense"),
        ("--path", "/etc/**"),
    ],
)
def test_a_scope_of_what_is_not_there_is_a_mistake(site: Served, options: tuple[str, str]) -> None:
    said = site.astra.json("tokens", "create", "x", *options, code=2)
    assert said["next_step"]


def test_a_scope_that_nobody_signed_is_none(site: Served) -> None:
    """Whoever takes the limits out of what was signed, or widens them, has no signature."""
    from datetime import UTC, datetime

    from astra.trusted.policy import authority
    from astra.trusted.policy.limits import build_limits

    with site.client(site.login()) as http:
        content = access.token_content(
            "wide",
            name="x",
            role="agent",
            days=1,
            now=datetime.now(UTC),
            limits=build_limits(tier=0),
        )
        statement = site.statement(http, access.TOKEN_CREATED, content)
        signed = authority.sign(statement, site.key()).as_dict()
        without = {name: value for name, value in content.items() if name != "limits"}
        wider = {**content, "limits": {**content["limits"], "tier": 1}}
        for changed in (without, wider, {**content, "role": "operator"}, {**content, "mine": True}):
            body = {"content": changed, "authority": signed}
            problem(http.post("/api/tokens", json=body), 403, "signature_rejected")


def test_a_token_for_reading_writes_nothing_by_any_door(site: Served) -> None:
    token = site.token("agent", "--tier", "0", "--hours", "1")
    with site.client(token["secret"]) as http:
        names = {tool["name"] for tool in http.get("/api/tools").json()["items"]}
        assert "write_file" not in names
        assert "list_source_files" in names
        assert http.post("/api/tools/astra_health", json={}).is_success
        problem(http.post("/api/tools/write_file", json=WRITE), 403, "outside_scope")
        problem(http.post("/api/desires", json={"text": "more"}), 403, "outside_scope")
        problem(http.get("/api/schedules"), 403, "outside_scope")


def test_a_token_for_some_tools_has_no_other_run_for_it_later(site: Served) -> None:
    token = site.token("agent", "--tool", "astra.schedule.*", "--tool", "astra.health")
    schedule = {"name": "later", "cron_expression": "@daily", "payload": {}}
    with site.client(token["secret"]) as http:
        door = "/api/tools/astra_schedule_create"
        writing = {**schedule, "target_tool": "write_file", "payload": WRITE}
        problem(http.post(door, json=writing), 403, "outside_scope")
        made = http.post(door, json={**schedule, "target_tool": "astra.health"})
        assert made.is_success, made.text
        changed = {"id": made.json()["id"], "target_tool": "write_file", "payload": WRITE}
        problem(http.post("/api/tools/astra_schedule_modify", json=changed), 403, "outside_scope")
        problem(http.post("/api/tools/write_file", json=WRITE), 403, "outside_scope")
    others = site.astra.json(
        "tools",
        "call",
        "astra_schedule_create",
        '{"name": "others", "cron_expression": "@daily", "target_tool": "list_files"}',
    )["id"]
    with site.client(token["secret"]) as http:
        body = {"id": others, "cron_expression": "* * * * *"}
        problem(http.post("/api/tools/astra_schedule_modify", json=body), 403, "outside_scope")
        problem(
            http.post("/api/tools/astra_schedule_resume", json={"id": others}), 403, "outside_scope"
        )


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("read_source_code", {"path": "README.md"}),
        ("read_source_code", {"path": "src/README.md"}),
        ("read_source_code", {"path": "docs/../README.md"}),
        ("read_source_code", {"path": "docs/missing.md/../../README.md"}),
        ("list_source_files", {}),
        ("list_source_files", {"folder": "src"}),
        ("search_source", {"pattern": "a"}),
        ("search_source", {"pattern": "a", "folder": "", "glob": "docs/**"}),
        ("read_file", {"path": "src/README.md"}),
        ("read_file", {"path": "/etc/hostname"}),
        ("read_file", {"path": "secret/a.md"}),
        ("read_file", {"path": "notes/../secret/a.md"}),
        ("write_file", {"path": "secret/a.md", "content": "a"}),
        ("delete_file", {"path": "secret/a.md"}),
        ("run_in_sandbox", {"command": ["cat", "README.md"]}),
        ("research_and_summarize", {"question": "what is in README.md?"}),
        ("astra_changes_list", {}),
        (
            "astra_schedule_create",
            {"name": "x", "cron_expression": "@daily", "target_tool": "list_files"},
        ),
    ],
)
def test_a_token_for_some_paths_touches_no_other(
    site: Served, narrow: str, tool: str, arguments: dict[str, Any]
) -> None:
    with site.client(narrow) as http:
        said = http.post(f"/api/tools/{tool}", json=arguments)
    assert said.status_code in {400, 403}, said.text
    assert said.json()["code"] in {"outside_scope", "path_parent_reference"}


def test_a_token_for_some_paths_works_on_those(site: Served, narrow: str) -> None:
    with site.client(narrow) as http:
        assert http.post("/api/tools/write_file", json=WRITE).is_success
        assert http.post("/api/tools/read_file", json={"path": "notes/a.md"}).json()["text"] == "a"
        assert http.post("/api/tools/list_files", json={"folder": "notes"}).is_success
        missing = http.post("/api/tools/read_source_code", json={"path": "docs/missing.md"})
        assert missing.status_code == 404, missing.text
        for path in ("/api/schedules", "/api/beliefs", "/api/agents", "/api/desires"):
            problem(http.get(path), 403, "outside_scope")


@pytest.fixture(scope="module")
def narrow(site: Served) -> str:
    return str(site.token("agent", "--path", "docs/**", "--path", "/own/notes/**")["secret"])


def test_a_token_says_what_it_is_for_and_who_made_it(site: Served) -> None:
    site.token("viewer")
    made = site.token("agent", "--toolset", "source", "--mine", "--hours", "2")
    listed = next(
        item for item in site.astra.json("tokens", "list")["items"] if item["id"] == made["id"]
    )
    assert (listed["made_by"], listed["mine"]) == ("owner", True)
    assert "read_source_code" in listed["limits"]["tools"]
    text = site.astra.run("tokens", "list").stdout
    assert "tools: astra.health" in text
    assert "all of its role" in text


@pytest.mark.parametrize("era", ERAS)
def test_a_scope_holds_over_mcp_in_both_eras(site: Served, era: str) -> None:
    token = site.token("agent", "--toolset", "source", "--path", "docs/**")
    asyncio.run(try_over_mcp(site, token["secret"], era))


async def try_over_mcp(site: Served, secret: str, era: str) -> None:
    headers = {"Authorization": f"Bearer {secret}"}
    url = f"http://127.0.0.1:{site.port}/mcp"
    async with over_http(url, mode=era, headers=headers) as client:
        shown = set(await names(client))
        assert shown == {"list_source_files", "read_source_code", "search_source", *HEALTH}
        for tool, arguments in (
            ("write_file", WRITE),
            ("read_source_code", {"path": "README.md"}),
            ("search_source", {"pattern": "a"}),
        ):
            assert (await refusal(client, tool, **arguments))["code"] == "outside_scope"
        with pytest.raises(MCPError):
            await client.read_resource("astra://source/README.md")
        listed = await client.list_resources()
        assert not [
            item for item in listed.resources if str(item.uri).startswith("astra://source/")
        ]
