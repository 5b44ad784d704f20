"""What the command line says and asks. Text from elsewhere is shown escaped, whatever is in it."""

import getpass
import json
import os
import shutil
import sys
from typing import Any

from astra.trusted.kernel.errors import AstraError, Refused
from astra.trusted.kernel.text import printable

_COLOURS = {"red": "31", "green": "32", "yellow": "33", "dim": "2", "bold": "1"}


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
            sys.stdout.write(json.dumps(document, ensure_ascii=False, default=str) + "\n")
        else:
            for line in lines:
                self.say(line)

    def say(self, text: str) -> None:
        sys.stdout.write(text + "\n")
        sys.stdout.flush()

    def note(self, text: str) -> None:
        """Say something beside the result; it never mixes with JSON."""
        sys.stderr.write(text + "\n")

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
