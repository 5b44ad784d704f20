r"""Text that looks other than it is, on added lines of any language; and secrets that slipped in.

>>> trap = Source(path="a.py", new="x = 'a\u202eb'\n")
>>> [finding.rule for finding in examine(trap)]
['turns-reading-direction']
"""

import re
import unicodedata
from collections.abc import Iterator

from astra.changes.findings.source import Source
from astra.trusted.changes.evidence import Finding, Severity
from astra.trusted.changes.files import EXECUTABLE, LINK, SUBMODULE
from astra.trusted.kernel.masking import MASK, mask
from astra.trusted.kernel.text import is_invisible, turns_direction

LONGEST_LINE = 500
_CONTROL = re.compile("[\x00-\x08\x0b\x0e-\x1f\x7f-\x9f\ufffe\uffff]")
_COOKIE = re.compile(r"[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)")
_PLAIN_ENCODINGS = frozenset({"utf-8", "utf8", "ascii", "us-ascii", "utf-8-sig"})
_WORD = re.compile(r"[^\W\d_]{2,64}")
_PROSE = re.compile(
    r"(?:.*/)?(?:.+\.(?:md|rst|txt|adoc|csv|tsv|po|pot|lock|ini|cfg)"
    r"|[^./]*(?:license|licence|copying|authors|changelog|changes|readme|notice)[^./]*"
    r"|\.gitignore|\.gitkeep|\.editorconfig|\.coveragerc)"
)
_MOST_BLANKS = re.compile(r"\S[ \t]{120,}\S")


def examine(source: Source) -> Iterator[Finding]:
    yield from _whole_file(source)
    if source.language == "python":
        yield from _find_encoding_cookie(source)
    for number in sorted(source.added_numbers):
        yield from _find_line_traps(source, number, source.new_lines[number - 1])
    yield from _find_secrets(source)


def _whole_file(source: Source) -> Iterator[Finding]:
    if source.new is not None and any(_is_mixed(word[0]) for word in _WORD.finditer(source.path)):
        message = "its name mixes letters of two alphabets that look alike"
        yield source.make_file_finding("mixed-alphabets", Severity.WARNING, 0, message)
    if source.new is not None and not source.path.isascii():
        yield from _find_hidden_characters(source, 0, source.path)
    if source.problem:
        yield source.make_file_finding("not-text", Severity.WARNING, 0, source.problem)
    if source.language == "python" and source.new is not None and source.new_tree is None:
        message = "cannot be taken apart as Python, so no rule for Python looked at it"
        yield source.make_file_finding("not-examined", Severity.DANGER, 0, message)
    if source.new and not source.language and not _PROSE.fullmatch(source.path.lower()):
        message = "no rule reads this kind of file; only its text was looked at"
        yield source.make_file_finding("not-examined", Severity.INFO, 0, message)
    if source.new_mode == EXECUTABLE and source.old_mode != EXECUTABLE:
        yield source.make_file_finding(
            "becomes-executable", Severity.WARNING, 0, "can be run as a program now"
        )
    if source.new_mode in {LINK, SUBMODULE} and source.new_mode != source.old_mode:
        kind = "a symbolic link" if source.new_mode == LINK else "another repository"
        yield source.make_file_finding("leads-elsewhere", Severity.DANGER, 0, f"is {kind} now")


def _find_encoding_cookie(source: Source) -> Iterator[Finding]:
    """Find a cookie that makes Python read other characters than a reviewer sees."""
    for number, line in enumerate(source.new_lines[:2], start=1):
        match = _COOKIE.match(line)
        if match and match[1].lower().replace("_", "-") not in _PLAIN_ENCODINGS:
            message = f"Python reads this file as {match[1][:40]}, so it may run what is not shown"
            yield source.make_finding("other-encoding", Severity.DANGER, number, message)


def _find_line_traps(source: Source, number: int, line: str) -> Iterator[Finding]:
    if len(line) > LONGEST_LINE:
        message = f"a line of {len(line):,} characters; look at its end too"
        yield source.make_finding("very-long-line", Severity.WARNING, number, message)
    if _MOST_BLANKS.search(line):
        message = "more text follows far to the right"
        yield source.make_finding("text-far-right", Severity.DANGER, number, message)
    if not line.isascii():
        yield from _beyond_ascii(source, number, line)
    if _CONTROL.search(line):
        message = "holds control characters, which a terminal may obey"
        yield source.make_finding("control-characters", Severity.DANGER, number, message)


def _beyond_ascii(source: Source, number: int, line: str) -> Iterator[Finding]:
    yield from _find_hidden_characters(source, number, line)
    if any(_is_mixed(word[0]) for word in _WORD.finditer(line)):
        message = "a word mixes letters of two alphabets that look alike"
        yield source.make_finding("mixed-alphabets", Severity.WARNING, number, message)


def _find_hidden_characters(source: Source, number: int, text: str) -> Iterator[Finding]:
    """Find what is drawn as nothing or turns the order of text; line 0 is the file's name."""
    invisible = [char for char in text if is_invisible(char)]
    turning = next((char for char in invisible if turns_direction(char)), None)
    unseen = next((char for char in invisible if not turns_direction(char)), None)
    place = "" if number else "in its name: "
    if turning:
        message = f"{place}U+{ord(turning):04X} changes the order in which text is shown"
        yield source.make_file_finding(
            "turns-reading-direction", Severity.DANGER, number, message, text
        )
    if unseen:
        message = f"{place}U+{ord(unseen):04X} cannot be seen"
        yield source.make_file_finding(
            "invisible-character", Severity.DANGER, number, message, text
        )


def _is_mixed(word: str) -> bool:
    if word.isascii():
        return False
    scripts = {unicodedata.name(char, "").partition(" ")[0] for char in word}
    return "LATIN" in scripts and not scripts.isdisjoint({"CYRILLIC", "GREEK", "ARMENIAN"})


def _find_secrets(source: Source) -> Iterator[Finding]:
    """Compare each added line with itself masked; the value itself is never repeated."""
    if source.new is None:
        return
    masked = mask("\n".join(source.new_lines)).split("\n")
    for number in sorted(source.added_numbers):
        line = source.new_lines[number - 1]
        if number <= len(masked) and masked[number - 1] != line and MASK not in line:
            message = "looks like a key, token or password"
            yield source.make_file_finding(
                "holds-secret", Severity.DANGER, number, message, masked[number - 1]
            )
