"""Moving a chain: whole or not at all, wherever it is cut off."""

import subprocess
import sys
from pathlib import Path

import pytest

from postgres_server import Database

HERE = Path(__file__).parent


@pytest.mark.timeout(600)
def test_a_move_that_dies_at_any_line_loses_nothing_and_is_finished_by_the_same_command(
    database: Database, tmp_path: Path
) -> None:
    program = [sys.executable, "-W", "ignore", HERE / "move_crash_points.py", tmp_path / "data"]
    words = [*program, database.url]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 50, "too few lines were tried"
