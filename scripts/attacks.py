"""Runs the attacks and writes how many were tried and held into the page about them.

Two kinds are counted: the tests in `tests/attack`, which attack Astra from outside a box, and the
table of `astra doctor --attack`, which is run inside boxes on this machine. Everything has to hold:
an attempt that got through fails the run and leaves the page as it was.
"""

import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from xml.etree import ElementTree as ET

from astra.interfaces.cli.doctor import run_attack_table

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "explanation" / "attacks.md"
BEGIN, END = "<!-- made by make attacks -->", "<!-- end -->"

SUBJECTS = {
    "authority": "the operator's signature, passkeys, an agent's OS user",
    "changes": "the agent's clone, the trusted branch, policies, quarantine",
    "changes_evidence": "tests that prove less, results that are forged, text against the scanner",
    "chat": "a model turned against its operator",
    "deploy": "releases that misbehave, what a release holds, what an app connects to",
    "desires": "promotion, floods, hiding",
    "egress": "every way out but a granted host and port",
    "gate": "any sequence of calls, found by search",
    "http": "every route with every role, sessions, guesses, malformed requests",
    "limits": "floods of calls, requests, sessions and approvals; stop under full load",
    "mcp": "clients that claim to be more than an agent",
    "paths": "spellings, links, devices, races of files",
    "plans": "models that lie, loop, obey files and ask for more",
    "push": "addresses that the daemon is asked to connect to",
    "record": "a ledger that was cut, replaced or restored",
    "sandbox": "what a box leaves behind, bombs, turning the sandbox off",
    "schedules": "approvals that were made up, budgets that were raised",
    "secrets": "secret files and values in boxes, clones, releases and the ledger",
    "signing": "what is shown and what is signed",
}


def main() -> int:
    attempts, failures = run_tests()
    results = run_attack_table()
    inside = Counter(result.category for result in results)
    failures += [result.name for result in results if not result.held]
    if failures:
        print("\n".join(f"not held: {name}" for name in failures))
        return 1
    text = PAGE.read_text()
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    PAGE.write_text(f"{before}{BEGIN}\n\n{write_table(attempts, inside)}\n{END}{after}")
    return 0


def run_tests() -> tuple[Counter[str], list[str]]:
    """Run the tests of attacks; gives how many each group has, and those that failed."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.xml"
        command = ["pytest", "-q", "-n", "2", "--dist", "loadgroup", "tests/attack"]
        subprocess.run(
            [sys.executable, "-m", *command, f"--junitxml={report}"], cwd=ROOT, check=False
        )
        found = list(ET.parse(report).iter("testcase"))
    attempts = Counter(case.attrib["classname"].split(".")[2] for case in found)
    failed = [case for case in found if any(child.tag != "properties" for child in case)]
    return attempts, [f"{case.attrib['classname']}.{case.attrib['name']}" for case in failed]


def write_table(attempts: Counter[str], inside: Counter[str]) -> str:
    unknown = set(attempts) - set(SUBJECTS)
    if unknown:
        raise SystemExit(f"scripts/attacks.py has no words for {', '.join(sorted(unknown))}")
    rows = [(f"`tests/attack/{name}`", SUBJECTS[name], attempts[name]) for name in sorted(attempts)]
    rows += [("`astra doctor --attack`", name, inside[name]) for name in sorted(inside)]
    lines = [f"| {where} | {what} | {count} | {count} |" for where, what, count in rows]
    total = sum(count for *_, count in rows)
    head = ["| group | what is attacked | attempts | held |", "| --- | --- | ---: | ---: |"]
    return "\n".join([*head, *lines, f"| all | | {total} | {total} |"]) + "\n"


if __name__ == "__main__":
    sys.exit(main())
