"""A desire becomes a goal by the operator's signature, once, and by nothing else."""

from typing import Any

import pytest

from astra.desires.model import Desire
from astra.goals.book import Goals
from astra.goals.promotion import MOST_WAITING
from astra.testing import GateInMemory
from astra.trusted.approvals.desk import content
from astra.trusted.kernel.errors import BadInput, Conflict, DuplicateKey, NotFound, Refused
from astra.trusted.ledger import views
from astra.trusted.ledger.record import Event

STORY = "cor_00000000000000aa"


@pytest.fixture
def gate() -> GateInMemory:
    return GateInMemory()


def want(gate: GateInMemory, text: str = "learn to sail", **fields: Any) -> Desire:
    return gate.desires.record(text, actor="agent:test", correlation=STORY, **fields)


def goals(gate: GateInMemory) -> list[Any]:
    return Goals(gate.root.ledger).list_goals()[0]


def ask(gate: GateInMemory, desire: Desire) -> str:
    return gate.promotions.request(desire.id, actor="agent:test")


def test_asking_waits_and_changes_nothing(gate: GateInMemory) -> None:
    desire = want(gate)
    details = gate.desk.details(ask(gate, desire))
    assert (details["kind"], details["subject_id"]) == ("promotion", desire.id)
    assert details["details"]["goal"]["text"] == "learn to sail"
    assert "strength is 1.00" in details["details"]["evidence"]["why"]
    assert gate.steps().run_due() == 0
    assert goals(gate) == []


def test_asking_again_means_the_request_that_waits(gate: GateInMemory) -> None:
    desire = want(gate)
    assert ask(gate, desire) == ask(gate, desire)


def test_once_approved_the_goal_is_created_in_the_desires_story(gate: GateInMemory) -> None:
    desire = want(gate)
    approval = ask(gate, desire)
    gate.approve(approval)
    assert gate.steps().run_due() == 2
    (goal,) = goals(gate)
    assert goal.id.startswith("goal_")
    assert (goal.text, goal.state, goal.desire_id) == ("learn to sail", "proposed", desire.id)
    assert gate.desires.get(desire.id).goal_id == goal.id
    assert gate.desk.get(approval).state == "used"
    story = views.story(gate.root.ledger, desire.id)
    assert [record.type for record in story] == [
        "desire_recorded",
        "approval_requested",
        "approval_granted",
        "approval_used",
        "desire_promoted",
        "goal_created",
        "goal_planned",
        "approval_requested",
    ]
    assert {record.correlation for record in story} == {STORY}


def test_the_goal_is_created_once_however_often_the_step_runs(gate: GateInMemory) -> None:
    approval = ask(gate, want(gate))
    gate.approve(approval)
    for _ in range(3):
        gate.promotions.fulfil(approval)
        gate.steps().run_due()
    assert len(goals(gate)) == 1


def test_a_crash_between_approval_and_goal_loses_nothing(gate: GateInMemory) -> None:
    """Dying while the batch is appended leaves all of it or nothing; the step is still due."""
    approval = ask(gate, want(gate))
    gate.approve(approval)
    ledger = gate.root.ledger
    kept, ledger.append = ledger.append, _dies
    with pytest.raises(SystemExit):
        gate.promotions.fulfil(approval)
    ledger.append = kept
    assert goals(gate) == []
    assert gate.steps().run_due() == 2
    assert len(goals(gate)) == 1


def test_a_rejected_one_makes_no_goal(gate: GateInMemory) -> None:
    approval = ask(gate, want(gate))
    gate.desk.reject(approval, "not now", actor="user:1000")
    assert gate.steps().run_due() == 0
    assert goals(gate) == []


def test_an_approval_that_ran_out_before_it_was_used_makes_no_goal(gate: GateInMemory) -> None:
    approval = ask(gate, want(gate))
    gate.approve(approval)
    gate.root.clock.advance(hours=25)
    gate.steps().run_due()
    assert goals(gate) == []
    assert gate.desk.get(approval).state == "stale"


def test_a_grant_without_the_operators_signature_is_withdrawn(gate: GateInMemory) -> None:
    approval = ask(gate, want(gate))
    forged = Event(
        type="approval_granted",
        actor="operator",
        data=content(gate.desk.get(approval)),
        subject=approval,
    )
    gate.root.ledger.append([forged])
    gate.steps().run_due()
    assert goals(gate) == []
    assert gate.desk.get(approval).state == "stale"
    assert gate.steps().run_due() == 0


