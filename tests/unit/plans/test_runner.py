"""The runner: inside the contract, one recorded step at a time, from approval to the end."""

from typing import Any

import pytest

from astra.plans.ports import ModelUnavailable
from astra.plans.states import State
from astra.testing import GateInMemory
from astra.trusted.kernel.errors import Conflict
from astra.trusted.ledger import views
from plans_at_work import NOTES, PlansAtWork, document, done, down, tool, write


@pytest.fixture
def work() -> PlansAtWork:
    return PlansAtWork()


def test_an_approved_plan_runs_to_its_end_and_the_ledger_tells_the_story(
    work: PlansAtWork,
) -> None:
    work.script(write(f"{NOTES}/a.md", "hello"), done("one"), done("two"))
    plan = work.run(work.approved(document(checkpoints=2)))
    assert plan.state is State.COMPLETED
    assert work.effects == [("write_file", f"{NOTES}/a.md")]
    assert (plan.calls, plan.tokens, plan.done) == (3, 330, 2)
    assert work.types(plan) == [
        "agent_plan_drafted",
        "agent_plan_approved",
        "agent_files_exported",
        "agent_started",
        "agent_checkpoint_started",
        "agent_step_started",
        "agent_step_decided",
        "agent_action_started",
        "agent_step_finished",
        "agent_step_started",
        "agent_step_decided",
        "agent_checkpoint_completed",
        "agent_step_finished",
        "agent_checkpoint_started",
        "agent_step_started",
        "agent_step_decided",
        "agent_checkpoint_completed",
        "agent_step_finished",
        "agent_completed",
        "agent_message_sent",
    ]
    records = views.story(work.ledger, plan.id)
    assert {record.correlation for record in records if record.type.startswith("agent_")} == {
        plan.correlation
    }
    assert all(
        {"agent_id", "level"} <= set(record.data)
        for record in records
        if record.type.startswith("agent_")
    )


def test_a_plans_steps_spend_its_own_budget_and_no_daily_one(work: PlansAtWork) -> None:
    work.script(write(f"{NOTES}/a.md"), done())
    work.run(work.approved())
    assert views.records(work.ledger, type_="budget_spent") == []
    (started,) = views.records(work.ledger, type_="tool_started")
    assert started.data["door"] == "plan"


def test_with_the_runner_off_plans_stay_approved(work: PlansAtWork) -> None:
    plan = work.approved()
    work.why_closed = "flag_off"
    assert work.running.runner.list_due() == []
    assert work.run(plan).state is State.APPROVED


def test_what_was_granted_is_done_and_what_was_not_blocks_with_the_narrowest_grant(
    work: PlansAtWork,
) -> None:
    work.script(write("/data/persona_space/other/b.md"))
    plan = work.run(work.approved())
    assert plan.state is State.BLOCKED_ON_PERMISSION
    assert plan.block is not None
    assert plan.block["items"] == [["write_paths", "/data/persona_space/other/b.md"]]
    assert work.effects == []
    (said,) = [each for each in work.register.messages(plan.id) if each.direction == "sent"]
    assert said.kind == "agent_blocked"


def test_a_skill_and_a_domain_that_were_not_granted_block_together(work: PlansAtWork) -> None:
    work.script(tool("fetch_url", url="https://example.com/x"))
    plan = work.run(work.approved())
    assert plan.block is not None
    assert plan.block["items"] == [["skills", "fetch_url"], ["network_domains", "example.com"]]


def test_a_granted_domain_needs_no_one_time_approval(work: PlansAtWork) -> None:
    work.script(tool("fetch_url", url="https://example.com/x"), done())
    plan = work.run(work.approved(skills=["web"], network_domains=["example.com"]))
    assert plan.state is State.COMPLETED
    assert work.effects == [("fetch_url", "https://example.com/x")]


def test_granting_once_lets_exactly_this_step_through(work: PlansAtWork) -> None:
    other = "/data/persona_space/other/b.md"
    work.script(write(other), write(other), done())
    plan = work.run(work.approved())
    work.decide(plan, "grant", once=True)
    plan = work.run(plan)
    assert plan.state is State.BLOCKED_ON_PERMISSION, "the second time asks again"
    assert work.effects == [("write_file", other)]
    assert plan.grants is not None
    assert plan.grants.added == ()


