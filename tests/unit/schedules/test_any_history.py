"""Whatever happens in whatever order: no firing twice, none lost, no effect nobody approved."""

import importlib.util
from collections import Counter
from pathlib import Path
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from astra.schedules.model import OPEN, Overlap
from astra.trusted.kernel.clock import parse_time
from astra.trusted.kernel.errors import AstraError, SignatureRejected
from astra.trusted.ledger import views as records

_spec = importlib.util.spec_from_file_location(
    "schedule_world", Path(__file__).with_name("conftest.py")
)
assert _spec
assert _spec.loader
_module = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(_module)


class Died(BaseException):
    pass


class SchedulesInAnyHistory(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.world = _module.World()
        self.approved = 0
        self.latest = self.start = self.world.clock.now()
        self.steady = self.world.create("look", "*/7 * * * *", name="steady")
        self.changing = self.world.create(
            "count", "*/3 * * * *", name="changing", attempts=2, per_day_budget=400
        )
        self.after = self.world.create("look", "@hourly", name="after", after=(self.steady.id,))
        self.sending = self.world.create("send", "*/10 * * * *", name="sending")
        self.all = (self.steady, self.changing, self.after, self.sending)

    @rule(seconds=st.sampled_from([1, 30, 60, 180, 420, 1800, 3600, 40_000, 100_000]))
    def time_passes(self, seconds: int) -> None:
        self.world.advance(seconds=seconds)
        self.latest = max(self.latest, self.world.clock.now())

    @rule(seconds=st.sampled_from([30, 600, 7200]))
    def the_clock_is_set_back(self, seconds: int) -> None:
        self.world.advance(seconds=-seconds)

    @rule(failing=st.booleans())
    def tools_fail_or_work(self, failing: bool) -> None:
        self.world.failing = failing

    @rule(seconds=st.sampled_from([60, 420, 3600]))
    def the_daemon_dies_while_something_runs(self, seconds: int) -> None:
        def die() -> None:
            raise Died

        self.world.meanwhile = die
        try:
            self.world.advance(seconds=seconds)
        except Died:
            self.world.executor = self.world.new_executor()
        self.world.meanwhile = lambda: None
        self.world.executor.settle()
        self.time_passes(1)

    @rule(overlap=st.sampled_from(list(Overlap)), attempts=st.integers(1, 4))
    def somebody_modifies(self, overlap: str, attempts: int) -> None:
        changes = {"overlap": overlap, "attempts": attempts}
        self.world.timetable.modify(self.changing.id, changes, actor="agent:test")

    @rule(pausing=st.booleans())
    def somebody_pauses_or_resumes(self, pausing: bool) -> None:
        act = self.world.timetable.pause if pausing else self.world.timetable.resume
        act(self.changing.id, actor="agent:test")

    @rule()
    def the_operator_approves_a_sending(self) -> None:
        identifier = self.world.executor.by_hand.request_approval(
            self.sending.id, actor="agent:test"
        )
        try:
            self.world.gate.approve(identifier)
        except SignatureRejected:
            assert self.world.clock.now() < self.latest, "only a clock set back makes it expired"
            return
        self.approved += 1

    @rule()
    def somebody_runs_one_by_hand(self) -> None:
        try:
            self.world.executor.by_hand.run_now(self.changing.id, actor="agent:test")
        except AstraError as error:
            assert error.reason == "overlap"

    @precondition(lambda self: self.world.gate.tokens.files)
    @rule()
    def a_token_is_kept_and_put_back(self) -> None:
        kept = dict(self.world.gate.tokens.files)
        self.time_passes(1800)
        self.world.gate.tokens.files = kept

    @invariant()
    def nothing_is_sent_that_nobody_approved(self) -> None:
        assert [name for name, _ in self.world.ran].count("send") <= self.approved

    @invariant()
    def each_attempt_is_claimed_once_and_each_firing_closed_once(self) -> None:
        claims, ends = Counter[Any](), Counter[str]()
        for record in records.records(self.world.ledger, limit=1_000_000):
            if record.type == "schedule_firing_claimed":
                claims[record.data["firing"], record.data["attempt"]] += 1
            if record.type in {"schedule_firing_closed", "schedule_firing_skipped"}:
                ends[record.data["firing"]] += 1
        assert not claims or max(claims.values()) == 1
        assert not ends or max(ends.values()) == 1

    @invariant()
    def every_instant_of_the_steady_one_is_accounted_for(self) -> None:
        calendar = self.steady.definition.calendar
        wanted = calendar.list_between(self.start, self.latest, most=100_000)
        found = self.world.history(self.steady)
        assert sum(item["count"] for item in found) == len(wanted)
        for item in found:
            last = parse_time(item["until"] or item["fire_time"])
            assert calendar.at_or_before(last) == last

    @invariant()
    def nothing_runs_while_nobody_runs_it(self) -> None:
        states = Counter(item["outcome"] for each in self.all for item in self.world.history(each))
        assert not states["running"]
        for each in self.all:
            still = [item for item in self.world.history(each) if item["outcome"] in set(OPEN)]
            assert len(still) <= 2

    def teardown(self) -> None:
        self.world.ledger.close()


TestSchedulesInAnyHistory = SchedulesInAnyHistory.TestCase
TestSchedulesInAnyHistory.settings = settings(
    max_examples=20, stateful_step_count=25, deadline=None
)
