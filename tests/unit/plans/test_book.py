"""Plans are drafted, decided and revised; what an approval starts follows by itself."""

import contextlib
import json
from typing import Any

import pytest

from astra.plans import events
from astra.plans.model import AgentPlan
from astra.plans.states import IllegalMove, State
from astra.testing import GateInMemory
from astra.trusted.kernel.errors import AstraError, Conflict, Refused, SignatureRejected
from astra.trusted.ledger import views
from astra.trusted.ledger.record import Event
from astra.trusted.policy.authority import Signed

STORY = "cor_00000000000000aa"
Document = dict[str, Any]


def draft(gate: GateInMemory, document: Document) -> AgentPlan:
    return gate.planning.plans.draft(document, actor="agent:test", correlation=STORY)


def state(gate: GateInMemory, plan: AgentPlan) -> State:
    return gate.planning.register.get(plan.id).state


def approval(gate: GateInMemory, plan: AgentPlan) -> str:
    return gate.planning.plans.ask(plan.id)


def grant_globally(gate: GateInMemory, kind: str, value: str) -> None:
    content = gate.planning.allowlist.content(kind, value)
    signed = gate.root.sign(events.GLOBAL_GRANT_ADDED, content)
    gate.planning.allowlist.add(kind, value, signed)


def test_a_drafted_plan_waits_for_the_operator(gate: GateInMemory, document: Document) -> None:
    plan = draft(gate, document)
    assert plan.state is State.AWAITING_APPROVAL
    waiting = gate.desk.details(approval(gate, plan))
    assert (waiting["kind"], waiting["subject_id"]) == ("plan", plan.id)
    assert waiting["details"]["plan_hash"] == plan.plan_hash
    assert (
        "can send anything it reads to anyone at example.com"
        in (waiting["details"]["manifest"]["sandbox"])
    )


def test_a_draft_is_recorded_with_its_numbers(gate: GateInMemory, document: Document) -> None:
    plan = draft(gate, document)
    (record,) = views.records(gate.root.ledger, type_="agent_plan_drafted")
    assert record.data["agent_id"] == plan.id
    assert record.data["level"] == "info"
    assert record.data["checkpoint_count"] == 2
    assert record.data["estimated_duration_minutes"] == 20
    assert record.data["skills_count"] == 1
    assert record.data["domains_count"] == 1
    assert record.correlation == STORY


def test_once_approved_the_plan_and_its_grants_are_written_out(
    gate: GateInMemory, document: Document
) -> None:
    plan = draft(gate, document)
    gate.approve(approval(gate, plan))
    assert gate.steps().run_due() == 2
    approved = gate.planning.register.get(plan.id)
    assert approved.state is State.APPROVED
    granted = json.loads(gate.plan_files.files[f"{plan.id}/grants.json"])
    assert granted["plan_hash"] == plan.plan_hash
    assert granted["grants_hash"] == approved.grants_hash
    assert json.loads(gate.plan_files.files[f"{plan.id}/plan.json"])["goals"] == document["goals"]
    (record,) = views.records(gate.root.ledger, type_="agent_plan_approved")
    assert record.data["plan_hash"] == plan.plan_hash
    assert gate.planning.exports.find_tampering(approved) == ""
    story = [record.type for record in views.story(gate.root.ledger, plan.id)]
    assert story[-2:] == ["approval_used", "agent_files_exported"]


def test_dying_between_any_two_records_of_an_approval_loses_none_of_it(
    gate: GateInMemory, document: Document
) -> None:
    plan = draft(gate, document)
    gate.approve(approval(gate, plan))
    ledger, runner = gate.root.ledger, gate.steps()
    kept = ledger.append
    for _ in range(2):
        ledger.append = _dies
        with pytest.raises(SystemExit):
            runner.run_due()
        ledger.append = _one_then_dies(kept)
        with contextlib.suppress(SystemExit):
            runner.run_due()
    ledger.append = kept
    assert runner.run_due() == 0
    assert state(gate, plan) is State.APPROVED
    assert set(gate.plan_files.files) == {f"{plan.id}/plan.json", f"{plan.id}/grants.json"}