def test_granting_to_the_plan_lasts_and_is_written_out(work: PlansAtWork) -> None:
    other = "/data/persona_space/other/b.md"
    work.script(write(other), write(other), done())
    plan = work.run(work.approved())
    before = plan.grants_hash
    work.decide(plan, "grant")
    plan = work.run(plan)
    assert plan.state is State.COMPLETED
    assert work.effects == [("write_file", other)] * 2
    assert plan.grants_hash != before
    assert other in work.gate.plan_files.files[f"{plan.id}/grants.json"]


def test_skipping_tells_the_model_and_goes_on(work: PlansAtWork) -> None:
    model = work.script(write("/data/persona_space/other/b.md"), done())
    plan = work.run(work.approved())
    work.running.control.skip(plan.id, actor="user:1", reason="not needed")
    plan = work.run(plan)
    assert plan.state is State.COMPLETED
    assert work.effects == []
    assert "not needed" in model.last()


def test_nobody_skips_another_action_than_the_one_they_saw(work: PlansAtWork) -> None:
    work.script(write("/data/persona_space/other/b.md"), write("/data/persona_space/more.md"))
    plan = work.run(work.approved())
    assert plan.block
    first = int(plan.block["step"])
    work.running.control.skip(plan.id, actor="user:1", seen=first)
    plan = work.run(plan)
    with pytest.raises(Conflict) as refused:
        work.running.control.skip(plan.id, actor="user:2", seen=first)
    assert refused.value.reason == "stale_step"


def test_nobody_grants_or_extends_for_another_step_than_the_one_they_saw(
    work: PlansAtWork,
) -> None:
    work.script(write("/data/persona_space/other/b.md"), write("/data/persona_space/more.md"))
    plan = work.run(work.approved())
    control, seen = work.running.control, plan.at_step
    assert (
        control.describe_decision(plan.id, "grant", once=True, seen=seen)["content"]["step"] == seen
    )
    late = work.signed(plan, "grant", once=True)
    control.skip(plan.id, actor="user:1", seen=seen)
    plan = work.run(plan)
    for decide in (
        lambda: control.describe_decision(plan.id, "grant", once=True, seen=seen),
        lambda: control.decide(plan.id, "grant", late, once=True, seen=seen),
        lambda: control.decide(plan.id, "extend_budget", late, steps=2, seen=seen),
    ):
        with pytest.raises(Conflict) as refused:
            decide()
        assert refused.value.reason == "stale_step"
        assert "more.md" in refused.value.detail, "it says what it waits for now"
    assert work.effects == []


def test_plans_that_only_a_person_can_move_on_are_listed(work: PlansAtWork) -> None:
    work.script(write("/data/persona_space/other/b.md"))
    blocked = work.run(work.approved())
    held = work.approved()
    work.run(held, most=1)
    work.running.control.pause(held.id, actor="user:1")
    over = work.approved()
    work.running.control.abort(over.id, actor="user:1")
    standing = [plan.id for plan in work.register.list_waiting_plans()]
    assert standing == [blocked.id, held.id]
    work.running.control.skip(blocked.id, actor="user:1")
    assert [plan.id for plan in work.register.list_waiting_plans()] == [held.id]


def test_a_plan_without_a_model_waits_before_it_spends_a_step(work: PlansAtWork) -> None:
    plan = work.run(work.approved())
    assert plan.state is State.BLOCKED_ON_LLM
    assert (plan.steps, plan.spent) == (0, 0)
    assert plan.reason == "no model is configured; set [model] in astra.toml"
    work.script(done())
    work.decide(plan, "resume")
    assert work.run(plan).state is State.COMPLETED


