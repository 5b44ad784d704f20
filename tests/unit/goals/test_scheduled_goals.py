"""A schedule whose payload says `goal_source: top_desire` works on what is wanted most."""

from datetime import timedelta

from astra.goals.method_files import combine
from astra.goals.model import Goal
from astra.testing import GateInMemory, ScheduledInMemory
from astra.tools.goals import TOOLS
from goals_in_memory import STORY


class Nights:
    """A schedule that works every night on what is wanted most, and its operator."""

    def __init__(self) -> None:
        self.gate = GateInMemory()
        self.gate.on["ASTRA_CODE_WRITE_ENABLED"] = True
        self.world = ScheduledInMemory(*TOOLS, gate=self.gate)
        record = self.gate.desires.record
        self.desire = record("learn to sail", actor="agent:test", correlation=STORY)
        payload = {"goal_source": "top_desire"}
        self.nightly = self.world.create("execute_goal", "0 2 * * *", payload=payload)

    def fire(self) -> tuple[str, str]:
        now = self.world.clock.now()
        night = now.replace(hour=2, minute=0) + timedelta(days=now.hour >= 2)
        self.world.advance(seconds=(night - now).total_seconds())
        newest = self.world.history(self.nightly)[-1]
        return newest["outcome"], newest["reason"]

    def approve_newest(self) -> None:
        self.gate.approve(self.gate.desk.list_by_state()[-1].id)
        self.gate.steps().run_due()

    def find_goal(self) -> Goal:
        identifier = self.gate.desires.get(self.desire.id).goal_id
        assert identifier is not None
        return self.gate.goals.book.get(identifier)


def test_a_nightly_firing_asks_once_for_the_goal_with_its_plan_then_executes() -> None:
    nights = Nights()
    assert nights.fire() == ("skipped", "needs_approval")
    nights.approve_newest()
    assert nights.find_goal().state == "adopted"
    assert nights.fire() == ("succeeded", "ok")


def test_where_no_method_fits_it_asks_for_a_promotion_then_for_an_adoption() -> None:
    nights = Nights()
    methods = nights.gate.methods
    nights.gate.methods = combine(())
    assert nights.fire() == ("skipped", "needs_approval")
    assert [approval.kind for approval in nights.gate.desk.list_by_state()] == ["promotion"]
    nights.gate.methods = methods
    nights.approve_newest()
    assert nights.find_goal().state == "proposed"
    assert nights.fire() == ("skipped", "needs_approval")
    nights.approve_newest()
    assert nights.find_goal().state == "adopted"
    assert nights.fire() == ("succeeded", "ok")
