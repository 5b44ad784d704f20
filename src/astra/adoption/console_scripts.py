"""A server that a project brings along as a program of its own, such as `datasette`.

A program counts as one where the module behind it names an option `--port`. Names come from the
repository: one that is no plain word is left out.
"""

import re
from collections.abc import Iterator

from astra.adoption.apps import find_health_path
from astra.adoption.detected import DetectedApp
from astra.adoption.repository_files import RepositoryFiles, get_section

_PROGRAM = re.compile(r"[A-Za-z0-9][\w.-]{0,60}")
_PLACE = re.compile(r"([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)\s*:\s*\w+")
_SUBCOMMAND = re.compile(r"^def (serve|runserver|run)\(", re.MULTILINE)


def find_server(files: RepositoryFiles) -> DetectedApp | None:
    """Find the first program of the project that can be told its port."""
    for program, path in _list_programs(files):
        text = files.read_text(path)
        if not _names_option(text, "--port"):
            continue
        subcommand = _SUBCOMMAND.search(text) if ".command(" in text else None
        if subcommand is None and _GROUP.search(text):
            continue  # which of its commands serves, nobody can tell
        host = "--host 127.0.0.1" if _names_option(text, "--host") else ""
        parts = (program, subcommand[1] if subcommand else "", host, "--port {port}")
        return DetectedApp(
            command=" ".join(part for part in parts if part),
            health_path=find_health_path(files, path),
            because=f"the program {program} in pyproject.toml",
            is_installed=True,
        )
    return None


def _list_programs(files: RepositoryFiles) -> Iterator[tuple[str, str]]:
    """Name each program of the project and the file that it starts."""
    project = files.read_table("pyproject.toml")
    for table in (("project", "scripts"), ("tool", "poetry", "scripts")):
        for program, place in get_section(project, *table).items():
            match = _PLACE.fullmatch(place) if isinstance(place, str) else None
            if match is None or not _PROGRAM.fullmatch(program):
                continue
            module = match[1].replace(".", "/")
            places = (f"{top}{module}{end}" for top in ("", "src/") for end in _ENDS)
            yield from ((program, path) for path in places if path in files.paths)


_GROUP = re.compile(r"\.group\(|Group\(|\.add_subparsers\(")
_ENDS = (".py", "/__init__.py", "/__main__.py")


def _names_option(text: str, option: str) -> bool:
    return re.search(rf"[\"']{option}[\"']", text) is not None
