"""The runner: one step of one plan at a time, each derived from what the ledger says.

    verify → budget → model → action → gate → tool in the plan's box → record

A step's model call is counted before it is made; its action is recorded before it is judged, and an
action with an effect is claimed, once and for all, before it begins. So kill -9 between any two
lines resumes at the same step: what was only thought is done, what may have happened is told to the
model as interrupted and never done again.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from astra.plans import events, history, talk
from astra.plans.acting import Acting
from astra.plans.allowlist import Allowlist
from astra.plans.answers import read_action
from astra.plans.asking import Asked, ask_in_form, quote_answer
from astra.plans.drafting import BACKOFF_SECONDS, account_of, pause_before
from astra.plans.exports import Exports
from astra.plans.forms import ActionForm
from astra.plans.loops import MOST_ROUNDS, find_loop
from astra.plans.model import AgentPlan, Step
from astra.plans.moves import (
    OVER_CAP,
    Halted,
    block,
    block_on_cap,
    decide_while_working,
    refuse_unless_working,
)
from astra.plans.ports import ChangeOutcome, ModelCancelled, ModelSource, Reply, Usage
from astra.plans.proposed import LONGEST_REASON, ProposedChanges, is_coder_step, is_for_coder
from astra.plans.register import Register
from astra.plans.states import ENDED, UNDER_CONTRACT, WORKING, IllegalMove, State
from astra.plans.terms import Contracts
from astra.spend.model import SpendRefused, SpendRoom
from astra.trusted.kernel import cancellation
from astra.trusted.kernel.clock import format_time, parse_time
from astra.trusted.kernel.errors import AstraError, DuplicateKey
from astra.trusted.kernel.masking import mask
from astra.trusted.kernel.text import one_line
from astra.trusted.ledger.record import Event
from astra.trusted.sandbox.ports import Boxes

MOST_CODER_TURNS = 3
"""How often a checkpoint's code is written before its tests pass."""
"""How often the same action may come to nothing before the plan stops."""
_EVERY_STATE_DUE = (*WORKING, State.APPROVED, State.BLOCKED_ON_BUDGET)