def test_an_answer_out_of_form_is_asked_for_again_and_spends_no_step(work: PlansAtWork) -> None:
    model = work.script("garbage", {"kind": "fly"}, tool("no_such_tool"), write(f"{NOTES}/a.md"))
    plan = work.run(work.approved(document(budget=2)))
    assert plan.state is State.BLOCKED_ON_BUDGET
    assert (plan.spent, plan.calls, plan.tokens) == (2, 4, 440)
    assert work.outcomes(plan) == ["refused", "ok"]
    second, third = ("\n".join(prompt.data) for prompt in model.prompts[1:3])
    assert "garbage" in second, "its own answer goes back"
    assert "\"fly\"; accepted: 'tool', 'code', 'message' or 'done'" in third
    assert third.index("goals of the plan") < third.index("your last answer")


def test_three_answers_out_of_form_end_in_words(work: PlansAtWork) -> None:
    work.script({"kind": "fly"}, {"kind": "swim"}, {"kind": "dig"}, done())
    plan = work.run(work.approved())
    assert plan.state is State.BLOCKED_ON_LLM
    assert "3 answers in a row were no action in the form: kind is" in plan.reason
    assert "dig" in plan.reason
    assert (plan.spent, plan.calls, work.effects) == (1, 3, [])
    work.decide(plan, "resume")
    assert work.run(plan).state is State.COMPLETED


def test_the_same_that_came_to_nothing_twice_is_not_done_a_third_time(work: PlansAtWork) -> None:
    same = tool("no_such_tool", path="a")
    work.script(same, same, same, done())
    plan = work.run(work.approved())
    assert plan.state is State.BLOCKED_ON_LLM
    assert "a third time" in plan.reason
    assert work.outcomes(plan) == ["refused", "refused", "malformed"]


@pytest.mark.parametrize(
    "answer",
    [
        {"name": "write_file", "arguments": {"path": f"{NOTES}/a.md", "content": "x"}},
        [{"name": "write_file", "arguments": {"path": f"{NOTES}/a.md", "content": "x"}}],
        {"tool": "write_file", "arguments": {"path": f"{NOTES}/a.md", "content": "x"}},
        {"function": {"name": "write_file", "parameters": {"path": f"{NOTES}/a.md"}}},
        {"action": {"kind": "tool", "tool": "write_file", "arguments": {"path": f"{NOTES}/a.md"}}},
        {"name": "answer", "arguments": write(f"{NOTES}/a.md")},
    ],
    ids=["call", "list", "no kind", "function", "member", "answer"],
)
def test_an_action_is_understood_however_it_is_wrapped(work: PlansAtWork, answer: Any) -> None:
    work.script(answer, done())
    plan = work.run(work.approved())
    assert work.effects == [("write_file", f"{NOTES}/a.md")]
    assert (plan.state, plan.calls) == (State.COMPLETED, 2)


def test_every_step_shows_what_it_cost_and_when_it_was_over(work: PlansAtWork) -> None:
    work.script(write(f"{NOTES}/a.md"), write("/data/persona_space/other/b.md"))
    plan = work.run(work.approved())
    shown = work.gate.planning.views.show_plan(plan.id)
    first, second = shown["steps_taken"]
    assert first["tokens"] == second["tokens"] == shown["usage"]["tokens"] / 2 > 0
    assert first["ended_at"] >= first["started_at"]
    assert second["ended_at"] is None, "it waits for a grant"


def test_what_a_checkpoint_cost_is_added_up_over_all_of_its_steps(work: PlansAtWork) -> None:
    def slowly(number: int) -> Any:
        def answer(_prompt: Any) -> Any:
            work.clock.advance(seconds=2)
            return tool(f"no_such_tool_{number}")

        return answer

    work.script(
        *(slowly(number) for number in range(60)), done(), write("/data/persona_space/other/b.md")
    )
    plan = work.run(work.approved(document(checkpoints=2, budget=100)))
    assert plan.state is State.BLOCKED_ON_PERMISSION
    shown = work.gate.planning.views.show_plan(plan.id)
    assert len(shown["steps_taken"]) == 50
    first, second = shown["costs"]
    assert (first["checkpoint"], first["steps"], first["tokens"]) == (0, 61, 61 * 110)
    assert first["milliseconds"] == 60 * 2_000
    assert first["outcomes"] == {"ok": 1, "refused": 60}
    assert (second["checkpoint"], second["steps"], second["milliseconds"]) == (1, 1, 0)
    assert second["outcomes"] == {"decided": 1}, "it waits for a grant"
    assert first["tokens"] + second["tokens"] == shown["usage"]["tokens"]


