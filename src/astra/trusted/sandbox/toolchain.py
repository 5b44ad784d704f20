"""Makes the target's own interpreter usable inside a box without opening the home folder it is in.

An interpreter is found by following links one at a time: a virtual environment names its base
in `pyvenv.cfg`, a link in `bin/` names the real program, a pyenv shim names a version file. What
is granted, read-only, is the smallest installation folder around each of those programs; links that
lie outside are made again inside the box. Folders such as `/home/you` or `/home/you/.local`
appear empty but for what is granted below them.

>>> NO_TOOLCHAIN.read_paths
()
"""

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

from astra.trusted.kernel.errors import NotFound, Refused
from astra.trusted.policy.manifest import is_within

_SYSTEM = ("/usr", "/bin", "/lib", "/lib64", "/sbin")
_MOST_LINKS = 16
_LONGEST_SHEBANG = 4096
_SHEBANG = re.compile(rb"#!\s*(/[^\s\0]+)")
# What pip writes where the path is too long for the kernel, or has a space in it.
_LONG_SHEBANG = re.compile(rb"""#!/bin/sh\n'''exec' "?(/[^"\n\0]+?)"? "\$0\"""")
_WHOLE_PATH = re.compile(r"(?<![\w.~$}/-])/[\w./+@~-]+")


class UnusableToolchain(Refused):
    code = "unusable_toolchain"


@dataclass(frozen=True, kw_only=True)
class Toolchain:
    read_paths: tuple[str, ...] = ()
    links: tuple[tuple[str, str], ...] = ()
    search: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))

    def __or__(self, other: "Toolchain") -> "Toolchain":
        return Toolchain(
            read_paths=tuple(dict.fromkeys((*self.read_paths, *other.read_paths))),
            links=tuple(dict.fromkeys((*self.links, *other.links))),
            search=tuple(dict.fromkeys((*self.search, *other.search))),
            environment=MappingProxyType({**self.environment, **other.environment}),
        )


NO_TOOLCHAIN = Toolchain()


def find(program: Path, *, homes: tuple[str, ...] = (), theirs: tuple[str, ...] = ()) -> Toolchain:
    """Describe what has to be readable for `program` to start at its own path.

    `theirs` are folders that a box can write. What lies there leads wherever a box wants it to: a
    link made inside would have any file of the host shown, so none is followed.
    """
    hops = _follow_links(_behind_shim(Path(os.path.abspath(program))))  # noqa: PTH100 - links stay links
    programs = [*hops, *_environment_base(hops[0])]
    _refuse_planted(programs, theirs)
    folders = _find_installations(programs, homes)
    links = _list_outer_links(hops, folders)
    search = () if is_within(str(hops[0]), "/usr") else (str(hops[0].parent),)
    program_tools = Toolchain(read_paths=folders, links=links, search=search)
    interpreter = _read_interpreter(hops[-1])
    if interpreter is None or any(is_within(str(interpreter), place) for place in _SYSTEM):
        return program_tools
    return program_tools | _find_interpreter(interpreter, homes=homes, theirs=theirs)


def find_named_programs(words: Sequence[str]) -> tuple[Path, ...]:
    """Name the programs of a command that are given by their whole path, also inside `sh -c`.

    >>> find_named_programs(("sh", "-c", "cd x && TZ=UTC /bin/sh -c true"))[0].name
    'sh'
    """
    paths = [Path(path) for word in words for path in _WHOLE_PATH.findall(word)]
    return tuple(path for path in paths if path.is_file() and os.access(path, os.X_OK))


def _find_interpreter(
    interpreter: Path, *, homes: tuple[str, ...], theirs: tuple[str, ...]
) -> Toolchain:
    """Find what a script's interpreter needs; a script behind a script is not followed."""
    hops = _follow_links(interpreter)
    programs = [*hops, *_environment_base(hops[0])]
    _refuse_planted(programs, theirs)
    folders = _find_installations(programs, homes)
    return Toolchain(read_paths=folders, links=_list_outer_links(hops, folders))


