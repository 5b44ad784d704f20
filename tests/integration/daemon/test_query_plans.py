"""Nothing the daemon answers reads a table that grows: asked of a long history, through the routes.

The ledger in memory refuses such queries in every unit test (`astra.testing_queries`); here the
routes of the real daemon ask a real index.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi.routing import APIRoute
from starlette.testclient import TestClient

from astra import testing_queries
from astra.bootstrap.build import build_runtime
from astra.bootstrap.runtime import Runtime
from astra.interfaces.daemon import app as api
from astra.interfaces.daemon.activity import Activity
from astra.trusted.ledger import chain
from astra.trusted.ledger.record import Event, Head
from astra.trusted.settings import environment
from driver import Astra, make_repository

TURNS = 2_000
FILTERS: dict[str, list[dict[str, Any]]] = {
    "/api/ledger": [{"type": "flag_set"}, {"last": 5}, {"last": 5, "type": "flag_set"}],
    "/api/approvals": [
        {"state": state, "newest": newest, **cursor}
        for state in ("all", "pending", "expired")
        for newest in (True, False)
        for cursor in ({}, {"cursor": 500})
    ],
    "/api/awareness": [{"kind": "alert"}, {"cursor": "500"}],
    "/api/tasks": [{"state": "finished"}],
    "/api/changes": [{"state": "executed"}],
    "/api/agents": [{"state": "paused"}],
    "/api/desires": [{"tag": "sea"}, {"search": "sail"}],
    "/api/releases": [{"all": True}],
}
UNASKED = frozenset({"/api/events", "/api/session"})
"""A stream without end, and a question about whoever came through the loopback port."""


@pytest.fixture(scope="module")
def runtime(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Runtime]:
    astra = Astra(tmp_path_factory.mktemp("plans"))
    astra.json("init", make_repository(astra.folder / "target"), "--throwaway")
    astra.run("down")
    prolong(astra.root / "var" / "ledger")
    opened = build_runtime(environment.load(astra.environment))
    yield opened
    opened.close()


def prolong(folder: Path) -> None:
    """Write a history behind the first records, as it would be in the files."""
    path = max(folder.glob("*.ndjson"))
    last = chain.parse(path.read_text().splitlines()[-1])
    head = Head(last.sequence, last.hash, last.time)
    with path.open("a") as file:
        for number in range(TURNS):
            for record in chain.link(turn(number), after=head, time=head.time):
                head = Head(record.sequence, record.hash, record.time)
                file.write(f"{record.line}\n")


def turn(number: int) -> list[Event]:
    approval, talk = f"apr_{number:08x}", f"chat_{number:08x}"
    request = {
        "kind": "tool_call",
        "subject_id": "fetch_url",
        "digest": f"{number:064x}",
        "summary": "asks to fetch a page",
        "details": {},
        "expires_at": "2026-01-01T00:00:00.000000Z",
    }
    said = {"who": "person", "digest": f"{number:064x}", "length": 16}
    outcome = {"outcome": {"ok": True}, "tool": "read_source"}
    return [
        Event(type="approval_requested", actor="agent", subject=approval, data=request),
        Event(type="approval_expired", actor="agent", subject=approval, data={"reason": "late"}),
        Event(type="chat_asked", actor="operator", subject=talk, data=said),
        Event(type="tool_called", actor="agent", data=outcome),
        Event(type="desires_surveyed", actor="daemon", data={"top": []}),
    ]


def listings(app: api.FastAPI) -> list[tuple[str, dict[str, Any]]]:
    paths = [
        route.path
        for route in app.routes
        if isinstance(route, APIRoute) and route.methods == {"GET"} and "{" not in route.path
    ]
    return [
        (path, query)
        for path in paths
        if path not in UNASKED
        for query in [{}, *FILTERS.get(path, ())]
    ]


def test_no_route_reads_a_table_that_grows(runtime: Runtime) -> None:
    app = api.build(runtime, Activity(), lambda: None, api.PlainTextResponse("no MCP here"))
    client = TestClient(app, raise_server_exceptions=True)
    asked = listings(app)
    for path, query in asked:
        answer = client.get(path, params=query)
        assert answer.status_code < 500, (path, query, answer.text)
    for path in ("/api/approvals/apr_00000001", "/api/chat/chat_00000001"):
        assert client.get(path).status_code == 200
    ledger = runtime.ledger
    scanning = {
        sql: tables
        for sql in [*ledger.asked]
        if sql.lstrip().startswith(("SELECT", "WITH"))
        if (tables := testing_queries.find_scanned_tables(ledger, sql, [None] * sql.count("?")))
    }
    assert not scanning, json.dumps(scanning, indent=1)
    assert len(asked) > len(FILTERS)
    assert len(ledger.asked) > len(asked)
    for table in ("record", "approval", "chat_message", "awareness"):
        assert any(f"FROM {table} " in sql for sql in ledger.asked), table


def test_nothing_is_kept_for_each_request(runtime: Runtime) -> None:
    """What a daemon remembers may not grow with how often, or for what, it is asked.

    The texts of its questions, open readers of the index and records that wait for one are kept;
    the second hundred requests find them as large as the first left them.
    """
    app = api.build(runtime, Activity(), lambda: None, api.PlainTextResponse("no MCP here"))
    client, sizes = TestClient(app, raise_server_exceptions=True), list[tuple[int, ...]]()
    for turn in range(2):
        for path, query in listings(app):
            assert client.get(path, params=query).status_code < 500, path
        for number in range(50):
            name = f"{turn * 50 + number:08x}"
            for path in ("approvals/apr_", "chat/chat_", "ledger/story/cor_", "nothing/"):
                assert client.get(f"/api/{path}{name}").status_code < 500
        kept = vars(runtime.ledger)["_index"]
        sizes.append(
            (len(runtime.ledger.asked), len(vars(kept)["_idle"]), len(vars(kept)["_deferred"]))
        )
    assert sizes[0][0] == sizes[1][0]
    assert sizes[1][1] <= 8
    assert sizes[1][2] == 0


def test_a_query_that_scans_is_found_out(runtime: Runtime) -> None:
    for sql, tables in (
        ("SELECT line FROM record WHERE (type = ? OR ? = '') ORDER BY sequence", ["record_row"]),
        ("SELECT line FROM record WHERE sequence > ? AND +type = ? LIMIT 9", ["record_row"]),
        ("SELECT id FROM approval WHERE reason = ? AND summary = ?", ["approval"]),
        ("SELECT d.id FROM desire d WHERE d.text = ? AND d.goal = ?", ["desire"]),
        ("SELECT line FROM record WHERE type = ? AND sequence > ?", []),
        ("SELECT id FROM release WHERE state != 'removed' AND ? = ? ORDER BY built_at", []),
    ):
        assert testing_queries.find_scanned_tables(runtime.ledger, sql, ["", ""]) == tables, sql
