"""The agent's own files: `list_files`, `read_file`, `write_file`, `delete_file`."""

from pydantic import Field

from astra.tools import pages
from astra.tools.services import Services
from astra.tools.source import PERSONA, Characters, End, Numbered, Place, Start
from astra.trusted.calls.registry import Answer, AnyTool, Arguments, Hints, Tool
from astra.trusted.policy.call import Footprint, Tier
from astra.trusted.policy.limits import OWN
from astra.trusted.policy.paths import fold, parse_folder


class ListArguments(Arguments):
    folder: str = Field(default="", description="your own folder, or an absolute one in scope")
    cursor: str | None = pages.Cursor
    limit: int | None = pages.limit_field(1000)


class Item(Answer):
    path: str
    kind: str
    size: int | None


class Page(Answer):
    folder: str
    items: list[Item]
    next: str | None


class ReadArguments(Arguments):
    path: str = Field(description="your own file, src/…, or an absolute path in your read scope")
    start: int | None = Start
    end: int | None = End
    line_numbers: bool = Numbered
    cursor: str | None = Place
    characters: int = Characters


class File(Answer):
    path: str
    size: int | None
    encoding: str
    text: str
    start: int
    end: int
    total_lines: int
    more: bool
    masked: bool
    next: str | None = None


class WriteArguments(Arguments):
    path: str = Field(description="inside your own space; src/ mirrors your source read-only")
    content: str = Field(description="the whole file; what was there before is gone")


class Written(Answer):
    path: str
    size: int
    created: bool


class DeleteArguments(Arguments):
    path: str = Field(description="inside your own space")


class Deleted(Answer):
    path: str
    deleted: bool


def _list_files(arguments: ListArguments, services: Services) -> Page:
    def query(limit: int) -> Page:
        page = services.persona.list(arguments.folder, cursor=arguments.cursor, limit=limit)
        return Page.model_validate(page)

    return pages.fit_page(query, arguments.limit, usual=200)


def _read_file(arguments: ReadArguments, services: Services) -> File:
    file = services.persona.read(
        arguments.path,
        start=arguments.start,
        end=arguments.end,
        numbered=arguments.line_numbers,
        cursor=arguments.cursor,
        characters=arguments.characters,
    )
    return File.model_validate(file)


def _write_file(arguments: WriteArguments, services: Services) -> Written:
    return Written.model_validate(services.persona.write(arguments.path, arguments.content))


def _delete_file(arguments: DeleteArguments, services: Services) -> Deleted:
    services.persona.delete(arguments.path)
    return Deleted(path=arguments.path, deleted=True)


def _find_read_footprint(arguments: ListArguments | ReadArguments, services: Services) -> Footprint:
    """Name the file on this machine; what is mirrored below `src/` lies in git."""
    path = arguments.folder if isinstance(arguments, ListArguments) else arguments.path
    if path.startswith("/"):
        return Footprint(read_paths=(path,))
    below = path.strip("/")
    if below == "src" or below.startswith("src/"):
        return Footprint()
    return Footprint(read_paths=(f"{services.persona_root}/{below}".rstrip("/"),))


def _find_write_footprint(
    arguments: WriteArguments | DeleteArguments, services: Services
) -> Footprint:
    path = f"{services.persona_root}/{services.persona.resolve_writable(arguments.path).text}"
    return Footprint(write_paths=(path,), destructive=isinstance(arguments, DeleteArguments))


def _find_own_file(
    arguments: ListArguments | ReadArguments | WriteArguments | DeleteArguments,
    services: Services,
) -> tuple[str, ...] | None:
    """Name the agent's own file; the mirror of the source and the machine's files are others."""
    if isinstance(arguments, WriteArguments | DeleteArguments):
        return (f"{OWN}{services.persona.resolve_writable(arguments.path).text}",)
    path = arguments.folder if isinstance(arguments, ListArguments) else arguments.path
    if path.startswith("/"):
        return None
    place = parse_folder(path)
    if place.parts and fold(place.parts[0]).strip() == "src":
        return None
    below = f"{place.text}/" if place.text and isinstance(arguments, ListArguments) else place.text
    return (f"{OWN}{below}",)


TOOLS: tuple[AnyTool, ...] = (
    Tool(
        name="list_files",
        title="List own files",
        description="Lists your own notes and files. `src/` mirrors your source, read-only.",
        input=ListArguments,
        output=Page,
        tier=Tier.READ,
        flags=PERSONA,
        handler=_list_files,
        footprint=_find_read_footprint,
        files=_find_own_file,
    ),
    Tool(
        name="read_file",
        title="Read own file",
        description="Reads one of your own files (notes, memory), or your source below `src/`.",
        text_members=("text",),
        input=ReadArguments,
        output=File,
        tier=Tier.READ,
        flags=PERSONA,
        handler=_read_file,
        footprint=_find_read_footprint,
        files=_find_own_file,
    ),
    Tool(
        name="write_file",
        title="Write own file",
        description="Writes one of your own files whole, replacing it: notes, what you want to"
        " remember. To edit source code use schedule_code_modification.",
        input=WriteArguments,
        output=Written,
        tier=Tier.LOCAL_WRITE,
        flags=PERSONA,
        hints=Hints(destructive=True),
        handler=_write_file,
        footprint=_find_write_footprint,
        files=_find_own_file,
    ),
    Tool(
        name="delete_file",
        title="Delete own file",
        description="Deletes one of your own files.",
        input=DeleteArguments,
        output=Deleted,
        tier=Tier.LOCAL_WRITE,
        flags=PERSONA,
        hints=Hints(destructive=True),
        handler=_delete_file,
        footprint=_find_write_footprint,
        files=_find_own_file,
    ),
)
