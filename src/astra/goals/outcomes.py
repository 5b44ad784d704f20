"""Success criteria that are read from records: what a goal brought about stands, a number moved.

`outcome kept` holds when every change that the goal's tasks made is merged and was not taken back,
and each release made of one stayed in service while it was watched. A goal that changed nothing is
held to its research instead: each session ended with a finding whose quote was found.
"""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from astra.goals import events
from astra.goals.book import Goals
from astra.goals.graph import Graph
from astra.goals.kinds import Kind
from astra.goals.model import KEPT, Goal
from astra.goals.ports import Done
from astra.operations.signals import ReadValues, parse_comparison
from astra.trusted.kernel.errors import BadInput
from astra.trusted.kernel.text import one_line

FindObjection = Callable[[str], str]
"""Says why something does not stand, by its id, or nothing."""


@dataclass(frozen=True, kw_only=True)
class Outcomes:
    goals: Goals
    find_change_objection: FindObjection
    find_research_objection: FindObjection
    read_signals: ReadValues

    def check_outcome(self, goal: Goal, wanted: str) -> Done:
        """Say whether what the tasks of a goal brought about stands."""
        if wanted != KEPT:
            raise BadInput(f"there is no outcome {one_line(wanted, 40)}", next_step="write kept")
        outputs = [json.loads(task.outputs) for task in self.goals.tasks(goal.id)]
        changes, sessions = _list_ids(outputs, "change"), _list_ids(outputs, "session")
        find = self.find_change_objection if changes else self.find_research_objection
        objections = [text for text in map(find, changes or sessions) if text]
        if not (changes or sessions):
            objections = ["its tasks changed nothing and found nothing out"]
        if objections:
            return Done(succeeded=False, reason="not_kept", detail="; ".join(objections))
        return Done(outputs={"notes": f"{', '.join(changes or sessions)} stands"})

    def check_metric(self, goal: Goal, text: str) -> Done:
        """Say whether a number of the server is beyond another one, or moved since the start."""
        comparison = parse_comparison(text)
        name, value = comparison.name, self.read_signals().get(comparison.name)
        if value is None:
            return Done(succeeded=False, reason="not_known", detail=f"{name} is not known now")
        note = f"{name} is {value:g}"
        if not comparison.needs_before:
            return _judge(note, holds=comparison.holds(value))
        before = self.find_before(goal, name)
        if before is None:
            detail = f"{name} was not known when the goal began"
            return Done(succeeded=False, reason="not_known", detail=detail)
        note = f"{note}, and was {before:g} when the goal began"
        return _judge(note, holds=comparison.holds(value, before))

    def find_before(self, goal: Goal, name: str) -> float | None:
        """Give what a signal was when the first task of a goal could begin, if it was known."""
        records = self.goals.ledger.records_of(goal.id, events.STARTED)
        return records[-1].data.get("signals", {}).get(name) if records else None


def needs_signals(goal: Goal, graph: Graph) -> bool:
    """Tell whether a check of a goal may ask what a signal was before."""
    metrics = [criterion["metric"] for criterion in goal.criteria if "metric" in criterion]
    if any(parse_comparison(metric).needs_before for metric in metrics):
        return True
    return any(node.kind is Kind.CHECK and "metric" in node.arguments for node in graph.nodes)


def _judge(note: str, *, holds: bool) -> Done:
    if holds:
        return Done(outputs={"notes": note})
    return Done(succeeded=False, reason="check_failed", detail=note)


def _list_ids(outputs: list[dict[str, Any]], name: str) -> list[str]:
    def find() -> Iterator[str]:
        for output in outputs:
            if isinstance(output.get(name), str):
                yield output[name]

    return list(dict.fromkeys(find()))
