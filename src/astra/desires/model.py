"""What a desire is, and what may be said in one.

Texts come from an agent, which may be careless or hostile: they are bounded, and what looks like a
secret is masked before it is kept, because the chain forgets nothing.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from astra.trusted.kernel import canonical
from astra.trusted.kernel.errors import BadInput
from astra.trusted.kernel.masking import redact

THRESHOLD = 0.1
REINFORCEMENT = 0.2
FULFILLED, GIVEN_UP = "fulfilled", "given_up"
CLOSED_STATES = frozenset({FULFILLED, GIVEN_UP})
"""How a desire ends whose goal is over; before that it is active, faded or pruned."""
LONGEST_TEXT, LONGEST_TAG, MOST_TAGS, LONGEST_CONTEXT = 2_000, 64, 20, 8_000
LONGEST_SEARCH = 200
Context = str | Mapping[str, Any] | None


@dataclass(frozen=True, kw_only=True)
class Desire:
    """A desire as it is at one moment."""

    id: str
    text: str
    strength: float
    tags: tuple[str, ...]
    context: Any
    state: str
    recorded_at: str
    reinforcements: int
    reinforced_at: str | None
    goal_id: str | None
    correlation: str


@dataclass(frozen=True, kw_only=True)
class Page:
    items: tuple[Desire, ...]
    next: str | None


@dataclass(frozen=True, kw_only=True)
class Filter:
    """Which desires: `faded` adds those below the threshold that nobody has pruned."""

    min_strength: float = 0.0
    tag: str | None = None
    search: str | None = None
    faded: bool = False


def check_text(text: str) -> str:
    clean_text = text.strip()
    canonical.encode(clean_text)
    if not clean_text or len(clean_text) > LONGEST_TEXT or "\0" in clean_text:
        raise BadInput(
            f"a desire is a text of 1 to {LONGEST_TEXT:,} characters, without NUL",
            code="bad_desire",
            next_step="say it in fewer words; details belong in its context or in a file",
        )
    return str(redact(clean_text))


def check_tags(tags: Sequence[str]) -> list[str]:
    clean_tags = list(dict.fromkeys(tag.strip() for tag in tags))
    canonical.encode(clean_tags)
    if len(clean_tags) > MOST_TAGS or any(
        not 0 < len(tag) <= LONGEST_TAG or "\0" in tag for tag in clean_tags
    ):
        raise BadInput(
            f"tags are at most {MOST_TAGS}, each of 1 to {LONGEST_TAG} characters",
            code="bad_desire",
            next_step="use fewer, shorter tags",
        )
    return [str(redact(tag)) for tag in clean_tags]


def check_context(context: Context) -> Any:
    if len(canonical.encode(context)) > LONGEST_CONTEXT:
        raise BadInput(
            f"the context of a desire takes at most {LONGEST_CONTEXT:,} bytes",
            code="bad_desire",
            next_step="keep it in a file and name the file",
        )
    return redact(context)


def fraction(name: str, value: float) -> float:
    if not 0.0 <= value <= 1.0:
        raise BadInput(
            f"{name} is a number from 0 to 1", code="bad_desire", next_step="for example 0.5"
        )
    return float(value)
