"""What is recorded while the evidence of a change is gathered."""

from collections.abc import Mapping, Sequence
from typing import Any

from astra.trusted.changes.events import make_event, make_round_key
from astra.trusted.changes.model import (
    SCANNED,
    TESTS_COMPLETED,
    TESTS_FAILED,
    TESTS_PASSED,
    TESTS_STARTED,
    Change,
)
from astra.trusted.ledger.record import Event


def scanned(change: Change, findings: list[dict[str, Any]]) -> Event:
    return make_event(
        change, SCANNED, {"findings": findings}, key=make_round_key(change, "scanned")
    )


def tests_started(change: Change, run: Mapping[str, Any], *, attempt: int) -> Event:
    data = {**run, "attempt": attempt}
    return make_event(
        change, TESTS_STARTED, data, key=make_round_key(change, f"tests:{run['label']}:{attempt}")
    )


def tests_ended(change: Change, run: Mapping[str, Any], report: Mapping[str, Any]) -> Event:
    data, key = {**run, "report": report}, make_round_key(change, f"tested:{run['label']}")
    if report["verdict"] == "passed":
        return make_event(change, TESTS_PASSED, data, key=key)
    return make_event(change, TESTS_FAILED, data, key=key)


def tests_completed(
    change: Change,
    verdict: str,
    words: str,
    *,
    warnings: Sequence[str],
    mutation: Mapping[str, Any] | None,
    findings: Sequence[Mapping[str, Any]],
) -> Event:
    """Close the evidence; `findings` are those that only running the tests could give."""
    data: dict[str, Any] = {"verdict": verdict, "words": words, "diff": change.facts["diff"]}
    data |= {"warnings": list(warnings)} if warnings else {}
    data |= {"mutation": mutation} if mutation is not None else {}
    data |= {"findings": list(findings)} if findings else {}
    return make_event(change, TESTS_COMPLETED, data, key=make_round_key(change, "tests-completed"))