def test_a_plan_that_has_not_begun_cost_nothing(work: PlansAtWork) -> None:
    assert work.gate.planning.views.show_plan(work.approved().id)["costs"] == []


def test_a_budget_is_extended_by_signature_up_to_a_ceiling(work: PlansAtWork) -> None:
    work.script(tool("nothing"), tool("nothing"), done())
    plan = work.run(work.approved(document(budget=1)))
    assert plan.state is State.BLOCKED_ON_BUDGET
    with pytest.raises(Exception, match="may have 200 steps"):
        work.decide(plan, "extend_budget", steps=200)
    work.decide(plan, "extend_budget", steps=2)
    plan = work.run(plan)
    assert (plan.state, plan.calls) == (State.COMPLETED, 3)


def test_who_extends_a_budget_second_is_told_that_it_was_extended(work: PlansAtWork) -> None:
    work.script(tool("nothing"), tool("nothing"), tool("nothing"), done())
    plan = work.run(work.approved(document(budget=1)))
    late = work.signed(plan, "extend_budget", steps=2)
    work.decide(plan, "extend_budget", steps=3)
    extend = work.running.control.decide
    for seen in (None, plan.at_step):
        with pytest.raises(Conflict) as refused:
            extend(plan.id, "extend_budget", late, steps=2, seen=seen)
        assert refused.value.reason == "changed_meanwhile"
        told = refused.value.facts
        assert (told["budget"], told["by"], told["change"]["steps"]) == (4, "operator", 3)
    assert work.get(plan).budget == 4
    with pytest.raises(Exception, match="signature"):
        extend(plan.id, "extend_budget", late, steps=3)
    work.decide(plan, "extend_budget", steps=2)
    assert work.get(plan).budget == 6


def test_a_model_that_is_down_is_asked_again_and_then_blocks(work: PlansAtWork) -> None:
    work.script(*(down() for _ in range(4)), done())
    plan = work.approved()
    for seconds in (5, 15, 45):
        plan = work.run(plan)
        assert plan.state is State.RUNNING
        assert work.running.runner.list_due() == []
        work.clock.advance(seconds=seconds)
        assert work.running.runner.list_due() == [plan.id]
    plan = work.run(plan)
    assert plan.state is State.BLOCKED_ON_LLM
    assert plan.calls == 4
    work.decide(plan, "resume")
    assert work.run(plan).state is State.COMPLETED


def test_a_model_that_asks_for_patience_is_left_alone_as_long(work: PlansAtWork) -> None:
    busy = ModelUnavailable("429", next_step="wait", patience=120)
    hasty = ModelUnavailable("429", next_step="wait", patience=1)
    work.script(busy, hasty, done())
    plan = work.approved()
    for seconds in (120, 15):
        work.run(plan)
        work.clock.advance(seconds=seconds - 1)
        assert work.running.runner.list_due() == []
        work.clock.advance(seconds=1)
        assert work.running.runner.list_due() == [plan.id]
    assert work.run(plan).state is State.COMPLETED


def test_pausing_holds_a_plan_until_the_operator_signs_to_go_on(work: PlansAtWork) -> None:
    work.script(write(f"{NOTES}/a.md"), done())
    plan = work.approved()
    work.run(plan, most=3)
    work.running.control.pause(plan.id, actor="user:1")
    assert work.run(plan).state is State.PAUSED
    assert work.running.runner.list_due() == []
    work.decide(plan, "resume")
    assert work.run(plan).state is State.COMPLETED
    assert len(work.effects) == 1


def test_pausing_while_the_model_thinks_stops_before_the_effect(work: PlansAtWork) -> None:
    plan = work.approved()

    def paused_meanwhile(_prompt: Any) -> Any:
        work.running.control.pause(plan.id, actor="user:1")
        return write(f"{NOTES}/a.md")

    work.script(paused_meanwhile)
    assert work.run(plan).state is State.PAUSED
    assert work.effects == []


