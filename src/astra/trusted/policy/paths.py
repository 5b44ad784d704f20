r"""Paths as an agent writes them, turned into values that are safe to use, or refused.

A `RelativePath` or `AbsolutePath` that exists is clean: normalised (NFC, no `.` or doubled slash),
free of `..`, NUL, control and invisible characters, look-alikes of `/ \ . ~ :`, trailing dots and
spaces, Windows separators and drives, `~`, and every spelling of `.git`. The constructors check, so
there is no way to hold a dirty one. `..` is refused, never resolved: resolving it in text and
in the kernel gives two answers as soon as a symlink is involved.

A name like `-rf` is a legal file; `argument` spells it so that no program takes it for an option.

>>> parse_relative("./docs//guide.md")
RelativePath(text='docs/guide.md')
>>> parse_relative("-rf").argument
'./-rf'
>>> parse_relative("docs/../../etc/passwd")
Traceback (most recent call last):
    ...
astra.trusted.policy.paths.PathRefused: the path 'docs/../../etc/passwd' climbs with `..`
"""

import re
import unicodedata
from dataclasses import dataclass
from enum import StrEnum
from typing import NoReturn

from astra.trusted.kernel.errors import Refused

LONGEST_PATH = 4096
LONGEST_NAME = 255


class PathProblem(StrEnum):
    EMPTY = "path_empty"
    NOT_UNICODE = "path_not_unicode"
    NUL = "path_nul"
    CONTROL = "path_control_character"
    TOO_LONG = "path_too_long"
    NAME_TOO_LONG = "path_name_too_long"
    BACKSLASH = "path_backslash"
    DRIVE = "path_drive_letter"
    HOME = "path_home"
    ABSOLUTE = "path_absolute"
    NOT_ABSOLUTE = "path_not_absolute"
    PARENT = "path_parent_reference"
    LOOK_ALIKE = "path_look_alike"
    NOT_NORMALISED = "path_not_normalised"
    TRAILING = "path_trailing_dot_or_space"
    GIT = "path_git_internals"


class PathRefused(Refused):
    """A path that cannot be used; `problem` says why, from a closed list."""

    def __init__(self, problem: PathProblem, detail: str, *, next_step: str) -> None:
        super().__init__(detail, next_step=next_step, code=problem.value)
        self.problem = problem


@dataclass(frozen=True, slots=True)
class RelativePath:
    """A clean path below some folder; the empty text is that folder itself."""

    text: str

    def __post_init__(self) -> None:
        if self.text and _normalise_path(self.text) != self.text:
            _refuse_path(PathProblem.NOT_NORMALISED, self.text)

    @property
    def parts(self) -> tuple[str, ...]:
        return tuple(self.text.split("/")) if self.text else ()

    @property
    def name(self) -> str:
        return self.text.rpartition("/")[2]

    @property
    def argument(self) -> str:
        return f"./{self.text}"

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class AbsolutePath:
    """A clean path from the root of the machine, and never the root itself."""

    text: str

    def __post_init__(self) -> None:
        if not self.text.startswith("/"):
            _refuse_path(PathProblem.NOT_ABSOLUTE, self.text)
        if not self.text[1:] or _normalise_path(self.text[1:]) != self.text[1:]:
            _refuse_path(PathProblem.NOT_NORMALISED, self.text)

    @property
    def parts(self) -> tuple[str, ...]:
        return tuple(self.text[1:].split("/"))

    @property
    def below_root(self) -> RelativePath:
        return RelativePath(self.text[1:])

    def __str__(self) -> str:
        return self.text


AnyPath = RelativePath | AbsolutePath


def parse_relative(text: str) -> RelativePath:
    """Read the path of a file below a folder; the folder itself is refused."""
    path = parse_folder(text)
    if not path.text:
        _refuse_path(PathProblem.EMPTY, text)
    return path


def parse_folder(text: str) -> RelativePath:
    """Read the path of a folder below a folder; empty text and `.` mean the folder itself."""
    if text.startswith("/"):
        _refuse_path(PathProblem.ABSOLUTE, text)
    return RelativePath(_normalise_path(text))


def parse_absolute(text: str) -> AbsolutePath:
    if not text.startswith("/"):
        _refuse_path(PathProblem.NOT_ABSOLUTE, text)
    below = _normalise_path(text.lstrip("/"))
    if not below:
        _refuse_path(PathProblem.EMPTY, text)
    return AbsolutePath(f"/{below}")


def quote(text: str) -> str:
    """Show untrusted text in a message: ASCII only, escaped, and short."""
    return ascii(text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]}…")


def fold(text: str) -> str:
    """Fold spellings that some file system or reader takes for the same name; for refusals only."""
    if text.isascii():
        return text.lower()
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())


def is_git_name(name: str) -> bool:
    """Tell whether some file system takes this name for git's own folder."""
    if name.isascii():
        folded = name.lower()
    else:
        visible = (c for c in name if unicodedata.category(c) not in _UNSEEN_CATEGORIES)
        folded = fold("".join(visible))
    if "git" not in folded:
        return False
    return folded.partition(":")[0].rstrip(". ").strip() in _GIT_NAMES


LONGEST_SHOWN = 120

