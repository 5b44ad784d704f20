"""The registry's tools as MCP shows them: a name, two schemas, and hints for the client's screen.

A model pays for this list in every conversation, so it is kept small: schemas are compact
(`tools.compact_schemas`), and the output schema says no more than that there is an object. A
refusal is the same for every tool: `code`, `detail`, `next_step`, and `approval_id` where a
signature would let the same call through. What a session does not ask for (`toolsets`) and what
does not exist yet is not in the list.
"""

from collections.abc import Mapping
from typing import Any

from mcp_types import Tool as ShownTool
from mcp_types import ToolAnnotations

from astra.interfaces.mcp import first_answers
from astra.interfaces.mcp.first_answers import ListedTool
from astra.interfaces.mcp.toolsets import Selection
from astra.tools import compact_schemas
from astra.trusted.calls.registry import AnyTool, Registry
from astra.trusted.policy.call import Tier
from astra.trusted.policy.limits import NO_LIMITS, Limits

_EVERYTHING = Selection()


class Catalogue:
    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        self._shown: dict[tuple[str, bool, bool], tuple[AnyTool, ShownTool]] = {}

    def list_tools(
        self,
        flags: Mapping[str, bool],
        *,
        operator: bool,
        dotted: bool,
        selection: Selection = _EVERYTHING,
        plain: bool = False,
        limits: Limits = NO_LIMITS,
    ) -> list[ShownTool]:
        offered = self.select_tools(flags, operator=operator, selection=selection, limits=limits)
        return [self._describe_once(tool, dotted=dotted, plain=plain) for tool in offered]

    def select_tools(
        self,
        flags: Mapping[str, bool],
        *,
        operator: bool,
        selection: Selection = _EVERYTHING,
        limits: Limits = NO_LIMITS,
    ) -> list[AnyTool]:
        return [
            tool
            for tool in self._registry.list_visible(flags, operator=operator)
            if tool.available
            and selection.includes(tool)
            and not limits.find_tool_objection(tool.name, int(tool.tier))
        ]

    def _describe_once(self, tool: AnyTool, *, dotted: bool, plain: bool) -> ShownTool:
        key = (tool.name, dotted, plain)
        shown_before = self._shown.get(key)
        # An imported tool may have been signed anew.
        if shown_before is None or shown_before[0] is not tool:
            name = tool.name if dotted else tool.underscored
            shown_before = self._shown[key] = (tool, _describe_tool(tool, name, plain=plain))
        return shown_before[1]


def list_rows(registry: Registry, *, imported: bool = False) -> list[dict[str, Any]]:
    """Describe every tool of a kind, whoever may see it, for a list without a registry."""
    return [
        first_answers.as_row(_list_tool(tool))
        for tool in registry.list_all()
        if tool.available and bool(tool.server) == imported
    ]


def _list_tool(tool: AnyTool) -> ListedTool:
    description = _describe_tool(tool, tool.name, plain=False)
    members = description.model_dump(
        mode="json", by_alias=True, exclude_none=True, exclude={"name"}
    )
    return ListedTool(
        name=tool.name,
        tier=tool.tier,
        flags=tool.flags,
        operator_only=tool.operator_only,
        shown=members,
    )


def _describe_tool(tool: AnyTool, name: str, *, plain: bool) -> ShownTool:
    return ShownTool(
        name=name,
        description=tool.description,
        input_schema=compact_schemas.compact_input(tool.input),
        output_schema=None if plain else compact_schemas.ANSWER,
        annotations=_describe_hints(tool),
    )


def _describe_hints(tool: AnyTool) -> ToolAnnotations:
    """Give the hints; one that the protocol takes for granted or for meaningless is left out."""
    hints = tool.hints
    if tool.tier is Tier.READ:
        return ToolAnnotations(read_only_hint=True, open_world_hint=hints.open_world)
    return ToolAnnotations(
        read_only_hint=False,
        destructive_hint=hints.destructive,
        idempotent_hint=hints.idempotent or None,
        open_world_hint=hints.open_world,
    )
