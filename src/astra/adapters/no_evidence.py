"""Stands where evidence is not gathered: says so, and lets nothing pass for evidence."""

from typing import Any, NoReturn

from astra.kernel.errors import Refused


class NoScanner:
    def scan(self, *_files: Any, **_where: Any) -> NoReturn:
        raise Refused("there is no scanner here", code="no_scanner", next_step="read the diff")


class NoTestRuns:
    def run(self, **_what: Any) -> NoReturn:
        raise Refused(
            "tests are not run here", code="no_test_runs", next_step="run them yourself, in a box"
        )
