"""A plan is drafted for a goal: in the goal's own words, and in its story."""

import pytest

from astra.testing import CounterInMemory, GateInMemory
from astra.tools.plans import TOOLS
from astra.trusted.kernel.errors import NotFound
from plans_at_work import document

STORY = "cor_00000000000000cc"


def test_a_plan_for_a_goal_takes_its_words_and_belongs_to_its_story() -> None:
    gate = GateInMemory()
    world = CounterInMemory(*TOOLS, gate=gate)
    wanted = {"text": "tidy the notes"}
    goal = gate.goals.adoption.create(wanted, actor="a", correlation=STORY)
    drafted = world.call("astra.plans.draft", goal=goal.id, plan=document())
    plan = gate.planning.register.get(drafted["id"])
    assert (plan.description, plan.correlation) == ("tidy the notes", STORY)
    said = world.call("astra.plans.draft", goal=goal.id, plan=document(), description="by hand")
    assert gate.planning.register.get(said["id"]).description == "by hand"
    with pytest.raises(NotFound):
        world.call("astra.plans.draft", goal="goal_ffffffff", plan=document())
