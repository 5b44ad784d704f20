"""Text that was written to break, stall or blind the scanner does not make a change look clean."""

from pathlib import Path

import pytest

from astra.adapters.boxes.sandbox import Sandbox
from astra.adapters.bubblewrap.preflight import Preflight
from astra.adapters.change_scanner import ChangeScanner
from astra.testing import MemoryLedger
from astra.trusted.changes.evidence import Severity
from astra.trusted.changes.files import ChangedFile
from astra.trusted.files.data_root import DataRoot

CANARY = ChangedFile(path="src/canary.py", new=b"eval(input())\n", new_mode="100644")
ALIASES = "".join(f"k{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 30))
DOTTED = ".".join(["a"] * 20_000)
HOSTILE = {
    "deep.py": "(" * 50_000 + ")" * 50_000,
    "unary.py": "-" * 200_000 + "1\n",
    "chain.py": f"x = {DOTTED}\n",
    "strings.py": "x = " + "'a' " * 60_000 + "\n",
    "functions.py": "".join(f"def test_{n}():\n    assert {n}\n" for n in range(8_000)),
    "names.py": "import os\n" + "".join(f"a{n} = os\n" for n in range(15_000)),
    "nul.py": "x = 1\0\n",
    "encoding.py": "# -*- coding: utf-7 -*-\n+AGkAbQBwAG8AcgB0- os\n",
    "ruff.toml": "exclude = ['*']\n",
    "deep.js": "[" * 60_000,
    "deep.tsx": "<a>" * 30_000,
    "regex.ts": "/" + "(a+)+" * 20_000 + "/\n",
    "blank.js": "expect(" + " " * 800_000 + "\n",
    "deep.json": "[" * 400_000,
    "deep.toml": "a = " + "[" * 200_000,
    "wide.toml": "".join(f"a.{'b.' * 90}c{n} = 1\n" for n in range(2_000)),
    "bomb.yml": "a0: &a0 [x]\n" + ALIASES,
    "flow.yml": "{" * 100_000,
    "deep.sh": "(" * 40_000,
    "quotes.sh": '"$(' * 20_000,
    "words.md": "\u0430a " * 200_000,
    "blanks.md": "x" + " " * 900_000 + "y\n",
    "key.md": "-----BEGIN PRIVATE KEY-----" + "A" * 900_000,
    "package.json": '{"dependencies": ' + "{" * 30_000,
    "pyproject.toml": "fail_under = 9\n" * 50_000,
    "test_many.py": "def test_a():\n" + "    assert x == 1\n" * 3_000,
}


@pytest.fixture
def scanner(tmp_path: Path) -> ChangeScanner:
    root = DataRoot(tmp_path / "data")
    root.path.mkdir()
    root.make_folders()
    sandbox = Sandbox(root, MemoryLedger(), check=lambda: Preflight(problems=()))
    return ChangeScanner(boxes=sandbox, seconds=40)


@pytest.mark.parametrize("path", sorted(HOSTILE))
def test_hostile_text_hides_nothing_in_another_file(scanner: ChangeScanner, path: str) -> None:
    text = HOSTILE[path].encode("utf-8", "surrogatepass")
    old = text.replace(b"1", b"2")[: len(text) // 2]
    file = ChangedFile(path=f"tests/{path}", old=old, new=text, new_mode="100644")
    found = scanner.scan(
        [file, CANARY], test_paths=("tests/",), actor="agent", correlation="cor_0123456789abcdef"
    )
    seen = {
        (finding.rule, finding.path) for finding in found if finding.severity is Severity.DANGER
    }
    assert seen & {("runs-text-as-code", CANARY.path), ("not-scanned", "")}
    assert all(f.message.isprintable() and f.excerpt.isprintable() for f in found)


def test_most_hostile_texts_are_looked_at_to_the_end(scanner: ChangeScanner) -> None:
    """All of them in one change, without the ones that take down a parser in the box."""
    files = [
        ChangedFile(path=f"src/{path}", new=text.encode("utf-8", "surrogatepass"))
        for path, text in HOSTILE.items()
        if path in {"nul.py", "ruff.toml", "bomb.yml", "encoding.py", "deep.json", "deep.toml"}
    ]
    found = scanner.scan(
        [*files, CANARY], test_paths=(), actor="agent", correlation="cor_0123456789abcdef"
    )
    assert "not-scanned" not in {finding.rule for finding in found}
    assert "runs-text-as-code" in {f.rule for f in found if f.path == CANARY.path}
