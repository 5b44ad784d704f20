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
        return _can_reach_place(folded, tuple(paths.fold(place.strip("/")).split("/")))


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
    segments = _split_segments(text)
    if len(segments) != len(clean.parts):
        raise _build_refusal(text, "it holds an empty name")
    segments = _without_repeats(segments)
    _check_wildcards(text, segments)
    lead = "/" if absolute else ""
    return Glob(
        text=lead + "/".join(segments),
        absolute=absolute,
        segments=segments,
        pattern=re.compile(lead + _translate_glob(segments), re.DOTALL),
    )


def _split_segments(text: str) -> tuple[str, ...]:
    return tuple(name for name in text.split("/") if name not in {"", "."})


def _without_repeats(segments: tuple[str, ...]) -> tuple[str, ...]:
    """Write `**/**` as `**`: it says the same."""
    collapsed_segments = [
        s for s, before in zip(segments, ("", *segments), strict=False) if {s, before} != {"**"}
    ]
    return tuple(collapsed_segments)


def _check_wildcards(text: str, segments: tuple[str, ...]) -> None:
    if any("**" in segment and segment != "**" for segment in segments):
        raise _build_refusal(text, "`**` stands between slashes or not at all")
    if segments.count("**") > MOST_FOLDER_WILDCARDS:
        raise _build_refusal(text, f"it holds `**` more than {MOST_FOLDER_WILDCARDS} times")


def _build_refusal(text: str, why: str) -> GlobRefused:
    return GlobRefused(
        f"the glob {quote(text)} is not clear: {why}",
        next_step="use `*` and `?` within one name and `**` for folders: docs/**/*.md",
    )


def _translate_glob(segments: tuple[str, ...]) -> str:
    first, *later_groups = _split_at_folders(segments)
    if not later_groups:
        return _translate_segments(first)
    parts = [f"{_translate_segments(first)}/" if first else ""]
    parts += [f"(?>(?:[^/]+/)*?{_translate_segments(group)}/)" for group in later_groups[:-1]]
    parts.append(
        f"(?:[^/]+/)*{_translate_segments(later_groups[-1])}" if later_groups[-1] else ".+"
    )
    return "".join(parts)


def _split_at_folders(segments: tuple[str, ...]) -> list[list[str]]:
    groups: list[list[str]] = [[]]
    for segment in segments:
        if segment == "**":
            groups.append([])
        else:
            groups[-1].append(segment)
    return groups


def _translate_segments(segments: list[str]) -> str:
    return "/".join(_translate_segment(segment) for segment in segments)


def _translate_segment(segment: str) -> str:
    first, *later_chunks = re.split(r"\*+", segment)
    if not later_chunks:
        return _escape_literal(first)
    middle = "".join(f"(?>[^/]*?{_escape_literal(chunk)})" for chunk in later_chunks[:-1])
    return f"(?=[^/]){_escape_literal(first)}{middle}[^/]*{_escape_literal(later_chunks[-1])}"


def _escape_literal(chunk: str) -> str:
    return re.escape(chunk).replace(r"\?", "[^/]")


def _can_reach_place(segments: tuple[str, ...], place: tuple[str, ...]) -> bool:
    if not place:
        return True
    if not segments:
        return False
    head, later_segments = segments[0], segments[1:]
    if head == "**":
        return _can_reach_place(later_segments, place) or _can_reach_place(segments, place[1:])
    return re.fullmatch(_translate_segment(head), place[0]) is not None and _can_reach_place(
        later_segments, place[1:]
    )
