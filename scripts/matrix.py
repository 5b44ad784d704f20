"""Run the test matrix of `astra readiness` and write what came of it, one row for each line.

    python scripts/matrix.py [--output FILE] [ROW …]

What is written says which code it is about and when it ran; it counts once the operator has signed
it with `astra readiness --matrix FILE`. A row that is not there is a no-go. The row of goals with
the flag on is the story of a night, from a desire to a release; the smoke row is `astra smoke` and
the guided story, from a proposal to a release.
"""

import argparse
import json
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

from astra.changes.code_identity import code_digest

ROOT = Path(__file__).resolve().parent.parent
ROWS: dict[str, tuple[str, str, tuple[str, ...]]] = {
    "access-off": (
        "access",
        "off",
        ("tests/acceptance/test_agent_tools.py", "tests/acceptance/test_flags.py"),
    ),
    "conversation-off": (
        "conversation tools",
        "off",
        ("tests/acceptance/test_mcp.py", "tests/acceptance/test_desires.py"),
    ),
    "changes-off": ("changes", "off", ("tests/acceptance/test_changes.py", "-k", "_off")),
    "changes-on": (
        "changes",
        "on",
        (
            "tests/acceptance/test_changes.py",
            "tests/acceptance/test_change_evidence.py",
            "tests/acceptance/test_deploy_agent_code.py",
        ),
    ),
    "goals-off": (
        "goal execution",
        "off",
        ("tests/acceptance/test_goals.py", "tests/acceptance/test_tasks.py", "tests/attack/goals"),
    ),
    "goals-on": ("goal execution", "on", ("tests/acceptance/test_every_night.py",)),
    "research-off": (
        "research plans",
        "off",
        ("tests/acceptance/test_research.py", "tests/attack/research"),
    ),
    "research-on": ("research plans", "on", ("tests/acceptance/test_research_on.py",)),
    "smoke-on": (
        "smoke",
        "on",
        ("tests/acceptance/test_smoke.py", "tests/acceptance/test_demo.py"),
    ),
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("rows", nargs="*", metavar="ROW", help=", ".join(ROWS))
    parser.add_argument("--output", type=Path, default=ROOT / "matrix.json")
    options = parser.parse_args()
    rows = [run(name) for name in options.rows or ROWS]
    document = {"code": code_digest(), "at": datetime.now(UTC).isoformat(), "rows": rows}
    options.output.write_text(json.dumps(document, indent=2) + "\n")
    return 0 if all(row["passed"] for row in rows) else 1


def run(key: str) -> dict[str, object]:
    name, flag, words = ROWS[key]
    command = [sys.executable, "-m", "pytest", "-q", "-n", "0", *words]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    summary = (done.stdout.strip().splitlines() or ["nothing was said"])[-1]
    print(f"{name}, flag {flag}: {summary}", flush=True)
    if done.returncode:
        print(done.stdout, flush=True)
    return {"name": name, "flag": flag, "passed": done.returncode == 0, "summary": summary}


if __name__ == "__main__":
    sys.exit(main())
