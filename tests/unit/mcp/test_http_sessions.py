"""Who shares a budget over HTTP: one session, or one caller where there are no sessions."""

from types import SimpleNamespace
from typing import Any, cast

from starlette.requests import Request

from astra.interfaces.mcp.session import Budget
from astra.interfaces.mcp.streamable import HttpSessions
from astra.interfaces.mcp.tool_server import Context, ToolServer
from astra.testing import CounterInMemory


def sessions() -> HttpSessions:
    inside = CounterInMemory()
    ledger = inside.gate.root.ledger
    tools = ToolServer(
        counter=lambda: inside.counter, ledger=ledger, flags=lambda _off: inside.gate.on
    )
    return HttpSessions(tools, dotted=False)


def budget(known: HttpSessions, version: str, session: str, who: str = "user:1") -> Budget:
    headers = [(b"mcp-session-id", session.encode())]
    scope: dict[str, Any] = {"type": "http", "headers": headers, "client": (who, 1)}
    ctx = SimpleNamespace(request=Request(scope), protocol_version=version)
    return known._session_of(cast("Context", ctx)).budget


def test_sessions_have_a_budget_each() -> None:
    known = sessions()
    assert budget(known, "2025-11-25", "a") is budget(known, "2025-11-25", "a")
    assert budget(known, "2025-11-25", "a") is not budget(known, "2025-11-25", "b")


def test_without_sessions_a_made_up_session_id_brings_no_new_budget() -> None:
    known = sessions()
    assert budget(known, "2026-07-28", "a") is budget(known, "2026-07-28", "b")
    assert budget(known, "2026-07-28", "a") is not budget(known, "2026-07-28", "a", who="user:2")


def test_a_session_id_cannot_name_anothers_budget() -> None:
    known = sessions()
    shared = budget(known, "2026-07-28", "")
    assert budget(known, "2025-11-25", "agent:user:1") is not shared
