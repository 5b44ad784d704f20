"""Reading the target's source: `list_source_files`, `read_source_code`, `search_source`."""

from pydantic import Field

from astra.tools.services import Services
from astra.trusted.calls.registry import Answer, AnyTool, Arguments, Tool
from astra.trusted.policy.call import Tier

PERSONA = ("PERSONA_MODE_ENABLED",)
At = Field(default=None, description="a commit, or a change id; the target's branch by default")
Folder = Field(default="", description="only below this folder")
Glob = Field(default=None, description="only paths like this, e.g. *.py or src/**/*.ts")


class ListArguments(Arguments):
    at: str | None = At
    folder: str = Folder
    glob: str | None = Glob
    cursor: str | None = Field(default=None, description="`next` of the page before")
    limit: int | None = Field(default=None, ge=1, le=1000)


class SourceItem(Answer):
    path: str
    kind: str
    size: int | None
    language: str | None


class Listing(Answer):
    commit: str
    folder: str
    items: list[SourceItem]
    next: str | None
    total: int


class ReadArguments(Arguments):
    path: str = Field(description="with or without a leading src/")
    at: str | None = At
    start: int | None = Field(default=None, ge=1, description="first line")
    end: int | None = Field(default=None, ge=1, description="last line")
    line_numbers: bool = False


class SourceFile(Answer):
    commit: str
    asked: str
    path: str
    size: int | None
    language: str | None
    encoding: str
    text: str
    start: int
    end: int
    total_lines: int
    more: bool
    masked: bool


class SearchArguments(Arguments):
    pattern: str = Field(min_length=1, max_length=1000)
    regex: bool = False
    ignore_case: bool = False
    at: str | None = At
    folder: str = Folder
    glob: str | None = Glob
    context: int = Field(default=2, ge=0, le=10, description="lines around a match")
    limit: int | None = Field(default=None, ge=1, le=500)


class Match(Answer):
    path: str
    line: int
    column: int
    text: str
    before: list[str]
    after: list[str]


class Matches(Answer):
    commit: str
    items: list[Match]
    complete: bool
    searched_files: int


def _list(arguments: ListArguments, services: Services) -> Listing:
    listing = services.source.list(
        at=arguments.at,
        folder=arguments.folder,
        glob=arguments.glob,
        cursor=arguments.cursor,
        limit=arguments.limit,
    )
    return Listing.model_validate(listing)


def _read(arguments: ReadArguments, services: Services) -> SourceFile:
    source_file = services.source.read(
        arguments.path,
        at=arguments.at,
        start=arguments.start,
        end=arguments.end,
        numbered=arguments.line_numbers,
    )
    return SourceFile.model_validate(source_file)


def _search(arguments: SearchArguments, services: Services) -> Matches:
    matches = services.source.find(
        arguments.pattern,
        regex=arguments.regex,
        ignore_case=arguments.ignore_case,
        at=arguments.at,
        folder=arguments.folder,
        glob=arguments.glob,
        context=arguments.context,
        limit=arguments.limit,
    )
    return Matches.model_validate(matches)


TOOLS: tuple[AnyTool, ...] = (
    Tool(
        name="list_source_files",
        title="List source files",
        description="Lists the files of your own source code, with size and language.",
        input=ListArguments,
        output=Listing,
        tier=Tier.READ,
        flags=PERSONA,
        handler=_list,
    ),
    Tool(
        name="read_source_code",
        title="Read source code",
        description="Reads a file of your own source code, or a range of its lines.",
        input=ReadArguments,
        output=SourceFile,
        tier=Tier.READ,
        flags=PERSONA,
        handler=_read,
    ),
    Tool(
        name="search_source",
        title="Search source",
        description="Searches your own source code for a text or a regular expression.",
        input=SearchArguments,
        output=Matches,
        tier=Tier.READ,
        flags=PERSONA,
        handler=_search,
    ),
)
