"""Mutants of a change in real boxes: what the tests notice, then and now."""

import sys
from pathlib import Path
from typing import Any

import pytest

from astra.adapters.mutation_runs import BoxedMutation
from astra.changes.mutation import MutationEvidence
from astra.trusted.changes.files import ChangedFile
from astra.trusted.changes.places import belongs_to_tests
from astra.trusted.policy.manifest import Limits

PYTEST = f"env PYTEST_DISABLE_PLUGIN_AUTOLOAD=1 {sys.executable} -m pytest -q -p no:cacheprovider"
TEST = "tests/test_shop.py"
TOP = "from shop import total\n\n\n"
STRONG = f"{TOP}def test_total():\n    assert total([1, 2]) == 3\n"
CODE = "def total(prices):\n    whole = sum(prices)\n    return whole if whole > 0 else 0\n"


def measure(
    target: Any,
    base: str,
    files: dict[str, str | None],
    *,
    command: str = PYTEST,
    seconds: int = 40,
) -> MutationEvidence:
    """Commit files over the base and measure that change."""
    before = {path: _read(target.work / path) for path in files}
    commit = target.commit(files)
    changed = [
        ChangedFile(
            path=path,
            old=before[path],
            new=None if text is None else text.encode(),
            old_mode=None if before[path] is None else "100644",
            new_mode=None if text is None else "100644",
        )
        for path, text in files.items()
    ]
    runs = BoxedMutation(
        boxes=target.sandbox,
        workspaces=target.workspaces,
        test_command=command,
        test_paths=("tests/",),
        seconds=seconds,
        limits=Limits(),
    )
    return runs.measure(
        base=base,
        commit=commit,
        files=changed,
        tests=[path for path in files if belongs_to_tests(path, ("tests/",))],
        label=target.label,
        actor="agent",
        correlation="cor_0123456789abcdef",
    )


def _read(path: Path) -> bytes | None:
    return path.read_bytes() if path.exists() else None


def rules(evidence: MutationEvidence) -> set[tuple[str, str]]:
    return {(finding.rule, str(finding.severity)) for finding in evidence.findings()}


def test_mutants_of_touched_lines_that_the_tests_notice_do_not_survive(
    target: Any, base: str
) -> None:
    strong = f"{STRONG}\n\ndef test_nothing_owed():\n    assert total([-5]) == 0\n"
    evidence = measure(target, base, {"shop.py": CODE, TEST: strong})
    assert evidence.is_measured, evidence
    verdicts = {(f.line, f.kind, f.text): v for f, v in evidence.now.verdicts.items()}
    assert verdicts[3, "return_none", "None"] == "killed"
    assert verdicts[3, "condition_false", "False"] == "killed"
    assert verdicts[3, "comparison", ">="] == "survived"
    assert rules(evidence) == set()
    assert "survive" in evidence.describe()


def test_a_test_that_was_weakened_lets_mutants_survive_that_it_noticed(
    target: Any, base: str
) -> None:
    weak = f"{TOP}def test_total():\n    assert total([1, 2]) is not None\n"
    evidence = measure(target, base, {TEST: weak})
    assert evidence.has_fallen
    assert ("mutants-survive-more", "danger") in rules(evidence)
    assert evidence.as_dict()["base"]["survived"] < evidence.as_dict()["survived"]


def test_faults_in_what_runs_at_import_are_tried_too(target: Any, base: str) -> None:
    code = "LIMIT = 5\n\n\ndef total(prices):\n    return min(LIMIT, sum(prices))\n"
    strong = f"{STRONG}\n\ndef test_limit():\n    assert total([9]) == 5\n"
    evidence = measure(target, base, {"shop.py": code, TEST: strong})
    verdicts = {(f.line, f.kind): v for f, v in evidence.now.verdicts.items()}
    assert verdicts[1, "constant"] == "killed"
    weak = f"{STRONG}\n\ndef test_limit():\n    assert total([9]) < 7\n"
    evidence = measure(target, target.git("rev-parse", "HEAD").strip(), {TEST: weak})
    assert evidence.has_fallen


def test_a_fault_that_never_ends_is_noticed(target: Any, base: str) -> None:
    code = (
        "def total(prices):\n    left = len(prices)\n    whole = 0\n    while left:\n"
        "        left -= 1\n        whole += prices[left]\n    return whole\n"
    )
    evidence = measure(target, base, {"shop.py": code})
    verdicts = {(f.line, f.kind): v for f, v in evidence.now.verdicts.items()}
    assert verdicts[5, "statement_removed"] in {"timed_out", "killed"}
    assert verdicts[6, "arithmetic"] == "killed"


def test_a_test_that_only_compares_the_source_notices_nothing(target: Any, base: str) -> None:
    """A digest of the code would kill every mutant; it is no test of what the code does."""
    digest = (
        "import hashlib, pathlib, shop\n\n\ndef test_text():\n"
        "    text = pathlib.Path('shop.py').read_bytes()\n"
        f"    assert len(text) == {len(CODE)}\n\n\n"
        "def test_code():\n"
        "    code = hashlib.sha256(shop.total.__code__.co_code).hexdigest()\n"
        "    assert shop.total(()) == 0 and code\n"
    )
    evidence = measure(target, base, {"shop.py": CODE, TEST: digest})
    assert evidence.is_measured, evidence
    noticed = {(f.line, f.kind) for f in evidence.now.noticed_faults}
    assert (2, "constant") not in noticed
    assert len(evidence.now.noticed_faults) < len(evidence.now.verdicts)


def test_what_cannot_be_measured_says_so(target: Any, base: str) -> None:
    other = measure(target, base, {"run.js": "let x = 1;\n"})
    assert "not measured" in other.describe()
    assert other.findings() == ()
    assert measure(target, base, {"shop.py": CODE}, seconds=0).reason.startswith("it is switched")
    by_make = measure(target, base, {"shop.py": CODE + "\n"}, command="make check")
    assert "pytest" in by_make.describe()


def test_tests_that_end_the_run_are_a_danger_where_the_base_was_measured(
    target: Any, base: str
) -> None:
    ending = f"import os\nos._exit(0)\n{STRONG}"
    evidence = measure(target, base, {TEST: ending})
    assert ("mutants-not-measured", "danger") in rules(evidence)


@pytest.mark.parametrize("prefix", ["env PYTHONPATH=. ", ""])
def test_the_commands_own_python_path_is_kept(target: Any, base: str, prefix: str) -> None:
    command = f"{prefix}{sys.executable} -m pytest -q -p no:cacheprovider"
    evidence = measure(target, base, {"shop.py": CODE}, command=command)
    assert evidence.is_measured, evidence
