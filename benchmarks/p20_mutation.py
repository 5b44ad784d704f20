"""P20: mutation evidence of a change of 20 lines, against a plain run of the same tests in a box.

The target has 40 modules and 400 tests that together take a while; the change touches 20 lines of
one module, and no test. Both contenders get a workspace, a box, an interpreter and pytest of their
own. Shown too: a change that also touches tests, whose mutants are tried with the old tests first.
"""

import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import measuring
from astra.adapters.boxes.sandbox import Sandbox
from astra.adapters.bubblewrap.preflight import Preflight
from astra.adapters.mutation_runs import BoxedMutation
from astra.adapters.test_runs import BoxedTests
from astra.adapters.workspaces import Workspaces
from astra.changes.mutation import MutationEvidence
from astra.testing import MemoryLedger
from astra.trusted.changes.files import ChangedFile
from astra.trusted.files.data_root import DataRoot
from astra.trusted.policy.manifest import Limits

ROUNDS, MODULES, FUNCTIONS = 5, 40, 10
COMMAND = f"env PYTEST_DISABLE_PLUGIN_AUTOLOAD=1 {sys.executable} -m pytest -q -p no:cacheprovider"
STORY = {"label": "bench", "actor": "bench", "correlation": "cor_0123456789abcdef"}
TEST = "tests/test_part0.py"


def main() -> None:
    quick = measuring.is_quick()
    rounds, modules, functions = (1, 2, 2) if quick else (ROUNDS, MODULES, FUNCTIONS)
    with tempfile.TemporaryDirectory() as name:
        root = DataRoot(Path(name) / "data")
        root.path.mkdir()
        root.make_folders()
        folder = Path(name) / "target"
        base, commit, files = _target(folder, root.var / "git", modules, functions)
        workspaces = Workspaces(root.var / "git", root.var / "workspaces")
        boxes = Sandbox(root, MemoryLedger(), check=lambda: Preflight(problems=()))
        same = {"boxes": boxes, "workspaces": workspaces, "test_paths": ("tests/",)}
        plain = BoxedTests(**same, test_command=COMMAND)
        mutants = BoxedMutation(**same, test_command=COMMAND, seconds=600, limits=Limits())
        workspaces.warm(commit)
        code = [file for file in files if file.path != TEST]
        best = measuring.best_rounds(
            {
                "ours": lambda: measuring.seconds(lambda: _measure(mutants, base, commit, code)),
                "both": lambda: measuring.seconds(lambda: _measure(mutants, base, commit, files)),
                "plain": lambda: measuring.seconds(lambda: _test(plain, commit)),
            },
            rounds,
        )
        workspaces.close()
    target = measuring.at_most_times(3)
    measuring.report("P20 mutants of 20 lines, s", best["ours"], best["plain"], target)
    measuring.report("P20 with old and new tests, s", best["both"], best["plain"])


def _module(number: int, step: int, functions: int) -> str:
    """Write functions of two lines that can go wrong; another `step` touches both of each."""
    return "\n\n".join(
        f"def part{n}(values):\n"
        f"    chosen = [value for value in values if value > {n + step}]\n"
        f"    return sum(chosen) + {number + step}\n"
        for n in range(functions)
    )


def _tests(number: int, step: int, functions: int) -> str:
    lines = ["import time", f"from part{number} import *", ""]
    for n in range(functions):
        wanted = sum(v for v in range(20) if v > n + step) + number + step
        lines += ["", f"def test_{n}():", "    time.sleep(0.01)"]
        lines += [f"    assert part{n}(range(20)) == {wanted}", ""]
    return "\n".join(lines)


def _target(
    folder: Path, trusted: Path, modules: int, functions: int
) -> tuple[str, str, list[ChangedFile]]:
    (folder / "tests").mkdir(parents=True)
    (folder / "pyproject.toml").write_text('[tool.pytest.ini_options]\npythonpath = ["."]\n')
    for number in range(modules):
        (folder / f"part{number}.py").write_text(_module(number, 0, functions))
        (folder / f"tests/test_part{number}.py").write_text(_tests(number, 0, functions))
    subprocess.run(["git", "init", "-q"], cwd=folder, check=True)
    base = _commit(folder)
    new = {"part0.py": _module(0, 1, functions), TEST: _tests(0, 1, functions)}
    files: list[ChangedFile] = []
    for path, text in new.items():
        place = folder / path
        files.append(ChangedFile(path=path, old=place.read_bytes(), new=text.encode()))
        place.write_text(text)
    commit = _commit(folder)
    subprocess.run(["git", "clone", "-q", "--bare", folder, trusted], check=True)
    return base, commit, files


def _commit(folder: Path) -> str:
    identity = ["-c", "user.name=a", "-c", "user.email=a@localhost"]
    for words in (["add", "-A"], [*identity, "commit", "-qm", "step"]):
        subprocess.run(["git", *words], cwd=folder, check=True)
    head = ["git", "rev-parse", "HEAD"]
    return subprocess.check_output(head, cwd=folder, text=True).strip()


def _measure(
    mutants: BoxedMutation, base: str, commit: str, files: Sequence[ChangedFile]
) -> MutationEvidence:
    tests = [file.path for file in files if file.path == TEST]
    evidence = mutants.measure(base=base, commit=commit, files=files, tests=tests, **STORY)
    if not evidence.is_measured or not evidence.now.noticed_faults:
        raise SystemExit(f"nothing was measured: {evidence.describe()}")
    return evidence


def _test(tests: BoxedTests, commit: str) -> None:
    report = tests.run(commit=commit, tests_from=None, show=lambda _chunk: None, **STORY)
    if not report.passed or report.failed:
        raise SystemExit(f"the tests did not pass: {report.reason}")


if __name__ == "__main__":
    main()
