"""The operator's test command: its words, where its report goes, and how to ask for single tests.

>>> command = parse("python -m pytest -q tests")
>>> command.build_words("/out/junit.xml")[3:]
('--junitxml=/out/junit.xml', '-o', 'junit_family=xunit1', '-q', 'tests')
>>> parse("make check JUNIT={junit}").build_words("/out/junit.xml")[-1]
'JUNIT=/out/junit.xml'
"""

import re
import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from astra.trusted.kernel.errors import BadSetting

PLACEHOLDER = "{junit}"
_PYTEST = re.compile(r"(?:.*/)?(?:pytest|py\.test)(?:-?3(?:\.\d+)?)?")
_UNITTEST = re.compile(
    r"(?:^|\s)(?:-m\s+unittest|(?:\S*/)?manage\.py\s+test|(?:-m\s+django|django-admin)\s+test"
    r"|(?:\S*/)?runtests\.py)(?:\s|$)"
)
_SHELL = re.compile(r"[|&;<>$`]")
# Options of pytest that stand alone; the word after any other option may belong to it.
_ALONE = re.compile(
    r"-[qvxslh]+|-r\w+|--[\w-]+=.*"
    r"|--(?:strict|no|disable|failed|new|full|ff|lf|nf|sw|co)\b.*"
    r"|--(?:quiet|verbose|exitfirst|showlocals|last-failed|stepwise|runxfail|doctest-modules)"
)


@dataclass(frozen=True, kw_only=True)
class TestCommand:
    __test__ = False

    text: str
    parts: tuple[str, ...]
    pytest: int | None
    """Where the word `pytest` stands, if the command is one of pytest's."""

    @property
    def prints_summary(self) -> bool:
        """Tell whether it is unittest, or Django's runner: what they print at the end is read.

        >>> parse("python3 -m unittest discover -v").prints_summary
        True
        """
        is_unittest = _UNITTEST.search(" ".join(self.parts)) is not None
        return is_unittest and not self.has_report

    @property
    def has_report(self) -> bool:
        return self.pytest is not None or PLACEHOLDER in self.text

    def build_words(self, report: str) -> tuple[str, ...]:
        """Give the words to run, with the report asked for."""
        command_words = tuple(word.replace(PLACEHOLDER, report) for word in self.parts)
        if self.pytest is None or PLACEHOLDER in self.text:
            return command_words
        report_options = (f"--junitxml={report}", "-o", "junit_family=xunit1")
        return (
            *command_words[: self.pytest + 1],
            *report_options,
            *command_words[self.pytest + 1 :],
        )

    def select_tests(
        self, report: str, names: Sequence[str], *, is_path: Callable[[str], bool]
    ) -> tuple[str, ...]:
        """Give the words that run these tests of pytest's and no others."""
        command_words = self.build_words(report)
        if self.pytest is None:
            return command_words
        first = self.pytest + 1
        remaining_words: list[str] = []
        for before, word in zip(command_words[first - 1 :], command_words[first:], strict=False):
            is_value = before.startswith("-") and not _ALONE.fullmatch(before)
            if word.startswith("-") or is_value or not is_path(word.partition("::")[0]):
                remaining_words.append(word)
        return (*command_words[:first], *remaining_words, *names)


def parse(text: str) -> TestCommand:
    try:
        parts = tuple(shlex.split(text))
    except ValueError as error:
        raise _bad_command_error(text, f"cannot be split into words: {error}") from None
    if not parts:
        raise _bad_command_error(text, "is empty")
    if _SHELL.search(parts[0]) or any(part in {"&&", "||", "|", ";", ">", "<"} for part in parts):
        raise _bad_command_error(text, "uses the shell's signs, and no shell reads it")
    return TestCommand(text=text, parts=parts, pytest=_find_pytest(parts))


def _find_pytest(parts: tuple[str, ...]) -> int | None:
    for number, word in enumerate(parts):
        if _PYTEST.fullmatch(word):
            return number
    return None


def _bad_command_error(text: str, why: str) -> BadSetting:
    return BadSetting(
        f"target.test_command is {text!r}, which {why}",
        next_step="write a program and its words, such as `python -m pytest -q`, or `sh -c '…'`",
        key="target.test_command",
    )
