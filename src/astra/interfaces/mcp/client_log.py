"""The log a client shows its person: what became of this session's own calls, as far as asked for.

Nothing is sent to a client that asked for no level: with `logging/setLevel` in the 2025 protocol,
with a member of the request's `_meta` in the 2026 protocol. A call is `debug` when it begins and
when it is answered, `info` while it takes long, `warning` when it is refused or failed.
"""

from typing import Any

from mcp.server.connection import allowed_log_levels
from mcp.server.context import ServerRequestContext
from mcp_types import (
    CallToolResult,
    LoggingLevel,
    LoggingMessageNotification,
    LoggingMessageNotificationParams,
)
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from astra.interfaces.mcp.answers import CORRELATION
from astra.trusted.kernel.text import printable

_LEVELS: tuple[LoggingLevel, ...] = (
    "debug",
    "info",
    "notice",
    "warning",
    "error",
    "critical",
    "alert",
    "emergency",
)
_LOGGER = "astra"
_LONGEST_NAME = 100
Context = ServerRequestContext[Any, Any]


class ClientLog:
    def __init__(self) -> None:
        self._levels: dict[object, LoggingLevel] = {}

    def set_level(self, client: object, level: LoggingLevel) -> None:
        self._levels[client] = level

    def forget(self, client: object) -> None:
        self._levels.pop(client, None)

    def shows(self, ctx: Context, client: object, level: LoggingLevel) -> bool:
        """Tell whether a client wants to hear of something."""
        if ctx.protocol_version in MODERN_PROTOCOL_VERSIONS:
            return level in allowed_log_levels(ctx.protocol_version, ctx.meta)
        lowest = self._levels.get(client)
        return lowest is not None and _LEVELS.index(level) >= _LEVELS.index(lowest)

    async def write(
        self, ctx: Context, client: object, level: LoggingLevel, facts: dict[str, Any]
    ) -> None:
        if not self.shows(ctx, client, level):
            return
        params = LoggingMessageNotificationParams(level=level, logger=_LOGGER, data=facts)
        notification = LoggingMessageNotification(params=params)
        await ctx.session.send_notification(notification, related_request_id=ctx.request_id)


def describe_begin(tool: str) -> dict[str, Any]:
    return {"tool": printable(tool[:_LONGEST_NAME]), "state": "called"}


def describe_result(tool: str, result: CallToolResult) -> tuple[LoggingLevel, dict[str, Any]]:
    """Say what became of a call, and how much that matters."""
    facts = {
        "tool": printable(tool[:_LONGEST_NAME]),
        "state": "refused" if result.is_error else "answered",
        "correlation": (result.meta or {}).get(CORRELATION),
    }
    if not result.is_error:
        return "debug", facts
    reason: dict[str, Any] = result.structured_content or {}
    members = ("code", "detail", "next_step", "approval_id")
    return "warning", {**facts, **{name: reason[name] for name in members if name in reason}}