def test_a_plan_is_approved_by_a_signature_and_by_nothing_else(
    gate: GateInMemory, document: Document
) -> None:
    plan = draft(gate, document)
    waiting = gate.desk.get(approval(gate, plan))
    forged = Signed(statement={}, signature="00", key=gate.root.operator.public)
    with pytest.raises(SignatureRejected):
        gate.desk.grant(waiting.id, forged)
    gate.root.ledger.append(
        [
            Event(
                type="approval_granted",
                actor="operator",
                data={"approval": waiting.id, "digest": waiting.digest},
                subject=waiting.id,
            )
        ]
    )
    gate.steps().run_due()
    assert state(gate, plan) is State.AWAITING_APPROVAL
    assert gate.desk.get(waiting.id).state == "stale"


def test_a_rejection_is_a_warning_with_its_reason(gate: GateInMemory, document: Document) -> None:
    plan = draft(gate, document)
    waiting = approval(gate, plan)
    gate.planning.plans.reject(plan.id, "too much network", actor="user:1")
    (record,) = views.records(gate.root.ledger, type_="agent_plan_rejected")
    assert (record.data["level"], record.data["reason"]) == ("warning", "too much network")
    assert state(gate, plan) is State.REJECTED
    assert gate.desk.get(waiting).state == "stale"
    assert gate.steps().run_due() == 0


def test_rejecting_at_the_desk_rejects_the_plan(gate: GateInMemory, document: Document) -> None:
    plan = draft(gate, document)
    gate.desk.reject(approval(gate, plan), "no", actor="user:1")
    assert gate.steps().run_due() == 1
    found = gate.planning.register.get(plan.id)
    assert (found.state, found.reason) == (State.REJECTED, "no")
    assert gate.steps().run_due() == 0


def test_a_rejection_at_the_desk_of_a_plan_that_moved_on_is_over(
    gate: GateInMemory, document: Document
) -> None:
    plan = draft(gate, document)
    waiting = approval(gate, plan)
    gate.desk.reject(waiting, "no", actor="user:1")
    gate.planning.plans.reject(plan.id, "first", actor="user:1")
    gate.steps().run_due()
    assert gate.planning.register.get(plan.id).reason == "first"
    assert gate.steps().run_due() == 0


def test_two_hands_that_export_at_once_leave_one_record(
    gate: GateInMemory, document: Document
) -> None:
    plan = draft(gate, document)
    real = gate.plan_files.write

    def another_hand_first(*written: Any) -> None:
        gate.plan_files.write = real  # type: ignore[method-assign]
        gate.planning.exports.export(plan.id)
        real(*written)

    gate.plan_files.write = another_hand_first  # type: ignore[method-assign]
    gate.approve(approval(gate, plan))
    gate.steps().run_due()
    assert gate.plan_files.write == real, "both came by"
    assert len(views.records(gate.root.ledger, type_="agent_files_exported")) == 1


def test_a_rejected_plan_can_be_neither_approved_nor_revised(
    gate: GateInMemory, document: Document
) -> None:
    plan = draft(gate, document)
    gate.planning.plans.reject(plan.id, "no", actor="user:1")
    with pytest.raises(IllegalMove, match="is rejected and cannot become approved"):
        approval(gate, plan)
    with pytest.raises(IllegalMove, match="is rejected and cannot become awaiting_approval"):
        revise(gate, plan)


def revise(gate: GateInMemory, plan: AgentPlan) -> AgentPlan:
    edit = {"op": "remove", "path": "manifest.network_domains", "value": "example.com"}
    return gate.planning.plans.revise(plan.id, [edit], actor="user:1")


