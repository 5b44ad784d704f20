"""Dying and running out of disk: nothing acknowledged is lost, nothing is half-written."""

import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent


@pytest.mark.timeout(600)
def test_dying_between_any_two_lines_loses_nothing_acknowledged(tmp_path: Path) -> None:
    program = [sys.executable, "-W", "ignore", HERE / "crash_points.py", tmp_path, "5"]
    done = subprocess.run(program, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 300, "too few lines were tried"


@pytest.mark.parametrize("state", ["full", "full for a reader", "read-only"])
def test_a_disk_that_takes_no_more_is_a_clear_error_and_recovers(
    tmp_path: Path, state: str
) -> None:
    """A real small file system in a mount namespace of its own fills up or turns read-only."""
    program = [sys.executable, HERE / "failing_disk.py", tmp_path, state]
    inside = ["unshare", "--user", "--map-root-user", "--mount", *program]
    done = subprocess.run(inside, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "recovered\n"
