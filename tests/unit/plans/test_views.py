"""What a plan says comes next is true at the moment it says it."""

from typing import Any

from astra.interfaces.cli import plan_pages
from astra.plans import events
from astra.testing import GateInMemory
from plans_at_work import NOTES, PlansAtWork

STORY = "cor_00000000000000aa"


def test_a_plan_just_drafted_does_not_say_that_nobody_decided_in_time(
    gate: GateInMemory, document: dict[str, Any]
) -> None:
    """Between its record and the question to the operator there is a moment; somebody may look."""
    plan, _ = gate.planning.plans.check_document(document)
    data = {**events.count_parts(plan), "plan": plan.as_dict(), "plan_hash": plan.hash()}
    made = events.make_event(
        events.DRAFTED, "plan_00000000000000aa", data, actor="daemon", correlation=STORY
    )
    gate.root.ledger.append([made])
    shown = gate.planning.views.show_plan("plan_00000000000000aa")
    assert shown["approval_id"] is None
    assert shown["next"] == "astra plans approve plan_00000000000000aa, reject or revise it"


def test_a_plan_on_which_nobody_decided_says_so(
    gate: GateInMemory, document: dict[str, Any]
) -> None:
    plan = gate.planning.plans.draft(document, actor="agent:test", correlation=STORY)
    gate.root.clock.advance(hours=25)
    assert gate.planning.views.show_plan(plan.id)["next"].startswith("nobody decided in time")
    gate.planning.plans.ask(plan.id)
    assert gate.planning.views.show_plan(plan.id)["next"].startswith("astra plans approve")


def test_what_was_taken_back_is_not_shown_as_granted(gate: GateInMemory) -> None:
    work = PlansAtWork(gate)
    allowlist = gate.planning.allowlist
    content = allowlist.content("write_paths", NOTES)
    allowlist.add("write_paths", NOTES, gate.root.sign(events.GLOBAL_GRANT_ADDED, content))
    plan = work.approved()
    work.run(plan, most=2)
    allowlist.remove("write_paths", NOTES, actor="user:1")
    shown = gate.planning.views.show_plan(plan.id)
    taken_back = [item["value"] for item in shown["manifest"]["items"] if item["taken_back"]]
    assert taken_back == [NOTES]
    assert not any(NOTES in line for line in shown["manifest"]["sandbox"])
    lines = "\n".join(plan_pages.render_page(shown))
    assert f"  GONE       can change and delete {NOTES} (taken back)" in lines