def test_a_revised_plan_has_a_new_hash_and_its_older_approval_is_stale(
    gate: GateInMemory, document: Document
) -> None:
    plan = draft(gate, document)
    before = approval(gate, plan)
    revised = revise(gate, plan)
    assert revised.plan_hash != plan.plan_hash
    assert gate.desk.get(before).state == "stale"
    with pytest.raises(Conflict):
        gate.approve(before)
    gate.approve(approval(gate, plan))
    gate.steps().run_due()
    approved = gate.planning.register.get(plan.id)
    assert (approved.state, approved.plan_hash) == (State.APPROVED, revised.plan_hash)


def test_of_two_people_who_edit_the_same_plan_the_second_is_told(
    gate: GateInMemory, document: Document
) -> None:
    plan = draft(gate, document)
    revise(gate, plan)
    edit = {"op": "set", "path": "estimated_duration_minutes", "value": 7}
    plans = gate.planning.plans
    with pytest.raises(Conflict) as refused:
        plans.revise(plan.id, [edit], actor="user:2", seen=plan.plan_hash)
    assert refused.value.reason == "stale_plan"
    now = gate.planning.register.get(plan.id)
    revised = plans.revise(plan.id, [edit], actor="user:2", seen=now.plan_hash)
    assert revised.plan_hash not in {plan.plan_hash, now.plan_hash}


def test_an_approval_granted_before_a_revision_approves_nothing(
    gate: GateInMemory, document: Document
) -> None:
    plan = draft(gate, document)
    gate.approve(approval(gate, plan))
    revise(gate, plan)
    gate.steps().run_due()
    assert state(gate, plan) is State.AWAITING_APPROVAL


def test_revising_an_approved_plan_takes_the_approval_back(
    gate: GateInMemory, document: Document
) -> None:
    plan = draft(gate, document)
    gate.approve(approval(gate, plan))
    gate.steps().run_due()
    revised = revise(gate, plan)
    assert (revised.state, revised.grants, revised.approval) == (
        State.AWAITING_APPROVAL,
        None,
        None,
    )


def test_a_revision_is_checked_like_any_plan(gate: GateInMemory, document: Document) -> None:
    plan = draft(gate, document)
    edit = {"op": "add", "path": "manifest.read_paths", "value": "/"}
    with pytest.raises(AstraError) as refused:
        gate.planning.plans.revise(plan.id, [edit], actor="user:1")
    assert refused.value.reason == "grant_too_broad"
    assert gate.planning.register.get(plan.id).plan_hash == plan.plan_hash


def test_a_crash_after_a_revision_still_asks_for_it(gate: GateInMemory, document: Document) -> None:
    plan = draft(gate, document)
    kept, gate.root.ledger.append = gate.root.ledger.append, _one_then_dies(gate.root.ledger.append)
    with pytest.raises(SystemExit):
        revise(gate, plan)
    gate.root.ledger.append = kept
    assert gate.steps().run_due() == 1
    (waiting,) = gate.desk.list_by_state()
    assert waiting.digest == gate.desk.get(approval(gate, plan)).digest


def test_asking_twice_at_once_asks_for_one_thing(gate: GateInMemory, document: Document) -> None:
    """The daemon's step and the door that drafted may both ask; the first request stands."""
    plan = draft(gate, document)
    first = approval(gate, plan)
    gate.planning.plans.ask_anew(plan.id)
    assert [each.id for each in gate.desk.list_by_state()] == [first]
    revise(gate, plan)
    second = approval(gate, plan)
    gate.planning.plans.ask_anew(plan.id)
    assert [each.id for each in gate.desk.list_by_state()] == [second]


def test_an_approval_decided_while_it_is_withdrawn_is_left_alone(
    gate: GateInMemory, document: Document
) -> None:
    plan = draft(gate, document)
    real = gate.desk.ledger.append

    def decided_first(events: Any, **options: Any) -> Any:
        if events[0].type == "approval_went_stale":
            gate.root.ledger.append = real
            gate.desk.go_stale(events[0].subject, "somebody was first")
        return real(events, **options)

    gate.root.ledger.append = decided_first
    revise(gate, plan)
    gate.root.ledger.append = real
    assert len(gate.desk.list_by_state()) == 1


