"""`astra logs [daemon|app|holder]`: the newest lines, and with --follow those that come.

It reads files, and so needs no daemon. Lines of the daemon are objects; what the app and its holder
print is text, shown as it is and escaped for the terminal.
"""

import argparse
import json
import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from astra.interfaces.cli.main import Context
from astra.trusted.kernel.errors import BadInput, NotFound
from astra.trusted.kernel.text import json_text, printable

FILES = {"daemon": "daemon.ndjson", "app": "app.log", "holder": "holder.log"}
LEVELS = ("debug", "info", "warning", "error", "critical")
_LOOK_AGAIN_SECONDS = 0.25
_MOST = 100_000
Entry = dict[str, Any]


def configure(parser: argparse.ArgumentParser, _command: str) -> None:
    parser.add_argument("source", nargs="?", choices=tuple(FILES), default="daemon")
    parser.add_argument("--count", type=int, default=50, metavar="N", help="how many lines (50)")
    parser.add_argument("--level", choices=LEVELS, default="debug", help="only from this level on")
    parser.add_argument("--follow", action="store_true", help="go on with what is written")
    parser.set_defaults(run=show_logs)


def show_logs(context: Context) -> None:
    arguments = context.arguments
    if not 0 <= arguments.count <= _MOST:
        raise BadInput(f"--count is a number up to {_MOST}", next_step="astra logs --help")
    path = context.data_root / "logs" / FILES[arguments.source]
    if not path.parent.is_dir():
        raise NotFound(f"there are no logs at {path.parent}", next_step="astra init")
    following = Following(path)
    lines = following.read_last(arguments.count, unfinished=not arguments.follow)
    entries = [*_choose(lines, arguments.level)]
    if not arguments.follow:
        document = {"items": entries, "next": None}
        context.console.print_result(document, *map(_render_entry, entries))
        return
    for entry in entries:
        _print_entry(context, entry)
    for line in following.follow():
        for entry in _choose([line], arguments.level):
            _print_entry(context, entry)


@dataclass
class Following:
    """A log that somebody reads while it is written to and turned over."""

    path: Path
    wait: Callable[[], None] = lambda: time.sleep(_LOOK_AGAIN_SECONDS)
    _position: int = 0
    _rest: bytes = b""

    def read_last(self, count: int, *, unfinished: bool) -> list[bytes]:
        """Give the newest lines, from the file before too if it takes that.

        What is followed begins where this ends: a line that is being written comes whole, later.
        """
        lines = deque[bytes](maxlen=count)
        lines.extend(_read_lines(self.path.with_name(f"{self.path.name}.1")))
        lines.extend(self.read_new())
        if unfinished and self._rest:
            lines.append(self._rest)
        return [*lines]

    def follow(self) -> Iterator[bytes]:
        """Give every line that is written from now on, for as long as somebody asks."""
        while True:
            yield from self.read_new()
            self.wait()

    def read_new(self) -> list[bytes]:
        """Give the lines since the last look; a file that was emptied is read from its start."""
        if not self.path.exists():
            return []
        if self.path.stat().st_size < self._position:
            self._position, self._rest = 0, b""
        with self.path.open("rb") as file:
            file.seek(self._position)
            text = self._rest + file.read()
            self._position = file.tell()
        *lines, self._rest = text.split(b"\n")
        return lines


def _read_lines(path: Path) -> Iterator[bytes]:
    if path.exists():
        with path.open("rb") as file:
            yield from (line.rstrip(b"\n") for line in file)


def _choose(lines: list[bytes], level: str) -> Iterator[Entry]:
    lowest = LEVELS.index(level)
    for line in lines:
        entry = _parse_line(line)
        if entry.get("level") not in LEVELS or LEVELS.index(entry["level"]) >= lowest:
            yield entry


def _parse_line(line: bytes) -> Entry:
    """Read an object; whatever else stands in a log is a message."""
    text = line.decode(errors="replace")
    try:
        entry: Any = json.loads(text)
    except ValueError:
        return {"message": text}
    return entry if isinstance(entry, dict) else {"message": text}  # pyright: ignore[reportUnknownVariableType]


def _render_entry(entry: Entry) -> str:
    moment, level = str(entry.get("time", ""))[:19], str(entry.get("level", ""))
    start = f"{printable(moment)}Z {printable(level).upper():8} " if moment else ""
    traceback = "\n" + str(entry["traceback"]) if "traceback" in entry else ""
    return start + str(entry.get("message", "")) + traceback


def _print_entry(context: Context, entry: Entry) -> None:
    context.console.say(json_text(entry) if context.console.as_json else _render_entry(entry))
