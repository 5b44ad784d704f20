"""JavaScript and TypeScript tests that prove less after a change than before, by their words."""

import re
from collections import Counter
from collections.abc import Iterator

from astra.changes.findings.script_effects import SCRIPTS
from astra.changes.findings.source import Source
from astra.trusted.changes.evidence import Finding, Severity

_DANGER = Severity.DANGER
_COMMENT = re.compile(r"^\s*(?://|\*|/\*)|\s//\s.*$")
_SKIP = re.compile(
    r"\b(?:it|test|describe|suite|context|specify|bench)(?:\.\w+)*"
    r"\.(?:skip|only|todo|fails|failing|fixme|skipIf|runIf)\b"
    r"|\b(?:xit|xtest|xdescribe|xcontext|fit|fdescribe|ftest)\s*\(|\bthis\.skip\s*\(|\bpending\s*\("
)
_NAMED = re.compile(r"\b(?:it|test|specify)(?:\.\w+)*\s*\(\s*([\"'`])((?:(?!\1).){1,300})\1")
_EXPECT = re.compile(r"\bexpect\s*\(|\bassert(?:\.\w+)?\s*\(|\.should\b")
_EXACT = re.compile(
    r"\.(?:toBe|toEqual|toStrictEqual|toMatchObject|toHaveBeenCalledWith|toThrow(?:Error)?)\s*\(\s*[^)\s]"
    r"|\bassert\.(?:deepStrictEqual|strictEqual|deepEqual|equal)\b|\.to\.(?:deep\.)?equal\("
)
_LOOSE = re.compile(
    r"\.(?:toBeTruthy|toBeDefined|toBeFalsy|not\.toBeNull|not\.toBeUndefined|toContain|toMatch"
    r"|toBeInstanceOf|toBeGreaterThan\w*|toBeLessThan\w*|toBeCloseTo|toHaveBeenCalled)\s*\("
    r"|\.toThrow(?:Error)?\s*\(\s*\)|\bassert\.ok\b|\bexpect\.(?:anything|any)\b|\.to\.be\.ok\b"
)
_CERTAIN = re.compile(
    r"\bexpect\s*\(\s*(true|1|\"\w*\")\s*\)\s*\.(?:toBe|toEqual|toStrictEqual)\s*\(\s*\1\s*\)"
    r"|\bexpect\s*\(\s*(?:true|1)\s*\)\.toBeTruthy|\bassert(?:\.ok)?\s*\(\s*(?:true|1)\s*[,)]"
    r"|\|\|\s*true\b"
)
_REPLACED = re.compile(
    r"\b(?:jest|vi)\.(?:mock|doMock|spyOn|unstable_mockModule)\s*\(|\bsinon\.(?:stub|replace)\s*\("
    r"|\bproxyquire\s*\(|\bmock\.module\s*\("
)
_EXIT = re.compile(r"\bprocess\.(?:exit|abort|kill)\s*\(|\bprocess\.exitCode\s*=")
_LEAVING = re.compile(r"^\s*return\s*;?\s*$|\{\s*return\s*;|\bif\s*\(.*\)\s*return\s*;?\s*$")
_TAKING = re.compile(r"\bcatch\s*(?:\([^)]*\)\s*)?\{|\.catch\s*\(")
_AWAITED = re.compile(r"\b(?:await|return)\s+(?:expect|assert)\b")
_ADDED = (
    ("check-guarded", _LEAVING, "leaves the test before what follows is checked"),
    ("check-guarded", _TAKING, "may take a failure away"),
    ("skip-added", _SKIP, "keeps tests from counting"),
    ("check-always-true", _CERTAIN, "holds whatever the code does"),
    ("code-replaced", _REPLACED, "replaces the real code in the test"),
    ("exit-in-tests", _EXIT, "can end the run before its tests fail"),
)


def examine(source: Source) -> Iterator[Finding]:
    if not source.is_test or source.language not in SCRIPTS or source.new is None:
        return
    old, new = _strip_line_comments(source.old_lines), _strip_line_comments(source.new_lines)
    for rule, shape, meaning in _ADDED:
        for number, text in _find_added_matches(shape, old, new):
            yield source.make_finding(rule, _DANGER, number, f"{text.strip()[:60]} {meaning}")
    old, new = (
        _strip_line_comments(_blank_block_comments(source.old_lines)),
        _strip_line_comments(_blank_block_comments(source.new_lines)),
    )
    yield from _lost_tests(source, old, new)
    yield from _lost_checks(source, old, new)


def _find_added_matches(
    shape: re.Pattern[str], old: list[str], new: list[str]
) -> Iterator[tuple[int, str]]:
    """Give what the new text has more of, with its lines."""
    old_counts = Counter(match[0] for line in old for match in shape.finditer(line))
    for number, line in enumerate(new, start=1):
        for match in shape.finditer(line):
            if old_counts[match[0]] > 0:
                old_counts[match[0]] -= 1
            else:
                yield number, match[0]


def _lost_tests(source: Source, old: list[str], new: list[str]) -> Iterator[Finding]:
    new_names = Counter(match[2] for line in new for match in _NAMED.finditer(line))
    for number, line in enumerate(old, start=1):
        for match in _NAMED.finditer(line):
            if new_names[match[2]] > 0:
                new_names[match[2]] -= 1
            else:
                message = f"the test {match[2]!r} is gone or has another name"
                yield source.make_lost_finding("test-removed", _DANGER, number, message)


def _lost_checks(source: Source, old: list[str], new: list[str]) -> Iterator[Finding]:
    before, after = _count_matches(_EXPECT, old), _count_matches(_EXPECT, new)
    if after < before:
        message = f"{before - after} fewer checks than before ({after} instead of {before})"
        yield source.make_file_finding("check-removed", _DANGER, 0, message)
    if _count_matches(_AWAITED, new) < min(_count_matches(_AWAITED, old), after):
        message = "a check is no longer waited for, so that its failure may come too late"
        yield source.make_file_finding("check-loosened", _DANGER, 0, message)
    exact, loose = (
        _count_matches(_EXACT, new) - _count_matches(_EXACT, old),
        _count_matches(_LOOSE, new),
    )
    if exact < 0 and loose > _count_matches(_LOOSE, old):
        fresh = [n for n in sorted(source.added_numbers) if _LOOSE.search(source.new_lines[n - 1])]
        message = "a check demands less than before"
        yield source.make_finding("check-loosened", _DANGER, fresh[0] if fresh else 0, message)


def _count_matches(shape: re.Pattern[str], lines: list[str]) -> int:
    return sum(len(shape.findall(line)) for line in lines)


def _strip_line_comments(lines: list[str]) -> list[str]:
    """Drop comments that take the rest of a line, and never look at more than a line's start."""
    return ["" if _starts_comment(line) else _COMMENT.sub("", line[:4000]) for line in lines]


def _blank_block_comments(lines: list[str]) -> list[str]:
    """Blank what stands in comments over several lines.

    Only what is lost is counted on this: a text that is taken for a comment is reported once too
    often, and hides nothing that was added.
    """
    live_lines: list[str] = []
    inside = False
    for line in lines:
        begins = line.lstrip().startswith("/*") or line.rstrip().endswith("/*")
        live_lines.append("" if inside or line.lstrip().startswith("/*") else line)
        inside = (inside or begins) and "*/" not in line
    return live_lines


def _starts_comment(line: str) -> bool:
    return line.lstrip().startswith(("//", "*", "/*"))
