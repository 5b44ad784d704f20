"""Success criteria that are read from records: what a goal brought about stands, a number moved.

`outcome kept` holds when every change that the goal's tasks made is merged and was not taken back,
and each release made of one stayed in service while it was watched. A goal that changed nothing is
held to its research instead: each session ended with a finding whose quote was found.
"""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from astra.goals.book import Goals
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

    def check_metric(self, comparison: str) -> Done:
        """Say whether a number of the server is beyond another one now."""
        name, word, limit = parse_comparison(comparison)
        value = self.read_signals().get(name)
        if value is None:
            return Done(succeeded=False, reason="not_known", detail=f"{name} is not known now")
        holds = value > limit if word == "above" else value < limit
        note = f"{name} is {value:g}"
        if holds:
            return Done(outputs={"notes": note})
        return Done(succeeded=False, reason="check_failed", detail=note)


def _list_ids(outputs: list[dict[str, Any]], name: str) -> list[str]:
    def find() -> Iterator[str]:
        for output in outputs:
            if isinstance(output.get(name), str):
                yield output[name]

    return list(dict.fromkeys(find()))
