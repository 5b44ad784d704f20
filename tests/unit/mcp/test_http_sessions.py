"""Who shares a budget over HTTP: one session, or one caller where there are no sessions."""

import time
from collections.abc import Callable
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

from starlette.requests import Request

from astra.interfaces.mcp.session import Budget
from astra.interfaces.mcp.streamable import HttpSessions
from astra.interfaces.mcp.tool_server import ToolServer
from astra.testing import CounterInMemory

if TYPE_CHECKING:
    from astra.interfaces.mcp.resource_handlers import Context


def sessions(seconds: Callable[[], float] = time.monotonic) -> HttpSessions:
    inside = CounterInMemory()
    ledger = inside.gate.root.ledger
    tools = ToolServer(
        counter=lambda: inside.counter, ledger=ledger, flags=lambda _off: inside.gate.on
    )
    return HttpSessions(tools, dotted=False, seconds=seconds)


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


def test_without_sessions_a_budget_is_an_hours_and_says_so() -> None:
    now = 1_000.0
    known = sessions(lambda: now)
    first = budget(known, "2026-07-28", "")
    assert first.hourly
    now += 3_599.0
    assert budget(known, "2026-07-28", "") is first
    now += 2.0
    assert budget(known, "2026-07-28", "") is not first


def test_a_session_id_cannot_name_anothers_budget() -> None:
    known = sessions()
    shared = budget(known, "2026-07-28", "")
    assert budget(known, "2025-11-25", "agent:user:1") is not shared
