"""Graphs that run while their daemon is killed again and again: no task twice, none lost."""

import contextlib
import random
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from astra.goals import events
from astra.trusted.ledger import chain
from driver import Astra, make_repository, past
from warm_start import warm

GOALS, WIDTH = 16, 10
TASKS = GOALS * (2 * WIDTH + 2)
ENDED = b'"goal_task_finished"'


def write_methods() -> str:
    """Write a method that fans out to tasks with an effect each, and joins them again.

    Recording a desire twice makes two of them, so a task that was run twice shows.
    """
    notes = ", ".join(
        f'{{id = "n{number}", task = "RUN_TOOL", tool = "astra.desires.record", after = ["files"],'
        f' on_failure = "continue_if_any", arguments = {{text = "${{goal}} {number}"}}}}'
        for number in range(WIDTH)
    )
    reads = ", ".join(
        f'{{id = "r{number}", task = "RUN_TOOL", tool = "list_files", after = ["n{number}"],'
        ' on_failure = "continue_if_any"}'
        for number in range(WIDTH)
    )
    waits = ", ".join(f'"r{number}"' for number in range(WIDTH))
    return f"""
[[methods]]
name = "torture"
task = "torture"
subtasks = [
  {{id = "files", task = "RUN_TOOL", tool = "list_source_files", attempts = 9}},
  {notes},
  {reads},
  {{id = "end", task = "RUN_TOOL", tool = "list_files", after = [{waits}],
    on_failure = "continue_if_any"}},
]
""".replace(",\n    on_failure", ", on_failure")


@pytest.fixture
def astra(tmp_path: Path) -> Astra:
    made = Astra(tmp_path)
    made.json("init", make_repository(tmp_path / "target"), "--throwaway")
    with (made.root / "astra.toml").open("a") as file:
        file.write(write_methods())
    made.json("config", "sign")
    made.json("flags", "set", "PERSONA_MODE_ENABLED", "off")
    for number in range(GOALS):
        goal = made.json("goals", "create", f"torture {number}", "--task", "torture")["id"]
        made.json("goals", "adopt", goal)
    made.json("flags", "set", "PERSONA_MODE_ENABLED", "on", "--yes")
    made.run("down")
    return made


def live(astra: Astra, until: int) -> None:
    """Run a daemon until so many tasks are over, then kill it the hard way."""
    command = warm("astra.interfaces.daemon.server", "--stay", "--data-root", astra.root)
    with subprocess.Popen(command, env=astra.environment, stderr=subprocess.DEVNULL) as daemon:
        while count_ended(astra) < until:
            with contextlib.suppress(subprocess.TimeoutExpired):
                raise AssertionError(f"it ended by itself: {daemon.wait(0.002)}")
        daemon.kill()
        astra.end()


def count_ended(astra: Astra) -> int:
    """Count from outside, while a daemon writes, and also behind one that was killed."""
    segments = (astra.root / "var" / "ledger").glob("*.ndjson")
    return sum(segment.read_bytes().count(ENDED) for segment in segments)


def examine(ledger: Any) -> Counter[str]:
    """Read the chain itself: what was claimed, what it brought about, how each task ended."""
    claims, ends = Counter[str](), dict[str, str]()
    desires = Counter[str]()
    for (line,) in ledger.query("SELECT line FROM record ORDER BY sequence"):
        record = chain.parse(line)
        if record.type == events.TASK_CLAIMED:
            claims[f"{record.subject} {record.data['attempt']}"] += 1
        elif record.type == events.TASK_FINISHED:
            assert record.subject not in ends, "no task ends twice"
            ends[str(record.subject)] = record.data["outcome"]
        elif record.type == "desire_recorded":
            desires[record.data["text"]] += 1
    assert max(claims.values()) == 1, "no attempt is claimed twice"
    assert max(desires.values()) == 1, "no task was run twice"
    assert len(ends) == TASKS, "no task is lost"
    recording = {task.split()[0] for task in claims} & set(find_recording_tasks(ledger))
    done = sum(ends[task] == "succeeded" for task in recording)
    assert done <= sum(desires.values()) <= len(recording), "what succeeded has its effect"
    return Counter(ends.values())


def find_recording_tasks(ledger: Any) -> list[str]:
    rows = ledger.query("SELECT id FROM goal_task WHERE title LIKE 'n%'")
    return [identifier for (identifier,) in rows]


@pytest.mark.timeout(1800)
def test_killed_again_and_again_no_task_happens_twice_or_is_lost(astra: Astra) -> None:
    chance = random.Random(7)
    kills = 0
    while (done := count_ended(astra)) < TASKS:
        live(astra, min(TASKS, done + chance.randint(1, 24)))
        kills += 1
    with past(astra) as runtime:
        outcomes = examine(runtime.ledger)
        rows = runtime.ledger.query("SELECT state, count(*) FROM goal_task GROUP BY state")
    assert kills > 1
    assert outcomes["succeeded"] > TASKS / 2
    assert dict(rows).keys() <= {"succeeded", "failed", "skipped"}
    assert astra.json("ledger", "verify")["ok"]
