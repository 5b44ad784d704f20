"""From a description to a plan: a model asks, then drafts; the server checks.

Each call is one step that follows from the state (`draft_pending` without open questions), so a
crash repeats at most the call that was under way. A model that does not answer is asked again after
5, 15 and 45 seconds; one whose plan does not hold is told why, as often. Then drafting fails, with
a reason and never with a stack trace.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, cast

from astra.plans import events, prompts, states
from astra.plans.book import LONGEST_DESCRIPTION, Plans, channels_of, text
from astra.plans.forms import DraftForm
from astra.plans.model import AgentPlan
from astra.plans.ports import ModelSource, ModelUnavailable, Prompt, Reply, Usage
from astra.plans.register import Register
from astra.plans.skills import offered
from astra.plans.states import State
from astra.trusted.kernel.clock import format_time, parse_time
from astra.trusted.kernel.errors import AstraError, BadInput, Conflict
from astra.trusted.kernel.ids import random_id
from astra.trusted.kernel.text import one_line

BACKOFF_SECONDS = (5, 15, 45)
_AT_ONCE = timedelta()
MOST_QUESTIONS, LONGEST_QUESTION, LONGEST_ANSWER = 5, 500, 8_000
TOO_VAGUE, UNAVAILABLE, INVALID = "description_too_vague", "model_unavailable", "plan_invalid"


@dataclass(frozen=True, kw_only=True)
class Drafting:
    plans: Plans
    models: ModelSource
    most_rounds: int
    enabled: Callable[[], bool]

    @property
    def register(self) -> Register:
        return self.plans.register

    def request(
        self, description: str, *, channels: Sequence[str] = (), actor: str, correlation: str
    ) -> AgentPlan:
        """Ask for a plan in words; a model drafts it as soon as the daemon gets to it."""
        clean_description = text(description, LONGEST_DESCRIPTION)
        if not clean_description:
            raise BadInput("say what is to be done", next_step="describe the project")
        self.models.current()
        self.plans.refuse_flood()
        identifier = random_id("plan")
        data = {"description": clean_description, "channels": channels_of(channels)}
        event = events.made(
            events.REQUESTED, identifier, data, actor=actor, correlation=correlation
        )
        self.register.ledger.append([event], expect={identifier: 0})
        return self.register.get(identifier)

    def answer(self, identifier: str, answer: str, *, actor: str) -> AgentPlan:
        """Answer the questions that drafting waits for."""
        clean_answer = text(answer, LONGEST_ANSWER)

        def decide(plan: AgentPlan) -> dict[str, Any]:
            if plan.state is not State.DRAFT_PENDING or not plan.questions:
                raise Conflict(
                    f"{identifier} is {plan.state} and has asked nothing",
                    code="nothing_asked",
                    next_step=f"astra plans show {identifier}",
                )
            if not clean_answer:
                raise BadInput("that is no answer", next_step="answer the questions in words")
            return {"answer": clean_answer, "round": plan.round}

        self.register.move(identifier, events.ANSWERED, decide, actor=actor)
        return self.register.get(identifier)

    def due(self) -> list[AgentPlan]:
        """Name the plans for which a model is to be called now."""
        pending = self.register.in_states([State.DRAFT_PENDING])
        if not pending or not self.enabled():
            return []
        now = self.register.now()
        return [
            plan for plan in pending if not plan.questions and (plan.due is None or plan.due <= now)
        ]

    def advance(self, identifier: str) -> None:
        """Call the model once for a plan that waits to be drafted, and record what came of it."""
        plan = self.register.get(identifier)
        if plan.state is not State.DRAFT_PENDING or plan.questions or not self.enabled():
            return
        try:
            reply = self.models.current().ask(self._prompt(plan), form=DraftForm)
        except AstraError as error:
            pause = pause_before(plan.failures, error)
            self._retry(plan, error.detail, Usage(), reason=UNAVAILABLE, pause=pause)
            return
        self._take(plan, reply)

    def _take(self, plan: AgentPlan, reply: Reply) -> None:
        questions, document = _read(reply)
        try:
            if questions:
                self._question(plan, questions, reply.usage)
            else:
                self._draft(plan, document, reply.usage)
        except states.IllegalMove:
            # somebody decided while the model was thinking; it was paid for all the same
            usage_data = {"step": 0, "set_aside": False, "usage": _spent(reply.usage)}
            self.register.move(plan.id, events.USAGE_COUNTED, lambda _plan: usage_data)
        except AstraError as error:
            self._retry(plan, error.detail, reply.usage, reason=INVALID)

    def _question(self, plan: AgentPlan, questions: list[str], usage: Usage) -> None:
        if plan.round >= self.most_rounds:
            self._fail(plan, TOO_VAGUE, f"still unclear after {plan.round} rounds", usage)
            return
        data = {"questions": questions, "round": plan.round + 1, "usage": _spent(usage)}
        self.register.move(plan.id, events.QUESTIONED, lambda _plan: data)

    def _draft(self, plan: AgentPlan, document: Any, usage: Usage) -> None:
        drafted, ignored = self.plans.checked(document)
        data = {
            **events.counts(drafted),
            "plan": drafted.as_dict(),
            "plan_hash": drafted.hash(),
            "ignored_keys": list(ignored),
            "usage": _spent(usage),
            "prompt": prompts.DRAFTING,
            "model": self.models.current().name,
        }
        self.register.move(plan.id, events.DRAFTED, lambda _plan: data)
        self.plans.ask(plan.id)

    def _retry(
        self,
        plan: AgentPlan,
        why: str,
        usage: Usage,
        *,
        reason: str,
        pause: timedelta = _AT_ONCE,
    ) -> None:
        if plan.failures >= len(BACKOFF_SECONDS):
            self._fail(plan, reason, why, usage)
            return
        data = {
            "reason": one_line(why, 500),
            "failures": plan.failures + 1,
            "retry_at": format_time(parse_time(self.register.now()) + pause),
            "usage": _spent(usage),
        }
        self.register.move(plan.id, events.DRAFTING_RETRIED, lambda _plan: data)

    def _fail(self, plan: AgentPlan, reason: str, detail: str, usage: Usage) -> None:
        data = {"reason": reason, "detail": one_line(detail, 500), "usage": _spent(usage)}
        self.register.move(plan.id, events.FAILED, lambda _plan: data)

    def _prompt(self, plan: AgentPlan) -> Prompt:
        talk = [
            prompts.untrusted(
                "your question" if message.direction == "sent" else "answer", message.text
            )
            for message in self.register.messages(plan.id)
        ]
        trouble = (
            [prompts.untrusted("what was wrong last time", plan.reason)] if plan.reason else []
        )
        skills = ", ".join(offered(self.plans.rules().skills))
        return Prompt(
            rules=prompts.rules(prompts.DRAFTING),
            data=(
                f"skills: {skills}",
                prompts.untrusted("description", plan.description),
                *talk,
                *trouble,
            ),
            version=prompts.DRAFTING,
        )


def pause_before(failures: int, error: AstraError) -> timedelta:
    """Say how long to wait before a model is asked again: as we do, or longer if it asked us to."""
    requested_seconds = error.patience if isinstance(error, ModelUnavailable) else 0
    usual = BACKOFF_SECONDS[min(failures, len(BACKOFF_SECONDS) - 1)]
    return timedelta(seconds=max(usual, requested_seconds))


def _read(reply: Reply) -> tuple[list[str], Any]:
    """Take questions and plan out of whatever a model said."""
    if not isinstance(reply.document, dict):
        return [], reply.document
    document = cast("dict[str, Any]", reply.document)
    raw_questions = document.get("questions")
    items = cast("list[Any]", raw_questions) if isinstance(raw_questions, list) else []
    questions = [one_line(item, LONGEST_QUESTION) for item in items if isinstance(item, str)]
    questions = [question for question in questions if question.strip()][:MOST_QUESTIONS]
    if isinstance(document.get("plan"), dict):
        return [], document["plan"]
    return questions, document


def _spent(usage: Usage) -> dict[str, int]:
    return {**usage.as_dict(), "drafting_calls": 1}
