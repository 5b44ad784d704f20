"""The lanes as the daemon puts them together, over a real data root in this process."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from astra import flow
from astra.bootstrap import initialise
from astra.bootstrap.build import build_runtime
from astra.bootstrap.runtime import Runtime
from astra.flow import lanes
from astra.schedules import events
from astra.schedules.model import Definition
from astra.trusted.kernel.clock import format_time
from astra.trusted.settings import environment
from deploying import until

pytestmark = pytest.mark.xdist_group("dbos")


@pytest.fixture
def runtime(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Runtime]:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    settings = environment.load(
        {
            "AGENT_DATA_ROOT": str(tmp_path / "data"),
            "HOME": str(tmp_path),
            "PATH": "/usr/bin:/bin",
        }
    )
    initialise.initialise(settings, None, passphrase="only a test", throwaway=True)
    opened = build_runtime(settings)
    yield opened
    opened.close()


def create(runtime: Runtime, tool: str, tier: int, **payload: object) -> str:
    """Make a schedule whose firing is due now."""
    now = datetime.now(UTC).replace(second=0, microsecond=0) - timedelta(minutes=1)
    wanted = Definition(
        name=tool,
        cron_expression="@yearly",
        timezone="UTC",
        target_tool=tool,
        payload=payload,
        safety_tier=tier,
    )
    identifier = f"sch_{wanted.digest[:16]}"
    event = events.created(identifier, wanted, format_time(now), actor="agent:test")
    runtime.ledger.append([event])
    return identifier


def ended(runtime: Runtime, schedule: str) -> bool:
    open_states = "('running', 'queued', 'waiting', 'retrying')"
    rows = runtime.ledger.query(
        f"SELECT state FROM firing WHERE schedule = ? AND state NOT IN {open_states}", [schedule]
    )
    return bool(rows)


def test_the_table_that_one_opens_first_shows_every_lane(runtime: Runtime) -> None:
    assert flow.__doc__
    table = flow.__doc__.split("| entity")[0]
    shown = re.findall(r"^\| ([a-z-]+) +\|", table, re.MULTILINE)
    assert shown[-1] == lanes.REAPING  # only where machines share a chain
    assert [name for name in shown[:-1] if name != "lane"] == list(runtime.background.lanes)


def test_over_a_spoilt_job_database_quick_and_slow_schedules_both_run(runtime: Runtime) -> None:
    database = runtime.root.var / "jobs" / "jobs.sqlite3"
    database.parent.mkdir()
    database.write_bytes(b"CREATE TABLE workflow_status" * 1000)
    slow = create(runtime, "run_in_sandbox", 1, command=["true"])
    quick = create(runtime, "astra.health", 0)
    runtime.background.start()
    until(lambda: ended(runtime, quick))
    until(lambda: ended(runtime, slow))
    until(lambda: "PENDING" not in runtime.engine.states().values())
    rows = runtime.ledger.query(
        "SELECT count(*) FROM record WHERE type = ?", [events.JOBS_SET_ASIDE]
    )
    assert rows == [(1,)]
    assert runtime.background.trouble(flow.FIRINGS, flow.JOBS) == ""
