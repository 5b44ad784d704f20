"""The runner: one step of one plan at a time, each derived from what the ledger says.

    verify → budget → model → action → gate → tool in the plan's box → record

A step's model call is counted before it is made; its action is recorded before it is judged, and an
action with an effect is claimed, once and for all, before it begins. So kill -9 between any two
lines resumes at the same step: what was only thought is done, what may have happened is told to the
model as interrupted and never done again.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from pydantic import ValidationError

from astra.plans import events, history, talk
from astra.plans.acting import Acting
from astra.plans.allowlist import Allowlist
from astra.plans.drafting import BACKOFF_SECONDS, pause_before
from astra.plans.exports import Exports
from astra.plans.forms import ActionForm
from astra.plans.model import AgentPlan
from astra.plans.moves import Halted, block, refuse_unless_working, working
from astra.plans.ports import ModelSource, Reply, Usage
from astra.plans.register import Register
from astra.plans.states import UNDER_CONTRACT, WORKING, IllegalMove, State
from astra.plans.terms import Contracts
from astra.trusted.kernel.clock import format_time, parse_time
from astra.trusted.kernel.errors import AstraError, DuplicateKey
from astra.trusted.kernel.text import one_line
from astra.trusted.ledger.record import Event
from astra.trusted.sandbox.ports import Boxes

_EVERY_STATE_DUE = (*WORKING, State.APPROVED)


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

    def due(self) -> list[str]:
        """Name the plans that can take a step now, no more than may run at once."""
        plans = [plan for plan in self.register.in_states(_EVERY_STATE_DUE) if plan.plan]
        if not plans or self.closed():
            return []
        now = self.register.now()
        working = [plan for plan in plans if plan.state in WORKING]
        ready = [plan for plan in working if plan.due is None or plan.due <= now]
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
            except (Halted, IllegalMove):
                continue

    def step(self, identifier: str) -> bool:
        """Take the next step of a plan; tells whether another can follow at once."""
        if self.closed():
            return False
        try:
            return self._step(identifier)
        except (Halted, IllegalMove, DuplicateKey):
            return False

    def abort(self, identifier: str, reason: str, *, actor: str, detail: str = "") -> None:
        """End a plan for good, and every process that runs for it."""

        def said(plan: AgentPlan) -> tuple[Event, ...]:
            return (talk.sent(plan, talk.ABORTED, f"{talk.summary(plan)} was ended: {reason}"),)

        data = {"reason": reason, "detail": one_line(detail, 500)}
        self.register.move(identifier, events.ABORTED, lambda _plan: data, actor=actor, beside=said)
        self.boxes.end(identifier, "its plan was ended")

    def _step(self, identifier: str) -> bool:
        self.exports.export(identifier)
        plan = self.register.get(identifier)
        if plan.state not in _EVERY_STATE_DUE or plan.plan is None:
            return False
        self._refuse_tampered(plan)
        self._note_overrun(plan)
        if plan.state is State.APPROVED:
            return self._start(plan)
        if plan.done > plan.checkpoint:
            return self._next_checkpoint(plan)
        return self._work(plan)

    def _refuse_tampered(self, plan: AgentPlan) -> None:
        if reason := self.exports.tampered(plan):
            detail = "its files or its record are not what the operator signed"
            self.abort(plan.id, reason, actor=events.DAEMON, detail=detail)
            raise Halted(f"{plan.id} was ended: {reason}", next_step=f"astra plans show {plan.id}")

    def _start(self, plan: AgentPlan) -> bool:
        assert plan.plan is not None  # noqa: S101 - it was approved, so it was drafted
        data = {**events.counts(plan.plan), "plan_hash": plan.plan_hash}
        self.register.move(plan.id, events.STARTED, lambda _plan: data)
        return True

    def _next_checkpoint(self, plan: AgentPlan) -> bool:
        assert plan.plan is not None  # noqa: S101 - as above
        if plan.done >= len(plan.plan.checkpoints):
            self._complete(plan)
            return False
        checkpoint = plan.plan.checkpoints[plan.done]
        data = {
            "number": plan.done,
            "checkpoint": checkpoint.id,
            "title": checkpoint.title,
            "step_budget": checkpoint.step_budget,
        }
        self.register.move(plan.id, events.CHECKPOINT_STARTED, working(data))
        return True

    def _complete(self, plan: AgentPlan) -> None:
        assert plan.plan is not None  # noqa: S101 - as above
        data = {
            **events.counts(plan.plan),
            "steps": plan.steps,
            "calls": plan.calls,
            "tokens": plan.tokens,
        }
        self.register.move(
            plan.id,
            events.COMPLETED,
            working(data),
            beside=lambda now: (talk.sent(now, talk.DONE, f"{talk.summary(now)} is done"),),
        )

    def _work(self, plan: AgentPlan) -> bool:
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
        return self._ask(plan)

    # One model call

    def _ask(self, plan: AgentPlan) -> bool:
        if plan.spent >= self.contracts.budget(plan):
            return self._block_on_budget(plan)
        number = self._count_call(plan)
        plan = self.register.get(plan.id)
        granted = self.contracts.permissions(plan.id)
        prompt = history.prompt_for(self.register, plan, granted, self.acting.tools(granted))
        try:
            reply = self.models.current().ask(prompt, form=ActionForm)
        except AstraError as error:
            return self._model_failed(plan, number, error)
        try:
            return self._take(number, plan, reply)
        except (Halted, IllegalMove):
            self._set_aside(plan, number, reply)
            raise

    def _count_call(self, plan: AgentPlan) -> int:
        """Spend one step before the call; the operator's words go along, each exactly once."""

        def decide(now: AgentPlan) -> Mapping[str, Any]:
            refuse_unless_working(now)
            messages = self.register.messages(plan.id, undelivered=True)
            return {
                "step": now.steps + 1,
                "checkpoint": now.checkpoint,
                "messages": [message.sequence for message in messages],
            }

        record = self.register.move(
            plan.id,
            events.STEP_STARTED,
            decide,
            key=lambda now: f"step:{now.id}:{now.steps + 1}",
        )
        return int(record.data["step"])

    def _take(self, number: int, plan: AgentPlan, reply: Reply) -> bool:
        """Record what the model wants; what is not in the form costs its step and is told so."""
        try:
            action = ActionForm.model_validate(reply.document)
            decision = self.acting.decided(number, action)
        except ValidationError as error:
            many = f"{error.error_count()} problems"
            self._finish_malformed(plan, number, reply, f"not an action in the form, {many}")
            return True
        except AstraError as error:
            self._finish_malformed(plan, number, reply, f"{error.detail}; {error.next_step}")
            return True
        except (ValueError, RecursionError):
            why = "nested too deeply to be written down"
            self._finish_malformed(plan, number, reply, why)
            return True
        data = {**decision, "usage": reply.usage.as_dict()}
        self.register.move(plan.id, events.STEP_DECIDED, working(data))
        return True

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

    def _block_on_model(self, plan: AgentPlan, number: int, why: str) -> bool:
        failed = events.made(
            events.MODEL_FAILED,
            plan.id,
            {
                "step": number,
                "reason": one_line(why, 500),
                "failures": 0,
                "retry_at": None,
                "usage": Usage().as_dict(),
            },
            actor=events.DAEMON,
            correlation=plan.correlation,
        )
        summary = f"the model does not answer: {one_line(why, 300)}"
        block(self.register, plan, events.BLOCKED_ON_LLM, {"step": number}, summary, failed)
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
            f"{talk.summary(plan)} takes twice its estimate of {minutes} minutes: {began} so far"
        )
        self.register.move(
            plan.id,
            events.OVERRAN,
            lambda _plan: {"estimated_duration_minutes": minutes},
            beside=lambda now: (talk.sent(now, talk.UPDATE, summary),),
        )
