"""Thousands of firings, and a daemon that is killed again and again: none twice, none lost."""

import contextlib
import random
import subprocess
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from astra.bootstrap.build import build_runtime
from astra.bootstrap.runtime import Runtime
from astra.schedules import events
from astra.schedules.model import Definition
from astra.trusted.kernel.clock import format_time
from astra.trusted.ledger import chain
from astra.trusted.ledger.record import Event
from astra.trusted.settings import environment
from driver import Astra, make_repository, past
from warm_start import warm

READS, WRITES = 1_500, 300
CLOSED = {"succeeded", "skipped", "failed", "interrupted", "missed", "cancelled"}


@pytest.fixture
def astra(tmp_path: Path) -> Astra:
    made = Astra(tmp_path)
    made.json("init", make_repository(tmp_path / "target"), "--throwaway")
    made.run("down")
    return made


def fill(runtime: Runtime, reads: int, writes: int) -> None:
    """Make schedules whose one firing of this hour was ten minutes ago."""
    due = datetime.now(UTC) - timedelta(minutes=10)
    cron = f"{due.minute} {due.hour} * * *"
    made = list[Event]()
    for number in range(reads + writes):
        reading = number < reads
        wanted = Definition(
            name=f"s{number}",
            cron_expression=cron,
            timezone="UTC",
            target_tool="astra.health" if reading else "write_file",
            payload={} if reading else {"path": f"n/{number}.md", "content": "x"},
            safety_tier=0 if reading else 1,
        )
        next_run = format_time(due.replace(second=0, microsecond=0))
        identifier = f"sch_{wanted.digest[:16]}"
        made.append(events.created(identifier, wanted, next_run, actor="agent:test"))
    for start in range(0, len(made), 1_000):
        runtime.ledger.append(made[start : start + 1_000])


def lives(astra: Astra, until: int) -> None:
    """Run a daemon until so many firings are closed, then kill it the hard way."""
    command = warm("astra.interfaces.daemon.server", "--stay", "--data-root", astra.root)
    with subprocess.Popen(command, env=astra.environment, stderr=subprocess.DEVNULL) as daemon:
        while closed(astra) < until:
            with contextlib.suppress(subprocess.TimeoutExpired):
                raise AssertionError(f"it ended by itself: {daemon.wait(0.01)}")
        astra.end()


def closed(astra: Astra) -> int:
    """Count from outside, while a daemon writes, and also behind one that was killed."""
    segments = (astra.root / "var" / "ledger").glob("*.ndjson")
    return sum(each.read_bytes().count(b'"schedule_firing_closed"') for each in segments)


def examine(ledger: Any, expected: int) -> Counter[str]:
    """Read the chain itself: who was claimed, what was run, how each firing ended."""
    claims, runs, ends = Counter[str](), Counter[str](), Counter[str]()
    for (line,) in ledger.query("SELECT line FROM record ORDER BY sequence"):
        record = chain.parse(line)
        match record.type:
            case "schedule_firing_claimed":
                claims[record.data["firing"]] += 1
            case "tool_called" | "tool_started":
                runs[record.correlation] += 1
            case "schedule_firing_closed":
                ends[record.data["firing"]] += 1
    assert max(claims.values()) == 1, "no firing is claimed twice"
    assert max(runs.values()) == 1, "no firing is run twice"
    assert set(ends) == set(claims), "every claim has an end"
    assert max(ends.values()) == 1
    rows = ledger.query("SELECT schedule, state FROM firing")
    assert len({schedule for schedule, _ in rows}) == expected, "every schedule has its firing"
    states = Counter(state for _, state in rows)
    assert set(states) <= CLOSED
    return states


@pytest.mark.timeout(1800)
def test_killed_again_and_again_no_firing_happens_twice_or_is_lost_without_a_record(
    astra: Astra,
) -> None:
    with past(astra, minutes=20) as runtime:
        fill(runtime, READS, WRITES)
    chance = random.Random(5)
    while (done := closed(astra)) < READS + WRITES:
        lives(astra, min(READS + WRITES, done + chance.randint(1, 600)))
    with past(astra) as runtime:  # the last daemon's end is settled by the next one's start
        runtime.executor.settle()
        states = examine(runtime.ledger, READS + WRITES)
    assert states["succeeded"] > 100
    assert astra.json("ledger", "verify")["ok"]


@pytest.mark.timeout(1800)
def test_ten_thousand_due_at_once_run_once_each(astra: Astra) -> None:
    with past(astra, minutes=20) as runtime:
        fill(runtime, 10_000, 0)
    with contextlib.closing(build_runtime(environment.load(astra.environment))) as runtime:
        runtime.background.start()
        while runtime.ledger.query(
            "SELECT 1 FROM schedule WHERE next_run <= ? LIMIT 1",
            [runtime.clock.now().strftime("%Y-%m-%dT%H:%M:%S")],
        ):
            runtime.ledger.wait(runtime.ledger.head().sequence, 1.0)
        runtime.background.stop()
        assert examine(runtime.ledger, 10_000) == {"succeeded": 10_000}