@pytest.mark.parametrize("how", ["pause", "abort"])
def test_an_answer_that_comes_too_late_is_set_aside_and_its_tokens_count(
    work: PlansAtWork, how: str
) -> None:
    plan = work.approved()

    def meanwhile(_prompt: Any) -> Any:
        getattr(work.running.control, how)(plan.id, actor="user:1")
        return write(f"{NOTES}/a.md")

    work.script(meanwhile)
    found = work.run(plan)
    assert (found.calls, found.tokens) == (1, 110)
    assert work.outcomes(plan) == ["set_aside"]
    (step,) = work.gate.planning.views.show_plan(plan.id)["steps_taken"]
    assert step["tokens"] == 110
    assert step["ended_at"]
    if how == "pause":
        work.decide(plan, "resume")
        found = work.run(plan)
        assert (found.state, found.calls, found.tokens) == (State.COMPLETED, 2, 220)
    assert work.effects == []


def test_aborting_ends_the_plan_and_its_processes(work: PlansAtWork) -> None:
    work.script(write(f"{NOTES}/a.md"))
    plan = work.approved()
    work.run(plan, most=3)
    work.running.control.abort(plan.id, actor="user:1", reason="enough")
    plan = work.run(plan)
    assert (plan.state, plan.reason) == (State.ABORTED, "enough")
    assert work.boxes.ended == [plan.id]
    assert work.effects == []
    assert views.records(work.ledger, type_="agent_aborted")[0].data["level"] == "warning"


def test_a_destructive_step_is_confirmed_freshly_each_time(work: PlansAtWork) -> None:
    path = f"{NOTES}/a.md"
    work.script(tool("delete_file", path=path), tool("delete_file", path=path), done())
    plan = work.run(work.approved(skills=["files", "delete_file"]))
    assert plan.state is State.BLOCKED_ON_DESTRUCTIVE
    assert work.effects == []
    work.decide(plan, "grant")
    plan = work.run(plan)
    assert plan.state is State.BLOCKED_ON_DESTRUCTIVE
    assert work.effects == [("delete_file", path)]
    work.running.control.skip(plan.id, actor="user:1")
    assert work.run(plan).state is State.COMPLETED
    assert len(work.effects) == 1


def test_a_model_can_say_that_a_step_destroys_and_not_that_it_does_not(work: PlansAtWork) -> None:
    work.script(write(f"{NOTES}/a.md", destructive=True), done())
    assert work.run(work.approved()).state is State.BLOCKED_ON_DESTRUCTIVE
    meek = PlansAtWork()
    meek.script({**tool("delete_file", path=f"{NOTES}/a.md"), "destructive": False})
    plan = meek.run(meek.approved(skills=["files", "delete_file"]))
    assert plan.state is State.BLOCKED_ON_DESTRUCTIVE


@pytest.mark.parametrize(
    "command",
    [
        ["rm", "-rf", "notes"],
        ["/bin/rm", "x"],
        ["sh", "-c", "ls && r''m -rf x"],
        ["git", "-C", "x", "push", "--force"],
        ["find", ".", "-name", "*", "-delete"],
        ["python3", "-c", "import shutil; shutil.rmtree('x')"],
        ["psql", "-c", "DROP TABLE users"],
    ],
)
def test_commands_that_destroy_are_found_by_their_words(
    work: PlansAtWork, command: list[str]
) -> None:
    work.script(tool("run_in_sandbox", command=command))
    assert work.run(work.approved(skills=["sandbox"])).state is State.BLOCKED_ON_DESTRUCTIVE
    assert work.effects == []


def test_the_operators_words_reach_the_next_step_once(work: PlansAtWork) -> None:
    model = work.script(tool("nothing"), tool("nothing"), done())
    plan = work.approved()
    work.run(plan, most=2)
    work.running.control.message(plan.id, "use the blue one", actor="user:1")
    work.running.control.message(plan.id, "use the blue one", actor="user:1")
    work.run(plan)
    first = "\n".join(model.prompts[0].data)
    assert first.count("use the blue one") == 2, "two in one moment are two"
    assert model.last().count("use the blue one") == 2, "and they stay where they were heard"
    delivered = [each.step for each in work.register.messages(plan.id) if each.kind == "operator"]
    assert delivered == [1, 1]


