"""Runs the attacks and writes how many were tried and held into the page about them.

Two kinds are counted: the tests in `tests/attack`, which attack Astra from outside a box, and the
table of `astra doctor --attack`, which is run inside boxes on this machine. Everything has to hold:
an attempt that got through fails the run and leaves the page as it was.

With names of groups only those are run, and the other rows stay as they are:

    python scripts/attacks.py egress record doctor
"""

import re
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

DOCTOR = "doctor"
_ROW = re.compile(r"^\| `(?:tests/attack/)?([^`]+)` \| (.+?) \| (\d+) \| \d+ \|$", re.MULTILINE)

SUBJECTS = {
    "adoption": "what a repository says about itself, environments built from it",
    "authority": "the operator's signature, passkeys, an agent's OS user",
    "beliefs": "statements that would move numbers, evidence that is made up",
    "changes": "the agent's clone, the trusted branch, policies, quarantine, Astra's own core",
    "changes_evidence": "tests that prove less, results that are forged, text against the scanner",
    "chat": "a model turned against its operator",
    "deploy": "releases that misbehave, what a release holds, what an app connects to",
    "desires": "promotion, floods, hiding",
    "egress": "every way out but a granted host and port, secrets that the proxy adds",
    "gate": "any sequence of calls, found by search; standing permissions",
    "goals": "graphs, budgets and decompositions that ask for more than was adopted",
    "http": "every route with every role, sessions, guesses, malformed requests",
    "limits": "floods of calls, requests, sessions and approvals; stop under full load",
    "mcp": "clients that claim to be more than an agent",
    "operating": "alerts, probes, notifications and bundles that are turned against who reads them",
    "paths": "spellings, links, devices, races of files",
    "plans": "models that lie, loop, obey files and ask for more",
    "push": "addresses that the daemon is asked to connect to",
    "record": "a ledger that was cut, replaced or restored",
    "research": "documents that give orders, quotes that are not there",
    "sandbox": "what a box leaves behind, bombs, turning the sandbox off",
    "schedules": "approvals that were made up, budgets that were raised",
    "secrets": "secret files and values in boxes, clones, releases and the ledger",
    "servers": "other MCP servers: tools that change after they were signed, answers that attack",
    "signing": "what is shown and what is signed",
    "spend": "models that misreport what they used, raises that nobody signed",
    "sync": "an upstream whose history, refs and files are hostile",
    "workers": "a repository for exchange that gives other commits, or parts of one; an instance"
    " of the fleet that lies about its digest, its term or its name",
}


def main() -> int:
    groups = sys.argv[1:]
    if unknown := set(groups) - {*SUBJECTS, DOCTOR}:
        raise SystemExit(f"there is no group {', '.join(sorted(unknown))}")
    text = PAGE.read_text()
    before, _, rest = text.partition(BEGIN)
    table, _, after = rest.partition(END)
    attempts, inside = read_table(table) if groups else (Counter[str](), Counter[str]())
    failures = list[str]()
    if tests := [group for group in groups if group != DOCTOR] or ([] if groups else [""]):
        counted, failures = run_tests(tests)
        attempts = Counter({**attempts, **counted})
    if not groups or DOCTOR in groups:
        results = run_attack_table()
        inside = Counter(result.category for result in results)
        failures += [result.name for result in results if not result.is_expected]
    if failures:
        print("\n".join(f"not held: {name}" for name in failures))
        return 1
    PAGE.write_text(f"{before}{BEGIN}\n\n{write_table(attempts, inside)}\n{END}{after}")
    return 0


def read_table(table: str) -> tuple[Counter[str], Counter[str]]:
    """Give the attempts that the page has: of each group of tests, and of each kind of the boxes.

    >>> read_table("| `tests/attack/egress` | a | 7 | 7 |")
    (Counter({'egress': 7}), Counter())
    """
    attempts, inside = Counter[str](), Counter[str]()
    for name, subject, count in _ROW.findall(table):
        if name.startswith("astra "):
            inside[subject] = int(count)
        else:
            attempts[name] = int(count)
    return attempts, inside


def run_tests(groups: list[str]) -> tuple[Counter[str], list[str]]:
    """Run the tests of attacks; gives how many each group has, and those that failed."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.xml"
        places = [f"tests/attack/{group}" for group in groups]
        command = ["pytest", "-q", "-n", "2", "--dist", "loadgroup", *places]
        subprocess.run(
            [sys.executable, "-m", *command, f"--junitxml={report}"], cwd=ROOT, check=False
        )
        cases = list(ET.parse(report).iter("testcase"))
    attempts = Counter(case.attrib["classname"].split(".")[2] for case in cases)
    failed = [case for case in cases if any(child.tag != "properties" for child in case)]
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