def test_what_every_plan_may_have_is_marked(gate: GateInMemory, document: Document) -> None:
    grant_globally(gate, "network_domains", "example.com")
    plan = draft(gate, document)
    shown = gate.planning.views.show_plan(plan.id)
    marks = {item["value"]: item["auto_approved"] for item in shown["manifest"]["items"]}
    assert marks == {
        "example.com": True,
        "docs": False,
        "/data/persona_space/notes": False,
        "files": False,
    }
    assert shown["manifest"]["new"] == 3


def test_an_approval_made_for_other_marks_is_not_enough(
    gate: GateInMemory, document: Document
) -> None:
    plan = draft(gate, document)
    waiting = approval(gate, plan)
    gate.approve(waiting)
    grant_globally(gate, "network_domains", "example.com")
    gate.planning.plans.fulfil(waiting)
    assert state(gate, plan) is State.AWAITING_APPROVAL
    assert gate.desk.get(waiting).state == "stale"


@pytest.mark.parametrize("noticed", [False, True], ids=["at once", "after the daemon noticed"])
def test_a_plan_that_nobody_decided_on_in_a_day_waits_and_says_how_to_ask_again(
    gate: GateInMemory, document: Document, noticed: bool
) -> None:
    plan = draft(gate, document)
    lapsed = approval(gate, plan)
    gate.root.clock.advance(hours=24)
    if noticed:
        gate.steps().run_due()
    with pytest.raises(Conflict) as refused:
        gate.approve(lapsed)
    assert f"astra approve {plan.id}" in refused.value.next_step
    assert state(gate, plan) is State.AWAITING_APPROVAL
    shown = gate.planning.views.show_plan(plan.id)
    assert shown["approval_id"] is None
    assert f"astra plans approve {plan.id} asks again" in shown["next"]
    gate.approve(gate.planning.plans.ask(plan.id))
    gate.steps().run_due()
    assert state(gate, plan) is State.APPROVED


def test_an_approval_that_lapsed_before_it_took_effect_starts_nothing(
    gate: GateInMemory, document: Document
) -> None:
    plan = draft(gate, document)
    gate.approve(approval(gate, plan))
    gate.root.clock.advance(hours=25)
    gate.steps().run_due()
    assert state(gate, plan) is State.AWAITING_APPROVAL


def test_a_plan_under_contract_outlives_its_approvals_day(
    gate: GateInMemory, document: Document
) -> None:
    """The day is for deciding; what was decided lasts until the plan ends."""
    plan = draft(gate, document)
    gate.approve(approval(gate, plan))
    gate.steps().run_due()
    gate.root.clock.advance(hours=240)
    gate.steps().run_due()
    assert state(gate, plan) is State.APPROVED
    assert gate.planning.exports.find_tampering(gate.planning.register.get(plan.id)) == ""


def test_an_inbox_stays_readable(gate: GateInMemory, document: Document) -> None:
    for number in range(20):
        draft(gate, {**document, "goals": [f"goal {number}"]})
    with pytest.raises(Refused, match="wait for the operator"):
        draft(gate, document)


def test_two_deciding_at_once_never_write_over_each_other(
    gate: GateInMemory, document: Document
) -> None:
    """Somebody rejects while the approval is being acted on: one wins, the other does nothing."""
    plan = draft(gate, document)
    gate.approve(approval(gate, plan))
    kept = gate.root.ledger.append

    def rejecting_first(events: Any, **options: Any) -> Any:
        gate.root.ledger.append = kept
        gate.planning.plans.reject(plan.id, "no", actor="user:1")
        return kept(events, **options)

    gate.root.ledger.append = rejecting_first
    gate.planning.plans.fulfil(gate.desk.list_by_state(state="approved")[0].id)
    assert state(gate, plan) is State.REJECTED


def _dies(*_arguments: Any, **_options: Any) -> Any:
    raise SystemExit


def _one_then_dies(append: Any) -> Any:
    calls = iter([append])

    def once(*arguments: Any, **options: Any) -> Any:
        for real in calls:
            return real(*arguments, **options)
        raise SystemExit

    return once
