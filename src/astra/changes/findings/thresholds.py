r"""Settings of test runners and coverage that let less pass as enough.

Read line by line, whatever the format: a number that fell, a demand that is gone, an option that
leaves tests out.

>>> old, new = "fail_under = 90\n", "fail_under = 80\n"
>>> [f.rule for f in examine(Source(path="setup.cfg", old=old, new=new))]
['threshold-lowered']
"""

import re
from collections.abc import Iterator

from astra.changes.findings.source import Source
from astra.trusted.changes.evidence import Finding, Severity

_FILES = re.compile(
    r"pyproject\.toml|setup\.cfg|tox\.ini|pytest\.(?:ini|toml)|\.coveragerc|\.?coverage\.toml"
    r"|package\.json|(?:jest|vitest|vite|playwright|karma|cypress)\.config\..+|\.?nycrc.*"
    r"|\.c8rc.*|\.mocharc.*|codecov\.ya?ml|\.codecov\.ya?ml|makefile|noxfile\.py|justfile"
    r"|conftest\.py|\.gitlab-ci\.ya?ml|.*\.github/workflows/.*"
)
_NUMBER = r"[\"'\s]*[:=]?[\"'\s]*(-?\d{1,9}(?:\.\d{1,9})?)"
_HIGHER_IS_STRICTER = {
    name: re.compile(shape + _NUMBER)
    for name, shape in {
        "fail_under": r"\bfail[_-]under\b",
        "--cov-fail-under": r"--cov-fail-under",
        "branches": r"[\"']?\bbranches\b",
        "functions": r"[\"']?\bfunctions\b",
        "lines": r"[\"']?\blines\b",
        "statements": r"[\"']?\bstatements\b",
        "target": r"\btarget\b",
        "min-confidence": r"\bmin[_-]confidence\b",
        "max_examples": r"\bmax_examples\b",
    }.items()
}
_LOWER_IS_STRICTER = {
    name: re.compile(shape + _NUMBER)
    for name, shape in {
        "max_failures": r"\bmax[_-]?failures\b",
        "--maxfail": r"--maxfail",
        "retries": r"\bretries\b",
        "--reruns": r"--reruns",
        "threshold": r"\bthreshold\b",
    }.items()
}
_DEMANDS = re.compile(
    r"xfail_strict|--strict|strict-markers|\bstrict\b\s*=\s*true|-W\s*error|filterwarnings.*error"
    r"|check-coverage|--cov\b(?!-)|--forbid-only|--ci\b"
)
_NARROWING = re.compile(
    r"--ignore(?:-glob)?\b|--deselect\b|(?:^|[\s\"'])-[km](?=[\s\"'=])|--no-cov\b|--collect-only\b"
    r"|-p\s*no:|--passWithNoTests|passWithNoTests|--suppress-no-test-exit-code|--co\b"
    r"|testPathIgnorePatterns|testNamePattern|--testNamePattern|--bail\b|\|\|\s*true\b|\|\|\s*:"
    r"|--updateSnapshot|--snapshot-update|--force-regen|--inline-snapshot|exit\s+0\b|continue-on-error:\s*true|allow_failure:\s*true|--continue-on-collection-errors"
)
_CHOOSING = re.compile(
    r"\b(?:testpaths|python_files|python_classes|python_functions|norecursedirs|collect_ignore"
    r"|testMatch|testRegex|coveragePathIgnorePatterns|collectCoverageFrom|omit|exclude_lines"
    r"|exclude_also|exclude|addopts|specPattern)\b"
)


def examine(source: Source) -> Iterator[Finding]:
    path = source.path.lower()
    if not (_FILES.fullmatch(path.rpartition("/")[2]) or _FILES.fullmatch(path)):
        return
    yield from _find_lowered_numbers(source)
    yield from _lost_demands(source)
    for number in sorted(source.added_numbers):
        line = source.new_lines[number - 1][:2000]
        if match := _NARROWING.search(line):
            message = f"{match[0].strip()} leaves tests or failures out"
            yield source.make_finding("tests-left-out", Severity.DANGER, number, message)
        elif match := _CHOOSING.search(line):
            message = f"{match[0]} decides which tests or lines count"
            yield source.make_finding("collection-changed", Severity.DANGER, number, message)


def is_reported(line: str) -> bool:
    """Tell whether an added line is reported here already."""
    return bool(_NARROWING.search(line[:2000]) or _CHOOSING.search(line[:2000]))


def _find_lowered_numbers(source: Source) -> Iterator[Finding]:
    for shapes, sign in ((_HIGHER_IS_STRICTER, 1), (_LOWER_IS_STRICTER, -1)):
        for name, shape in shapes.items():
            old, new = _read_values(source.old_lines, shape), _read_values(source.new_lines, shape)
            yield from _compare_values(source, name, old, new, sign)


def _compare_values(
    source: Source,
    name: str,
    old: list[tuple[float, int]],
    new: list[tuple[float, int]],
    sign: int,
) -> Iterator[Finding]:
    for (before, _line), (after, line) in zip(old, new, strict=False):
        if after * sign < before * sign:
            message = f"{name} is {after:g} now and was {before:g}"
            yield source.make_finding("threshold-lowered", Severity.DANGER, line, message)
    for before, line in old[len(new) :]:
        message = f"{name} = {before:g} is gone"
        yield source.make_lost_finding("threshold-lowered", Severity.DANGER, line, message)


def _read_values(lines: list[str], shape: re.Pattern[str]) -> list[tuple[float, int]]:
    return [
        (float(match[1]), number)
        for number, line in enumerate(lines, start=1)
        for match in shape.finditer(line[:2000])
    ]


def _lost_demands(source: Source) -> Iterator[Finding]:
    new_demands = {demand for line in source.new_lines for demand in _DEMANDS.findall(line[:2000])}
    for number in sorted(source.removed_numbers):
        for demand in _DEMANDS.findall(source.old_lines[number - 1][:2000]):
            if demand not in new_demands:
                message = f"{demand.strip()} is no longer demanded"
                yield source.make_lost_finding("demand-dropped", Severity.DANGER, number, message)
