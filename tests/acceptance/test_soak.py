"""A soak with a fixed seed: faults under work, and the model of what must hold.

`make test` makes three faults. With SOAK_MINUTES=10 in the environment it is ten minutes of every
fault that the machine allows, with deployments, as `make soak MINUTES=10 SEED=1`.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = Path(__file__).parents[1] / "soak.py"
FAULTS = ("daemon killed", "daemon hangs", "connections half open")
"""Faults that every machine can have, whatever is installed there."""


MINUTES = float(os.environ.get("SOAK_MINUTES", "0"))


def choose_soak() -> list[str]:
    if MINUTES:
        return [f"--minutes={MINUTES}"]
    return ["--faults=3", "--without-app", *(f"--only={fault}" for fault in FAULTS)]


@pytest.mark.timeout(900 + 120 * MINUTES)
def test_work_goes_on_after_faults_and_the_chain_says_what_was_acknowledged() -> None:
    command = [sys.executable, PROGRAM, "--seed=1", *choose_soak()]
    environment = {**os.environ, "PYTHONPATH": str(PROGRAM.parent)}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    assert done.stdout.startswith("seed 1\n")
    assert done.stdout.endswith("everything held\n")
