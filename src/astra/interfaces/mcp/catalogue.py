"""The registry's tools as MCP shows them: a name, two schemas, and hints for the client's screen.

Every tool's output schema is its answer *or* a refusal, because clients check the structured
content of errors against it too.
"""

from collections.abc import Mapping
from typing import Any

from mcp_types import Tool as ShownTool
from mcp_types import ToolAnnotations
from pydantic import BaseModel, Field
from pydantic.json_schema import models_json_schema

from astra.trusted.calls.registry import AnyTool, Registry
from astra.trusted.policy.call import Tier


class Refusal(BaseModel):
    """Why there is no answer, and what to do about it."""

    code: str
    detail: str
    next_step: str
    approval_id: str | None = Field(
        default=None,
        description="what an operator has to approve before the same call goes through",
    )


class Catalogue:
    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        self._shown: dict[tuple[str, bool], ShownTool] = {}

    def shown(self, flags: Mapping[str, bool], *, operator: bool, dotted: bool) -> list[ShownTool]:
        return [
            self._one(tool, dotted=dotted)
            for tool in self._registry.visible(flags, operator=operator)
        ]

    def _one(self, tool: AnyTool, *, dotted: bool) -> ShownTool:
        key = (tool.name, dotted)
        if key not in self._shown:
            self._shown[key] = _describe(tool, tool.name if dotted else tool.underscored)
        return self._shown[key]


def _describe(tool: AnyTool, name: str) -> ShownTool:
    read_only = tool.tier is Tier.READ
    return ShownTool(
        name=name,
        title=tool.title,
        description=tool.description,
        input_schema=tool.input.model_json_schema(),
        output_schema=_answer_or_refusal(tool),
        annotations=ToolAnnotations(
            title=tool.title,
            read_only_hint=read_only,
            destructive_hint=not read_only and tool.hints.destructive,
            idempotent_hint=read_only or tool.hints.idempotent,
            open_world_hint=tool.hints.open_world,
        ),
    )


def _answer_or_refusal(tool: AnyTool) -> dict[str, Any]:
    models = (tool.output, Refusal)
    places, schema = models_json_schema([(model, "serialization") for model in models])
    options = [places[model, "serialization"] for model in models]
    return {"type": "object", "anyOf": options, **schema}
