"""Showing an operator's client the link where a person signs.

Clients that can open a link for their user are asked to (URL-mode elicitation), in addition to the
answer. What they reply is not read: a client can accept anything by itself, so accepting is no
approval.
"""

import asyncio
import contextlib
from typing import Any

from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp_types import (
    CallToolRequestParams,
    CallToolResult,
    ElicitRequest,
    ElicitRequestURLParams,
    InputRequiredResult,
)
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import ValidationError

from astra.trusted.kernel.ids import random_id

_offered: set[asyncio.Task[None]] = set()


async def offer_link(
    ctx: ServerRequestContext[Any, Any], params: CallToolRequestParams, result: CallToolResult
) -> CallToolResult | InputRequiredResult:
    """Give the result, or first the request to open its link where the protocol has it so."""
    link = _read_link(result)
    if not link or not _opens_links(ctx):
        return result
    message = "A person has to look at this approval and sign it."
    if ctx.protocol_version in MODERN_PROTOCOL_VERSIONS:
        if params.input_responses is not None:
            return result
        elicitation = ElicitRequest(params=ElicitRequestURLParams(message=message, url=link))
        return InputRequiredResult(input_requests={"sign": elicitation})
    task = asyncio.create_task(_elicit_url(ctx, message, link))
    _offered.add(task)
    task.add_done_callback(_offered.discard)
    return result


async def _elicit_url(ctx: ServerRequestContext[Any, Any], message: str, link: str) -> None:
    with contextlib.suppress(MCPError, ValidationError):
        await ctx.session.elicit_url(message, link, random_id("eli"))


def _read_link(result: CallToolResult) -> str:
    answer: dict[str, Any] = result.structured_content or {}
    return "" if result.is_error else str(answer.get("link", ""))


def _opens_links(ctx: ServerRequestContext[Any, Any]) -> bool:
    able = ctx.session.client_capabilities
    return able is not None and able.elicitation is not None and able.elicitation.url is not None
