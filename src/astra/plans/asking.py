"""Asking a model for a form: what does not fit it goes back with the field and what it accepts.

An answer out of form is the server's problem to explain, not work that was done: it is asked again
at once, a few times, and whoever asked pays no step for it. Then it is an end in words.
"""

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any, Generic, TypeVar

from pydantic import BaseModel, ValidationError

from astra.plans import prompts
from astra.plans.answers import unwrap
from astra.plans.ports import Model, Prompt, Reply, Usage
from astra.trusted.kernel.masking import mask
from astra.trusted.kernel.text import one_line

MOST_TRIES = 3
F = TypeVar("F", bound=BaseModel)
_LONGEST_ANSWER, _LONGEST_PROBLEM, _MOST_PROBLEMS, _MOST_VALUES = 1_500, 600, 6, 40
Read = Callable[[Any], Any]
"""Brings a document nearer to its form; what it gives is checked by the form."""
Count = Callable[[Usage], None]
"""Hears the usage of each call whose answer did not fit, as it comes."""


@dataclass(frozen=True, kw_only=True)
class Asked(Generic[F]):
    """What came of asking: an answer in the form, or why the last one was none."""

    answer: F | None
    reply: Reply
    """The last reply; its usage is that of its own call alone."""
    problem: str = ""
    tries: int = 1
    earlier: Usage = field(default_factory=Usage)
    """What the answers before the last one cost."""

    @property
    def usage(self) -> Usage:
        return add_usages((self.earlier, self.reply.usage))


def ask_in_form(
    model: Model,
    prompt: Prompt,
    form: type[F],
    *,
    read: Read | None = None,
    count: Count = lambda _usage: None,
    most_tries: int = MOST_TRIES,
) -> Asked[F]:
    """Ask until an answer fits the form, `most_tries` times at most."""
    earlier, question = Usage(), prompt
    to_form: Read = read or (lambda document: unwrap(document, form.model_fields))
    for tries in range(1, most_tries + 1):
        reply = model.ask(question, form=form)
        try:
            answer = form.model_validate(to_form(reply.document))
        except (ValidationError, RecursionError) as error:
            problem = describe_problems(error, reply)
            if tries == most_tries:
                return Asked(
                    answer=None, reply=reply, problem=problem, tries=tries, earlier=earlier
                )
            count(reply.usage)
            earlier = add_usages((earlier, reply.usage))
            question = add_objection(prompt, reply, problem)
        else:
            return Asked(answer=answer, reply=reply, tries=tries, earlier=earlier)
    raise AssertionError("at least one try is made")


def add_objection(prompt: Prompt, reply: Reply, problem: str) -> Prompt:
    """Ask the same again with the model's own answer and what was wrong with it.

    Both come last, so that what stays the same comes first and a server's cache holds.
    """
    answer = quote_answer(reply) or "(nothing that can be read)"
    return replace(
        prompt,
        data=(
            *prompt.data,
            prompts.untrusted("your last answer", answer),
            prompts.untrusted("what is wrong with it", problem),
            "Answer again, and mend exactly that.",
        ),
    )


def quote_answer(reply: Reply) -> str:
    """Give the start of what a model said, without secrets."""
    text = reply.text or ("" if reply.document is None else _to_json(reply.document))
    return mask(text[:_LONGEST_ANSWER].encode("utf-8", errors="replace").decode())


def describe_problems(error: ValidationError | RecursionError, reply: Reply) -> str:
    """Name each field that does not fit, what was there, and what it accepts."""
    if reply.document is None or isinstance(error, RecursionError):
        return "it is not a JSON object in the form that was asked for"
    problems = error.errors(include_url=False)[:_MOST_PROBLEMS]
    return "; ".join(_describe_problem(dict(problem)) for problem in problems)[:_LONGEST_PROBLEM]


def add_usages(usages: Iterable[Usage]) -> Usage:
    every_usage = list(usages)
    return Usage(
        input_tokens=sum(usage.input_tokens for usage in every_usage),
        output_tokens=sum(usage.output_tokens for usage in every_usage),
    )


def _describe_problem(problem: dict[str, Any]) -> str:
    place = ".".join(str(part) for part in problem["loc"]) or "the answer"
    accepted_values = problem.get("ctx", {}).get("expected")
    wrong_value = one_line(_to_json(problem.get("input")), 80)
    if problem["type"] == "missing":
        return f"{place} is missing"
    if accepted_values:
        values = str(accepted_values).split(", ")
        return f"{place} is {wrong_value}; accepted: {', '.join(values[:_MOST_VALUES])}"
    return f"{place} is {wrong_value}: {one_line(str(problem['msg']), 150)}"


def _to_json(value: Any) -> str:
    try:
        return json.dumps(value, ensure_ascii=False, default=str)
    except (ValueError, RecursionError):
        return "(nested too deeply)"
