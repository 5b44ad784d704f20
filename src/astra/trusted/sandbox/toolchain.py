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
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

from astra.trusted.kernel.errors import NotFound, Refused
from astra.trusted.policy.manifest import is_within

_SYSTEM = ("/usr", "/bin", "/lib", "/lib64", "/sbin")
_MOST_LINKS = 16


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
    hops = _hops(_behind_shim(Path(os.path.abspath(program))))  # noqa: PTH100 - links stay links
    programs = [*hops, *_environment_base(hops[0])]
    _refuse_planted(programs, theirs)
    folders = _installations(programs, homes)
    links = tuple(
        (str(hop), str(hop.readlink()))
        for hop in hops[:-1]
        if not any(is_within(str(hop), folder) for folder in (*folders, *_SYSTEM))
    )
    search = () if is_within(str(hops[0]), "/usr") else (str(hops[0].parent),)
    return Toolchain(read_paths=folders, links=links, search=search)


def named(words: Sequence[str]) -> tuple[Path, ...]:
    """Name the programs of a command that are given by their whole path."""
    paths = [Path(word) for word in words if word.startswith("/")]
    return tuple(path for path in paths if path.is_file() and os.access(path, os.X_OK))


def _refuse_planted(programs: list[Path], theirs: tuple[str, ...]) -> None:
    for path in programs:
        if any(is_within(str(path), folder) for folder in theirs):
            raise UnusableToolchain(
                f"{path} lies where a box can write, so it may lead anywhere",
                next_step="keep the target's environment outside of the agent's folders",
            )


def _hops(program: Path) -> list[Path]:
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
        for hop in _hops(home / program.name)
    ]


def _installations(programs: list[Path], homes: tuple[str, ...]) -> tuple[str, ...]:
    folders: dict[str, None] = {}
    for program in programs:
        folder = str(program.parent.parent)
        if any(is_within(folder, system) for system in _SYSTEM):
            continue
        if _is_installation(program, homes):
            folders[folder] = None
        elif not program.is_symlink():
            folders[str(program)] = None
    return tuple(path for path in folders if not _covered(path, folders))


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


def _covered(path: str, folders: dict[str, None]) -> bool:
    return any(path != other and is_within(path, other) for other in folders)


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
