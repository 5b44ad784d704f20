"""Precise globs: `*` and `?` inside one name, `**` for any number of folders, nothing else.

A glob matches whole paths and only those: `docs/*.md` is neither `docs/sub/a.md` nor `docs`. A
trailing `/**` means everything below the folder and not the folder. Brackets and braces are
ordinary characters. Matching takes time proportional to the path, whatever the glob: each stretch
between two wildcards is matched at its leftmost place and never reconsidered (atomic groups).

>>> parse_glob("docs/*.md").matches("docs/guide.md")
True
>>> parse_glob("docs/**/*.md").matches("docs/secrets.key")
False
"""

import re
from dataclasses import dataclass
from enum import StrEnum

from astra.trusted.kernel.errors import Refused
from astra.trusted.policy import paths
from astra.trusted.policy.paths import quote

MOST_FOLDER_WILDCARDS = 4


class GlobProblem(StrEnum):
    UNCLEAR = "glob_unclear"


class GlobRefused(Refused):
    code = GlobProblem.UNCLEAR.value


@dataclass(frozen=True, slots=True)
class Glob:
    text: str
    absolute: bool
    segments: tuple[str, ...]
    pattern: re.Pattern[str]

    def matches(self, text: str) -> bool:
        return self.pattern.fullmatch(text) is not None

    @property
    def folder(self) -> str:
        """The folder above the first wildcard: every match lies below it."""
        literal: list[str] = []
        for segment in self.segments[:-1]:
            if has_wildcard(segment):
                break
            literal.append(segment)
        return ("/" if self.absolute else "") + "/".join(literal)

    @property
    def extension(self) -> str | None:
        """What follows the last dot of every match, where the glob fixes it."""
        _, dot, extension = self.segments[-1].rpartition(".")
        return None if not dot or has_wildcard(extension) else extension

    def reaches(self, place: str) -> bool:
        """Say whether some match could be the place or lie below it, in any spelling of case."""
        if place.startswith("/") != self.absolute:
            return False
        folded = tuple(paths.fold(segment) for segment in self.segments)
        return _reaches(folded, tuple(paths.fold(place.strip("/")).split("/")))


def has_wildcard(text: str) -> bool:
    return "*" in text or "?" in text


def parse_relative_glob(text: str) -> Glob:
    """Read a glob below some folder; one without a slash speaks of names at any depth."""
    if text.startswith("/"):
        paths.parse_relative(text)
    return parse_glob(text if "/" in text else f"**/{text}")


def parse_glob(text: str) -> Glob:
    absolute = text.startswith("/")
    sample = re.sub(r"[*?]+", "x", text)
    clean = paths.parse_absolute(sample) if absolute else paths.parse_relative(sample)
    segments = _segments(text)
    if len(segments) != len(clean.parts):
        raise _unclear(text, "it holds an empty name")
    segments = _without_repeats(segments)
    _check(text, segments)
    lead = "/" if absolute else ""
    return Glob(
        text=lead + "/".join(segments),
        absolute=absolute,
        segments=segments,
        pattern=re.compile(lead + _expression(segments), re.DOTALL),
    )


def _segments(text: str) -> tuple[str, ...]:
    return tuple(name for name in text.split("/") if name not in {"", "."})


def _without_repeats(segments: tuple[str, ...]) -> tuple[str, ...]:
    """Write `**/**` as `**`: it says the same."""
    kept = [
        s for s, before in zip(segments, ("", *segments), strict=False) if {s, before} != {"**"}
    ]
    return tuple(kept)


def _check(text: str, segments: tuple[str, ...]) -> None:
    if any("**" in segment and segment != "**" for segment in segments):
        raise _unclear(text, "`**` stands between slashes or not at all")
    if segments.count("**") > MOST_FOLDER_WILDCARDS:
        raise _unclear(text, f"it holds `**` more than {MOST_FOLDER_WILDCARDS} times")


def _unclear(text: str, why: str) -> GlobRefused:
    return GlobRefused(
        f"the glob {quote(text)} is not clear: {why}",
        next_step="use `*` and `?` within one name and `**` for folders: docs/**/*.md",
    )


def _expression(segments: tuple[str, ...]) -> str:
    first, *others = _split_at_folders(segments)
    if not others:
        return _run(first)
    parts = [f"{_run(first)}/" if first else ""]
    parts += [f"(?>(?:[^/]+/)*?{_run(group)}/)" for group in others[:-1]]
    parts.append(f"(?:[^/]+/)*{_run(others[-1])}" if others[-1] else ".+")
    return "".join(parts)


def _split_at_folders(segments: tuple[str, ...]) -> list[list[str]]:
    groups: list[list[str]] = [[]]
    for segment in segments:
        if segment == "**":
            groups.append([])
        else:
            groups[-1].append(segment)
    return groups


def _run(segments: list[str]) -> str:
    return "/".join(_name(segment) for segment in segments)


def _name(segment: str) -> str:
    first, *others = re.split(r"\*+", segment)
    if not others:
        return _literal(first)
    middle = "".join(f"(?>[^/]*?{_literal(chunk)})" for chunk in others[:-1])
    return f"(?=[^/]){_literal(first)}{middle}[^/]*{_literal(others[-1])}"


def _literal(chunk: str) -> str:
    return re.escape(chunk).replace(r"\?", "[^/]")


def _reaches(segments: tuple[str, ...], place: tuple[str, ...]) -> bool:
    if not place:
        return True
    if not segments:
        return False
    head, rest = segments[0], segments[1:]
    if head == "**":
        return _reaches(rest, place) or _reaches(segments, place[1:])
    return re.fullmatch(_name(head), place[0]) is not None and _reaches(rest, place[1:])
