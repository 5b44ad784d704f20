"""A target with a history in a trusted repository, and boxes that run its tests."""

import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from astra.adapters.boxes.sandbox import Sandbox
from astra.adapters.bubblewrap.preflight import Preflight
from astra.adapters.test_runs import BoxedTests
from astra.adapters.workspaces import Workspaces
from astra.testing import MemoryLedger
from astra.trusted.changes.evidence import TestReport
from astra.trusted.files.data_root import DataRoot
from astra.trusted.policy.manifest import Limits

PYTEST = f"env PYTEST_DISABLE_PLUGIN_AUTOLOAD=1 {sys.executable} -m pytest -q -p no:cacheprovider"
CODE = {
    "shop.py": "def total(prices):\n    return sum(prices)\n",
    "tests/test_shop.py": (
        "from shop import total\n\n\ndef test_total():\n    assert total([1, 2]) == 3\n"
    ),
    "pyproject.toml": '[tool.pytest.ini_options]\npythonpath = ["."]\n',
}


@dataclass(kw_only=True)
class Target:
    root: DataRoot
    work: Path
    workspaces: Workspaces
    sandbox: Sandbox
    shown: list[bytes] = field(default_factory=list)
    label: str = "chg_0123456789abcdef"

    runs: BoxedTests = field(init=False)

    def commit(self, files: dict[str, str | bytes | None]) -> str:
        """Commit these files on top of what is there; None removes one."""
        for name, text in files.items():
            path = self.work / name
            path.parent.mkdir(parents=True, exist_ok=True)
            if text is None:
                path.unlink()
            else:
                path.write_bytes(text.encode() if isinstance(text, str) else text)
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "--message", "a step")
        self.git("push", "--quiet", "--force", str(self.root.path / "var/git"), "HEAD:refs/heads/x")
        return self.git("rev-parse", "HEAD").strip()

    def git(self, *words: str) -> str:
        command = ["git", "-C", str(self.work), "-c", "user.name=a", "-c", "user.email=a@b", *words]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout

    def test(
        self,
        commit: str,
        *,
        tests_from: str | None = None,
        command: str = PYTEST,
        words: str = "",
        test_paths: tuple[str, ...] = ("tests/",),
        show: Callable[[bytes], None] | None = None,
        **limits: Any,
    ) -> TestReport:
        self.runs = BoxedTests(
            boxes=self.sandbox,
            workspaces=self.workspaces,
            test_command=f"{command} {words}".strip(),
            test_paths=test_paths,
            limits=Limits(**{"wall_seconds": 60, **limits}),
        )
        return self.runs.run(
            commit=commit,
            tests_from=tests_from,
            label=self.label,
            actor="agent",
            correlation="cor_0123456789abcdef",
            show=show or self.shown.append,
        )


@pytest.fixture
def target(tmp_path: Path) -> Iterator[Target]:
    root = DataRoot(tmp_path / "data")
    root.path.mkdir()
    root.make_folders()
    work = tmp_path / "work"
    subprocess.run(["git", "init", "-q", "-b", "main", str(work)], check=True)
    subprocess.run(["git", "init", "-q", "--bare", str(root.path / "var/git")], check=True)
    workspaces = Workspaces(root.path / "var/git", root.path / "var/workspaces")
    made = Target(
        root=root,
        work=work,
        workspaces=workspaces,
        sandbox=Sandbox(root, MemoryLedger(), check=lambda: Preflight(problems=())),
    )
    yield made
    made.workspaces.close()


@pytest.fixture
def base(target: Target) -> str:
    return target.commit(CODE)