@dataclass(frozen=True, kw_only=True)
class Runner:
    register: Register
    exports: Exports
    contracts: Contracts
    allowlist: Allowlist
    models: ModelSource
    acting: Acting
    boxes: Boxes
    closed: Callable[[], str]
    most_at_once: int
    proposed: ProposedChanges
    room: SpendRoom
    digest: Callable[[], str] = str
    """Gives what happened lately, in short; it is passed on as data."""
    at_work: set[str] = field(default_factory=set[str], compare=False)
    """The plans of which this process takes a step right now."""

    def list_due(self) -> list[str]:
        """Name the plans that can take a step now, no more than may run at once."""
        plans = [plan for plan in self.register.in_states(_EVERY_STATE_DUE) if plan.plan]
        plans = [plan for plan in plans if self._is_free(plan)]
        if not plans or self.closed():
            return []
        now = self.register.now()
        working = [plan for plan in plans if plan.state is not State.APPROVED]
        ready = [
            plan
            for plan in working
            if (plan.due is None or plan.due <= now) and not self._waits_for_tests(plan)
        ]
        room = max(self.most_at_once - len(working), 0)
        fresh = [plan for plan in plans if plan.state is State.APPROVED][:room]
        return [plan.id for plan in (*ready, *fresh)][: self.most_at_once]

    def watch(self) -> None:
        """Look at the allowlist's file, and at every plan under contract: whole, or ended."""
        self.allowlist.watch()
        for plan in self.register.in_states(tuple(UNDER_CONTRACT)):
            try:
                self.exports.export(plan.id)
                self._refuse_tampered(self.register.get(plan.id))
                self._close_cut_off(plan.id)
            except (Halted, IllegalMove):
                continue

    def step(self, identifier: str) -> bool:
        """Take the next step of a plan; tells whether another can follow at once."""
        if self.closed():
            return False
        self.at_work.add(identifier)
        try:
            with cancellation.watch_cancellation(lambda: self._has_ended(identifier)):
                return self._take_step(identifier)
        except (Halted, IllegalMove, DuplicateKey):
            return False
        finally:
            self.at_work.discard(identifier)

    def _has_ended(self, identifier: str) -> bool:
        return self.register.get(identifier).state in ENDED

    def _close_cut_off(self, identifier: str) -> None:
        """Close a step that a dead daemon left in a plan that was paused, so it can be retried.

        A plan that works closes its own. One that is blocked, paused or not, has a step that waits
        for what it is blocked on, and is not cut off.
        """
        if identifier in self.at_work:
            return
        steps = self.register.last_steps(identifier, 1)
        plan = self.register.get(identifier)
        if plan.state is not State.PAUSED or plan.block or not steps or identifier in self.at_work:
            return
        if steps[0].state == "acting":
            self.acting.close_interrupted(plan, steps[0])
        elif steps[0].state == "ran":
            self.acting.finish(plan, steps[0], steps[0].outcome or "ok", steps[0].result or "")

    def abort(self, identifier: str, reason: str, *, actor: str, detail: str = "") -> None:
        """End a plan for good, and every process that runs for it."""

        def said(plan: AgentPlan) -> tuple[Event, ...]:
            return (
                talk.make_message_event(
                    plan, talk.ABORTED, f"{talk.quote_goal(plan)} was ended: {reason}"
                ),
            )

        data = {"reason": reason, "detail": one_line(detail, 500)}
        self.register.move(identifier, events.ABORTED, lambda _plan: data, actor=actor, beside=said)
        self.boxes.end(identifier, "its plan was ended")

    def _take_step(self, identifier: str) -> bool:
        self.exports.export(identifier)
        plan = self.register.get(identifier)
        if plan.state not in _EVERY_STATE_DUE or plan.plan is None or not self._is_free(plan):
            return False
        self._refuse_tampered(plan)
        self._note_overrun(plan)
        if plan.state is State.BLOCKED_ON_BUDGET:
            return self._go_on_with_room(plan)
        if plan.state is State.APPROVED:
            return self._start_plan(plan)
        if plan.done > plan.checkpoint:
            return self._next_checkpoint(plan)
        return self._continue_checkpoint(plan)

    def _refuse_tampered(self, plan: AgentPlan) -> None:
        if reason := self.exports.find_tampering(plan):
            detail = "its files or its record are not what the operator signed"
            self.abort(plan.id, reason, actor=events.DAEMON, detail=detail)
            raise Halted(f"{plan.id} was ended: {reason}", next_step=f"astra plans show {plan.id}")

    def _start_plan(self, plan: AgentPlan) -> bool:
        assert plan.plan is not None  # noqa: S101 - it was approved, so it was drafted
        data = {**events.count_parts(plan.plan), "plan_hash": plan.plan_hash}
        self.register.move(plan.id, events.STARTED, lambda _plan: data)
        return True

    def _next_checkpoint(self, plan: AgentPlan) -> bool:
        assert plan.plan is not None  # noqa: S101 - as above
        if plan.done >= len(plan.plan.checkpoints):
            self._complete_plan(plan)
            return False
        checkpoint = plan.plan.checkpoints[plan.done]
        data = {
            "number": plan.done,
            "checkpoint": checkpoint.id,
            "title": checkpoint.title,
            "step_budget": checkpoint.step_budget,
        }
        self.register.move(plan.id, events.CHECKPOINT_STARTED, decide_while_working(data))
        return True

    def _complete_plan(self, plan: AgentPlan) -> None:
        assert plan.plan is not None  # noqa: S101 - as above
        data = {
            **events.count_parts(plan.plan),
            "steps": plan.steps,
            "calls": plan.calls,
            "tokens": plan.tokens,
        }
        self.register.move(
            plan.id,
            events.COMPLETED,
            decide_while_working(data),
            beside=lambda now: (
                talk.make_message_event(now, talk.DONE, f"{talk.quote_goal(now)} is done"),
            ),
        )

    def _continue_checkpoint(self, plan: AgentPlan) -> bool:
        steps = self.register.steps(plan.id, checkpoint=plan.checkpoint)
        last = steps[-1] if steps else None
        if last is not None and last.state == "acting":
            self.acting.close_interrupted(plan, last)
            return True
        if last is not None and last.state == "ran":
            self.acting.finish(plan, last, last.outcome or "ok", last.result or "")
            return True
        if last is not None and last.state == "decided":
            return self.acting.act(plan, last)
        if self._waits_for_tests(plan):
            return False
        return self._hand_to_coder(plan, steps) if is_for_coder(plan) else self._ask_model(plan)

    def _waits_for_tests(self, plan: AgentPlan) -> bool:
        return (
            plan.checkpoint >= 0
            and plan.done <= plan.checkpoint
            and (self.proposed.is_pending(plan))
        )

    # A checkpoint that is a change of code: instructions, tests, and their output if they fail

    def _hand_to_coder(self, plan: AgentPlan, steps: Sequence[Step]) -> bool:
        """Go straight to the coder; what its tests say is the next question."""
        proposal = self.proposed.find_outcome(plan)
        if proposal and proposal[1].state == ChangeOutcome.PASSED:
            return self._complete_by_change(plan, proposal[0])
        if proposal and proposal[1].state == ChangeOutcome.CLOSED:
            detail = f"{proposal[0]}: {proposal[1].reason}"
            self.abort(plan.id, "change_closed", actor=events.DAEMON, detail=detail)
            return False
        turns = [
            step
            for step in steps
            if is_coder_step(step) and step.state == "finished" and step.outcome != OVER_CAP
        ]
        if len(turns) >= MOST_CODER_TURNS:
            why = proposal[1].reason if proposal else (turns[-1].result or "")
            reason = "tests_failed" if proposal else "nothing_written"
            self.abort(plan.id, reason, actor=events.DAEMON, detail=why)
            return False
        return self._start_coder_step(plan, self._write_instructions(plan, turns, proposal))

    def _write_instructions(
        self, plan: AgentPlan, turns: Sequence[Step], proposal: tuple[str, ChangeOutcome] | None
    ) -> str:
        """Write down what the coder is to do: the checkpoint, what people said, what failed."""
        parts = [f"{plan.current.title}. {plan.current.description}"]
        messages = self.register.messages(plan.id)
        parts += [message.text for message in messages if message.kind == "operator"]
        if proposal:
            parts.append(f"A first try did not pass: {proposal[1].reason[:LONGEST_REASON]}")
        elif turns:
            result = (turns[-1].result or "")[:LONGEST_REASON]
            parts.append(f"A first try came to nothing: {result}")
        return "\n\n".join(parts)

    def _start_coder_step(self, plan: AgentPlan, instructions: str) -> bool:
        if plan.spent >= self.contracts.budget(plan):
            return self._block_on_budget(plan)
        try:
            self.models.current()
        except AstraError as error:
            return self._block_without_model(plan, error)
        number = self._count_call(plan, direct=True)
        decision = self.acting.make_decision(number, ActionForm(kind="code", text=instructions))
        data = {**decision, "usage": Usage().as_dict()}
        self.register.move(plan.id, events.STEP_DECIDED, decide_while_working(data))
        return True

    def _complete_by_change(self, plan: AgentPlan, change: str) -> bool:
        """Close a checkpoint whose change passed its tests; a person decides on the change."""
        data = {
            "number": plan.checkpoint,
            "checkpoint": plan.current.id,
            "title": plan.current.title,
            "output": f"{change} passed its tests; a person decides on it",
            "steps": plan.spent,
        }
        self.register.move(plan.id, events.CHECKPOINT_COMPLETED, decide_while_working(data))
        return True

    # One model call

    def _ask_model(self, plan: AgentPlan) -> bool:
        if plan.spent >= self.contracts.budget(plan):
            return self._block_on_budget(plan)
        try:
            model = self.models.current(account_of(plan))
        except AstraError as error:
            return self._block_without_model(plan, error)
        number = self._count_call(plan)
        plan = self.register.get(plan.id)
        granted = self.contracts.permissions(plan.id)
        prompt = history.prompt_for(
            self.register,
            plan,
            granted,
            self.acting.describe_tools(granted),
            digest=self.digest(),
            proposal=self.proposed.find_outcome(plan),
        )
        try:
            result = ask_in_form(
                model,
                prompt,
                ActionForm,
                read=read_action,
                count=lambda usage: self._count_retry(plan, number, usage),
            )
        except AstraError as error:
            return self._close_call(plan, number, error)
        try:
            if result.answer is None:
                return self._block_on_form(plan, number, result)
            return self._record_action(number, plan, result.answer, result.reply)
        except (Halted, IllegalMove):
            self._set_aside(plan, number, result.reply)
            raise

    def _count_call(self, plan: AgentPlan, *, direct: bool = False) -> int:
        """Spend one step before the call; the operator's words go along, each exactly once.

        A `direct` step calls no model itself: its instructions are the plan's own.
        """

        def decide(now: AgentPlan) -> Mapping[str, Any]:
            refuse_unless_working(now)
            messages = self.register.messages(plan.id, undelivered=True)
            return {
                "step": now.steps + 1,
                "checkpoint": now.checkpoint,
                "messages": [message.sequence for message in messages],
                **({"direct": True} if direct else {}),
            }

        record = self.register.move(
            plan.id,
            events.STEP_STARTED,
            decide,
            key=lambda now: f"step:{now.id}:{now.steps + 1}",
        )
        return int(record.data["step"])

    def _count_retry(self, plan: AgentPlan, number: int, usage: Usage) -> None:
        """Count a call whose answer was not in the form; it is asked again and costs no step."""
        usage_data = {**usage.as_dict(), "drafting_calls": 1}
        data = {"step": number, "set_aside": False, "usage": usage_data}
        self.register.move(plan.id, events.USAGE_COUNTED, lambda _plan: data)

    def _record_action(
        self, number: int, plan: AgentPlan, action: ActionForm, reply: Reply
    ) -> bool:
        """Record what the model wants; what cannot be kept costs its step and is told so."""
        try:
            decision = self.acting.make_decision(number, action)
        except AstraError as error:
            self._finish_malformed(plan, number, reply, f"{error.detail}; {error.next_step}")
            return True
        except (ValueError, RecursionError):
            why = "nested too deeply to be written down"
            self._finish_malformed(plan, number, reply, why)
            return True
        if repetition := self._find_repetition(plan, decision["digest"]):
            why = f"{repetition}: {action.tool or action.kind}"
            return self._block_on_answer(plan, number, reply, why)
        data = {**decision, "usage": reply.usage.as_dict()}
        self.register.move(plan.id, events.STEP_DECIDED, decide_while_working(data))
        return True

    def _find_repetition(self, plan: AgentPlan, digest: str) -> str:
        """Say how an action repeats what was done, where that goes too far; empty otherwise."""
        steps = self.register.steps(plan.id, checkpoint=plan.checkpoint)
        marks = history.list_marks(steps)
        loop = find_loop(marks)
        if loop is None or marks[-loop.period][0] != digest:
            return ""
        if loop.period == 1 and marks[-1][1] in {"refused", "failed"}:
            return "the model would do the same a third time, which came to nothing twice"
        if loop.rounds < MOST_ROUNDS:
            return ""
        return f"the model goes round in circles: {loop.rounds} rounds with the same results"

    def _finish_malformed(self, plan: AgentPlan, number: int, reply: Reply, why: str) -> None:
        data = {
            "step": number,
            "outcome": "malformed",
            "result": why,
            "usage": reply.usage.as_dict(),
        }
        self.register.move(plan.id, events.STEP_FINISHED, lambda _plan: data)

    def _set_aside(self, plan: AgentPlan, number: int, reply: Reply) -> None:
        """Count what an answer cost that came after somebody halted the plan."""
        data = {"step": number, "set_aside": True, "usage": reply.usage.as_dict()}
        self.register.move(plan.id, events.USAGE_COUNTED, lambda _plan: data)

    def _close_call(self, plan: AgentPlan, number: int, error: AstraError) -> bool:
        """Say how a call ended that brought no answer."""
        if isinstance(error, SpendRefused):
            return self._block_before_call(plan, number, error)
        if isinstance(error, ModelCancelled):
            return self._note_cancelled(plan, number)
        return self._model_failed(plan, number, error)

    def _note_cancelled(self, plan: AgentPlan, number: int) -> bool:
        """Say that a call was ended with its plan; what it cost nobody was told."""
        data = {"step": number, "set_aside": True, "cancelled": True, "usage": Usage().as_dict()}
        self.register.move(plan.id, events.USAGE_COUNTED, lambda _plan: data)
        return False

    def _model_failed(self, plan: AgentPlan, number: int, error: AstraError) -> bool:
        """Try again after 5, 15 and 45 seconds; then wait for somebody to look at the model."""
        if plan.failures >= len(BACKOFF_SECONDS):
            return self._block_on_model(plan, number, error.detail)
        pause = pause_before(plan.failures, error)
        data = {
            "step": number,
            "reason": one_line(error.detail, 500),
            "failures": plan.failures + 1,
            "retry_at": format_time(parse_time(self.register.now()) + pause),
            "usage": Usage().as_dict(),
        }
        self.register.move(plan.id, events.MODEL_FAILED, lambda _plan: data)
        return False

    # Blocks

    def _block_before_call(self, plan: AgentPlan, number: int, error: SpendRefused) -> bool:
        """Stop before a call that would pass a cap on spending; the model was not asked."""
        failed = _make_failed_event(plan, number, error.detail)
        block_on_cap(self.register, plan, number, error, failed)
        return False

    def _is_free(self, plan: AgentPlan) -> bool:
        """Tell whether a plan is not blocked, or only by a cap that has room again."""
        if plan.state is not State.BLOCKED_ON_BUDGET:
            return True
        return OVER_CAP in (plan.block or {}) and not self.room.waits(plan.id)

    def _go_on_with_room(self, plan: AgentPlan) -> bool:
        """Let a plan go on that a cap on spending stopped, now that there is room again."""

        def decide(now: AgentPlan) -> Mapping[str, Any]:
            if now.state is not State.BLOCKED_ON_BUDGET or not self._is_free(now):
                raise Halted(f"{now.id} is {now.state}", next_step=f"astra plans show {now.id}")
            return {"reason": "there is room under the cap on spending"}

        self.register.move(plan.id, events.RESUMED, decide)
        return True

    def _block_on_model(self, plan: AgentPlan, number: int, why: str) -> bool:
        failed = _make_failed_event(plan, number, why)
        summary = f"the model does not answer: {one_line(why, 300)}"
        block(self.register, plan, events.BLOCKED_ON_LLM, {"step": number}, summary, failed)
        return False

    def _block_on_form(self, plan: AgentPlan, number: int, asked: Asked[ActionForm]) -> bool:
        """Stop with a clear end where no answer was an action, however often it was asked."""
        why = f"{asked.tries} answers in a row were no action in the form: {asked.problem}"
        answer = one_line(quote_answer(asked.reply), 300)
        return self._block_on_answer(plan, number, asked.reply, f"{why}; the last was: {answer}")

    def _block_on_answer(self, plan: AgentPlan, number: int, reply: Reply, why: str) -> bool:
        data = {
            "step": number,
            "outcome": "malformed",
            "result": mask(why)[: history.LONGEST_RESULT],
            "usage": reply.usage.as_dict(),
        }
        finished = events.make_event(
            events.STEP_FINISHED,
            plan.id,
            data,
            actor=events.DAEMON,
            correlation=plan.correlation,
        )
        summary = mask(one_line(why, 500))
        block(self.register, plan, events.BLOCKED_ON_LLM, {"step": number}, summary, finished)
        return False

    def _block_without_model(self, plan: AgentPlan, error: AstraError) -> bool:
        """Wait for a model to be configured; none was asked, so no step is spent."""
        summary = one_line(f"{error.detail}; {error.next_step}", 500)
        block(self.register, plan, events.BLOCKED_ON_LLM, {"step": plan.steps}, summary)
        return False

    def _block_on_budget(self, plan: AgentPlan) -> bool:
        budget = self.contracts.budget(plan)
        summary = f"{plan.spent} of {budget} steps of “{plan.current.title[:80]}” are spent"
        block(self.register, plan, events.BLOCKED_ON_BUDGET, {"budget": budget}, summary)
        return False

    def _note_overrun(self, plan: AgentPlan) -> None:
        """Say once that a plan runs twice as long as it was estimated."""
        if plan.overran or plan.started_at is None or plan.plan is None:
            return
        minutes = plan.plan.estimated_duration_minutes
        ran = parse_time(self.register.now()) - parse_time(plan.started_at)
        if ran < timedelta(minutes=2 * minutes):
            return
        began = int(ran.total_seconds() // 60)
        summary = (
            f"{talk.quote_goal(plan)} takes twice its estimate of {minutes} minutes: {began} so far"
        )
        self.register.move(
            plan.id,
            events.OVERRAN,
            lambda _plan: {"estimated_duration_minutes": minutes},
            beside=lambda now: (talk.make_message_event(now, talk.UPDATE, summary),),
        )


def _make_failed_event(plan: AgentPlan, number: int, why: str) -> Event:
    data = {
        "step": number,
        "reason": one_line(why, 500),
        "failures": 0,
        "retry_at": None,
        "usage": Usage().as_dict(),
    }
    return events.make_event(
        events.MODEL_FAILED, plan.id, data, actor=events.DAEMON, correlation=plan.correlation
    )
