"""From a description to a plan: a model asks, then drafts; the server checks.

Each call is one step that follows from the state (`draft_pending` without open questions), so a
crash repeats at most the call that was under way. A model that does not answer is asked again after
5, 15 and 45 seconds; one whose plan does not hold is told why, as often. Then drafting fails, with
a reason and never with a stack trace.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from astra.plans import events, prompts, states
from astra.plans.asking import Asked, ask_in_form, quote_answer
from astra.plans.book import LONGEST_DESCRIPTION, Plans, check_text
from astra.plans.model import AgentPlan
from astra.plans.ports import (
    ModelCancelled,
    ModelSource,
    ModelUnavailable,
    NoModel,
    Prompt,
    Usage,
)
from astra.plans.register import Register
from astra.plans.sketches import (
    SketchForm,
    add_missing_skills,
    complete,
    list_short,
    make_form,
    rank_paths,
    read_sketch,
)
from astra.plans.skills import list_offered_skills
from astra.plans.states import State
from astra.spend.model import Account, SpendRefused, SpendRoom
from astra.trusted.kernel import cancellation
from astra.trusted.kernel.clock import format_time, parse_time
from astra.trusted.kernel.errors import AstraError, BadInput, Conflict
from astra.trusted.kernel.ids import random_id
from astra.trusted.kernel.text import one_line

BACKOFF_SECONDS = (5, 15, 45)
_AT_ONCE = timedelta()
MOST_QUESTIONS, LONGEST_QUESTION, LONGEST_ANSWER = 5, 500, 8_000
_GIVE_THE_PLAN = "astra plans draft --file plan.json"
TOO_VAGUE, UNAVAILABLE, INVALID = "description_too_vague", "model_unavailable", "plan_invalid"


@dataclass(frozen=True, kw_only=True)
class Drafting:
    plans: Plans
    models: ModelSource
    most_rounds: int
    enabled: Callable[[], bool]
    room: SpendRoom
    files: Callable[[], Sequence[str]] = list
    """Lists the files of the target on the trusted branch, as an agent sees them."""
    digest: Callable[[], str] = str
    """Gives what happened lately, in short; it is passed on as data."""

    @property
    def register(self) -> Register:
        return self.plans.register

    def request(
        self, description: str, *, channels: Sequence[str] = (), actor: str, correlation: str
    ) -> AgentPlan:
        """Ask for a plan in words; a model drafts it as soon as the daemon gets to it."""
        clean_description = check_text(description, LONGEST_DESCRIPTION)
        if not clean_description:
            raise BadInput("say what is to be done", next_step="describe the project")
        self._refuse_without_model()
        self.plans.refuse_flood()
        identifier = random_id("plan")
        data = {"description": clean_description, "channels": self.plans.check_channels(channels)}
        event = events.make_event(
            events.REQUESTED, identifier, data, actor=actor, correlation=correlation
        )
        self.register.ledger.append([event], expect={identifier: 0})
        return self.register.get(identifier)

    def _refuse_without_model(self) -> None:
        try:
            self.models.current()
        except NoModel as error:
            raise NoModel(
                f"{error.detail}, so nothing can be drafted from a description",
                next_step=f"{error.next_step}; or give the plan itself: {_GIVE_THE_PLAN}",
                code=error.reason,
            ) from None

    def answer(self, identifier: str, answer: str, *, actor: str) -> AgentPlan:
        """Answer the questions that drafting waits for."""
        clean_answer = check_text(answer, LONGEST_ANSWER)

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

    def list_due(self) -> list[AgentPlan]:
        """Name the plans for which a model is to be called now."""
        pending = self.register.in_states([State.DRAFT_PENDING])
        if not pending or not self.enabled():
            return []
        now = self.register.now()
        due = [
            plan for plan in pending if not plan.questions and (plan.due is None or plan.due <= now)
        ]
        return [plan for plan in due if not self.room.waits(plan.id)]

    def advance(self, identifier: str) -> None:
        """Call the model once for a plan that waits to be drafted, and record what came of it."""
        plan = self.register.get(identifier)
        if plan.state is not State.DRAFT_PENDING or plan.questions or not self.enabled():
            return
        paths = rank_paths(self.files(), plan.description)
        skills = list_short(list_offered_skills(self.plans.rules().skills))
        try:
            with cancellation.watch_cancellation(lambda: not self._is_pending(identifier)):
                result = ask_in_form(
                    self.models.current(account_of(plan)),
                    self._build_prompt(plan, paths, skills),
                    make_form(skills, paths),
                    read=lambda document: read_sketch(document, paths, skills),
                    count=lambda usage: self._count_retry(plan, usage),
                )
        except SpendRefused as error:
            self._wait_for_room(plan, error)
            return
        except ModelCancelled:
            self._count_retry(plan, Usage(), cancelled=True)
            return
        except AstraError as error:
            pause = pause_before(plan.failures, error)
            self._retry_or_fail(plan, error.detail, Usage(), reason=UNAVAILABLE, pause=pause)
            return
        self._record_reply(plan, result)

    def _is_pending(self, identifier: str) -> bool:
        return self.register.get(identifier).state is State.DRAFT_PENDING

    def _count_retry(self, plan: AgentPlan, usage: Usage, *, cancelled: bool = False) -> None:
        """Count a call whose answer brought no draft: it was not in the form, or came too late."""
        data = {"step": 0, "set_aside": False, "usage": _to_drafting_usage(usage)}
        data |= {"cancelled": True} if cancelled else {}
        self.register.move(plan.id, events.USAGE_COUNTED, lambda _plan: data)

    def _record_reply(self, plan: AgentPlan, asked: Asked[SketchForm]) -> None:
        usage, answer = asked.reply.usage, quote_answer(asked.reply)
        try:
            if asked.answer is None:
                why = f"{asked.tries} answers in a row were not in the form: {asked.problem}"
                self._record_failure(plan, INVALID, why, usage)
                return
            questions = _list_questions(asked.answer)
            if questions:
                self._record_questions(plan, questions, usage)
            else:
                self._record_draft(plan, asked.answer, usage)
        except states.IllegalMove:
            # somebody decided while the model was thinking; it was paid for all the same
            self._count_retry(plan, usage)
        except AstraError as error:
            why = f"{error.detail}; {error.next_step}"
            self._retry_or_fail(plan, why, usage, reason=INVALID, answer=answer)

    def _record_questions(self, plan: AgentPlan, questions: list[str], usage: Usage) -> None:
        if plan.round >= self.most_rounds:
            self._record_failure(plan, TOO_VAGUE, f"still unclear after {plan.round} rounds", usage)
            return
        data = {"questions": questions, "round": plan.round + 1, "usage": _to_drafting_usage(usage)}
        self.register.move(plan.id, events.QUESTIONED, lambda _plan: data)

    def _record_draft(self, plan: AgentPlan, sketch: SketchForm, usage: Usage) -> None:
        document = sketch.plan or complete(sketch)
        skills = list_offered_skills(self.plans.rules().skills)
        drafted, ignored = self.plans.check_document(add_missing_skills(document, skills))
        data = {
            **events.count_parts(drafted),
            "plan": drafted.as_dict(),
            "plan_hash": drafted.hash(),
            "ignored_keys": list(ignored),
            "usage": _to_drafting_usage(usage),
            "prompt": prompts.DRAFTING,
            "model": self.models.current().name,
        }
        self.register.move(plan.id, events.DRAFTED, lambda _plan: data)
        self.plans.ask(plan.id)

    def _retry_or_fail(
        self,
        plan: AgentPlan,
        why: str,
        usage: Usage,
        *,
        reason: str,
        pause: timedelta = _AT_ONCE,
        answer: str = "",
    ) -> None:
        if plan.failures >= len(BACKOFF_SECONDS):
            self._record_failure(plan, reason, why, usage)
            return
        data = {
            "reason": one_line(why, 500),
            "answer": answer,
            "failures": plan.failures + 1,
            "retry_at": format_time(parse_time(self.register.now()) + pause),
            "usage": _to_drafting_usage(usage),
        }
        self.register.move(plan.id, events.DRAFTING_RETRIED, lambda _plan: data)

    def _wait_for_room(self, plan: AgentPlan, error: SpendRefused) -> None:
        """Say what a draft waits for; it goes on when there is room under the cap."""
        data = {
            "reason": one_line(f"{error.detail}; {error.next_step}", 500),
            "answer": "",
            "failures": plan.failures,
            "retry_at": self.register.now(),
            "usage": Usage().as_dict(),
        }
        self.register.move(plan.id, events.DRAFTING_RETRIED, lambda _plan: data)

    def _record_failure(self, plan: AgentPlan, reason: str, detail: str, usage: Usage) -> None:
        data = {
            "reason": reason,
            "detail": one_line(detail, 500),
            "usage": _to_drafting_usage(usage),
        }
        self.register.move(plan.id, events.FAILED, lambda _plan: data)

    def _build_prompt(self, plan: AgentPlan, paths: list[str], skills: list[str]) -> Prompt:
        talk = [
            prompts.untrusted(
                "your question" if message.direction == "sent" else "answer", message.text
            )
            for message in self.register.messages(plan.id)
        ]
        return Prompt(
            rules=prompts.rules(prompts.DRAFTING),
            data=(
                f"skills: {', '.join(skills)}",
                *prompts.list_optional("files of the target", "\n".join(paths)),
                *prompts.list_optional(prompts.DIGEST, self.digest()),
                prompts.untrusted("description", plan.description),
                *talk,
                *prompts.list_optional("your last answer", plan.detail),
                *prompts.list_optional("what was wrong with it", plan.reason),
            ),
            version=prompts.DRAFTING,
        )


def account_of(plan: AgentPlan) -> Account:
    """Say on whose account a model is called for a plan."""
    return Account(plan=plan.id, correlation=plan.correlation)


def pause_before(failures: int, error: AstraError) -> timedelta:
    """Say how long to wait before a model is asked again: as we do, or longer if it asked us to."""
    requested_seconds = error.patience if isinstance(error, ModelUnavailable) else 0
    usual = BACKOFF_SECONDS[min(failures, len(BACKOFF_SECONDS) - 1)]
    return timedelta(seconds=max(usual, requested_seconds))


def _list_questions(sketch: SketchForm) -> list[str]:
    """Give what a model asks, unless it gave a plan as well."""
    if sketch.plan or sketch.steps:
        return []
    questions = [one_line(item, LONGEST_QUESTION) for item in sketch.questions]
    return [question for question in questions if question.strip()][:MOST_QUESTIONS]


def _to_drafting_usage(usage: Usage) -> dict[str, int]:
    return {**usage.as_dict(), "drafting_calls": 1}
