"""P15, second half: how soon the tests of a change start, against a cold pytest on the same file.

What is timed is a whole run of one test that does nothing, as a change gets it: a fresh workspace
of a commit, a box, an interpreter, pytest, the report. The target asks for an interpreter that is
warm already; Astra starts a fresh one in every box (decision 34), so this row says what that costs.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import measuring
from astra.adapters.boxes.sandbox import Sandbox
from astra.adapters.bubblewrap.preflight import Preflight
from astra.adapters.test_runs import BoxedTests
from astra.adapters.workspaces import Workspaces
from astra.testing import MemoryLedger
from astra.trusted.files.data_root import DataRoot

ROUNDS = 20
WORDS = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
ALONE = "PYTEST_DISABLE_PLUGIN_AUTOLOAD=1"


def main() -> None:
    rounds = 2 if measuring.is_quick() else ROUNDS
    with tempfile.TemporaryDirectory() as name:
        root = DataRoot(Path(name) / "data")
        root.path.mkdir()
        root.make_folders()
        folder = Path(name) / "target"
        commit = _target(folder, root.var / "git")
        workspaces = Workspaces(root.var / "git", root.var / "workspaces")
        tests = BoxedTests(
            boxes=Sandbox(root, MemoryLedger(), check=lambda: Preflight(problems=())),
            workspaces=workspaces,
            test_command=" ".join(["env", ALONE, *WORDS]),
            test_paths=("tests/",),
        )
        workspaces.warm(commit)
        best = measuring.best_rounds(
            {
                "ours": lambda: measuring.seconds(lambda: _tested(tests, commit)),
                "cold": lambda: measuring.seconds(lambda: _cold(folder)),
            },
            rounds,
        )
        workspaces.close()
    target = measuring.at_most_times(0.6)
    measuring.report("P15 test start, s", best["ours"], best["cold"], target)


def _target(folder: Path, trusted: Path) -> str:
    folder.mkdir()
    (folder / "test_nothing.py").write_text("def test_nothing():\n    assert True\n")
    identity = ["-c", "user.name=a", "-c", "user.email=a@localhost"]
    for words in (["init", "-q"], ["add", "-A"], [*identity, "commit", "-qm", "one"]):
        subprocess.run(["git", *words], cwd=folder, check=True)
    subprocess.run(["git", "clone", "-q", "--bare", folder, trusted], check=True)
    head = ["git", "rev-parse", "HEAD"]
    return subprocess.check_output(head, cwd=folder, text=True).strip()


def _tested(tests: BoxedTests, commit: str) -> None:
    report = tests.run(
        commit=commit,
        tests_from=None,
        label="bench",
        actor="bench",
        correlation="cor_0123456789abcdef",
        show=lambda _chunk: None,
    )
    if report.passed != 1:
        raise SystemExit(f"the test did not run: {report.reason}")


def _cold(folder: Path) -> None:
    name, _, value = ALONE.partition("=")
    environment = {**os.environ, name: value, "PYTHONDONTWRITEBYTECODE": "1"}
    subprocess.run(WORDS, cwd=folder, env=environment, check=True, capture_output=True)


if __name__ == "__main__":
    main()
