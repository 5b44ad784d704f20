"""Due steps: a step that fails or does nothing rests, and never keeps another from running."""

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

import pytest

from astra import flow
from astra.bootstrap.step_runner import StepRunner, change_step_failed
from astra.flow import DueStep
from astra.testing import MemoryLedger, SetClock
from astra.trusted.kernel.clock import format_time
from astra.trusted.kernel.errors import AstraError
from astra.trusted.ledger.projection import CORE
from astra.trusted.ledger.record import Event

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
FAILED = "change_step_failed"


@dataclass
class World:
    """Approvals that are due to expire, and what their steps do."""

    clock: SetClock = field(default_factory=lambda: SetClock(NOW))
    bad: dict[str, Exception] = field(default_factory=dict[str, Exception])
    idle: set[str] = field(default_factory=set[str])
    ran: list[str] = field(default_factory=list[str])
    passed: float = 0.0

    def __post_init__(self) -> None:
        self.ledger = MemoryLedger(projections=[*CORE, flow.PROJECTION], clock=self.clock)
        self.runner = StepRunner(
            ledger=self.ledger,
            clock=self.clock,
            lane=flow.QUICK,
            do=self.do,
            failed=change_step_failed,
            seconds=lambda: self.passed,
        )

    def ask(self, name: str, *, due: timedelta = timedelta(0)) -> None:
        data = {"kind": "tool", "subject_id": "x", "expires_at": format_time(NOW + due)}
        self.ledger.append(
            [Event(type="approval_requested", actor="agent", subject=name, data=data)]
        )

    def do(self, step: DueStep) -> None:
        self.ran.append(step.subject)
        if error := self.bad.get(step.subject):
            raise error
        if step.subject not in self.idle:
            self.ledger.append(
                [Event(type="approval_expired", actor="daemon", subject=step.subject)]
            )

    def failures(self) -> int:
        ((count,),) = self.ledger.query("SELECT count(*) FROM record WHERE type = ?", [FAILED])
        return count


@pytest.fixture
def world() -> World:
    made = World()
    for name in ("apr_aaaaaaaaaaaaaaa1", "apr_aaaaaaaaaaaaaaa2", "apr_aaaaaaaaaaaaaaa3"):
        made.ask(name)
    return made


FIRST, SECOND, THIRD = (f"apr_aaaaaaaaaaaaaaa{number}" for number in (1, 2, 3))


@pytest.mark.parametrize(
    "error",
    [
        pytest.param(AstraError("no space left", next_step="make room"), id="refused"),
        pytest.param(ValueError("no space left"), id="unexpected"),
    ],
)
def test_a_failing_step_keeps_no_other_from_running(world: World, error: Exception) -> None:
    world.bad[FIRST] = error
    world.runner.run_due()
    assert world.ran == [FIRST, SECOND, THIRD]
    assert f"expire of {FIRST}" in world.runner.trouble
    assert "no space left" in world.runner.trouble


def test_a_failing_step_is_tried_again_after_pauses_that_grow_and_recorded_once(
    world: World,
) -> None:
    world.bad[FIRST] = AstraError("no space left", next_step="make room")
    tried: list[float] = []
    for second in range(40):
        world.passed, before = float(second), len(world.ran)
        world.runner.run_due()
        if FIRST in world.ran[before:]:
            tried.append(second)
    assert tried == [0, 1, 3, 7, 15, 31]
    assert world.failures() == 1
    world.bad.clear()
    world.passed = 100.0
    world.runner.run_due()
    assert world.runner.trouble == ""


def test_the_success_of_another_step_does_not_hide_the_trouble(world: World) -> None:
    world.bad[SECOND] = AstraError("no space left", next_step="make room")
    world.runner.run_due()
    assert world.ran[-1] == THIRD
    assert SECOND in world.runner.trouble


def test_trouble_is_over_when_the_step_is_not_due_any_more(world: World) -> None:
    world.bad[FIRST] = AstraError("no space left", next_step="make room")
    world.runner.run_due()
    world.ledger.append([Event(type="approval_expired", actor="daemon", subject=FIRST)])
    world.runner.run_due()
    assert world.runner.trouble == ""


def test_a_step_that_finds_nothing_to_do_is_not_insisted_on(world: World) -> None:
    world.idle.add(FIRST)
    assert world.runner.run_due() == 3
    assert world.runner.run_due() == 0
    assert world.runner.trouble == ""


def test_what_is_due_later_waits_and_a_clock_set_back_makes_nothing_wait(world: World) -> None:
    world.ask("apr_aaaaaaaaaaaaaaa4", due=timedelta(minutes=30))
    assert world.runner.run_due() == 3
    world.clock.set(NOW + timedelta(hours=1))
    world.ask("apr_aaaaaaaaaaaaaaa5", due=timedelta(minutes=45))
    world.clock.set(NOW - timedelta(days=1))
    world.ran.clear()
    world.runner.run_due()
    assert {"apr_aaaaaaaaaaaaaaa4", "apr_aaaaaaaaaaaaaaa5"} <= set(world.ran)


def test_nothing_runs_while_it_is_closed(world: World) -> None:
    world.runner.closed = lambda: "stopped"
    assert world.runner.run_due() == 0
    assert not world.runner.busy()
    world.runner.closed = str
    assert world.runner.busy()
