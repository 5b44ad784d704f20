"""What an operator does to a plan: pause, resume, abort, grant, skip, extend, retry, talk.

Tightening is free: pause, abort, skip, silence. Loosening is signed: more permissions, a
destructive step, more budget, a step once more, going on after a pause. `wanted` gives exactly what
is to be signed.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from astra.plans import events, retries, talk
from astra.plans.book import check_text
from astra.plans.model import AgentPlan
from astra.plans.refusals import make_refused_result
from astra.plans.register import Register
from astra.plans.runner import Runner
from astra.plans.schema import LARGEST_STEP_BUDGET
from astra.plans.states import BLOCKED, State
from astra.trusted.kernel.errors import BadInput, Conflict
from astra.trusted.kernel.text import one_line
from astra.trusted.ledger import unseen
from astra.trusted.ledger.record import Event
from astra.trusted.policy import authority
from astra.trusted.policy.authority import Signed

_LONGEST_REASON = 500
_MOVED_BY: Mapping[str, tuple[tuple[str, ...], str, tuple[str, ...]]] = {
    events.BUDGET_EXTENDED: (
        ("checkpoint", "budget"),
        "the step budget",
        (events.CHECKPOINT_STARTED, events.BUDGET_EXTENDED),
    ),
    events.STEP_RETRIED: (("outcome", "again"), "the last step", (events.STEP_RETRIED,)),
}
"""Decisions that start from what the same decision changes: from what, in words, and by which."""


@dataclass(frozen=True, kw_only=True)
class Control:
    register: Register
    runner: Runner

    def pause(self, identifier: str, *, actor: str, reason: str = "") -> None:
        clean_reason = check_text(reason, _LONGEST_REASON) or "paused by hand"
        self.register.move(
            identifier, events.PAUSED, lambda _plan: {"reason": clean_reason}, actor=actor
        )

    def abort(self, identifier: str, *, actor: str, reason: str = "") -> None:
        clean_reason = check_text(reason, _LONGEST_REASON) or "ended by hand"
        self.runner.abort(identifier, clean_reason, actor=actor)

    def skip(
        self, identifier: str, *, actor: str, reason: str = "", seen: int | None = None
    ) -> None:
        """Leave out the action that a plan waits to do; the model is told.

        `seen` is the step that was looked at; if another one waits by now, nothing is done.
        """
        clean_reason = check_text(reason, _LONGEST_REASON) or "the operator skipped it"

        def decide(plan: AgentPlan) -> Mapping[str, Any]:
            step = self._blocked_step(plan)
            _refuse_if_moved(plan, seen)
            skipped = {"step": step, "reason": clean_reason}
            block = plan.block or {}
            if "ran" not in block:
                return skipped
            return {
                **skipped,
                "ran": make_refused_result(block, clean_reason),
                "items": block["items"],
            }

        self.register.move(
            identifier,
            events.ACTION_SKIPPED,
            decide,
            actor=actor,
            beside=_make_resume_events("skipped"),
        )

    def message(self, identifier: str, words: str, *, actor: str) -> None:
        """Tell a plan something; its next step reads it, and an open question is answered by it."""
        clean_text = check_text(words, talk.LONGEST_MESSAGE)
        if not clean_text:
            raise BadInput("there is nothing to say", next_step="say something")

        def along(plan: AgentPlan) -> tuple[Event, ...]:
            awaits_answer = plan.state is State.PAUSED and plan.reason == talk.QUESTION
            return _make_resume_events("answered")(plan) if awaits_answer else ()

        self.register.move(
            identifier,
            events.MESSAGE_RECEIVED,
            lambda _plan: {"text": clean_text},
            actor=actor,
            beside=along,
        )

    def silence(self, identifier: str, *, on: bool, actor: str) -> None:
        self.register.move(identifier, events.SILENCED, lambda _plan: {"on": on}, actor=actor)

    # What is signed

    def describe_decision(
        self,
        identifier: str,
        action: str,
        *,
        once: bool = False,
        steps: int = 0,
        seen: int | None = None,
    ) -> dict[str, Any]:
        """Give the record that an operator would sign: its type and its content, in full."""
        plan = self.register.get(identifier)
        _refuse_if_moved(plan, seen)
        kind, decide = self._signed_move(plan, action, once=once, steps=steps)
        return {"type": kind, "content": events.data_of(kind, identifier, decide(plan))}

    def decide(
        self,
        identifier: str,
        action: str,
        signed: Signed,
        *,
        once: bool = False,
        steps: int = 0,
        seen: int | None = None,
    ) -> None:
        """Do what the operator signed for: grant, resume or extend.

        `seen` is the step that was looked at; if it is at another one by now, nothing is done.
        """
        plan = self.register.get(identifier)
        kind, decide = self._signed_move(plan, action, once=once, steps=steps)

        def decided(now: AgentPlan) -> Mapping[str, Any]:
            if kind in _MOVED_BY:
                self._refuse_if_signed_before(now, kind, decide(now), signed)
            _refuse_if_moved(now, seen)
            return decide(now)

        def sign(event: Event) -> Event:
            now = self.register.clock.now()
            return authority.signed_event(self.register.ledger, event, signed, now=now)

        goes_on = kind == events.STEP_RETRIED or (kind != events.RESUMED and plan.state in BLOCKED)
        self.register.move(
            identifier,
            kind,
            decided,
            actor="operator",
            sign=sign,
            beside=_make_resume_events(action) if goes_on else lambda _plan: (),
        )

    def _signed_move(
        self, plan: AgentPlan, action: str, *, once: bool, steps: int
    ) -> tuple[str, Callable[[AgentPlan], Mapping[str, Any]]]:
        if action == "resume":
            return events.RESUMED, lambda _plan: {"reason": "resumed by hand"}
        if action == "extend_budget":
            return events.BUDGET_EXTENDED, lambda now: self._build_extension(now, steps)
        if action == "retry":
            return events.STEP_RETRIED, self._build_retry
        if action != "grant":
            actions = "grant, resume, extend_budget, retry"
            raise BadInput(f"{action!r} is not signed", next_step=actions)
        if plan.state is State.BLOCKED_ON_DESTRUCTIVE:
            return events.ACTION_CONFIRMED, self._build_confirmation
        return events.PERMISSION_GRANTED, lambda now: self._build_grant(now, once=once)

    def _build_confirmation(self, plan: AgentPlan) -> Mapping[str, Any]:
        step = self._blocked_step(plan)
        block = plan.block or {}
        return {"step": step, "digest": block["digest"], "tool": block["tool"]}

    def _build_grant(self, plan: AgentPlan, *, once: bool) -> Mapping[str, Any]:
        """Grant what the plan waits for: for this step, or until it ends."""
        step = self._blocked_step(plan, State.BLOCKED_ON_PERMISSION)
        assert plan.grants is not None  # noqa: S101 - it runs, so it was approved
        block = plan.block or {}
        items = tuple((kind, value) for kind, value in block["items"])
        data: dict[str, Any] = {
            "step": step,
            "digest": block["digest"],
            "items": [list(item) for item in items],
            "once": once,
        }
        if once:
            return data
        more = plan.grants.plus(items)
        return {**data, "grants": more.as_dict(), "grants_hash": more.hash()}

    def _build_extension(self, plan: AgentPlan, steps: int) -> Mapping[str, Any]:
        if plan.checkpoint < 0:
            raise Conflict(f"{plan.id} has not begun", next_step="approve it and let it run")
        if steps < 1 or plan.budget + steps > LARGEST_STEP_BUDGET:
            raise BadInput(
                f"a checkpoint may have {LARGEST_STEP_BUDGET} steps in all; it has {plan.budget}",
                code="budget_ceiling",
                next_step=f"give 1 to {max(LARGEST_STEP_BUDGET - plan.budget, 0)} more",
            )
        return {"steps": steps, "checkpoint": plan.checkpoint, "budget": plan.budget + steps}

    def _build_retry(self, plan: AgentPlan) -> Mapping[str, Any]:
        """Let the step that a plan stands behind run once more, exactly as it was decided."""
        step = retries.find_retryable_step(self.register, plan)
        if step is None:
            raise Conflict(
                f"{plan.id} is {plan.state} and has no step to run once more",
                code="nothing_to_retry",
                next_step="only the last step, while the plan is paused or out of steps, and only"
                " if it failed, was refused or was cut off",
                state=str(plan.state),
            )
        return {
            "step": step.step,
            "digest": step.digest,
            "outcome": step.outcome,
            "again": step.again,
        }

    def _refuse_if_signed_before(
        self, plan: AgentPlan, kind: str, wanted: Mapping[str, Any], signed: Signed
    ) -> None:
        """Tell who signed the same as somebody before them what that moved.

        What it starts from (a total, an attempt) is in what they signed, so that is what they saw.
        Without this they would only hear that their signature does not fit.
        """
        content = signed.statement.get("content")
        expected_data = events.data_of(kind, plan.id, wanted)
        if not isinstance(content, dict) or content == expected_data:
            return
        starts_from, subject, by = _MOVED_BY[kind]
        if {**content, **{name: expected_data[name] for name in starts_from}} == expected_data:
            record = self.register.newest_record(plan.id, *by)
            more = {"budget": plan.budget, "state": str(plan.state)}
            raise unseen.unseen_change_error(f"{subject} of {plan.id}", record, **more)

    def _blocked_step(self, plan: AgentPlan, *wanted: State) -> int:
        states = wanted or (State.BLOCKED_ON_PERMISSION, State.BLOCKED_ON_DESTRUCTIVE)
        if plan.state not in states or not plan.block:
            raise Conflict(
                f"{plan.id} is {plan.state} and waits for no such decision",
                code="nothing_to_decide",
                next_step=f"astra plans show {plan.id}",
                state=str(plan.state),
            )
        return int(plan.block["step"])


def _refuse_if_moved(plan: AgentPlan, seen: int | None) -> None:
    """Keep somebody from deciding about a step that they never saw."""
    if seen in {None, plan.at_step}:
        return
    waits = (plan.block or {}).get("in_words")
    raise Conflict(
        f"you looked at step {seen}; {plan.id} is {plan.state} at step {plan.at_step} by now"
        + (f": {one_line(str(waits), 300)}" if waits else ""),
        code="stale_step",
        next_step="look at what it wants now, and decide about that",
        step=plan.at_step,
        state=str(plan.state),
    )


def _make_resume_events(reason: str) -> Callable[[AgentPlan], tuple[Event, ...]]:
    """Let the plan go on in the same batch as the decision it waited for."""

    def along(plan: AgentPlan) -> tuple[Event, ...]:
        event = events.make_event(
            events.RESUMED,
            plan.id,
            {"reason": reason},
            actor=events.DAEMON,
            correlation=plan.correlation,
        )
        return (event,)

    return along