def _list_outer_links(hops: list[Path], folders: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    """List the links on the way that lie in nothing the box sees, to be made again inside."""
    return tuple(
        (str(hop), str(hop.readlink()))
        for hop in hops[:-1]
        if not any(is_within(str(hop), folder) for folder in (*folders, *_SYSTEM))
    )


def _read_interpreter(program: Path) -> Path | None:
    """Read which interpreter a script names in its first lines, as pip writes them."""
    try:
        with program.open("rb") as file:
            head = file.read(_LONGEST_SHEBANG)
    except OSError:
        return None
    match = _LONG_SHEBANG.match(head) or _SHEBANG.match(head)
    path = Path(os.fsdecode(match[1])) if match else None
    return path if path is not None and path.is_file() else None


def _refuse_planted(programs: list[Path], theirs: tuple[str, ...]) -> None:
    for path in programs:
        if any(is_within(str(path), folder) for folder in theirs):
            raise UnusableToolchain(
                f"{path} lies where a box can write, so it may lead anywhere",
                next_step="keep the target's environment outside of the agent's folders",
            )


def _follow_links(program: Path) -> list[Path]:
    """List the program and each link on the way to the real file."""
    hops = [_with_real_parent(program)]
    while hops[-1].is_symlink():
        if len(hops) > _MOST_LINKS:
            raise UnusableToolchain(
                f"{program} is a symbolic link loop", next_step="name the interpreter itself"
            )
        hops.append(_with_real_parent(hops[-1].parent / hops[-1].readlink()))
    if not hops[-1].is_file():
        raise NotFound(
            f"there is no program {program}", next_step="name an interpreter that exists"
        )
    if not os.access(hops[-1], os.X_OK):
        raise UnusableToolchain(
            f"{hops[-1]} is not executable", next_step="name the interpreter itself"
        )
    return hops


def _with_real_parent(path: Path) -> Path:
    return path.parent.resolve() / path.name


def _environment_base(program: Path) -> list[Path]:
    """Give the interpreter that a virtual environment was made from."""
    try:
        text = (program.parent.parent / "pyvenv.cfg").read_text(encoding="utf-8")
    except OSError:
        return []
    settings = [line.partition("=") for line in text.splitlines()]
    homes = [Path(value.strip()) for name, _sign, value in settings if name.strip() == "home"]
    return [
        hop
        for home in homes
        if (home / program.name).exists()
        for hop in _follow_links(home / program.name)
    ]


def _find_installations(programs: list[Path], homes: tuple[str, ...]) -> tuple[str, ...]:
    folders: dict[str, None] = {}
    for program in programs:
        folder = str(program.parent.parent)
        if any(is_within(folder, system) for system in _SYSTEM):
            continue
        if _is_installation(program, homes):
            folders[folder] = None
        elif not program.is_symlink():
            folders[str(program)] = None
    return tuple(path for path in folders if not _is_nested(path, folders))


def _is_installation(program: Path, homes: tuple[str, ...]) -> bool:
    """Tell `…/versions/3.11/bin/python` from `~/.local/bin/tool` and `~/bin/tool`."""
    folder = program.parent.parent
    shared = any(str(folder) in {home, f"{home}/.local"} for home in homes)
    marks = ("pyvenv.cfg", "lib", "lib64", "include")
    return (
        program.parent.name == "bin"
        and not shared
        and len(folder.parts) > 2  # noqa: PLR2004 - "/" and one name are too broad
        and any((folder / mark).exists() for mark in marks)
    )


def _is_nested(path: str, folders: dict[str, None]) -> bool:
    return any(path != folder and is_within(path, folder) for folder in folders)


def _behind_shim(program: Path) -> Path:
    """Follow a pyenv shim, which is a script that needs the whole home folder, to its program."""
    if program.parent.name != "shims" or program.is_symlink():
        return program
    root = program.parent.parent
    try:
        version = (root / "version").read_text(encoding="utf-8").split()[0]
    except (OSError, IndexError):
        raise UnusableToolchain(
            f"{program} is a shim and does not say which interpreter it starts",
            next_step="name the interpreter itself: pyenv which python",
        ) from None
    return root / "versions" / version / "bin" / program.name
