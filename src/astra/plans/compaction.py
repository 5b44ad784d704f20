"""A history that outgrew its room: the oldest steps become a summary that cites them.

The server writes the summary, a line for each step with its number, so that nothing in it is a
model's word about itself. What a person said is never summed up. The border between summary and
history moves in leaps: it stays where it is while the history grows by half its room, so that two
prompts in a row begin alike and a server's prompt cache holds. It follows from the entries alone:
after a crash it is where it was.
"""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from astra.plans import prompts
from astra.plans.model import Step
from astra.trusted.kernel.text import one_line

MOST_ENTRIES, LONGEST_HISTORY = 40, 60_000
_MOST_LINES, _LONGEST_ACTION, _LONGEST_RESULT, _MOST_NUMBERS = 60, 90, 110, 12
_MOST_MESSAGES = 40


@dataclass(frozen=True, kw_only=True)
class Entry:
    """A part of the history: a step, or what a person said (`step` is None)."""

    text: str
    step: Step | None = None


def compact(entries: Sequence[Entry]) -> Iterator[str]:
    """Give the history as parts of a prompt: words of people, a summary, and the newest in full."""
    border = find_border([len(entry.text) for entry in entries])
    old = entries[:border]
    yield from [entry.text for entry in old if entry.step is None][-_MOST_MESSAGES:]
    steps = [entry.step for entry in old if entry.step is not None]
    if steps:
        name = f"summary of steps {steps[0].step} to {steps[-1].step}, written by the server"
        yield prompts.untrusted(name, "\n".join(summarize_steps(steps)))
    yield from (entry.text for entry in entries[border:])


def find_border(sizes: Sequence[int]) -> int:
    """Find where the history in full begins; the newest entry is always part of it.

    >>> find_border([20_000, 20_000, 20_000])
    0
    >>> find_border([20_000, 20_000, 20_000, 20_000]), find_border([20_000] * 5)
    (3, 3)
    """
    border = total = 0
    for index, size in enumerate(sizes):
        total += size
        if total <= LONGEST_HISTORY and index - border < MOST_ENTRIES:
            continue
        while border < index and (
            total > LONGEST_HISTORY // 2 or index - border >= MOST_ENTRIES // 2
        ):
            total -= sizes[border]
            border += 1
    return border


def summarize_steps(steps: Sequence[Step]) -> Iterator[str]:
    """Sum steps up: a line for each of the newest, the older ones counted with their numbers."""
    older, newer = steps[:-_MOST_LINES], steps[-_MOST_LINES:]
    kinds = Counter(_name_kind(step) for step in older)
    for kind, count in kinds.most_common():
        numbers = [step.step for step in older if _name_kind(step) == kind]
        cited = ", ".join(map(str, numbers[:_MOST_NUMBERS]))
        yield f"{count} times {kind} (steps {cited}{', …' if count > _MOST_NUMBERS else ''})"
    yield from map(_summarize_step, newer)


def _summarize_step(step: Step) -> str:
    action = step.action or {}
    name = one_line(str(action.get("tool") or action.get("kind") or "no action"), 60)
    content = action.get("arguments") or action.get("text") or action.get("output") or ""
    content_text = one_line(json.dumps(content, ensure_ascii=False), _LONGEST_ACTION)
    result = one_line(step.result or "", _LONGEST_RESULT)
    return f"step {step.step}: {name} {content_text} → {step.outcome or step.state}: {result}"


def _name_kind(step: Step) -> str:
    action = step.action or {}
    name = str(action.get("tool") or action.get("kind") or "no action")
    return f"{one_line(name, 60)}: {step.outcome or step.state}"
