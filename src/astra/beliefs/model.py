"""A belief at one moment: Beta(1 + for, 1 + against), the mean of it and its 5 % bounds.

>>> confidence = Confidence(supporting=3.0, opposing=0.0)
>>> round(confidence.mean, 3), round(confidence.lower, 3)
(0.8, 0.473)
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import Any

from astra.beliefs import beta
from astra.trusted.kernel.errors import BadInput
from astra.trusted.kernel.masking import redact
from astra.trusted.kernel.text import one_line

LONGEST_STATEMENT, LONGEST_REASON = 500, 500
TAIL = 0.05
_MIDDLE = 0.5


class Standing(StrEnum):
    HELD = "held"
    DOUBTED = "doubted"
    OPEN = "open"


@dataclass(frozen=True)
class Confidence:
    """How much speaks for and against a belief, faded to one moment."""

    supporting: float
    opposing: float

    @cached_property
    def mean(self) -> float:
        return beta.mean(1 + self.supporting, 1 + self.opposing)

    @cached_property
    def lower(self) -> float:
        return beta.quantile(TAIL, 1 + self.supporting, 1 + self.opposing)

    @cached_property
    def upper(self) -> float:
        return beta.quantile(1 - TAIL, 1 + self.supporting, 1 + self.opposing)

    @property
    def standing(self) -> Standing:
        """Say on which side of the middle both bounds lie, without working the bounds out.

        The lower bound is at or above the middle where at most that tail lies below it.
        """
        below = beta.regularised_incomplete_beta(_MIDDLE, 1 + self.supporting, 1 + self.opposing)
        if below <= TAIL:
            return Standing.HELD
        return Standing.DOUBTED if below >= 1 - TAIL else Standing.OPEN

    def as_dict(self) -> dict[str, float]:
        return {
            "mean": round(self.mean, 6),
            "lower": round(self.lower, 6),
            "upper": round(self.upper, 6),
            "uncertainty": round(self.upper - self.lower, 6),
            "supporting": round(self.supporting, 6),
            "opposing": round(self.opposing, 6),
        }


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """One record that counts; `weight` is what is left of it now."""

    sequence: int
    kind: str
    sign: str
    day: str
    weight: float

    def as_dict(self) -> dict[str, Any]:
        return {**self.__dict__, "weight": round(self.weight, 6)}


@dataclass(frozen=True, kw_only=True)
class Belief:
    id: str
    statement: str
    claim: str
    scope: Mapping[str, str]
    state: str
    confidence: Confidence
    count: int
    changed: int | None
    reason: str = ""
    recorded_standing: str = ""
    """What the newest `belief_shifted` says; empty before the first."""

    def as_dict(self, evidence: list[Evidence]) -> dict[str, Any]:
        return {
            "id": self.id,
            "statement": self.statement,
            "claim": self.claim,
            "scope": dict(self.scope),
            "state": self.state,
            **self.confidence.as_dict(),
            "evidence_count": self.count,
            "evidence": [item.as_dict() for item in evidence],
            "changed": self.changed,
            "reason": self.reason,
        }


@dataclass(frozen=True)
class Move:
    """One record as evidence for or against one belief, with that belief as it is now."""

    sequence: int
    belief: Belief
    kind: str
    sign: str

    def as_dict(self) -> dict[str, Any]:
        return {
            "sequence": self.sequence,
            "belief": self.belief.id,
            "statement": self.belief.statement,
            "kind": self.kind,
            "sign": self.sign,
            "mean": round(self.belief.confidence.mean, 6),
        }


def check_statement(text: str) -> str:
    """Keep a statement to one printable line: it is somebody's text, and is shown as such."""
    clean_text = one_line(" ".join(text.split()), LONGEST_STATEMENT)
    if not clean_text:
        raise BadInput(
            f"a statement has 1 to {LONGEST_STATEMENT} characters",
            code="bad_belief",
            next_step="say in one sentence what you think is so",
        )
    return str(redact(clean_text))
