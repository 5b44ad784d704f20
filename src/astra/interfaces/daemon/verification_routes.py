"""Checking the chain for whoever looks at it in a browser.

The same check as `astra ledger verify` makes, by the process that writes: it finds what was done to
the files, and cannot vouch for itself. One check runs at a time.
"""

import threading

from fastapi import FastAPI

from astra.adapters.witnesses.checking import check_data_root
from astra.bootstrap.runtime import Runtime
from astra.interfaces.daemon.models import Shape
from astra.trusted.kernel.clock import format_time


class ProblemFound(Shape):
    kind: str
    sequence: int
    detail: str


class Verified(Shape):
    ok: bool
    records: int
    head: str
    problems: list[ProblemFound]
    checked_at: str


def add(app: FastAPI, runtime: Runtime) -> None:
    one_at_a_time = threading.Lock()

    @app.post("/api/ledger/verify")
    def verify_ledger() -> Verified:
        with one_at_a_time:
            return _verify_chain(runtime)


def _verify_chain(runtime: Runtime) -> Verified:
    key = runtime.root.read_ledger_key().public
    report = check_data_root(runtime.root, runtime.chain, public_key=key).report
    return Verified(
        ok=report.ok,
        records=report.records,
        head=report.head,
        problems=[ProblemFound.model_validate(problem.as_dict()) for problem in report.problems],
        checked_at=format_time(runtime.clock.now()),
    )
