"""Before code writing is turned on: a list that says no-go until it has been shown otherwise."""

import json
import runpy
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from astra.changes import readiness
from astra.changes.code_identity import code_digest
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
    empty.sign_target(f"test_command = {json.dumps(command)}", "mutation_seconds = 0")
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
    assert said["matrix: goal execution, flag on"] == "that matrix has no such row"
    assert said["matrix: research plans, flag off"] == "that matrix has no such row"
    assert said["matrix: research plans, flag on"] == "that matrix has no such row"
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


def test_a_dry_run_tries_mutants_of_what_it_was_given_and_says_what_came_of_it(
    tested: Astra,
) -> None:
    command = f"{sys.executable} -m pytest -q --disable-plugin-autoload -p no:cacheprovider"
    tested.sign_target(f"test_command = {json.dumps(command)}", "mutation_seconds = 60")
    changed = tested.folder / "agent.py"
    changed.write_text("def answer() -> int:\n    return 41 + 1\n")
    done = tested.json("changes", "dry-run", "--edit", f"agent.py={changed}")
    assert done["mutants"].startswith("mutants: 0 of "), done["mutants"]
    assert done["mutants"] in done["transcript"]
    lines = {line["name"]: line for line in tested.json("readiness", code=1)["lines"]}
    assert done["mutants"] in lines["a dry run completed and its trail is whole"]["evidence"]


def test_every_row_of_the_list_is_run_by_the_matrix_with_tests_that_are_there() -> None:
    root = Path(__file__).parents[2]
    rows = runpy.run_path(str(root / "scripts/matrix.py"))["ROWS"]
    assert {(name, flag) for name, flag, _words in rows.values()} == set(readiness.MATRIX)
    for _name, _flag, words in rows.values():
        assert all((root / word).exists() for word in words if word.startswith("tests/"))
    for part in ("goal execution", "research plans"):
        assert {flag for name, flag in readiness.MATRIX if name == part} == {"off", "on"}


def test_when_everything_was_shown_the_list_says_go_and_the_sign_off_keeps_it(
    tested: Astra,
) -> None:
    tested.json("changes", "dry-run")
    rows = [{**ROW, "name": name, "flag": flag} for name, flag in readiness.MATRIX]
    log = tested.folder / "CHANGELOG.md"
    log.write_text("# Change log\n\n## Unreleased\n\n- a thing\n\n## 1.0\n")
    words = ("--matrix", matrix(tested, rows=rows), "--sign", "--changelog", log)
    report = tested.json("readiness", *words)
    assert report["go"], [line for line in report["lines"] if not line["go"]]
    lines = log.read_text().splitlines()
    assert lines[:3] == ["# Change log", "", "## Unreleased"]
    assert lines[4].startswith("- Readiness signed off on 20")
    assert f"Record {report['sequence']}, sha-256 {report['sha256'][:12]}…" in lines[4]
    assert lines[5:] == ["", "- a thing", "", "## 1.0"]
    assert tested.json("readiness", "--changelog", log, code=2)["code"] == "bad_input"
    failed = [{**row, "passed": row["name"] != "goal execution"} for row in rows]
    report = tested.json("readiness", "--matrix", matrix(tested, rows=failed), code=1)
    no_go = [line["name"] for line in report["lines"] if not line["go"]]
    assert no_go == ["matrix: goal execution, flag off", "matrix: goal execution, flag on"]