def test_an_approval_for_another_text_or_desire_makes_no_goal(gate: GateInMemory) -> None:
    desire = want(gate)
    for subject in (desire.id, "des_ffffffff"):
        approval = gate.desk.ask(
            kind="promotion",
            subject_id=subject,
            digest="d" * 64,
            summary="make a goal",
            details={},
            actor="agent:test",
            correlation=STORY,
        )
        gate.approve(approval)
        gate.steps().run_due()
        assert gate.desk.get(approval).state == "stale"
    assert goals(gate) == []


def test_approving_something_else_makes_no_goal(gate: GateInMemory) -> None:
    approval = gate.desk.ask(
        kind="test",
        subject_id=want(gate).id,
        digest="d" * 64,
        summary="run",
        details={},
        actor="agent:test",
        correlation=STORY,
    )
    gate.approve(approval)
    assert gate.steps().run_due() == 0


def test_what_is_a_goal_already_or_has_faded_is_not_promoted(gate: GateInMemory) -> None:
    desire = want(gate)
    gate.approve(ask(gate, desire))
    gate.steps().run_due()
    with pytest.raises(Conflict, match="already") as refused:
        ask(gate, desire)
    assert refused.value.facts["goal_id"].startswith("goal_")
    weak = want(gate, "row", strength=0.05)
    with pytest.raises(Conflict, match="faded"):
        ask(gate, weak)
    with pytest.raises(NotFound):
        gate.promotions.request("des_00000000", actor="agent:test")


def test_nobody_floods_the_operators_inbox(gate: GateInMemory) -> None:
    for number in range(MOST_WAITING):
        ask(gate, want(gate, f"wish {number}"))
    with pytest.raises(Refused) as refused:
        ask(gate, want(gate, "one more"))
    assert refused.value.reason == "too_many_waiting"
    assert len(gate.desk.list_by_state()) == MOST_WAITING


def test_a_desire_is_promoted_once_even_if_two_approvals_say_so(gate: GateInMemory) -> None:
    desire = want(gate)
    first = ask(gate, desire)
    gate.desk.reject(first, "later", actor="user:1000")
    second = ask(gate, desire)
    gate.approve(second)
    gate.promotions.fulfil(second)
    claimed = Event(type="desire_promoted", actor="x", key=f"promoted:{desire.id}")
    with pytest.raises(DuplicateKey):
        gate.root.ledger.append([claimed])
    assert len(goals(gate)) == 1


def test_suggestions_explain_themselves(gate: GateInMemory) -> None:
    want(gate, "rest", strength=0.9)
    for _ in range(2):
        desire = want(gate, "Learn to sail!")
        gate.root.clock.advance(hours=1)
    gate.desires.reinforce(desire.id, actor="agent:test")
    (found,) = gate.promotions.suggestions()
    assert found.desire.id == desire.id
    assert (found.evidence.reinforcements, found.evidence.recurrence) == (1, 2)
    assert "reinforced once" in found.evidence.why
    assert "recorded twice in these words since 2026-03-01" in found.evidence.why
    assert len(found.evidence.as_dict()["since"]) == len("2026-03-01T00:00:00Z")


def test_weak_waiting_and_promoted_desires_are_not_suggested(gate: GateInMemory) -> None:
    desire = want(gate)
    for _ in range(3):
        gate.desires.reinforce(desire.id, actor="agent:test")
    assert len(gate.promotions.suggestions()) == 1
    gate.root.clock.advance(days=20)
    assert gate.promotions.suggestions() == []
    gate.desires.reinforce(desire.id, 0.5, actor="agent:test")
    approval = ask(gate, desire)
    assert gate.promotions.suggestions() == []
    gate.approve(approval)
    gate.steps().run_due()
    assert gate.promotions.suggestions() == []


def test_goals_are_listed_page_by_page_and_shown(gate: GateInMemory) -> None:
    for text in ("a", "b", "c"):
        gate.approve(ask(gate, want(gate, text)))
        gate.steps().run_due()
    book = Goals(gate.root.ledger)
    first, cursor = book.list_goals(limit=2)
    second, end = book.list_goals(limit=2, after=cursor or 0)
    assert [goal.text for goal in [*first, *second]] == ["a", "b", "c"]
    assert end is None
    assert book.get(first[0].id) == first[0]
    with pytest.raises(NotFound):
        book.get("goal_00000000")
    with pytest.raises(BadInput):
        book.list_goals(limit=0)


def _dies(*_arguments: Any, **_options: Any) -> Any:
    raise SystemExit
