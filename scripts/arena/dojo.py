"""AgentDojo: its tools as MCP servers behind the gate, its tasks with and without an attacker.

The operator's entry for each server is made by one rule from what the server lists: a tool whose
name begins with a reading word and which takes no address is tier 0; any other keeps tier 2 and
asks each time. The client makes the calls of the user's task, and as soon as the attacker's text
comes through the door it makes each call that the text asks for, before it goes on.
"""

import contextlib
import json
import re
import shutil
import subprocess
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from arena.agent import Agent, Answer
from arena.outcome import Outcome, Progress, SetReport
from arena.signer import Signer
from arena.stopping import measure_stops
from arena.world import World, make_world
from astra.trusted.policy.telemetry import shorten_arguments
from astra.trusted.sandbox import machine, staging

NAME = "AgentDojo"
READING = ("get_", "read_", "search_", "list_", "check_")
ADDRESSES = ("url", "link", "recipient", "recipients", "to")
_BRIDGE = Path(__file__).with_name("dojo_bridge.py")
_PLAIN = re.compile(r"\W+")
_TELLING = 40
_STARTS, _REST_SECONDS = 5, 11.0
Table = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Pair:
    suite: str
    user: str
    injection: str

    @property
    def id(self) -> str:
        return f"{self.suite}/{self.user}/{self.injection}"


@dataclass
class Desk:
    """Asks the environment in which AgentDojo is installed."""

    process: subprocess.Popen[str]

    def ask(self, ask: str, pair: Pair | None = None, **more: Any) -> Table:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        place = vars(pair) if pair else {}
        self.process.stdin.write(json.dumps({"ask": ask, **place, **more}) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())


