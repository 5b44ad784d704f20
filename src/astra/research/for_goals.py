"""RESEARCH tasks: a session in the goal's own story; an attempt that a crash cut off goes on in it.

The calls of a model that a session may make are counted when the task begins, so a task asks for no
more searches than that.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from astra.goals.door import Door
from astra.goals.graph import Node
from astra.goals.kinds import RESEARCH_TOOL
from astra.goals.model import Usage
from astra.goals.ports import Done, TaskRun, Waiting
from astra.research.book import ResearchBook
from astra.research.model import Session
from astra.research.reading import Reader

TASKS_OF_GOAL = 6
_LONGEST_NOTES = 8_000


@dataclass(frozen=True, kw_only=True)
class ResearchTask:
    door: Door
    book: ResearchBook
    reader: Reader

    @property
    def model_calls(self) -> int:
        return TASKS_OF_GOAL + 1 if self.reader.is_there() else 0

    def is_repeatable(self, _node: Node) -> bool:
        return True

    def begin(self, run: TaskRun) -> Done | Waiting:
        answer = self.door.call(run, RESEARCH_TOOL, _read_arguments(run.arguments))
        return describe_outcome(self.book.get(str(answer["id"])))

    def look(self, _run: TaskRun, on: str) -> Done | Waiting | None:
        session = self.book.get(on)
        return describe_outcome(session) if session.state == "finished" else None

    def recover(self, run: TaskRun) -> Done | Waiting | None:
        """Find the session that an attempt began; the daemon itself brings it to its end."""
        question = _read_arguments(run.arguments)["question"]
        session = self.book.find_in_story(run.goal.correlation, str(question))
        if session is None:
            return None
        if session.state == "finished":
            return describe_outcome(session)
        return Waiting(on=session.id, why=f"for the research {session.id} to end")


def describe_outcome(session: Session) -> Done:
    notes = str(session.result.get("narrative", ""))
    for number, finding in enumerate(session.findings, 1):
        citation = finding.citations[0]
        notes += f"\n[{number}] {finding.claim} ({citation.place}): {citation.quote}"
    return Done(
        outputs={"notes": notes[:_LONGEST_NOTES], "session": session.id},
        usage=Usage(tokens=session.tokens),
    )


def find_objection(book: ResearchBook, identifier: str) -> str:
    """Say why a session found nothing out, or nothing."""
    session = book.get(identifier)
    return "" if session.findings else f"{session.id} has no finding whose quote was found"


def _read_arguments(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Take the question, and limits within what the budget of the task counts."""
    tasks = min(int(arguments.get("max_tasks", TASKS_OF_GOAL)), TASKS_OF_GOAL)
    depth = {"max_depth": int(arguments["max_depth"])} if "max_depth" in arguments else {}
    return {"question": str(arguments["question"]).strip(), "max_tasks": tasks, **depth}
