"""What a tool call answers: structured content, the same as text, and the story it belongs to.

Refusals and failures are results too, so that the model hears the reason and the next step; it
never sees a stack trace. Text is shown escaped where somebody else may have written it.
"""

import json
from typing import Any

from mcp_types import CallToolResult, TextContent

from astra.trusted.kernel.errors import AstraError
from astra.trusted.kernel.text import printable

CORRELATION = "astra/correlation"


def given(document: dict[str, Any], correlation: str) -> CallToolResult:
    text = json.dumps(document, ensure_ascii=False)
    return _result(text, document, correlation, is_error=False)


def refused(error: AstraError, correlation: str) -> CallToolResult:
    reason = {
        "code": error.reason,
        "detail": printable(error.detail),
        "next_step": printable(error.next_step),
    }
    approval = error.facts.get("approval_id")
    if approval:
        reason["approval_id"] = str(approval)
    text = f"{reason['detail']}\nReason: {reason['code']}\nNext step: {reason['next_step']}"
    return _result(text, reason, correlation, is_error=True)


def broken(correlation: str) -> CallToolResult:
    """Answer for a failure nobody foresaw; the daemon's log has the details, the client has not."""
    error = AstraError(
        "the call failed inside Astra; it is recorded",
        next_step=f"tell the operator to look at {correlation} (`astra ledger story`)",
    )
    return refused(error, correlation)


def _result(
    text: str, structured: dict[str, Any], correlation: str, *, is_error: bool
) -> CallToolResult:
    return CallToolResult(
        content=[TextContent(text=text)],
        structured_content=structured,
        is_error=is_error,
        _meta={CORRELATION: correlation},
    )