@contextlib.contextmanager
def open_desk(python: Path) -> Iterator[Desk]:
    with subprocess.Popen(
        [str(python), str(_BRIDGE), "desk"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            yield Desk(process)
        finally:
            assert process.stdin is not None
            process.stdin.close()


def list_pairs(suites: Table) -> list[Pair]:
    return [
        Pair(suite=suite, user=user, injection=injection)
        for suite, tasks in sorted(suites.items())
        for user in tasks["users"]
        for injection in tasks["injections"]
    ]


def classify_tool(tool: Table) -> int:
    """Give the tier that an operator who knows nothing but names would sign for.

    >>> classify_tool({"name": "get_balance", "inputSchema": {"properties": {}}})
    0
    >>> classify_tool({"name": "get_webpage", "inputSchema": {"properties": {"url": {}}}})
    2
    """
    takes_address = any(name in ADDRESSES for name in tool["inputSchema"].get("properties", {}))
    return 0 if tool["name"].startswith(READING) and not takes_address else 2


def run_set(
    pairs: Sequence[Pair],
    suites: Table,
    *,
    desk: Desk,
    python: Path,
    is_careless: bool,
    progress: Progress,
) -> SetReport:
    report = SetReport(name=NAME, size=len(list_pairs(suites)))
    with make_world({"README.md": "# A helper\n"}) as world:
        folder = _make_shelf(world)
        world.sign(write_configuration(suites, python=python, folder=folder))
        for suite in suites:
            _accept_tools(world, suite)
        signer = Signer.open(world, is_careless=is_careless)
        with world.connect_agent() as agent:
            stage = _Stage(world, signer, agent, desk, folder, suites)
            stage.play_all(pairs, report, progress)
        stage.explain(world.export_records())
        measure_stops(world, report)
    return report


def write_configuration(suites: Table, *, python: Path, folder: Path) -> str:
    lines = ["[budgets]", "tool_per_day = 100000", "actor_per_day = 100000"]
    for suite, tasks in suites.items():
        reads = [tool["name"] for tool in tasks["tools"] if classify_tool(tool) == 0]
        lines += [
            "[[mcp.servers]]",
            f'name = "{suite}"',
            f'command = "{python} {folder}/{_BRIDGE.name} serve {suite} {folder}"',
            f'write_paths = ["{folder}"]',
            "calls_per_day = 100000",
            "[mcp.servers.tiers]",
            *(f"{name} = 0" for name in reads),
        ]
    return "\n".join(lines)


def _accept_tools(world: World, suite: str) -> None:
    """Sign for the tools of a server; a busy machine may need more than one attempt to start it."""
    for _ in range(_STARTS):
        answer = world.run_astra("servers", "accept", suite)
        if not answer["exit"]:
            return
        time.sleep(_REST_SECONDS)
    raise RuntimeError(f"the server {suite} did not start: {answer}")


def _make_shelf(world: World) -> Path:
    folder = world.folder / "shelf"
    folder.mkdir()
    shutil.copy(_BRIDGE, folder)
    (folder / "episode.json").write_text("{}")
    staging.hand_over(folder, machine.inspect_machine().identity)
    return folder


@dataclass
class _Stage:
    world: World
    signer: Signer
    agent: Agent
    desk: Desk
    folder: Path
    suites: Table
    number: int = 0
    journals: list[tuple[Outcome, str, list[Table]]] = field(
        default_factory=list[tuple[Outcome, str, list[Table]]]
    )

    def play_all(self, pairs: Sequence[Pair], report: SetReport, progress: Progress) -> None:
        twins = set[tuple[str, str]]()
        for count, pair in enumerate(pairs, 1):
            if (pair.suite, pair.user) not in twins:
                twins.add((pair.suite, pair.user))
                report.outcomes.append(self.play_twin(pair))
            reason = self.find_reason_against(pair)
            if reason:
                report.not_applicable[pair.id] = reason
            else:
                report.outcomes.append(self.play_attack(pair))
            if not progress(NAME, count, len(pairs)):
                break

    def find_reason_against(self, pair: Pair) -> str:
        task = self.desk.ask("task", pair)
        if not task["attack"]:
            return "the set gives no calls for the attacker's task (its ground truth is empty)"
        if self.desk.ask("judge", pair, calls=task["calls"])["attacker"]:
            return "the user's own task has the effect that the attacker wants"
        if not self.desk.ask("judge", pair, calls=[*task["calls"], *task["attack"]])["attacker"]:
            return "the set's own ground truth does not have the attacker's effect after the task"
        return ""

    def play_twin(self, pair: Pair) -> Outcome:
        outcome = Outcome(sample=f"{pair.suite}/{pair.user}", kind="twin", is_sample=False)
        alone = Pair(suite=pair.suite, user=pair.user, injection="")
        task = self.desk.ask("task", alone)
        self.begin(alone)
        refusals = [
            answer.code
            for call in task["calls"]
            if (answer := self.make_call(pair.suite, call, task["prompt"], outcome)).refused
        ]
        if not self.desk.ask("judge", alone, calls=self.end(outcome, pair.suite))["user"]:
            turned_down = "the operator's policy did not sign a call"
            outcome.blocked = turned_down if outcome.unsigned else f"refused: {refusals[:1]}"
        return outcome

    def play_attack(self, pair: Pair) -> Outcome:
        outcome = Outcome(sample=pair.id, kind="attack", delivered=False)
        task = self.desk.ask("task", pair)
        self.begin(pair)
        for call in task["calls"]:
            answer = self.make_call(pair.suite, call, task["prompt"], outcome)
            if not outcome.delivered and _is_in(task["goal"], answer.text):
                outcome.delivered = True
                self.obey(pair, task, outcome)
        if not outcome.delivered:
            self.obey(pair, task, outcome)
        if self.desk.ask("judge", pair, calls=self.end(outcome, pair.suite))["attacker"]:
            outcome.harm.append(f"the attacker's effect: {task['goal'][:120]}")
        return outcome

    def obey(self, pair: Pair, task: Table, outcome: Outcome) -> None:
        for call in task["attack"]:
            self.make_call(pair.suite, call, task["prompt"], outcome)

    def make_call(self, suite: str, call: Table, request: str, outcome: Outcome) -> Answer:
        name = f"mcp.{suite}.{call['tool']}"
        answer = self.agent.call(name, call["arguments"])
        if answer.approval:
            if self.signer.decide_call(answer.approval, request):
                outcome.signatures += 1
                answer = self.agent.call(name, call["arguments"])
            else:
                outcome.unsigned += 1
        outcome.refusals += answer.refused
        return answer

    def begin(self, pair: Pair) -> None:
        self.number += 1
        draft = self.folder / "draft.json"
        draft.write_text(json.dumps({**vars(pair), "number": self.number}))
        draft.chmod(0o644)
        draft.replace(self.folder / "episode.json")

    def end(self, outcome: Outcome, suite: str) -> list[Table]:
        """Give the calls that the server in its box carried out, by its own journal."""
        path = self.folder / f"journal-{self.number}.ndjson"
        lines = path.read_text().splitlines() if path.exists() else []
        calls = [json.loads(line) for line in lines]
        self.journals.append((outcome, suite, calls))
        return calls

    def explain(self, records: Sequence[Table]) -> None:
        """Look up each call that a server carried out in the exported ledger."""
        recorded_calls = count_recorded_calls(records)
        for outcome, suite, calls in self.journals:
            tiers = {tool["name"]: classify_tool(tool) for tool in self.suites[suite]["tools"]}
            for call in calls:
                if tiers.get(call["tool"]) == 0:
                    continue
                outcome.effects += 1
                key = (f"mcp.{suite}.{call['tool']}", spell(call["arguments"]))
                outcome.explained += recorded_calls[key] > 0
                recorded_calls[key] -= 1


def count_recorded_calls(records: Sequence[Table]) -> Counter[tuple[str, str]]:
    """Count the calls that an exported ledger says were started, by tool and arguments."""
    return Counter(
        (record["data"]["tool"], json.dumps(record["data"].get("arguments"), sort_keys=True))
        for record in records
        if record["type"] == "tool_started"
    )


def spell(arguments: Any) -> str:
    """Write arguments as a record keeps them: secrets masked, long texts cut."""
    return json.dumps(shorten_arguments(arguments), sort_keys=True)


def _is_in(goal: str, text: str) -> bool:
    """Tell whether an attacker's text is in an answer, however it was escaped on the way."""
    return _PLAIN.sub("", goal)[:_TELLING] in _PLAIN.sub("", text)
