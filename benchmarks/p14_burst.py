"""P14: 10,000 schedules due at one instant, tier 0, through claim, gate, tool and record.

A real data root on this disk, the daemon's own scheduler and threads. Each firing is claimed
durably, passes the gate, runs `astra.approvals.pending`, and is closed durably. None may happen
twice, none may be missing.
"""

import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import measuring
from astra.bootstrap import initialise
from astra.bootstrap.build import build_runtime
from astra.bootstrap.runtime import Runtime
from astra.schedules import events
from astra.schedules.model import Definition
from astra.trusted.kernel.clock import format_time
from astra.trusted.settings import environment

COUNT, TARGET = 10_000, 2_000.0
PASSPHRASE = "only for numbers"


def main() -> None:
    count = 500 if measuring.is_quick() else COUNT
    with tempfile.TemporaryDirectory() as folder, data_root(Path(folder)) as runtime:
        fill(runtime, count)
        began = time.perf_counter()
        runtime.background.start()
        while due(runtime):
            runtime.ledger.wait(runtime.ledger.head().sequence + 500, 0.25)
        runtime.background.stop()
        seconds = time.perf_counter() - began
        assert complete(runtime, count), "a firing is missing, or happened twice"
    name = f"P14 firings/s, {count:,} due at once, none twice, none lost"
    measuring.report(name, count / seconds, TARGET, measuring.at_least(1))


@contextmanager
def data_root(folder: Path) -> Iterator[Runtime]:
    os.environ["XDG_CONFIG_HOME"] = str(folder / "config")
    settings = environment.load(
        {"AGENT_DATA_ROOT": str(folder / "data"), "HOME": str(folder), "PATH": "/usr/bin:/bin"}
    )
    initialise.initialise(settings, None, passphrase=PASSPHRASE, throwaway=True)
    runtime = build_runtime(settings)
    try:
        yield runtime
    finally:
        runtime.close()


def fill(runtime: Runtime, count: int, *, due_in: timedelta = timedelta(0)) -> None:
    """Append schedules as `create` would, many at a time."""
    next_run = format_time(datetime.now(UTC).replace(second=0, microsecond=0) + due_in)
    for start in range(0, count, 1_000):
        batch = [schedule(number) for number in range(start, min(start + 1_000, count))]
        runtime.ledger.append(
            [
                events.created(f"sch_{each.digest[:16]}", each, next_run, actor="bench")
                for each in batch
            ]
        )


def schedule(number: int) -> Definition:
    return Definition(
        name=f"s{number}",
        cron_expression="@yearly",
        timezone="UTC",
        target_tool="astra.approvals.pending",
    )


def due(runtime: Runtime) -> bool:
    now = format_time(runtime.clock.now())
    return bool(runtime.ledger.query("SELECT 1 FROM schedule WHERE next_run <= ? LIMIT 1", [now]))


def complete(runtime: Runtime, count: int) -> bool:
    ((fired, schedules),) = runtime.ledger.query(
        "SELECT count(*), count(DISTINCT schedule) FROM firing WHERE state = 'succeeded'"
    )
    ((calls,),) = runtime.ledger.query("SELECT count(*) FROM record WHERE type = 'tool_called'")
    return fired == schedules == calls == count


if __name__ == "__main__":
    main()
