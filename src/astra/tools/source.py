"""Reading the target's source: `list_source_files`, `read_source_code`, `search_source`."""

from typing import Any

from pydantic import Field

from astra.tools import pages
from astra.tools.services import Services
from astra.trusted.calls.registry import Answer, AnyTool, Arguments, Tool
from astra.trusted.kernel.errors import AstraError
from astra.trusted.policy.call import Tier

PERSONA = ("PERSONA_MODE_ENABLED",)
_USUAL_MATCHES = 100
_WHOLE_TREE = ("",)
At = Field(default=None, description="commit or change id; default: the branch")
Folder = Field(default="", description="only below this folder")
Glob = Field(default=None, description="e.g. *.py or src/**/*.ts")
Numbered = Field(default=False, description="number the lines")
Start = Field(default=None, ge=1, description="first line")
End = Field(default=None, ge=1, description="last line")
Place = Field(default=None, max_length=40, description="`next` of the answer before")
Characters = Field(default=pages.CHARACTERS, ge=1, le=200_000, description="how much text at most")


class ListArguments(Arguments):
    at: str | None = At
    folder: str = Folder
    glob: str | None = Glob
    cursor: str | None = pages.Cursor
    limit: int | None = pages.limit_field(1000)


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
    start: int | None = Start
    end: int | None = End
    line_numbers: bool = Numbered
    cursor: str | None = Place
    characters: int = Characters

    def describe_part(self) -> dict[str, Any]:
        """Give the part of the file that is asked for, as the views take it."""
        return {
            "start": self.start,
            "end": self.end,
            "numbered": self.line_numbers,
            "cursor": self.cursor,
            "characters": self.characters,
        }


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
    next: str | None = None


class SearchArguments(Arguments):
    pattern: str = Field(min_length=1, max_length=1000, description="one line of text, or a regex")
    regex: bool = Field(default=False, description="the pattern is a regular expression")
    ignore_case: bool = Field(default=False, description="of letters")
    at: str | None = At
    folder: str = Folder
    glob: str | None = Glob
    context: int = Field(default=2, ge=0, le=10, description="lines around a match")
    cursor: int | None = Field(
        default=None, ge=0, le=20_000, description="`next` of the page before"
    )
    limit: int | None = pages.limit_field(500)


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
    skipped_files: int = Field(default=0, description="too large to be searched")
    next: int | None = None


def _list_source(arguments: ListArguments, services: Services) -> Listing:
    def query(limit: int) -> Listing:
        listing = services.source.list(
            at=arguments.at,
            folder=arguments.folder,
            glob=arguments.glob,
            cursor=arguments.cursor,
            limit=limit,
        )
        return Listing.model_validate(listing)

    return pages.fit_page(query, arguments.limit, usual=250)


def _read_source(arguments: ReadArguments, services: Services) -> SourceFile:
    source_file = services.source.read(arguments.path, at=arguments.at, **arguments.describe_part())
    return SourceFile.model_validate(source_file)


def _search_source(arguments: SearchArguments, services: Services) -> Matches:
    skip = arguments.cursor or 0
    page = services.source.find(
        arguments.pattern,
        regex=arguments.regex,
        ignore_case=arguments.ignore_case,
        at=arguments.at,
        folder=arguments.folder,
        glob=arguments.glob,
        context=arguments.context,
        limit=arguments.limit or _USUAL_MATCHES,
        skip=skip,
    )
    matches = Matches.model_validate(page)
    if arguments.limit is None:  # searching again for fewer would cost as much as the first time
        count = pages.count_fitting(matches.items)
        matches.complete = matches.complete and count == len(matches.items)
        del matches.items[count:]
    matches.next = None if matches.complete else skip + len(matches.items)
    return matches


def _find_read_file(arguments: ReadArguments, services: Services) -> tuple[str, ...]:
    """Name the file as it was found: a path may be written with `src/` before it."""
    try:
        source_file = services.source.read(arguments.path, at=arguments.at, characters=1)
    except AstraError:  # which the call itself says, where it may be made at all
        return (arguments.path,)
    return (str(source_file.path),)


def _find_searched_folder(
    arguments: ListArguments | SearchArguments, services: Services
) -> tuple[str, ...]:
    try:
        page = services.source.list(
            at=arguments.at, folder=arguments.folder, glob=None, cursor=None, limit=1
        )
    except AstraError:
        return (f"{arguments.folder}/",)
    return (f"{page.folder}/",) if page.folder else _WHOLE_TREE


TOOLS: tuple[AnyTool, ...] = (
    Tool(
        name="list_source_files",
        title="List source files",
        description="Lists the files of your own source code, with size and language.",
        input=ListArguments,
        output=Listing,
        tier=Tier.READ,
        flags=PERSONA,
        handler=_list_source,
        files=_find_searched_folder,
    ),
    Tool(
        name="read_source_code",
        title="Read source code",
        description="Reads a file of your own source code, or a range of its lines.",
        text_members=("text",),
        input=ReadArguments,
        output=SourceFile,
        tier=Tier.READ,
        flags=PERSONA,
        handler=_read_source,
        files=_find_read_file,
    ),
    Tool(
        name="search_source",
        title="Search source",
        description="Searches (greps) your own source code for a text or a regular expression.",
        input=SearchArguments,
        output=Matches,
        tier=Tier.READ,
        flags=PERSONA,
        handler=_search_source,
        files=_find_searched_folder,
    ),
)
