"""The agent's own files: `list_files`, `read_file`, `write_file`, `delete_file`."""

from pydantic import Field

from astra.tools.services import Services
from astra.tools.source import PERSONA
from astra.trusted.calls.registry import Answer, AnyTool, Arguments, Hints, Tool
from astra.trusted.policy.call import Footprint, Tier


class ListArguments(Arguments):
    folder: str = Field(default="", description="your own folder, or an absolute one in scope")
    cursor: str | None = None
    limit: int = Field(default=200, ge=1, le=1000)


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
    start: int | None = Field(default=None, ge=1)
    end: int | None = Field(default=None, ge=1)
    line_numbers: bool = False


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


class WriteArguments(Arguments):
    path: str = Field(description="inside your own space; src/ mirrors your source read-only")
    content: str


class Written(Answer):
    path: str
    size: int
    created: bool


class DeleteArguments(Arguments):
    path: str


class Deleted(Answer):
    path: str
    deleted: bool


def _list(arguments: ListArguments, services: Services) -> Page:
    page = services.persona.list(arguments.folder, cursor=arguments.cursor, limit=arguments.limit)
    return Page.model_validate(page)


def _read(arguments: ReadArguments, services: Services) -> File:
    file = services.persona.read(
        arguments.path,
        start=arguments.start,
        end=arguments.end,
        numbered=arguments.line_numbers,
    )
    return File.model_validate(file)


def _write(arguments: WriteArguments, services: Services) -> Written:
    return Written.model_validate(services.persona.write(arguments.path, arguments.content))


def _delete(arguments: DeleteArguments, services: Services) -> Deleted:
    services.persona.delete(arguments.path)
    return Deleted(path=arguments.path, deleted=True)


def _looks(arguments: ListArguments | ReadArguments, services: Services) -> Footprint:
    """Name the file on this machine; what is mirrored below `src/` lies in git."""
    path = arguments.folder if isinstance(arguments, ListArguments) else arguments.path
    if path.startswith("/"):
        return Footprint(read_paths=(path,))
    below = path.strip("/")
    if below == "src" or below.startswith("src/"):
        return Footprint()
    return Footprint(read_paths=(f"{services.persona_root}/{below}".rstrip("/"),))


def _touches(arguments: WriteArguments | DeleteArguments, services: Services) -> Footprint:
    path = f"{services.persona_root}/{services.persona.writable(arguments.path).text}"
    return Footprint(write_paths=(path,), destructive=isinstance(arguments, DeleteArguments))


TOOLS: tuple[AnyTool, ...] = (
    Tool(
        name="list_files",
        title="List own files",
        description="Lists your own notes and files. `src/` mirrors your source, read-only.",
        input=ListArguments,
        output=Page,
        tier=Tier.READ,
        flags=PERSONA,
        handler=_list,
        footprint=_looks,
    ),
    Tool(
        name="read_file",
        title="Read own file",
        description="Reads one of your own files, or a file of your source below `src/`.",
        input=ReadArguments,
        output=File,
        tier=Tier.READ,
        flags=PERSONA,
        handler=_read,
        footprint=_looks,
    ),
    Tool(
        name="write_file",
        title="Write own file",
        description="Writes one of your own files whole. Source code changes another way.",
        input=WriteArguments,
        output=Written,
        tier=Tier.LOCAL_WRITE,
        flags=PERSONA,
        handler=_write,
        footprint=_touches,
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
        handler=_delete,
        footprint=_touches,
    ),
)
