"""A nightly schedule takes what is wanted most and sees it through: the tutorial, line by line."""

import os
import re
import shlex
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from deploying import EXAMPLE, fetch
from driver import COMMAND, Astra, let_it_be_overdue, past
from model_server import ModelServer
from warm_start import warm

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "tutorial" / "every-night.md"
SHOWN = re.compile(r"```console\n(.*?)```", re.DOTALL)
HOLDS_PLACE = re.compile(r"\b(apr|chg|des|goal|sch)_…")
IDENTIFIER = re.compile(r"\b(apr|chg|des|goal|sch)_[0-9a-f]{8,16}\b")
LOOKS = re.compile(r"astra (goals|inbox|desires show|beliefs|ledger story)")
"""What only looks, and may be looked at again: what was signed before goes on meanwhile."""
ADDRESS = "http://127.0.0.1:8080/v1"
OLD, NEW = "Hello from the agent", "A warm welcome from the agent"
QUOTE = f'return "{OLD}"'


@dataclass
class Terminal:
    """A person's shell: what one command exports, the next has."""

    home: Path
    model: str
    newest: dict[str, str] = field(default_factory=dict[str, str])

    def __post_init__(self) -> None:
        (self.home / "bin").mkdir()
        command = self.home / "bin" / "astra"
        command.write_text(f'#!/bin/sh\nexec {shlex.join(warm(COMMAND))} "$@"\n')
        command.chmod(0o755)
        (self.home / "examples").symlink_to(EXAMPLE.parent)
        path = [str(self.home / "bin"), str(Path(sys.executable).parent), os.environ["PATH"]]
        self._shell = subprocess.Popen(
            ["bash"],
            env={"HOME": str(self.home), "PATH": os.pathsep.join(path), "LC_ALL": "C.UTF-8"},
            cwd=self.home,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def run(self, command: str) -> str:
        assert self._shell.stdin
        assert self._shell.stdout
        line = HOLDS_PLACE.sub(lambda match: self.newest[match[1]], command)
        line = line.replace(ADDRESS, self.model)
        self._shell.stdin.write(f"{{ {line}\n}} 2>&1 </dev/null; printf '\\036\\n'\n")
        self._shell.stdin.flush()
        printed = "".join(iter(self._shell.stdout.readline, "\x1e\n"))
        self.newest |= {match[1]: match[0] for match in IDENTIFIER.finditer(printed)}
        return printed

    def end(self) -> None:
        assert self._shell.stdin
        self.run("astra down --data-root ~/astra-trial")
        self._shell.stdin.close()
        assert self._shell.stdout
        self._shell.stdout.close()
        self._shell.wait()


@pytest.fixture
def terminal(tmp_path: Path, server: ModelServer) -> Iterator[Terminal]:
    terminal = Terminal(tmp_path, server.url)
    yield terminal
    terminal.end()


def answer_model(request: dict[str, Any]) -> Any:
    """Cite the passage that has the greeting, then change it."""
    rules, text = (str(message["content"]) for message in request["messages"])
    if rules.startswith("You choose where source code"):
        return {"places": ["agent_server/api.py::greeting"]}
    if rules.startswith("You rewrite one piece"):
        return f"```python\n{read_greeting().replace(OLD, NEW)}\n```"
    before, found, _ = text.partition(QUOTE)
    if not found:
        return {"claims": []}
    passage = int(re.findall(r"<<<UNTRUSTED passage (\d+) ", before)[-1])
    claim = {"passage": passage, "claim": "The greeting is a constant.", "quote": QUOTE}
    return {"claims": [claim]}


def read_greeting() -> str:
    source = (EXAMPLE / "agent_server" / "api.py").read_text()
    return source[source.index("def greeting()") :].partition("\n\n\n")[0]


def list_steps() -> Iterator[tuple[str, str]]:
    for block in SHOWN.findall(PAGE.read_text()):
        for step in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, printed = step.partition("\n")
            yield command, printed


def fits(expected: str, printed: str) -> bool:
    """Compare; `…` stands for anything, and alone on a line for any number of lines."""
    lines = printed.rstrip().splitlines()
    ends = {0}
    """How many lines of what was printed may be told for by now."""
    for wanted in expected.rstrip().splitlines():
        if wanted == "…":
            ends = set(range(min(ends, default=len(lines) + 1), len(lines) + 1))
        else:
            pattern = re.compile(".*".join(map(re.escape, wanted.split("…"))))
            ends = {n + 1 for n in ends if n < len(lines) and pattern.fullmatch(lines[n])}
    return len(lines) in ends


def follow_step(terminal: Terminal, command: str, expected: str) -> None:
    deadline = time.monotonic() + 180
    printed = terminal.run(command)
    while not fits(expected, printed):
        assert LOOKS.match(command), f"{command}\n{printed}"
        assert time.monotonic() < deadline, f"{command}\n{printed}"
        time.sleep(0.2)
        printed = terminal.run(command)


def test_from_a_desire_at_night_to_a_release_and_beliefs_as_the_tutorial_says(
    terminal: Terminal, server: ModelServer, tmp_path: Path
) -> None:
    server.say = answer_model
    steps = list(list_steps())
    assert len(steps) > 25, "the tutorial is gone"
    root = {"AGENT_DATA_ROOT": str(tmp_path / "astra-trial"), "XDG_CONFIG_HOME": ""}
    outside = Astra(tmp_path, extra={**root, "HOME": str(tmp_path)})
    for command, expected in steps[:-1]:
        follow_step(terminal, command, expected)
    port = outside.json("status")["app"]["port"]
    assert fetch(port, "/api/greeting")["greeting"] == NEW
    check_story(outside, terminal.newest)
    follow_step(terminal, *steps[-1])


def check_story(astra: Astra, newest: dict[str, str]) -> None:
    """See that the goal's story and the desire's have every step, and what each of them moved."""
    for identifier in (newest["goal"], newest["des"]):
        page = astra.json("ledger", "story", identifier)
        types = [record["type"] for record in page["items"]]
        order = [types.index(name) for name in STEPS]
        assert order == sorted(order), list(zip(STEPS, order, strict=True))
        assert types.count("schedule_firing_closed") == 2
        assert types.count("approval_granted") == 2, "the goal with its plan, the diff"
        moves = {(move["sign"], move["statement"]) for move in page["beliefs"]}
        assert ("for", "the method implement_and_deploy works") in moves
        assert ("for", "changes to agent_server pass their tests") in moves
        assert ("against", "changes to agent_server are taken back in service") in moves


STEPS = (
    "desire_recorded",
    "schedule_firing_claimed",
    "approval_requested",
    "schedule_firing_closed",
    "desire_promoted",
    "goal_created",
    "goal_planned",
    "goal_adopted",
    "goal_task_claimed",
    "research_started",
    "research_finished",
    "code_modification_scheduled",
    "tests_passed",
    "code_modification_approved",
    "code_modification_executed",
    "deployment_requested",
    "release_switched",
    "deployment_settled",
    "goal_satisfied",
    "desire_closed",
)


def test_the_clock_fires_it_and_the_goal_is_asked_for(astra: Astra) -> None:
    astra.json("flags", "set", "ASTRA_CODE_WRITE_ENABLED", "on")
    desire = astra.json("desires", "record", "learn to sail")["id"]
    payload = '{"goal_source": "top_desire"}'
    far_from_now = f"0 {(datetime.now(UTC).hour + 12) % 24} * * *"
    words = ("--cron", far_from_now, "--tool", "execute_goal", "--payload", payload)
    schedule = astra.json("schedules", "create", "--name", "nightly", *words)["id"]
    astra.run("down")
    with past(astra, minutes=0) as runtime:
        let_it_be_overdue(runtime, runtime.timetable.get(schedule), minutes=5)
    astra.follow("schedule_firing_closed")
    (firing,) = astra.json("schedules", "history", schedule)["items"]
    assert firing["kind"] in {"cron", "catch_up"}
    assert (firing["outcome"], firing["reason"]) == ("skipped", "needs_approval")
    (approval,) = astra.json("approvals")["items"]
    assert approval["subject_id"] == desire
    story = {record["type"] for record in astra.json("ledger", "story", desire)["items"]}
    assert {"schedule_firing_claimed", "approval_requested"} <= story
