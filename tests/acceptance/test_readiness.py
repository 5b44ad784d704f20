"""Before code writing is turned on: a list that says no-go until it has been shown otherwise."""

import json
import re
from pathlib import Path
from typing import Any

from astra.changes import readiness
from driver import Astra


def go(report: dict[str, Any]) -> dict[str, bool]:
    return {line["name"]: line["go"] for line in report["lines"]}


def test_the_list_says_no_go_until_a_dry_run_and_a_rehearsed_approval(astra: Astra) -> None:
    before = astra.json("readiness", code=1)
    assert before["go"] is False
    assert go(before)["with the flag off every write tool refuses"]
    assert not go(before)["an operator has rehearsed an approval"]
    assert not go(before)["a dry run completed and its trail is whole"]
    astra.json("changes", "dry-run")
    matrix = astra.folder / "matrix.json"
    row = {"name": "access", "flag": "off", "passed": True, "summary": "9 passed"}
    matrix.write_text(json.dumps({"rows": [row]}))
    report = astra.folder / "report.json"
    after = astra.json("readiness", "--matrix", matrix, "--report", report, "--sign", code=1)
    assert go(after)["an operator has rehearsed an approval"]
    assert go(after)["a dry run completed and its trail is whole"]
    assert go(after)["counters moved as expected and there are no alerts"]
    assert go(after)["the sandbox was proven to hold here"]
    assert go(after)["matrix: access, flag off"]
    assert not go(after)["matrix: smoke, flag on"], "a row that does not exist yet is a no-go"
    said = {line["name"]: line["evidence"] for line in after["lines"]}
    assert said["matrix: smoke, flag on"] == "that matrix has no such row"
    assert said["matrix: goal execution, flag on"].startswith("there is no execute_goal")
    assert said["matrix: research plans, flag on"].startswith("there is no research_and_summarize")
    assert json.loads(report.read_text())["sha256"] == after["sha256"]
    records = astra.json("ledger", "tail", "--count", "5")["items"]
    assert records[-1]["type"] == "readiness_signed_off"
    assert records[-1]["data"]["sha256"] == after["sha256"]


def test_the_matrix_names_tests_that_are_there() -> None:
    root = Path(__file__).parents[2]
    text = (root / "scripts/matrix.py").read_text()
    for name in (
        *("test_agent_tools", "test_flags", "test_changes", "test_change_evidence"),
        *("test_deploy_agent_code", "test_mcp", "test_desires", "test_demo"),
    ):
        assert f"tests/acceptance/{name}.py" in text
        assert (root / f"tests/acceptance/{name}.py").exists()


def test_every_row_of_the_list_is_run_by_the_matrix_or_has_no_part_yet() -> None:
    text = (Path(__file__).parents[2] / "scripts/matrix.py").read_text()
    for name, flag in readiness.MATRIX:
        assert (name in readiness.PARTS) != (re.search(f'"{name}",\\s+"{flag}"', text) is not None)
