"""Small, bounded questions to a model: what passages say, and in which order claims belong.

A model names passages and claims by number and copies quotes; it calls nothing, names no address
and writes no summary. Whatever it answers is read generously and checked: what does not fit is left
out, and a claim without a quote that is found is only counted.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from pydantic import BaseModel, Field

from astra.plans.ports import ModelSource, NoModel, Prompt, Reply
from astra.plans.prompts import untrusted
from astra.research import prompts
from astra.research.model import LONGEST_CLAIM, Finding, Passage
from astra.spend.model import NOBODY, Account
from astra.trusted.kernel.errors import AstraError, LedgerError
from astra.trusted.kernel.text import one_line

MOST_CLAIMS, MOST_QUESTIONS, MOST_OPEN, MOST_PAIRS = 6, 2, 3, 6
LONGEST_FOLLOW_UP = 300


class ClaimForm(BaseModel):
    passage: int = Field(description="the number of the passage")
    claim: str = Field(description="one plain sentence")
    quote: str = Field(description="words of the passage, copied exactly")


class ReadingForm(BaseModel):
    claims: list[ClaimForm] = []
    questions: list[str] = []


class OrderingForm(BaseModel):
    order: list[int] = []
    contested: list[list[int]] = []
    open_questions: list[str] = []


@dataclass(frozen=True, kw_only=True)
class Claim:
    """What a model said about one passage, not checked yet."""

    passage: Passage
    text: str
    quote: str


@dataclass(frozen=True, kw_only=True)
class Reading:
    """What came of a model's reading; `malformed` claims named no passage or had no text."""

    claims: tuple[Claim, ...] = ()
    questions: tuple[str, ...] = ()
    malformed: int = 0
    tokens: int = 0
    model: str = ""
    trouble: str = ""


@dataclass(frozen=True, kw_only=True)
class Ordering:
    order: tuple[int, ...] = ()
    contested: tuple[tuple[int, int], ...] = ()
    open_questions: tuple[str, ...] = ()
    tokens: int = 0
    model: str = ""
    trouble: str = ""


@dataclass(frozen=True, kw_only=True)
class Reader:
    models: ModelSource

    def is_there(self) -> bool:
        try:
            self.models.current()
        except NoModel:
            return False
        return True

    def read(
        self, question: str, passages: Sequence[Passage], account: Account = NOBODY
    ) -> Reading:
        """Have a model say what passages tell about a question."""
        parts = [untrusted(_name_passage(n, p), p.text) for n, p in enumerate(passages, 1)]
        prompt = _build_prompt(prompts.READING, question, parts)
        try:
            model = self.models.current(account)
            reply = model.ask(prompt, form=ReadingForm)
        except LedgerError:
            raise
        except AstraError as error:
            return Reading(trouble=error.detail)
        return _parse_reading(reply, passages, model.name)

    def order(
        self, question: str, findings: Sequence[Finding], account: Account = NOBODY
    ) -> Ordering:
        """Have a model arrange supported claims; it adds none."""
        parts = [untrusted(f"claim {n}", f.claim) for n, f in enumerate(findings, 1)]
        prompt = _build_prompt(prompts.ORDERING, question, parts)
        try:
            model = self.models.current(account)
            reply = model.ask(prompt, form=OrderingForm)
        except LedgerError:
            raise
        except AstraError as error:
            return Ordering(trouble=error.detail)
        return _parse_ordering(reply, len(findings), model.name)


def _name_passage(number: int, passage: Passage) -> str:
    return one_line(f"passage {number} {passage.target.place}", 200)


def _build_prompt(version: str, question: str, data: Sequence[str]) -> Prompt:
    return Prompt(
        rules=prompts.rules(version),
        data=(untrusted("question", question), *data),
        version=version,
    )


def _parse_reading(reply: Reply, passages: Sequence[Passage], model: str) -> Reading:
    document = _read_table(reply.document)
    items = _read_list(document.get("claims"))[:MOST_CLAIMS]
    claims = [claim for item in items if (claim := _parse_claim(item, passages))]
    return Reading(
        claims=tuple(claims),
        questions=tuple(_read_texts(document.get("questions"), MOST_QUESTIONS)),
        malformed=len(items) - len(claims),
        tokens=reply.usage.tokens,
        model=model,
        trouble="" if document else "the model's answer was not in its form",
    )


def _parse_claim(item: Any, passages: Sequence[Passage]) -> Claim | None:
    fields = _read_table(item)
    number, text, quote = fields.get("passage"), fields.get("claim"), fields.get("quote")
    if type(number) is not int or not 1 <= number <= len(passages):
        return None
    if not isinstance(text, str) or not isinstance(quote, str) or not text.strip():
        return None
    clean_text = one_line(" ".join(text.split()), LONGEST_CLAIM)
    return Claim(passage=passages[number - 1], text=clean_text, quote=quote)


def _parse_ordering(reply: Reply, count: int, model: str) -> Ordering:
    document = _read_table(reply.document)
    order = dict.fromkeys(_read_numbers(document.get("order"), count))
    return Ordering(
        order=tuple(order),
        contested=tuple(_read_pairs(document.get("contested"), count)),
        open_questions=tuple(_read_texts(document.get("open_questions"), MOST_OPEN)),
        tokens=reply.usage.tokens,
        model=model,
    )


def _read_pairs(value: Any, count: int) -> Iterator[tuple[int, int]]:
    for item in _read_list(value)[:MOST_PAIRS]:
        numbers = list(dict.fromkeys(_read_numbers(item, count)))
        if len(numbers) == 2:  # noqa: PLR2004 - a pair
            yield numbers[0], numbers[1]


def _read_numbers(value: Any, count: int) -> Iterator[int]:
    """Give numbers of claims, counted from 0."""
    for number in _read_list(value):
        if type(number) is int and 1 <= number <= count:
            yield number - 1


def _read_texts(value: Any, most: int) -> list[str]:
    texts = [text for text in _read_list(value) if isinstance(text, str) and text.strip()]
    return [one_line(" ".join(text.split()), LONGEST_FOLLOW_UP) for text in texts[:most]]


def _read_table(value: Any) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", value) if isinstance(value, dict) else {}


def _read_list(value: Any) -> list[Any]:
    return cast("list[Any]", value) if isinstance(value, list) else []
