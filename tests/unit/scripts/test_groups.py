"""Tests that share what their module sets up run in one worker, which sets it up once."""

import os
import subprocess
import sys
from pathlib import Path

TESTS = Path(__file__).parents[2]
SHARING = """
from pathlib import Path
import pytest

@pytest.fixture(scope="module")
def shared():
    with Path(__file__).with_name("set-ups").open("a") as file:
        file.write("x")

@pytest.mark.parametrize("number", range(8))
def test_something(shared, number):
    pass
"""


def test_what_a_module_shares_is_set_up_once(tmp_path: Path) -> None:
    (tmp_path / "test_sharing.py").write_text(SHARING)
    options = ("-c", os.devnull, "--rootdir", tmp_path, "-p", "conftest", "-p", "no:schemathesis")
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            *options,
            "-n",
            "2",
            "--dist",
            "loadgroup",
            tmp_path,
        ],
        env={"PATH": os.environ["PATH"], "PYTHONPATH": str(TESTS)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "8 passed" in done.stdout, done.stdout + done.stderr
    assert (tmp_path / "set-ups").read_text() == "x"
