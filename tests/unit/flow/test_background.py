"""The one loop: what fails or does nothing rests, and never keeps anything else from running."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from astra import flow
from astra.flow import Background, DueStep, Lane, WorkItem
from astra.flow.lanes import change_step_failed
from astra.testing import MemoryLedger, SetClock
from astra.trusted.kernel.clock import format_time
from astra.trusted.kernel.errors import AstraError, DuplicateKey, StaleVersion
from astra.trusted.ledger.projection import CORE
from astra.trusted.ledger.record import Event
from deploying import until

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
    why_closed: str = ""

    def __post_init__(self) -> None:
        self.ledger = MemoryLedger(projections=[*CORE, flow.PROJECTION], clock=self.clock)
        lane = Lane(
            name=flow.QUICK,
            due=self.due,
            closed=lambda: self.why_closed,
            holds_daemon=lambda: not self.why_closed and bool(self.due()),
            failure=change_step_failed,
        )
        self.runner = Background(self.ledger, self.clock, [lane], seconds=lambda: self.passed)

    def due(self) -> list[WorkItem]:
        now = max(format_time(self.clock.now()), self.ledger.head().time)
        return [self.item(step) for step in flow.due_steps(self.ledger, flow.QUICK, now)]

    def item(self, step: DueStep) -> WorkItem:
        return WorkItem(
            key=step.key, action=step.step, subject=step.subject, run=lambda: self.do(step)
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
    assert f"expire of {FIRST}" in world.runner.trouble()
    assert "no space left" in world.runner.trouble()


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
    assert world.runner.trouble() == ""


@pytest.mark.parametrize("lost", [StaleVersion, DuplicateKey])
def test_a_step_that_lost_a_race_is_tried_again_and_is_no_trouble_unless_it_never_wins(
    world: World, lost: type[AstraError]
) -> None:
    world.bad[FIRST] = lost("it was changed meanwhile", next_step="read it again")
    for second in range(3):
        world.passed = float(second)
        world.runner.run_due()
        assert (world.failures(), world.runner.trouble()) == (0, "")
    assert world.ran.count(FIRST) == 3
    world.passed = 3.0
    world.runner.run_due()
    assert world.failures() == 1
    assert "changed meanwhile" in world.runner.trouble()


def test_the_success_of_another_step_does_not_hide_the_trouble(world: World) -> None:
    world.bad[SECOND] = AstraError("no space left", next_step="make room")
    world.runner.run_due()
    assert world.ran[-1] == THIRD
    assert SECOND in world.runner.trouble()


def test_trouble_is_over_when_the_step_is_not_due_any_more(world: World) -> None:
    world.bad[FIRST] = AstraError("no space left", next_step="make room")
    world.runner.run_due()
    world.ledger.append([Event(type="approval_expired", actor="daemon", subject=FIRST)])
    world.runner.run_due()
    assert world.runner.trouble() == ""


def test_a_step_that_finds_nothing_to_do_is_not_insisted_on(world: World) -> None:
    world.idle.add(FIRST)
    assert world.runner.run_due() == 3
    assert world.runner.run_due() == 0
    assert world.runner.trouble() == ""


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
    world.why_closed = "stopped"
    assert world.runner.run_due() == 0
    assert not world.runner.is_needed()
    world.why_closed = ""
    assert world.runner.is_needed()


# With threads


@dataclass
class Desk:
    """Work that a test puts into lanes, begins and ends."""

    ledger: MemoryLedger = field(default_factory=MemoryLedger)
    items: dict[str, list[WorkItem]] = field(default_factory=dict[str, list[WorkItem]])
    begun: list[str] = field(default_factory=list[str])
    gates: dict[str, threading.Event] = field(default_factory=dict[str, threading.Event])
    now: dict[str, int] = field(default_factory=dict[str, int])
    most: dict[str, int] = field(default_factory=dict[str, int])
    lock: threading.Lock = field(default_factory=threading.Lock)

    def put(self, lane: str, key: str, **facts: Any) -> threading.Event:
        """Make something due that runs until its gate is opened, and is over then."""
        gate = self.gates.setdefault(key, threading.Event())
        subject = facts.pop("subject", key)
        item = WorkItem(
            key=key, action="do", subject=subject, run=lambda: self.run(lane, key, subject), **facts
        )
        self.items.setdefault(lane, []).append(item)
        self.ledger.append([Event(type="something", actor="test")])
        return gate

    def run(self, lane: str, key: str, subject: str) -> None:
        with self.lock:
            self.begun.append(key)
            for name in (lane, subject):
                self.now[name] = self.now.get(name, 0) + 1
                self.most[name] = max(self.most.get(name, 0), self.now[name])
        assert self.gates[key].wait(60)
        with self.lock:
            for name in (lane, subject):
                self.now[name] -= 1
            self.items[lane] = [item for item in self.items[lane] if item.key != key]

    def due(self, lane: str) -> Callable[[], list[WorkItem]]:
        return lambda: list(self.items.get(lane, []))

    def open_all(self) -> None:
        for gate in self.gates.values():
            gate.set()


@pytest.fixture
def desk() -> Desk:
    return Desk()


@contextmanager
def at_work(desk: Desk, *lanes: Lane) -> Iterator[Background]:
    background = Background(desk.ledger, SetClock(), lanes)
    background.start()
    try:
        yield background
    finally:
        desk.open_all()
        background.stop()


def test_no_lane_waits_for_the_work_of_another(desk: Desk) -> None:
    slow, quick = (Lane(name=name, due=desk.due(name)) for name in ("slow", "quick"))
    desk.put("slow", "a")
    with at_work(desk, slow, quick):
        until(lambda: desk.begun == ["a"])
        desk.put("quick", "b").set()
        until(lambda: desk.begun == ["a", "b"])


def test_a_lane_runs_no_more_at_once_than_it_has_workers(desk: Desk) -> None:
    lane = Lane(name="several", due=desk.due("several"), workers=3)
    for key in "abcdefgh":
        desk.put("several", key)
    with at_work(desk, lane):
        until(lambda: len(desk.begun) == 3)
        desk.open_all()
        until(lambda: len(desk.begun) == 8)
    assert desk.most["several"] == 3
    assert sorted(desk.begun) == list("abcdefgh")


def test_one_worker_at_a_time_works_on_an_entity(desk: Desk) -> None:
    lane = Lane(name="several", due=desk.due("several"), workers=4)
    for key in "abcd":
        desk.put("several", key, entity="chg_1", subject="chg_1")
    other = desk.put("several", "other")
    with at_work(desk, lane):
        until(lambda: set(desk.begun) == {"a", "other"})
        other.set()
        desk.open_all()
        until(lambda: len(desk.begun) == 5)
    assert desk.most["chg_1"] == 1


def test_what_ended_while_the_lane_was_asked_is_asked_for_again(desk: Desk) -> None:
    """An answer from before the end of a step may name what that step has done already."""
    answers: list[list[str]] = []
    first = desk.put("lane", "execute", entity="chg_1", subject="chg_1")

    def due() -> list[WorkItem]:
        answer = desk.due("lane")()
        if "execute" in desk.begun and not first.is_set():
            desk.put("lane", "merge", entity="chg_1", subject="chg_1").set()
            answer = desk.due("lane")()
            first.set()  # it ends between the answer and whoever reads it
            until(lambda: not desk.now["chg_1"])
            desk.items["lane"] = []
        answers.append([item.key for item in answer])
        return answer

    with at_work(desk, Lane(name="lane", due=due, workers=4)):
        until(lambda: ["execute", "merge"] in answers)
        seen = len(answers)
        desk.ledger.append([Event(type="something", actor="test")])
        until(lambda: len(answers) > seen)
    assert desk.begun == ["execute"]


def test_a_lane_that_cannot_be_asked_stops_no_other_and_says_so(desk: Desk) -> None:
    def broken() -> list[WorkItem]:
        raise ValueError("no such table")

    lanes = Lane(name="broken", due=broken), Lane(name="well", due=desk.due("well"))
    with at_work(desk, *lanes) as background:
        desk.put("well", "a").set()
        until(lambda: desk.begun == ["a"])
        until(lambda: "no such table" in background.trouble("broken"))
        assert background.trouble("well") == ""


def test_what_runs_though_it_is_due_no_more_is_ended(desk: Desk) -> None:
    gate = threading.Event()
    desk.gates["a"] = gate
    desk.put("lane", "a", end=gate.set)
    with at_work(desk, Lane(name="lane", due=desk.due("lane"))) as background:
        until(lambda: desk.begun == ["a"])
        assert not gate.is_set()
        desk.items["lane"] = []
        desk.ledger.append([Event(type="something", actor="test")])
        until(gate.is_set)
        until(lambda: not background.is_needed())


def test_stopping_begins_nothing_more_and_waits_for_what_runs(desk: Desk) -> None:
    left = list[str]()
    lane = Lane(name="lane", due=desk.due("lane"), leave=lambda: left.append("asked"))
    gate = desk.put("lane", "a")
    desk.put("lane", "b").set()
    background = Background(desk.ledger, SetClock(), [lane])
    background.start()
    until(lambda: desk.begun == ["a"])
    stopping = threading.Thread(target=background.stop)
    stopping.start()
    until(lambda: left == ["asked"])
    assert stopping.is_alive()
    gate.set()
    stopping.join()
    assert desk.begun == ["a"]
    assert background.count_running("lane") == 0


def test_what_does_not_end_in_its_grace_is_left_behind(desk: Desk) -> None:
    lane = Lane(name="lane", due=desk.due("lane"), grace=0.0)
    desk.put("lane", "a")
    background = Background(desk.ledger, SetClock(), [lane])
    background.start()
    until(lambda: desk.begun == ["a"])
    background.stop()
    assert background.count_running("lane") == 1
    desk.open_all()
    until(lambda: not background.count_running("lane"))


def test_the_daemon_stays_for_what_runs_and_for_what_a_lane_names(desk: Desk) -> None:
    holds = [False]
    lane = Lane(name="lane", due=desk.due("lane"), holds_daemon=lambda: holds[0])
    with at_work(desk, lane) as background:
        assert not background.is_needed()
        holds[0] = True
        assert background.is_needed()
        holds[0] = False
        gate = desk.put("lane", "a")
        until(lambda: desk.begun == ["a"])
        assert background.is_needed()
        gate.set()
        until(lambda: not background.is_needed())


def test_what_is_always_due_rests_between_two_times(world: World) -> None:
    ran = list[float]()
    item = WorkItem(
        key="k", action="look", subject="x", run=lambda: ran.append(world.passed), every=2.0
    )
    lane = Lane(name="watch", due=lambda: [item])
    background = Background(world.ledger, world.clock, [lane], seconds=lambda: world.passed)
    for second in range(6):
        world.passed = float(second)
        background.run_due()
    assert ran == [0.0, 2.0, 4.0]


def test_the_same_failure_is_logged_once_with_its_place_and_then_counted(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    world.bad[FIRST] = world.bad[SECOND] = ValueError("no space left")
    for second in range(0, 4_000, 10):
        world.passed = float(second)
        world.runner.run_due()
    tracebacks = [record for record in caplog.records if record.exc_info]
    assert len(tracebacks) == 1
    assert "more times" in caplog.records[-1].getMessage()
    assert len(caplog.text) < 5_000


def test_a_success_in_between_lets_the_pauses_begin_again(world: World) -> None:
    world.bad[FIRST] = AstraError("no space left", next_step="make room")
    for second in (0, 1, 3):
        world.passed = float(second)
        world.runner.run_due()
    world.bad.clear()
    world.idle.add(FIRST)
    world.passed = 7.0
    world.runner.run_due()
    world.bad[FIRST] = AstraError("again", next_step="make room")
    world.ran.clear()
    for second in (8, 9):
        world.passed = float(second)
        world.runner.run_due()
    assert world.ran == [FIRST, FIRST]
    assert world.failures() == 2


def test_what_only_looks_now_and_then_has_no_other_lane_asked(world: World) -> None:
    """An idle daemon is made of looks: each would wake every lane, several times a second."""
    looked = threading.Semaphore(0)
    asked: list[int] = []
    look = WorkItem(key="look", action="look", subject="files", run=looked.release, every=0.01)
    lanes = [
        Lane(name="watching", due=lambda: [look]),
        Lane(name="resting", due=lambda: asked.append(1) or [], look_again=60.0),
    ]
    runner = Background(world.ledger, world.clock, lanes)
    runner.start()
    try:
        for _ in range(10):
            assert looked.acquire(timeout=30)
    finally:
        runner.stop()
    assert len(asked) <= 3