_LIKE_A_SLASH = "\u2044\u2215\u2216\u2571\u2572\u29f5\u29f8\u29f9\u3033\u1735\u4e3f\u0338\u0337"
_LIKE_A_DOT = "\u06d4\u0701\u0702\u3002\ua4f8\U00010a50\U0001d16d\u0660\u06f0"
_LIKE_A_COLON_OR_TILDE = "\u2236\ua789\u05c3\u223c\u02dc\u02d0"
_INVISIBLE = "\u115f\u1160\u3164\uffa0\u2800\u034f\u180b\u180c\u180d"
_LOOK_ALIKES = frozenset(_LIKE_A_SLASH + _LIKE_A_DOT + _LIKE_A_COLON_OR_TILDE + _INVISIBLE)
_MEANINGFUL = frozenset("/\\.~:")
_DRIVE = re.compile(r"[A-Za-z]:")
_GIT_NAMES = frozenset({".git", "git~1"})
_UNSEEN_CATEGORIES = frozenset({"Cc", "Cf", "Zl", "Zp", "Co", "Cn"})


def _normalise_path(text: str) -> str:
    """Return the one spelling of a path without its leading slash, or refuse it."""
    _check_characters(text)
    if len(text.encode()) > LONGEST_PATH:
        _refuse_path(PathProblem.TOO_LONG, text)
    if "\\" in text:
        _refuse_path(PathProblem.BACKSLASH, text)
    if _DRIVE.match(text):
        _refuse_path(PathProblem.DRIVE, text)
    if text.startswith("~"):
        _refuse_path(PathProblem.HOME, text)
    names = [name for name in text.split("/") if name not in {"", "."}]
    for name in names:
        _check_name(name, text)
    return "/".join(names)


def _check_characters(text: str) -> None:
    if "\0" in text:
        _refuse_path(PathProblem.NUL, text)
    if text.isascii() and text.isprintable():
        return
    for character in text:
        _check_character(character, text)
    if not unicodedata.is_normalized("NFC", text):
        _refuse_path(PathProblem.NOT_NORMALISED, text)


def _check_character(character: str, text: str) -> None:
    category = unicodedata.category(character)
    if category == "Cs":
        _refuse_path(PathProblem.NOT_UNICODE, text)
    if category in _UNSEEN_CATEGORIES:
        _refuse_path(PathProblem.CONTROL, text)
    if not character.isascii() and _looks_like_syntax(character, category):
        _refuse_path(PathProblem.LOOK_ALIKE, text)


def _looks_like_syntax(character: str, category: str) -> bool:
    return (
        category == "Zs"
        or character in _LOOK_ALIKES
        or not _MEANINGFUL.isdisjoint(unicodedata.normalize("NFKC", character))
    )


def _check_name(name: str, text: str) -> None:
    if name == "..":
        _refuse_path(PathProblem.PARENT, text)
    if name[-1] in ". ":
        _refuse_path(PathProblem.TRAILING, text)
    if len(name.encode()) > LONGEST_NAME:
        _refuse_path(PathProblem.NAME_TOO_LONG, text)
    if is_git_name(name):
        _refuse_path(PathProblem.GIT, text)


_RELATIVE = "give the path relative to the folder, such as docs/guide.md"
_EXPLAINED: dict[PathProblem, tuple[str, str]] = {
    PathProblem.EMPTY: ("names no file", _RELATIVE),
    PathProblem.NOT_UNICODE: (
        "contains a lone surrogate, which is not valid Unicode",
        "send valid UTF-8",
    ),
    PathProblem.NUL: ("holds a NUL byte", "remove it"),
    PathProblem.CONTROL: (
        "holds a control, invisible or unassigned character",
        "remove it; only visible characters name files here",
    ),
    PathProblem.TOO_LONG: (f"is longer than {LONGEST_PATH} bytes", "use a shorter path"),
    PathProblem.NAME_TOO_LONG: (
        f"has a name longer than {LONGEST_NAME} bytes",
        "use shorter names",
    ),
    PathProblem.BACKSLASH: ("holds a backslash", "separate folders with /"),
    PathProblem.DRIVE: ("starts with a drive letter", _RELATIVE),
    PathProblem.HOME: ("starts with ~, which is never expanded", _RELATIVE),
    PathProblem.ABSOLUTE: ("is absolute", _RELATIVE),
    PathProblem.NOT_ABSOLUTE: ("is not absolute", "start at the root, such as /data/report.csv"),
    PathProblem.PARENT: ("climbs with `..`", "name the file from the top of the folder"),
    PathProblem.LOOK_ALIKE: (
        "holds a character that looks like path syntax or a space",
        "use the plain ASCII character, or another name",
    ),
    PathProblem.NOT_NORMALISED: (
        "is not in its normal form",
        "write it in Unicode NFC, without `.` or doubled slashes",
    ),
    PathProblem.TRAILING: (
        "has a name that ends in a dot or a space",
        "remove the trailing dots and spaces",
    ),
    PathProblem.GIT: (
        "reaches into git's own files",
        "use list_source_files and read_source_code, which read git for you",
    ),
}


def _refuse_path(problem: PathProblem, text: str) -> NoReturn:
    explanation, next_step = _EXPLAINED[problem]
    raise PathRefused(problem, f"the path {quote(text)} {explanation}", next_step=next_step)