def test_a_question_waits_for_its_answer(work: PlansAtWork) -> None:
    model = work.script({"kind": "message", "text": "Which?", "question": True}, done())
    plan = work.run(work.approved())
    assert (plan.state, plan.reason) == (State.PAUSED, "agent_question")
    work.running.control.message(plan.id, "the second", actor="user:1")
    plan = work.run(plan)
    assert plan.state is State.COMPLETED
    assert "the second" in model.last()


def test_a_plan_that_takes_twice_its_estimate_says_so_once(work: PlansAtWork) -> None:
    work.script(tool("nothing"), tool("nothing"), done())
    plan = work.approved()
    work.run(plan, most=3)
    work.clock.advance(minutes=60)
    plan = work.run(plan)
    assert len(views.records(work.ledger, type_="agent_overran")) == 1
    assert plan.overran


def test_a_revoked_grant_bites_at_the_next_step(work: PlansAtWork) -> None:
    content = work.gate.planning.allowlist.content("write_paths", NOTES)
    signed = work.gate.root.sign("agent_global_grant_added", content)
    work.gate.planning.allowlist.add("write_paths", NOTES, signed)
    work.script(write(f"{NOTES}/a.md"), write(f"{NOTES}/b.md"))
    plan = work.approved()
    work.run(plan, most=4)
    assert len(work.effects) == 1
    work.gate.planning.allowlist.remove("write_paths", NOTES, actor="user:1")
    plan = work.run(plan)
    assert plan.state is State.BLOCKED_ON_PERMISSION
    assert len(work.effects) == 1


def test_no_more_plans_run_at_once_than_allowed() -> None:
    work = PlansAtWork(most_at_once=2)
    plans = [work.approved() for _ in range(4)]
    assert work.running.runner.list_due() == [plan.id for plan in plans[:2]]
    for plan in plans[:2]:
        work.run(plan, most=1)
    assert work.running.runner.list_due() == [plan.id for plan in plans[:2]]
    work.script(done())
    work.run(plans[0])
    assert work.running.runner.list_due() == [plans[1].id, plans[2].id]


def test_a_secret_in_an_action_is_refused_and_not_written_down(work: PlansAtWork) -> None:
    secret = "AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"
    work.script(write(f"{NOTES}/a.md", secret), done())
    plan = work.run(work.approved())
    assert work.effects == []
    assert work.outcomes(plan)[0] == "malformed"
    assert not any("wJalrXUtnFEMI" in line for line in work.ledger.lines)


def test_messages_of_a_minute_are_announced_together_without_their_content(
    work: PlansAtWork,
) -> None:
    say = {"kind": "message", "text": "the password is swordfish"}
    work.script(say, say, done())
    plan = work.run(work.approved())
    work.clock.advance(seconds=59)
    assert work.running.announcements.flush() == 0
    work.clock.advance(seconds=1)
    assert work.running.announcements.flush() == 1
    assert work.heard.told == [(("phone",), plan.id, {"agent_update": 2, "agent_done": 1})]
    assert work.running.announcements.flush() == 0


def test_a_silenced_plan_announces_nothing_and_keeps_talking_in_the_ledger(
    work: PlansAtWork,
) -> None:
    work.script({"kind": "message", "text": "hello"}, done())
    plan = work.approved()
    work.running.control.silence(plan.id, on=True, actor="user:1")
    work.run(plan)
    work.clock.advance(seconds=61)
    work.running.announcements.flush()
    assert work.heard.told == []
    assert len(work.register.messages(plan.id)) == 2


def test_the_coder_is_a_skill_like_any_other(work: PlansAtWork) -> None:
    work.script({"kind": "code", "text": "rename it"}, done())
    plan = work.run(work.approved())
    assert plan.state is State.BLOCKED_ON_PERMISSION
    assert plan.block is not None
    assert plan.block["items"] == [["skills", "coder"]]
    granted = PlansAtWork(GateInMemory())
    granted.script({"kind": "code", "text": "rename it"}, done())
    assert granted.run(granted.approved(skills=["coder"])).state is State.COMPLETED
    assert granted.coder.instructions == ["rename it"]
