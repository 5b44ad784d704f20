"""P15: the syntax of 100 changed files, in a box, against ruff E9 alone on the same files.

The files are this project's own. The whole scan (every rule, both sides of every file) is shown
too; it has no target.
"""

import subprocess
import tempfile
from pathlib import Path

import measuring
from astra.adapters.boxes.sandbox import Sandbox
from astra.adapters.bubblewrap.preflight import Preflight
from astra.adapters.change_scanner import ChangeScanner, ruff_program
from astra.testing import MemoryLedger
from astra.trusted.changes.files import ChangedFile
from astra.trusted.files.data_root import DataRoot

COUNT, ROUNDS = 100, 20
STORY = {"actor": "bench", "correlation": "cor_0123456789abcdef"}


def main() -> None:
    quick = measuring.is_quick()
    count, rounds = (5, 2) if quick else (COUNT, ROUNDS)
    with tempfile.TemporaryDirectory() as name:
        root = DataRoot(Path(name) / "data")
        root.path.mkdir()
        root.make_folders()
        folder = Path(name) / "files"
        files = _changed(folder, count)
        sandbox = Sandbox(root, MemoryLedger(), check=lambda: Preflight(problems=()))
        scanner = ChangeScanner(boxes=sandbox)
        best = measuring.best_rounds(
            {
                "ours": lambda: measuring.seconds(lambda: _syntax(scanner, files)),
                "ruff": lambda: measuring.seconds(lambda: _ruff(folder)),
            },
            rounds,
        )
        whole = min(measuring.seconds(lambda: _scan(scanner, files)) for _ in range(min(rounds, 5)))
    target = measuring.at_most_times(1.5)
    measuring.report(f"P15 syntax of {count} files, s", best["ours"], best["ruff"], target)
    measuring.report(f"P15 every rule on {count} files, s", whole, best["ruff"])


def _changed(folder: Path, count: int) -> list[ChangedFile]:
    folder.mkdir()
    sources = sorted((Path(__file__).parents[1] / "src").rglob("*.py"))
    texts = [path.read_bytes() for path in sources if path.stat().st_size > 500][:count]
    for number, text in enumerate(texts):
        (folder / f"{number}.py").write_bytes(text)
    return [
        ChangedFile(path=f"src/{n}.py", old=text, new=text + b"x = 1\n", new_mode="100644")
        for n, text in enumerate(texts)
    ]


def _ruff(folder: Path) -> None:
    command = [ruff_program(), "check", "--isolated", "--no-cache", "-q", "--select", "E9", "."]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)


def _syntax(scanner: ChangeScanner, files: list[ChangedFile]) -> None:
    found = scanner.syntax(files, **STORY)
    if found:
        raise SystemExit(f"these files parse, and yet: {found[0]}")


def _scan(scanner: ChangeScanner, files: list[ChangedFile]) -> None:
    found = scanner.scan(files, test_paths=("tests/",), **STORY)
    if any(finding.rule == "not-scanned" for finding in found):
        raise SystemExit(f"the scan failed: {found[0]}")


if __name__ == "__main__":
    main()
