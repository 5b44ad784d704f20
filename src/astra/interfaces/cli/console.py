"""What the command line says and asks. Text from elsewhere is shown escaped, whatever is in it.

Nothing reaches the terminal but through `say`, `note` and `result`, which spell out every character
that cannot be seen or that a terminal would obey, except the colours of `paint`.
"""

import getpass
import os
import re
import shutil
import sys
from typing import Any

from astra.trusted.kernel.errors import AstraError, Refused
from astra.trusted.kernel.text import json_text, printable, safe_json

_COLOURS = {"red": "31", "green": "32", "yellow": "33", "dim": "2", "bold": "1"}
_PAINTED = re.compile(r"(\x1b\[(?:31|32|33|2|1|0)m)")


class Console:
    def __init__(self, *, as_json: bool) -> None:
        self.as_json = as_json
        self._colour = sys.stdout.isatty() and "NO_COLOR" not in os.environ

    @property
    def width(self) -> int:
        """The columns to break text to; 0 where nobody said how many, as in a pipe."""
        is_known = sys.stdout.isatty() or os.environ.get("COLUMNS", "").isdigit()
        return shutil.get_terminal_size().columns if is_known else 0

    def result(self, document: dict[str, Any], *lines: str) -> None:
        """Give the outcome: one JSON document, or text for a person."""
        if self.as_json:
            sys.stdout.write(json_text(document) + "\n")
        else:
            for line in lines:
                self.say(line)

    def say(self, text: str) -> None:
        sys.stdout.write(self._safe(text) + "\n")
        sys.stdout.flush()

    def say_exactly(self, line: str) -> None:
        """Write a line of JSON, byte for byte, for a file or a pipe; a terminal gets it escaped."""
        sys.stdout.write((safe_json(line) if sys.stdout.isatty() else line) + "\n")

    def note(self, text: str) -> None:
        """Say something beside the result; it never mixes with JSON."""
        sys.stderr.write(self._safe(text) + "\n")

    def _safe(self, text: str) -> str:
        """Spell out what is hidden in a text, and leave the colours of `paint` alone."""
        if not self._colour:
            return printable(text)
        parts = _PAINTED.split(text)
        return "".join(part if _PAINTED.fullmatch(part) else printable(part) for part in parts)

    def paint(self, text: str, colour: str) -> str:
        safe = printable(text)
        return f"\x1b[{_COLOURS[colour]}m{safe}\x1b[0m" if self._colour else safe

    def error(self, error: AstraError) -> None:
        if self.as_json:
            self.result(error.as_dict())
            return
        self.note(f"{self.paint('error', 'red')}: {printable(error.detail)}")
        self.note(f"  next: {printable(error.next_step)}")

    def confirm(self, question: str, *, yes: bool) -> None:
        """Ask before something that cannot be taken back."""
        if yes:
            return
        if not sys.stdin.isatty():
            raise Refused(f"{question} There is no terminal to ask on.", next_step="add --yes")
        if input(f"{question} [y/N] ").strip().lower() not in {"y", "yes"}:
            raise Refused("nothing was done", code="declined", next_step="run it again to do it")

    def passphrase(self, prompt: str) -> str:
        """Read a passphrase from the terminal itself, never from a pipe or an argument."""
        try:
            with open("/dev/tty"):  # noqa: PTH123 - only asks whether there is one
                pass
        except OSError:
            raise Refused(
                "this needs the operator's passphrase, and there is no terminal to ask on",
                code="no_terminal",
                next_step="run it in a terminal; throwaway data roots take"
                " ASTRA_OPERATOR_PASSPHRASE",
            ) from None
        return getpass.getpass(prompt)
