"""Firings through the background's lanes: an engine that fails, or a firing, stops nothing else."""

import threading
from typing import Any

import pytest

from astra import flow
from astra.flow import Background, ClaimedFirings
from astra.trusted.kernel.errors import AstraError

REFUSAL = AstraError("the engine does not start", next_step="make room")


class UnsteadyJobs:
    """An engine that refuses for as long as a test wants."""

    def __init__(self) -> None:
        self.refusing = True
        self.refused = 0
        self.submitted: list[str] = []

    def submit(self, key: str, kind: str, argument: str) -> None:
        assert kind == "firing"
        if self.refusing:
            self.refused += 1
            raise REFUSAL
        self.submitted.append(argument)


class Daemon:
    """The lanes of schedules over a world in memory, run in the test's own thread."""

    def __init__(self, world: Any) -> None:
        self.world = world
        self.jobs = UnsteadyJobs()
        self.passed = 0.0
        self.start()

    def start(self) -> None:
        self.world.executor = self.world.new_executor()
        self.world.executor.jobs = self.jobs
        woken = threading.Event()
        self.firings = ClaimedFirings(self.world.executor, woken)
        self.background = Background(
            self.world.ledger,
            self.world.clock,
            self.firings.lanes(),
            woken=woken,
            seconds=lambda: self.passed,
        )

    def later(self, **step: float) -> None:
        self.world.clock.advance(**step)
        self.passed += 100.0
        self.background.run_due()

    def outcomes(self, schedule: Any) -> list[str]:
        return [item["outcome"] for item in self.world.history(schedule)]


@pytest.fixture
def daemon(world: Any) -> Daemon:
    return Daemon(world)


def test_without_the_engine_everything_that_needs_none_goes_on(daemon: Daemon) -> None:
    slow, quick = daemon.world.create("think", "@hourly"), daemon.world.create("look", "@hourly")
    write = daemon.world.create("write", "@hourly")
    for _ in range(3):
        daemon.later(hours=1)
    assert daemon.outcomes(quick) == daemon.outcomes(write) == ["succeeded"] * 3
    assert "running" in daemon.outcomes(slow)
    assert "the engine does not start" in daemon.background.trouble(flow.JOBS)
    assert daemon.background.trouble(flow.FIRINGS) == ""
    assert daemon.background.is_needed()


def test_many_slow_firings_without_an_engine_take_no_room_from_the_others(daemon: Daemon) -> None:
    for number in range(100):
        daemon.world.create("think", "@hourly", name=f"slow {number}")
    quick = daemon.world.create("look", "@hourly", name="quick")
    daemon.later(hours=1)
    assert daemon.outcomes(quick) == ["succeeded"]
    assert daemon.firings.claimed == 0


def test_once_the_engine_is_back_it_gets_every_slow_firing_once(daemon: Daemon) -> None:
    for number in range(5):
        daemon.world.create("think", "@hourly", name=f"slow {number}")
    daemon.later(hours=1)
    assert daemon.jobs.refused == 5
    daemon.jobs.refusing = False
    daemon.later(minutes=1)
    daemon.later(minutes=1)
    assert len(daemon.jobs.submitted) == len(set(daemon.jobs.submitted)) == 5
    assert daemon.background.trouble() == ""


def test_a_firing_that_is_over_is_not_handed_to_the_engine(daemon: Daemon) -> None:
    schedule = daemon.world.create("think", "@hourly")
    daemon.later(hours=1)
    daemon.world.timetable.pause(schedule.id, actor="operator")
    (firing,) = daemon.world.ledger.query("SELECT id FROM firing")
    daemon.world.executor.job_done(f"{firing[0]}.1", '["skipped", "cancelled", "", 0.0]')
    daemon.jobs.refusing = False
    daemon.later(minutes=1)
    assert daemon.jobs.submitted == []
    assert not daemon.background.trouble()


def test_one_firing_that_cannot_be_settled_stops_no_other(daemon: Daemon) -> None:
    """A dead daemon left two slow firings, and the catalogue cannot tell about one of them."""
    bad, good = (
        daemon.world.create("think", "@hourly", name="bad"),
        daemon.world.create("spend", "@hourly", name="good"),
    )
    quick = daemon.world.create("look", "@hourly", name="quick")
    daemon.later(hours=1)
    daemon.jobs.refusing = False
    timetable = daemon.world.timetable
    daemon.world.timetable = Unreadable(timetable, bad.id)
    daemon.start()
    daemon.later(hours=1)
    assert daemon.outcomes(quick) == ["succeeded"] * 2
    assert len(daemon.jobs.submitted) == 1
    assert "cannot be read" in daemon.background.trouble(flow.FIRINGS)
    daemon.world.executor.timetable = timetable
    daemon.later(minutes=1)
    assert len(daemon.jobs.submitted) == 2
    assert daemon.background.trouble() == ""
    assert daemon.outcomes(good)[0] == "running"


class Unreadable:
    """A timetable with one schedule that cannot be read."""

    def __init__(self, timetable: Any, schedule: str) -> None:
        self._timetable = timetable
        self._schedule = schedule

    def get(self, identifier: str) -> Any:
        if identifier == self._schedule:
            raise AstraError(f"{identifier} cannot be read", next_step="look at it")
        return self._timetable.get(identifier)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._timetable, name)


def test_a_daemon_that_leaves_runs_what_it_claimed_and_claims_nothing_more(daemon: Daemon) -> None:
    schedules = [daemon.world.create(tool, "@hourly") for tool in ("look", "write")]
    daemon.world.clock.advance(hours=1)
    daemon.firings.executor.run_due()
    assert daemon.firings.claimed == 2
    late = daemon.world.create("look", "@hourly", name="late")
    daemon.world.clock.advance(hours=1)
    daemon.background.stop()
    assert [daemon.outcomes(schedule) for schedule in schedules] == [["succeeded"]] * 2
    assert daemon.outcomes(late) == []
    assert daemon.firings.claimed == 0
