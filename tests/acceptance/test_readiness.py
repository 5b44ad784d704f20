"""Before code writing is turned on: a list that says no-go until it has been shown otherwise."""

import json
import re
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from astra.changes import readiness
from astra.trusted.files.code_identity import code_digest
from changing import IDENTITY, git
from driver import Astra


def go(report: dict[str, Any]) -> dict[str, bool]:
    return {line["name"]: line["go"] for line in report["lines"]}


TESTS = "from agent import answer\n\n\ndef test_answer():\n    assert answer() == 42\n"
ROW = {"name": "access", "flag": "off", "passed": True, "summary": "9 passed"}


@pytest.fixture
def tested(empty: Astra, target: Path) -> Astra:
    """A target with a test of its own, and a data root that knows how to run it."""
    (target / "test_agent.py").write_text(TESTS)
    (target / "conftest.py").write_text("")
    git(target, "add", "-A")
    git(target, *IDENTITY, "commit", "-qm", "tests")
    empty.json("init", target, "--throwaway")
    command = f"{sys.executable} -m pytest -q --disable-plugin-autoload -p no:cacheprovider"
    with (empty.root / "astra.toml").open("a") as file:
        file.write(f"test_command = {json.dumps(command)}\nmutation_seconds = 0\n")
    empty.json("config", "sign")
    return empty


def matrix(astra: Astra, **said: Any) -> Path:
    path = astra.folder / "matrix.json"
    made = {"code": code_digest(), "at": datetime.now(UTC).isoformat(), "rows": [ROW], **said}
    path.write_text(json.dumps({name: value for name, value in made.items() if value is not None}))
    return path


def test_the_list_says_no_go_until_a_dry_run_and_a_rehearsed_approval(tested: Astra) -> None:
    before = tested.json("readiness", code=1)
    assert before["go"] is False
    assert go(before)["with the flag off every write tool refuses"]
    assert not go(before)["an operator has rehearsed an approval"]
    assert not go(before)["a dry run completed and its trail is whole"]
    tested.json("changes", "dry-run")
    report = tested.folder / "report.json"
    after = tested.json(
        "readiness", "--matrix", matrix(tested), "--report", report, "--sign", code=1
    )
    assert go(after)["an operator has rehearsed an approval"]
    assert go(after)["a dry run completed and its trail is whole"]
    assert go(after)["counters moved as expected and there are no alerts"]
    assert go(after)["no alert stands"]
    assert go(after)["the sandbox was proven to hold here"]
    assert go(after)["matrix: access, flag off"]
    assert not go(after)["matrix: smoke, flag on"], "a row that does not exist yet is a no-go"
    said = {line["name"]: line["evidence"] for line in after["lines"]}
    assert said["matrix: smoke, flag on"] == "that matrix has no such row"
    assert said["matrix: goal execution, flag on"].startswith("there is no execute_goal")
    assert said["matrix: research plans, flag on"].startswith("there is no research_and_summarize")
    assert json.loads(report.read_text())["sha256"] == after["sha256"]
    records = tested.json("ledger", "tail", "--count", "5")["items"]
    assert records[-1]["type"] == "readiness_signed_off"
    assert records[-1]["data"]["sha256"] == after["sha256"]


def test_an_invented_matrix_of_other_code_or_of_last_month_does_not_count(astra: Astra) -> None:
    for said, words in (
        ({"code": None}, "code"),
        ({"code": "0" * 64}, "other code"),
        ({"at": (datetime.now(UTC) - timedelta(days=30)).isoformat()}, "30 days old"),
        ({"at": "soon"}, "when it was made"),
    ):
        refused = astra.run("readiness", "--matrix", matrix(astra, **said), "--json")
        assert refused.returncode == 2, refused.stdout
        assert words in refused.stdout
    assert not go(astra.json("readiness", code=1))["matrix: access, flag off"]


def test_what_was_not_tested_is_no_go_and_the_exit_code_says_so(astra: Astra) -> None:
    done = astra.json("changes", "dry-run", code=1)
    assert (done["ok"], done["tests"]) == (False, "never_ran")
    assert not go(astra.json("readiness", code=1))["a dry run completed and its trail is whole"]


def test_a_dry_run_whose_tests_fail_is_no_go(tested: Astra) -> None:
    broken = tested.folder / "agent.py"
    broken.write_text("def answer() -> int:\n    return 41\n")
    done = tested.json("changes", "dry-run", "--edit", f"agent.py={broken}", code=1)
    assert (done["ok"], done["state"], done["tests"]) == (False, "tests_failed", "failed")
    assert not go(tested.json("readiness", code=1))["a dry run completed and its trail is whole"]


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
