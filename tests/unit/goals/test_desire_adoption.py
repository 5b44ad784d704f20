"""One signature makes a goal of a desire and adopts it with its plan; all of it, once, or none."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import pytest

from astra.desires.model import Desire
from astra.goals.book import Goal
from astra.goals.method_files import combine, read_methods
from astra.goals.planner import NoPlan
from astra.goals.promotion import MOST_WAITING
from astra.testing import GateInMemory
from astra.trusted.approvals.desk import Desk, content
from astra.trusted.kernel.errors import Conflict, Refused
from astra.trusted.ledger import views
from astra.trusted.ledger.record import Event

STORY = "cor_00000000000000aa"
OTHER_METHOD = """
[[methods]]
name = "ask_first"
task = "achieve"
[[methods.subtasks]]
id = "question"
task = "ASK_OPERATOR"
arguments = { question = "${text}" }
"""


@pytest.fixture
def gate() -> GateInMemory:
    return GateInMemory()


def want(gate: GateInMemory, text: str = "learn to sail") -> Desire:
    return gate.desires.record(text, actor="agent:test", correlation=STORY)


def ask(gate: GateInMemory, desire: Desire) -> str:
    return gate.goals.of_desires.ask(desire.id, actor="agent:test")


def list_goals(gate: GateInMemory) -> list[Goal]:
    return gate.goals.book.list_goals()[0]


def test_what_is_asked_for_shows_desire_goal_graph_manifest_and_budgets(gate: GateInMemory) -> None:
    desire = want(gate)
    request = gate.desk.details(ask(gate, desire))
    details = request["details"]
    assert (request["kind"], request["subject_id"]) == ("goal_of_desire", desire.id)
    assert (details["desire"], details["text"]) == (desire.id, "learn to sail")
    assert [node["kind"] for node in details["graph"]["nodes"]]
    assert details["manifest"]["tools"]
    assert details["budget"]["minutes"] == 240
    assert details["will_still_ask"]
    assert "strength is 1.00" in details["evidence"]["why"]


def test_asking_changes_nothing_and_asking_again_means_the_same_request(gate: GateInMemory) -> None:
    desire = want(gate)
    assert ask(gate, desire) == ask(gate, desire)
    assert gate.steps().run_due() == 0
    assert list_goals(gate) == []
    assert gate.desires.get(desire.id).goal_id is None


def test_one_signature_makes_the_goal_and_adopts_it_in_one_batch(gate: GateInMemory) -> None:
    desire = want(gate)
    approval = ask(gate, desire)
    gate.approve(approval)
    assert gate.steps().run_due() == 1
    (goal,) = list_goals(gate)
    assert (goal.state, goal.desire_id, goal.approval_id) == ("adopted", desire.id, approval)
    gate.goals.adoption.check_signed(goal)
    assert gate.desk.get(approval).state == "used"
    assert gate.desk.list_by_state() == []
    story = views.story(gate.root.ledger, desire.id)
    assert [record.type for record in story] == [
        "desire_recorded",
        "approval_requested",
        "approval_granted",
        "approval_used",
        "desire_promoted",
        "goal_created",
        "goal_planned",
        "goal_adopted",
    ]


def test_it_happens_once_however_often_the_step_runs(gate: GateInMemory) -> None:
    approval = ask(gate, want(gate))
    gate.approve(approval)
    for _ in range(3):
        gate.goals.of_desires.fulfil(approval)
        gate.steps().run_due()
    assert len(list_goals(gate)) == 1


def test_a_crash_before_the_batch_leaves_the_step_due(gate: GateInMemory) -> None:
    approval = ask(gate, want(gate))
    gate.approve(approval)
    ledger = gate.root.ledger
    append, ledger.append = ledger.append, _die
    with pytest.raises(SystemExit):
        gate.goals.of_desires.fulfil(approval)
    ledger.append = append
    assert list_goals(gate) == []
    assert gate.steps().run_due() == 1
    assert [goal.state for goal in list_goals(gate)] == ["adopted"]


def test_methods_that_changed_meanwhile_make_it_be_asked_again(gate: GateInMemory) -> None:
    desire = want(gate)
    approval = ask(gate, desire)
    gate.methods = combine(read_methods(OTHER_METHOD))
    gate.approve(approval)
    gate.steps().run_due()
    assert list_goals(gate) == []
    assert gate.desk.get(approval).state == "stale"
    (again,) = gate.desk.list_by_state()
    assert again.kind == "goal_of_desire"
    gate.approve(again.id)
    gate.steps().run_due()
    assert [goal.state for goal in list_goals(gate)] == ["adopted"]


def test_asking_anew_withdraws_what_was_planned_otherwise(gate: GateInMemory) -> None:
    desire = want(gate)
    first = ask(gate, desire)
    gate.methods = combine(read_methods(OTHER_METHOD))
    second = ask(gate, desire)
    assert gate.desk.get(first).state == "stale"
    assert [approval.id for approval in gate.desk.list_by_state()] == [second]


def test_a_desire_that_became_a_goal_meanwhile_withdraws_it(gate: GateInMemory) -> None:
    desire = want(gate)
    approval, promotion = ask(gate, desire), gate.promotions.request(desire.id, actor="agent:test")
    gate.approve(promotion)
    gate.promotions.fulfil(promotion)
    gate.approve(approval)
    gate.goals.of_desires.fulfil(approval)
    assert gate.desk.get(approval).state == "stale"
    assert [goal.state for goal in list_goals(gate)] == ["proposed"]


def test_a_promotion_that_waits_is_withdrawn_once_the_goal_is_adopted(gate: GateInMemory) -> None:
    desire = want(gate)
    promotion, approval = gate.promotions.request(desire.id, actor="agent:test"), ask(gate, desire)
    gate.approve(approval)
    gate.steps().run_due()
    assert gate.desk.get(promotion).state == "stale"


def test_a_signature_for_the_promotion_alone_adopts_nothing(gate: GateInMemory) -> None:
    desire = want(gate)
    promotion = gate.promotions.request(desire.id, actor="agent:test")
    gate.approve(promotion)
    gate.goals.of_desires.fulfil(promotion)
    assert list_goals(gate) == []
    gate.steps().run_due()
    assert [goal.state for goal in list_goals(gate)] == ["proposed"]


def test_a_grant_without_the_operators_signature_adopts_nothing(gate: GateInMemory) -> None:
    approval = ask(gate, want(gate))
    data = content(gate.desk.get(approval))
    forged = Event(type="approval_granted", actor="operator", data=data, subject=approval)
    gate.root.ledger.append([forged])
    gate.steps().run_due()
    assert list_goals(gate) == []
    assert gate.desk.get(approval).state == "stale"


def test_a_goal_with_another_desire_or_graph_is_not_what_was_signed(gate: GateInMemory) -> None:
    gate.approve(ask(gate, want(gate)))
    gate.steps().run_due()
    (goal,) = list_goals(gate)
    fields = {name: getattr(goal, name) for name in goal.__dataclass_fields__}
    with pytest.raises(Conflict, match="not what the operator signed"):
        gate.goals.adoption.check_signed(Goal(**{**fields, "desire_id": "des_ffffffff"}))
    with pytest.raises(Conflict, match="not what the operator signed"):
        gate.goals.adoption.check_signed(Goal(**{**fields, "text": "sail away"}))


def test_without_a_method_it_says_so_and_asks_nothing(gate: GateInMemory) -> None:
    gate.methods = combine(())
    with pytest.raises(NoPlan):
        ask(gate, want(gate))
    assert gate.desk.list_by_state() == []


def test_both_ways_of_asking_share_one_bound_on_requests(gate: GateInMemory) -> None:
    for number in range(MOST_WAITING):
        ask(gate, want(gate, f"wish {number}"))
    with pytest.raises(Refused) as refused:
        ask(gate, want(gate, "one more"))
    assert refused.value.reason == "too_many_waiting"
    with pytest.raises(Refused):
        gate.promotions.request(want(gate, "another").id, actor="agent:test")


def _die(*_arguments: Any, **_options: Any) -> Any:
    raise SystemExit


@dataclass(frozen=True)
class OvertakenDesk(Desk):
    """A desk at which another hand lets an approval take effect just before this one looks."""

    first: Callable[[], object] = bool

    def stands(self, identifier: str) -> bool:
        self.first()
        return super().stands(identifier)


@pytest.mark.parametrize("of_desire", [True, False])
def test_what_the_background_adopts_while_a_door_looks_is_adopted_and_not_withdrawn(
    gate: GateInMemory, of_desire: bool
) -> None:
    adoption, of_desires = gate.goals.adoption, gate.goals.of_desires
    if of_desire:
        approval = ask(gate, want(gate))
    else:
        fields = {"text": "learn to sail", "task": "achieve"}
        goal = adoption.create(fields, actor="agent:test", correlation=STORY)
        approval = adoption.ask(goal.id)
    gate.approve(approval)
    desk = OvertakenDesk(gate.root.ledger, gate.root.clock, first=gate.steps().run_due)
    slower = replace(adoption, desk=desk)
    slower.fulfil(approval)
    replace(of_desires, adoption=slower).fulfil(approval)
    assert gate.desk.get(approval).state == "used"
    assert [goal.state for goal in list_goals(gate)] == ["adopted"]
