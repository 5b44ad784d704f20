"""How an app is started, as far as its files tell."""

import re

from astra.adoption.detected import DetectedApp
from astra.adoption.repository_files import RepositoryFiles

_LINE = re.compile(r"^([A-Za-z][A-Za-z0-9_-]{0,30}):[ \t]*(.+)$", re.MULTILINE)
_WEB, _RELEASE = "web", "release"
_PORT = re.compile(r"\$\{PORT(?::-\d+)?\}|\$PORT\b")
_SHELL = re.compile(r"[|&;<>$`\"']")
_LONGEST_COMMAND = 500
_HEALTH = ("/healthz", "/health", "/-/health", "/livez", "/ping", "/status", "/api/health")


def read_procfile(files: RepositoryFiles) -> DetectedApp | None:
    """Take the processes of a Procfile, with Astra's port in the place of $PORT.

    `web:` is the app, and the others are its parts; without it, the first one is a worker.

    >>> files = RepositoryFiles(paths=frozenset({"Procfile"}),
    ...     texts={"Procfile": "web: gunicorn app:app -b 127.0.0.1:$PORT"})
    >>> read_procfile(files).command
    'gunicorn app:app -b 127.0.0.1:{port}'
    """
    lines = _LINE.findall(files.read_text("Procfile"))
    commands = {name.lower().replace("_", "-"): _read_command(text) for name, text in lines}
    before_start = commands.pop(_RELEASE, "")
    main = _WEB if _WEB in commands else next(iter(commands), "")
    if not commands.get(main):
        return None
    listens = main == _WEB
    return DetectedApp(
        command=commands.pop(main),
        health_path=find_health_path(files) if listens else "",
        because="Procfile",
        listens=listens,
        parts=tuple((name, command) for name, command in commands.items() if command),
        before_start=before_start,
    )


def _read_command(text: str) -> str:
    """Read a command; nothing where a shell would read it, and nobody looked at what it does."""
    command = _PORT.sub("{port}", text.strip())
    is_plain = len(text) <= _LONGEST_COMMAND and text.isprintable() and not _SHELL.search(command)
    return command if is_plain else ""


def find_health_path(files: RepositoryFiles, path: str = "") -> str:
    """Name the health address that the source mentions; else the front page."""
    sources = [files.read_text(path)] if path else [files.read_text(name) for name in files.texts]
    for address in _HEALTH:
        shape = re.compile(rf"[\"'`]{re.escape(address)}/?[\"'`]")
        if any(shape.search(text) for text in sources):
            return address
    return "/"
