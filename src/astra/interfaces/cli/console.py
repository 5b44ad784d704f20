"""What the command line says and asks. Text from elsewhere is shown escaped, whatever is in it.

Nothing reaches the terminal but through `say`, `note` and `result`, which spell out every character
that cannot be seen or that a terminal would obey, except the colours of `paint`.
"""

import os
import re
import sys
from typing import Any

from astra.trusted.kernel.errors import AstraError, Refused
from astra.trusted.kernel.text import json_text, printable, safe_json

_COLOURS = {"red": "31", "green": "32", "yellow": "33", "dim": "2", "bold": "1"}
_PAINTED = re.compile(r"(\x1b\[(?:31|32|33|2|1|0)m)")

_TYPED_BY_OPERATOR = "the operator's passphrase"
_THROWAWAY_ONLY = "throwaway data roots take ASTRA_OPERATOR_PASSPHRASE"


class Console:
    def __init__(self, *, as_json: bool) -> None:
        self.as_json = as_json
        self._colour = sys.stdout.isatty() and not os.environ.get("NO_COLOR")
        self._in_dialogue = False
        """Whether this command has asked something: its answer is not put into a pager."""

    @property
    def is_terminal(self) -> bool:
        return sys.stdout.isatty()

    @property
    def width(self) -> int:
        """The columns to break text to; 0 where nobody said how many, as in a pipe."""
        import shutil

        is_known = sys.stdout.isatty() or os.environ.get("COLUMNS", "").isdigit()
        return shutil.get_terminal_size().columns if is_known else 0

    def print_result(self, document: dict[str, Any], *lines: str) -> None:
        """Give the outcome: one JSON document, or text for a person."""
        if self.as_json:
            sys.stdout.write(json_text(document) + "\n")
        else:
            self._show_lines(lines)

    def _show_lines(self, lines: tuple[str, ...]) -> None:
        """Write lines; what a terminal cannot show at once goes through a pager."""
        text = "".join(f"{self._escape_text(line)}\n" for line in lines)
        if self._may_page() and self._is_paged(text):
            return
        sys.stdout.write(text)
        sys.stdout.flush()

    def _may_page(self) -> bool:
        return not self._in_dialogue and self.is_terminal and sys.stdin.isatty()

    def _is_paged(self, text: str) -> bool:
        from astra.interfaces.cli import paging

        size = os.get_terminal_size(sys.stdout.fileno())
        if not paging.needs_pager(text, columns=size.columns, rows=size.lines):
            return False
        command = paging.pick_pager(os.environ)
        return bool(command) and paging.show_paged(command, text)

    def say(self, text: str) -> None:
        sys.stdout.write(self._escape_text(text) + "\n")
        sys.stdout.flush()

    def say_exactly(self, line: str) -> None:
        """Write a line of JSON, byte for byte, for a file or a pipe; a terminal gets it escaped."""
        sys.stdout.write((safe_json(line) if sys.stdout.isatty() else line) + "\n")

    def note(self, text: str) -> None:
        """Say something beside the result; it never mixes with JSON."""
        sys.stderr.write(self._escape_text(text) + "\n")

    def _escape_text(self, text: str) -> str:
        """Spell out what is hidden in a text, and leave the colours of `paint` alone."""
        if not self._colour:
            return printable(text)
        parts = _PAINTED.split(text)
        return "".join(part if _PAINTED.fullmatch(part) else printable(part) for part in parts)

    def paint(self, text: str, colour: str) -> str:
        safe = printable(text)
        return f"\x1b[{_COLOURS[colour]}m{safe}\x1b[0m" if self._colour else safe

    def print_error(self, error: AstraError) -> None:
        if self.as_json:
            self.print_result(error.as_dict())
            return
        self.note(f"{self.paint('error', 'red')}: {printable(error.detail)}")
        self.note(f"  next: {printable(error.next_step)}")

    def confirm(self, question: str, *, yes: bool) -> None:
        """Ask before something that cannot be taken back."""
        if yes:
            return
        if not sys.stdin.isatty():
            raise Refused(f"{question} There is no terminal to ask on.", next_step="add --yes")
        self._in_dialogue = True
        if input(f"{question} [y/N] ").strip().lower() not in {"y", "yes"}:
            raise Refused("nothing was done", code="declined", next_step="run it again to do it")

    def ask_passphrase(
        self,
        prompt: str,
        *,
        needs: str = _TYPED_BY_OPERATOR,
        otherwise: str = _THROWAWAY_ONLY,
    ) -> str:
        """Read a passphrase from the terminal itself, never from a pipe or an argument."""
        self.require_terminal(needs=needs, otherwise=otherwise)
        import getpass

        self._in_dialogue = True
        return getpass.getpass(prompt)

    def require_terminal(
        self, *, needs: str = _TYPED_BY_OPERATOR, otherwise: str = _THROWAWAY_ONLY
    ) -> None:
        """Refuse where there is nothing that a person could type into."""
        try:
            with open("/dev/tty"):  # noqa: PTH123 - only asks whether there is one
                pass
        except OSError:
            raise Refused(
                f"this needs {needs}, and there is no terminal to ask on",
                code="no_terminal",
                next_step=f"run it in a terminal; {otherwise}",
            ) from None
