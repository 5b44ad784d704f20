"""An export can be verified by twenty lines that share nothing with Astra."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from driver import Astra

SCRIPT = Path(__file__).parents[2] / "examples" / "verify_ledger.py"
TAMPERINGS: dict[str, Callable[[list[str]], list[str]]] = {
    "edited": lambda lines: [lines[0].replace('"actor":"', '"actor":"x'), *lines[1:]],
    "deleted": lambda lines: [*lines[:2], *lines[3:]],
    "repeated": lambda lines: [*lines[:2], lines[1], *lines[2:]],
    "swapped": lambda lines: [lines[0], lines[2], lines[1], *lines[3:]],
    "torn": lambda lines: [*lines[:-1], lines[-1][:-20]],
    "garbage": lambda lines: [*lines, "not a record"],
    "no object": lambda lines: [*lines, "[]"],
    "empty": lambda _lines: [],
}


def verify(export: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-I", SCRIPT]
    return subprocess.run(command, input=export, capture_output=True, text=True, check=False)


def test_an_export_verifies_without_astra_and_a_tampered_one_does_not(astra: Astra) -> None:
    for _ in range(4):
        astra.json("flags", "set", "AGENT_PLANNING_ENABLED", "off")
    export = astra.run("ledger", "export").stdout

    done = verify(export)
    assert done.returncode == 0, done.stderr
    assert astra.json("ledger", "verify")["head"] in done.stdout
    assert verify(astra.run("ledger", "export", "--from", "2", "--to", "4").stdout).returncode == 0

    for name, tamper in TAMPERINGS.items():
        done = verify("".join(f"{line}\n" for line in tamper(export.split("\n")[:-1])))
        assert done.returncode == 1, name
        assert "Traceback" not in done.stderr, name
