"""A short soak with a fixed seed: faults under work, and the model of what must hold.

The long ones are `make soak MINUTES=60` and, with a fixed seed, `make soak MINUTES=10 SEED=1`.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = Path(__file__).parents[1] / "soak.py"
FAULTS = ("daemon killed", "daemon hangs", "connections half open")
"""Faults that every machine can have, whatever is installed there."""


@pytest.mark.timeout(900)
def test_work_goes_on_after_faults_and_the_chain_says_what_was_acknowledged() -> None:
    command = [sys.executable, PROGRAM, "--seed", "1", "--faults", "3", "--without-app"]
    command += [f"--only={fault}" for fault in FAULTS]
    environment = {**os.environ, "PYTHONPATH": str(PROGRAM.parent)}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    assert done.stdout.startswith("seed 1\n")
    assert done.stdout.endswith("everything held\n")
