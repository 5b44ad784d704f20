"""What a tool call answers: structured content, the same as text, and the story it belongs to.

Source, output and diffs are text as they are, a block each, and the facts about them are JSON in
the last block: a model reads code better than a string inside JSON.

Refusals and failures are results too, so that the model hears the reason and the next step; it
never sees a stack trace. Text is shown escaped where somebody else may have written it.
"""

import json
from typing import Any

from mcp_types import CallToolResult, TextContent

from astra.interfaces.mcp.next_steps import for_model
from astra.trusted.kernel.errors import AstraError
from astra.trusted.kernel.text import printable

CORRELATION = "astra/correlation"


def build_answer(
    document: dict[str, Any],
    correlation: str,
    *,
    text_members: tuple[str, ...] = (),
    plain: bool = False,
) -> CallToolResult:
    if isinstance(document.get("next"), str):
        document["next"] = for_model(document["next"])  # a cursor has no command in it
    texts = [document[name] for name in text_members if document.get(name)]
    facts = {name: value for name, value in document.items() if name not in text_members}
    blocks = [*texts, json.dumps(facts, ensure_ascii=False)]
    return CallToolResult(
        content=[TextContent(text=text) for text in blocks],
        structured_content=None if plain else document,
        is_error=False,
        _meta={CORRELATION: correlation},
    )


def build_refusal(error: AstraError, correlation: str) -> CallToolResult:
    reason = {
        "code": error.reason,
        "detail": printable(error.detail),
        "next_step": printable(for_model(error.next_step)),
    }
    approval = error.facts.get("approval_id")
    if approval:
        reason["approval_id"] = str(approval)
    text = f"{reason['detail']}\nReason: {reason['code']}\nNext step: {reason['next_step']}"
    return CallToolResult(
        content=[TextContent(text=text)],
        structured_content=reason,
        is_error=True,
        _meta={CORRELATION: correlation},
    )


def build_fault(correlation: str) -> CallToolResult:
    """Answer for a failure nobody foresaw; the daemon's log has the details, the client has not."""
    error = AstraError(
        "the call failed inside Astra; it is recorded",
        next_step=f"tell the operator to look at {correlation} (`astra ledger story`)",
    )
    return build_refusal(error, correlation)
