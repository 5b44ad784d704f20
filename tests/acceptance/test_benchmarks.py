"""Every row can be measured and written up. Nothing here asserts a time."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
ROWS = sorted(path.stem for path in BENCHMARKS.glob("p[0-9]*.py"))


@pytest.mark.parametrize("row", ROWS)
def test_a_row_prints_its_measures_and_is_written_up(row: str, tmp_path: Path) -> None:
    command = [sys.executable, BENCHMARKS / "run.py", "--quick", "--output", tmp_path, row]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    measures = [json.loads(line) for line in done.stdout.splitlines()]
    assert measures
    for measure in measures:
        assert set(measure) == {"name", "value", "reference", "ratio", "target", "ok"}
        assert (measure["value"] is None) == ("not measured" in measure["name"])
        assert measure["name"] in (tmp_path / "RESULTS.md").read_text()
    assert (tmp_path / "growth.svg").read_text().startswith("<svg")
