"""Tools of other MCP servers, imported: `mcp.NAME.TOOL`, behind the same gate as Astra's own.

What is offered is what the operator signed: the words and schema of the accepted declaration, the
tier and the footprint of the signed entry. A server that is gone, changed or unsigned has no tool
here. They are made anew whenever a configuration, an acceptance or a look at a server changed
something, and never otherwise.
"""

import copy
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, cast

from pydantic import BaseModel, ConfigDict, model_validator

from astra.tools import server_texts
from astra.tools.services import Services
from astra.tools.source import PERSONA
from astra.trusted.calls.registry import Answer, AnyTool, Hints, Tool
from astra.trusted.kernel.errors import AstraError
from astra.trusted.policy.call import Footprint, Tier
from astra.trusted.servers import classification
from astra.trusted.servers.acceptance import ServerBook
from astra.trusted.servers.declaration import Declaration, spell_underscored
from astra.trusted.servers.signed_entries import SignedServers
from astra.trusted.settings.server_settings import McpServer

PREFIX = "mcp"
_JSON_TYPES: dict[str, type | tuple[type, ...]] = {
    "string": str,
    "integer": int,
    "number": (int, float),
    "boolean": bool,
    "array": list,
    "object": dict,
}


class ServerToolFailed(AstraError):
    code = "server_tool_failed"
    http_status = 502


class ImportedArguments(BaseModel):
    """Arguments of another server's tool: what its plain schema does not exclude."""

    model_config = ConfigDict(extra="allow")
    plain_schema: ClassVar[Mapping[str, Any]] = {}

    @model_validator(mode="before")
    @classmethod
    def check_members(cls, value: Any) -> Any:
        arguments = cast("dict[str, Any]", value)
        for name in cls.plain_schema.get("required", ()):
            if name not in arguments:
                raise ValueError(f"{name} is missing")
        for name, schema in cls.plain_schema.get("properties", {}).items():
            if name in arguments and not _has_type(arguments[name], schema.get("type")):
                raise ValueError(f"{name} is not of the type {schema['type']}")
        return arguments

    @classmethod
    def __get_pydantic_json_schema__(cls, core_schema: Any, generate: Any) -> dict[str, Any]:
        del core_schema, generate
        return copy.deepcopy(dict(cls.plain_schema))


class ImportedAnswer(Answer):
    server: str
    text: str
    cut: bool


class ImportedRegistry:
    """The tools of other servers that may be called now."""

    def __init__(self, book: ServerBook, signed: SignedServers) -> None:
        self._book, self._signed = book, signed
        self._made: tuple[tuple[int, ...], dict[str, AnyTool]] = ((), {})

    def list_tools(self) -> Sequence[AnyTool]:
        return [tool for name, tool in self._current().items() if name == tool.name]

    def find_tool(self, name: str) -> AnyTool | None:
        return self._current().get(name) if name.startswith(PREFIX) else None

    def version(self) -> tuple[int, ...]:
        servers = self._signed.read().servers
        if not servers:
            return ()
        return (self._signed.version(), *(self._book.version(server.name) for server in servers))

    def _current(self) -> dict[str, AnyTool]:
        key = self.version()
        if key != self._made[0]:
            self._made = (key, self._make_tools(self._signed.read().servers))
        return self._made[1]

    def _make_tools(self, servers: Sequence[McpServer]) -> dict[str, AnyTool]:
        tools = [
            make_tool(server, declaration)
            for server in servers
            for declaration in self._book.find_usable(server.name).values()
            if server.imports(declaration.name)
        ]
        return {spelling: tool for tool in tools for spelling in (tool.name, tool.underscored)}


def name_tool(server: str, tool: str) -> str:
    """Name an imported tool.

    >>> name_tool("git", "git_status")
    'mcp.git.git_status'
    """
    return f"{PREFIX}.{server}.{spell_underscored(tool)}"


def make_tool(server: McpServer, declaration: Declaration) -> AnyTool:
    """Make the tool that stands for another server's, by what was signed about both."""
    tool, tier = declaration.name, classification.find_tier(server, declaration.name)

    def run(arguments: BaseModel, services: Services) -> ImportedAnswer:
        document = arguments.model_dump(mode="json")
        result = services.servers.call(server.name, tool, document, services.cancellation)
        return build_answer(server.name, tool, result)

    def find_footprint(arguments: BaseModel, _services: Services) -> Footprint:
        return classification.find_footprint(server, tool, arguments.model_dump(mode="json"))

    def find_loosening(arguments: BaseModel, _services: Services) -> str:
        return classification.find_loosening(server, tool, arguments.model_dump(mode="json"))

    return Tool(
        name=name_tool(server.name, tool),
        title=f"{tool} of {server.name}",
        description=server_texts.describe_tool(server.name, declaration.description),
        input=make_arguments(declaration.schema),
        output=ImportedAnswer,
        tier=tier,
        flags=PERSONA,
        slow=True,
        hints=Hints(destructive=tier is not Tier.READ, idempotent=False, open_world=True),
        handler=run,
        footprint=find_footprint,
        loosens=find_loosening,
        text_members=("text",),
        server=server.name,
        server_budget=server.calls_per_day,
    )


def make_arguments(schema: Mapping[str, Any]) -> type[ImportedArguments]:
    return type("Arguments", (ImportedArguments,), {"plain_schema": dict(schema)})


def build_answer(server: str, tool: str, result: Mapping[str, Any]) -> ImportedAnswer:
    text = server_texts.read_texts(result)
    if result.get("isError"):
        visible_text, _ = server_texts.cut_text(text, server_texts.LONGEST_FAILURE)
        raise ServerToolFailed(
            f"{tool} failed: {server_texts.wrap_text(server, visible_text)}",
            next_step="mend the arguments, or go on without it",
        )
    visible_text, is_cut = server_texts.cut_text(text, server_texts.LONGEST_ANSWER)
    return ImportedAnswer(
        server=server, text=server_texts.wrap_text(server, visible_text), cut=is_cut
    )


def _has_type(value: object, kind: object) -> bool:
    """Tell whether a value is of a type that a schema names; what it does not name is any."""
    names = cast("list[object]", kind) if isinstance(kind, list) else [kind]
    if kind is None or "null" in names or not all(name in _JSON_TYPES for name in names):
        return True
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return any(
        is_number and isinstance(value, _JSON_TYPES[name])
        if name in {"integer", "number"}
        else isinstance(value, _JSON_TYPES[name])
        for name in cast("list[str]", names)
    )
