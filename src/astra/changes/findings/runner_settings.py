r"""Settings of pytest and coverage, compared as the runner reads them: section by section.

What stands on which line does not matter here, so that an option hidden in a list over several
lines, or one that is gone, is seen as well.

>>> old, new = "[pytest]\ntestpaths =\n  a\n  b\n", "[pytest]\ntestpaths =\n  a\n"
>>> [finding.message for finding in examine(Source(path="pytest.ini", old=old, new=new))]
['testpaths in [pytest] decides which tests run, and how']
"""

import configparser
import re
import tomllib
from collections.abc import Iterator
from typing import Any, cast

from astra.changes.findings import thresholds
from astra.changes.findings.source import Source
from astra.trusted.changes.evidence import Finding, Severity

_OWN_FILE = re.compile(r"\.?pytest\.(?:ini|toml)")
_SHARED = re.compile(r"pyproject\.toml|setup\.cfg|tox\.ini|\.coveragerc|\.?coverage\.toml")
_INI_SECTIONS = re.compile(r"pytest|tool:pytest|(?:coverage:)?(?:run|report|paths)")
_TOML_TABLES = (("pytest",), ("tool", "pytest"), ("tool", "coverage"))
_DEEPEST = 8
Settings = dict[tuple[str, str], str]


def examine(source: Source) -> Iterator[Finding]:
    name = source.path.lower().rpartition("/")[2]
    if not (_OWN_FILE.fullmatch(name) or _SHARED.fullmatch(name)):
        return
    if _OWN_FILE.fullmatch(name) and (source.old is None or source.new is None):
        how = "is new" if source.old is None else "is gone"
        message = f"{how}; the runner takes its settings from here before any other file"
        yield source.make_file_finding("collection-changed", Severity.DANGER, 0, message)
    old, new = _read_settings(name, source.old), _read_settings(name, source.new)
    if new is None or old is None:
        if "pytest" not in f"{name} {source.old} {source.new}":
            return
        message = "these settings of tests cannot be read, so nobody compared them"
        yield source.make_file_finding("not-examined", Severity.DANGER, 0, message)
        return
    for section, key in sorted(_find_changed_keys(old, new)):
        line = _find_added_line(source, key)
        if line and thresholds.is_reported(source.new_lines[line - 1]):
            continue
        effect = "which tests run, and how" if "pytest" in section else "what counts as covered"
        message = f"{key} in [{section}] decides {effect}"
        yield source.make_finding("collection-changed", Severity.DANGER, line, message)


def _find_changed_keys(old: Settings, new: Settings) -> set[tuple[str, str]]:
    """Name what is not the same; a bar that only has to be high is another rule's to judge."""
    places = {place for place in old.keys() | new.keys() if place[1] != "fail_under"}
    return {place for place in places if old.get(place) != new.get(place)}


def _find_added_line(source: Source, key: str) -> int:
    return next((n for n in sorted(source.added_numbers) if key in source.new_lines[n - 1]), 0)


def _read_settings(name: str, text: str | None) -> Settings | None:
    """Read what concerns tests, or None where the file cannot be read as what it is."""
    if text is None:
        return {}
    return _read_toml(text) if name.endswith(".toml") else _read_ini(text)


def _read_ini(text: str) -> Settings | None:
    reader = configparser.RawConfigParser(strict=False, allow_no_value=True)
    try:
        reader.read_string(text)
    except (configparser.Error, ValueError):
        return None
    return {
        (section, key): "\n".join(line.strip() for line in (value or "").splitlines())
        for section in reader.sections()
        if _INI_SECTIONS.fullmatch(section)
        for key, value in reader.items(section)
    }


def _read_toml(text: str) -> Settings | None:
    try:
        document = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError):
        return None
    settings: Settings = {}
    for path in _TOML_TABLES:
        table: Any = document
        for part in path:
            table = cast("dict[str, Any]", table).get(part) if isinstance(table, dict) else None
        _collect_settings(table, ".".join(path), settings, _DEEPEST)
    return settings


def _collect_settings(value: Any, place: str, found: Settings, depth: int) -> None:
    if isinstance(value, dict) and depth:
        for key, item in cast("dict[str, Any]", value).items():
            if isinstance(item, dict):
                _collect_settings(item, f"{place}.{key}", found, depth - 1)
            else:
                found[place, key] = repr(item)
