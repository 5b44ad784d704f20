"""Long output on a terminal goes through a pager: PAGER, or else less. NO_PAGER turns it off.

The pager gets what the console made safe to look at, and nothing else.
"""

import os
import re
import signal
from collections.abc import Mapping

_COLOUR = re.compile(r"\x1b\[[0-9]+m")
_LESS_OPTIONS = "FRX"
"""Leave at once where all fits; colours, and no other escapes; leave the text on the screen."""


def needs_pager(text: str, *, columns: int, rows: int) -> bool:
    r"""Tell whether a text takes more rows than the terminal has; no rows means nobody knows.

    >>> needs_pager("a\n" * 30, columns=80, rows=24), needs_pager("a" * 100, columns=80, rows=24)
    (True, False)
    >>> needs_pager("a\n" * 30, columns=0, rows=0)
    False
    """
    if rows <= 0:
        return False
    lines = _COLOUR.sub("", text).splitlines()
    return sum(max(-(-len(line) // max(columns, 1)), 1) for line in lines) >= rows


def pick_pager(environment: Mapping[str, str]) -> list[str]:
    """Give the pager's command; nothing where somebody wants none.

    >>> pick_pager({"NO_PAGER": "1"}), pick_pager({"PAGER": "cat"})
    ([], [])
    >>> pick_pager({"PAGER": "sort -r"}), pick_pager({"TERM": "dumb"})
    (['sort', '-r'], [])
    """
    import shlex
    import shutil

    is_unable = environment.get("TERM") == "dumb" and "PAGER" not in environment
    if environment.get("NO_PAGER") or is_unable:
        return []
    try:
        command = shlex.split(environment.get("PAGER", "less"))
    except ValueError:
        return []
    if not command or command == ["cat"] or shutil.which(command[0]) is None:
        return []
    return command


def show_paged(command: list[str], text: str) -> bool:
    """Show a text in the pager until whoever reads it has enough; False where it cannot start."""
    import subprocess

    environment = {**os.environ, "LESS": os.environ.get("LESS", _LESS_OPTIONS)}
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        subprocess.run(command, input=text.encode(), env=environment, check=False)
    except BrokenPipeError:
        return True
    except OSError:
        return False
    finally:
        signal.signal(signal.SIGINT, before)
    return True
