"""What a tool is, and the one list of them.

A tool is a name, typed input and output, a tier, a footprint computed from the arguments, and a
handler that cannot be reached without a permit. The same registry feeds MCP, HTTP, chat, schedules,
plans and the command line. To add one, write a `Tool` in the module of its family and name it in
that module's `TOOLS`.

Names are dotted where they have parts (`astra.desires.list`); doors may show underscores instead
(`astra_desires_list`), and both are understood everywhere.
"""

import difflib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, Protocol, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from astra.trusted.kernel.errors import BadInput, NotFound
from astra.trusted.kernel.text import printable
from astra.trusted.policy.call import Footprint, Tier
from astra.trusted.policy.permit import Permit

In = TypeVar("In", bound=BaseModel)
Out = TypeVar("Out", bound=BaseModel)


class Arguments(BaseModel):
    """Input of a tool: unknown members are errors, so that a misspelt one is noticed."""

    model_config = ConfigDict(extra="forbid")


class Answer(BaseModel):
    """Output of a tool; it can be built from the domain's own values."""

    model_config = ConfigDict(from_attributes=True)


@dataclass(frozen=True)
class Hints:
    """What a client may show about a tool. The gate never reads them."""

    destructive: bool = False
    idempotent: bool = True
    open_world: bool = False


def _no_footprint(_arguments: Any, _services: Any) -> Footprint:
    return Footprint()


def _unknown_files(_arguments: Any, _services: Any) -> None:
    return None


@dataclass(frozen=True, kw_only=True)
class Tool(Generic[In, Out]):
    name: str
    title: str
    description: str
    input: type[In]
    output: type[Out]
    tier: Tier
    handler: Callable[[In, Any], Out] = field(repr=False)
    flags: tuple[str, ...] = ()
    operator_only: bool = False
    available: bool = True
    slow: bool = False
    """Takes long: on a clock it runs as a durable job."""
    hints: Hints = field(default_factory=Hints)
    footprint: Callable[[In, Any], Footprint] = _no_footprint
    aliases: tuple[str, ...] = ()
    files: Callable[[In, Any], tuple[str, ...] | None] = field(default=_unknown_files, repr=False)
    """Names the files of the target, or below `/own/`, that these arguments touch, a folder with
    `/` behind it; None where that is not known. Only tokens for some paths ask."""
    runs_later: Callable[[In, Any], str] | None = field(default=None, repr=False)
    """Names the tool that these arguments would have called at another time."""
    loosens: Callable[[In, Any], str] | None = field(default=None, repr=False)
    """Says what these arguments loosen beyond what was signed, so that the call needs a signature;
    nothing where they loosen nothing."""
    words: Callable[[In, Any], str] | None = field(default=None, repr=False)
    """Says what these arguments would do, for the title of a request, where name and arguments do
    not; it says nothing that the digest does not bind."""
    tier_in_plan: Tier | None = None
    """The tier within the grants of an approved plan, where that is another."""
    text_members: tuple[str, ...] = ()
    """Members of the answer that a model reads as they are, not as a string inside JSON."""
    server: str = ""
    """The MCP server that it was imported from; nothing for Astra's own."""
    server_budget: int = 0
    """How often a day tools of that server may be called, all together."""

    @property
    def underscored(self) -> str:
        return self.name.replace(".", "_")

    def parse(self, arguments: Mapping[str, Any]) -> In:
        try:
            return self.input.model_validate(dict(arguments))
        except ValidationError as error:
            raise BadInput(
                f"{self.name}: {_describe_problems(error)}",
                code="bad_arguments",
                next_step="look at the tool's input schema and call it again",
            ) from None

    def run(self, permit: Permit, digest: str, arguments: In, services: Any) -> Out:
        """Do it. The permit must have been made for exactly this call."""
        permit.use(self.name, digest)
        return self.handler(arguments, services)


def find_defaults(parsed: BaseModel) -> frozenset[str]:
    """Name the arguments that have the value which the tool takes where nothing is said."""
    fields = type(parsed).model_fields.items()
    return frozenset(
        name
        for name, field in fields
        if not field.is_required() and getattr(parsed, name) == field.get_default()
    )


AnyTool = Tool[Any, Any]


class ImportedTools(Protocol):
    """Tools of other servers as they may be called now: they come and go with signatures."""

    def list_tools(self) -> Sequence[AnyTool]: ...

    def find_tool(self, name: str) -> AnyTool | None: ...

    def version(self) -> object:
        """Give something that is another one whenever the tools may be others."""
        ...


class NoImportedTools:
    def list_tools(self) -> Sequence[AnyTool]:
        return ()

    def find_tool(self, name: str) -> AnyTool | None:
        del name

    def version(self) -> object:
        return None


class Registry:
    """Astra's own tools, and behind them those of other servers, which can shadow none."""

    def __init__(self, tools: Iterable[AnyTool], imported: ImportedTools | None = None) -> None:
        self._tools = {tool.name: tool for tool in tools}
        self._imported = imported or NoImportedTools()
        self._names = {
            alias: tool
            for tool in self._tools.values()
            for alias in (tool.name, tool.underscored, *tool.aliases)
        }

    def find(self, name: str) -> AnyTool:
        tool = self._names.get(name) or self._imported.find_tool(name)
        if tool is None:
            known_names = [*self._names, *(tool.name for tool in self._imported.list_tools())]
            close = difflib.get_close_matches(name[:100], known_names, n=3)
            hint = f"did you mean {' or '.join(close)}?" if close else "list the tools"
            raise NotFound(f"there is no tool {name[:100]!r}", code="unknown_tool", next_step=hint)
        return tool

    def has(self, name: str) -> bool:
        return name in self._names or self._imported.find_tool(name) is not None

    def list_visible(self, flags: Mapping[str, bool], *, operator: bool) -> list[AnyTool]:
        """List what a caller gets to see: what a flag switches off is not there."""
        return [
            tool
            for tool in self.list_all()
            if all(flags.get(name, False) for name in tool.flags)
            and (operator or not tool.operator_only)
        ]

    def list_all(self) -> list[AnyTool]:
        return [*self._tools.values(), *self._imported.list_tools()]

    def imported_version(self) -> object:
        """Give something that is another one whenever the imported tools may be others."""
        return self._imported.version()


def _describe_problems(error: ValidationError) -> str:
    parts = [
        f"{'.'.join(map(str, problem['loc'])) or 'arguments'}: {problem['msg']}"
        for problem in error.errors(include_url=False, include_context=False, include_input=False)
    ]
    return printable("; ".join(parts[:5]))
