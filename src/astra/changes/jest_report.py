"""Reads the report that jest writes with `--json`; the one of vitest has the same form.

The code under test may have written it itself. Counts come from the single tests, and a file that
could not be loaded counts as one that went wrong; totals above them contradict the report.
"""

import json
import re
from collections.abc import Iterator
from typing import Any, cast

from astra.changes.junit import MOST_CASES, Case, Report, State, make_unreadable_error, merge_cases
from astra.trusted.kernel.text import one_line

LARGEST = 8 * 1024 * 1024
"""Less than of XML: all of it is in memory, many times as large where it is hostile."""
_LONGEST_NAME = 500
_LONGEST_MESSAGE = 400
_COLOURS = re.compile(r"\x1b\[[0-9;]*m")
_STATES = {"passed": State.PASSED, "failed": State.FAILED}
"""Whatever else is said of a test (`pending`, `todo`, `skipped`), it was not executed."""
_TOTALS = ("numFailedTests", "numRuntimeErrorTestSuites")


def read(data: bytes) -> Report:
    if len(data) > LARGEST:
        raise make_unreadable_error(f"is larger than {LARGEST:,} bytes")
    try:
        document = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise make_unreadable_error(f"is no JSON: {one_line(str(error), 100)}") from None
    if not isinstance(document, dict) or "testResults" not in document:
        raise make_unreadable_error("is no report of jest")
    document = cast("dict[str, Any]", document)
    files = _list_tables(document["testResults"])
    report = Report(
        cases=[case for file in files for case in _read_file(file)],
        claimed_failures=sum(_read_count(document, name) for name in _TOTALS),
        claimed_tests=_read_count(document, "numTotalTests"),
    )
    if len(report.cases) > MOST_CASES:
        raise make_unreadable_error(f"has more than {MOST_CASES:,} tests")
    return merge_cases(report)


def _read_file(file: dict[str, Any]) -> Iterator[Case]:
    """Read the tests of one file; without any, one that failed could not be loaded."""
    path = _read_text(file, "name")
    tests = _list_tables(file.get("assertionResults"))
    for test in tests:
        yield Case(
            name=_read_text(test, "title"),
            group=" ".join(_list_texts(test.get("ancestorTitles")))[:_LONGEST_NAME],
            file=path,
            state=_STATES.get(_read_text(test, "status"), State.SKIPPED),
            message=_shorten(" ".join(_list_texts(test.get("failureMessages")))),
        )
    if file.get("status") == "failed" and not tests:
        message = _shorten(str(file.get("message", "")))
        yield Case(name=path, group="", file=path, state=State.ERROR, message=message)


def _shorten(message: str) -> str:
    text = _COLOURS.sub("", message[: 4 * _LONGEST_MESSAGE])
    return one_line(" ".join(text.split()), _LONGEST_MESSAGE)


def _read_text(table: dict[str, Any], name: str) -> str:
    value = table.get(name)
    return value[:_LONGEST_NAME] if isinstance(value, str) else ""


def _read_count(table: dict[str, Any], name: str) -> int:
    value = table.get(name)
    return value if isinstance(value, int) and value > 0 else 0


def _list_tables(value: object) -> list[dict[str, Any]]:
    items = cast("list[object]", value) if isinstance(value, list) else []
    return [cast("dict[str, Any]", item) for item in items if isinstance(item, dict)]


def _list_texts(value: object) -> list[str]:
    items = cast("list[object]", value) if isinstance(value, list) else []
    return [item for item in items if isinstance(item, str)]
