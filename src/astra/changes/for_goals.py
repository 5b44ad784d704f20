"""CODE_MODIFY tasks: a change is proposed for the goal, and the task waits for a person's decision.

Where a model is configured, it writes the change; otherwise the task waits until somebody proposes
one that names the goal. Either way the change takes the change path: it is on disk, manual, and not
enabled until an operator approves it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol

from astra.changes.for_plans import describe_failures
from astra.goals.door import Door
from astra.goals.graph import Node
from astra.goals.kinds import CHANGE_TOOL
from astra.goals.ports import Done, TaskRun, Waiting, WrittenCode
from astra.trusted.changes import model
from astra.trusted.changes.model import OPEN, Change, State
from astra.trusted.changes.views import Book
from astra.trusted.kernel.errors import AstraError, LedgerError
from astra.trusted.kernel.text import one_line
from astra.trusted.ledger.ports import Ledger

MOST_TRIES = 3
"""How often a task's code is written before its tests pass."""
ANY_CHANGE = "change"
"""What a task waits for while nobody has proposed a change for its goal."""


class CodeWriter(Protocol):
    """Writes code for a task, where a model is configured."""

    def is_there(self) -> bool: ...

    def write(
        self, instruction: str, notes: str, *, goal: str = "", correlation: str = ""
    ) -> WrittenCode: ...


@dataclass(frozen=True, kw_only=True)
class CodeTask:
    ledger: Ledger
    book: Book
    door: Door
    writer: CodeWriter

    @property
    def model_calls(self) -> int:
        return 1 if self.writer.is_there() else 0

    def is_repeatable(self, _node: Node) -> bool:
        return False

    def begin(self, run: TaskRun) -> Done | Waiting:
        if not self.writer.is_there():
            return Waiting(on=ANY_CHANGE, why=f"for a change that names {run.goal.id}")
        return self._write_change(run, counted_calls=1)

    def _write_change(
        self, run: TaskRun, *, counted_calls: int = 0, failed: Change | None = None
    ) -> Done | Waiting:
        """Have code written and propose it; `failed` is the change that it takes the place of."""
        instruction = str(run.arguments["instruction"])
        if failed is not None:
            instruction += f"\n\nA first try did not pass its tests: {describe_failures(failed)}"
        notes = str(run.arguments.get("notes", ""))
        code = self.writer.write(
            instruction, notes, goal=run.goal.id, correlation=run.goal.correlation
        )
        # those that were counted when the task was claimed are not counted twice
        usage = replace(code.usage, model_calls=max(0, code.usage.model_calls - counted_calls))
        code = replace(code, usage=usage)
        if code.objection:
            return _describe_failure("useless_answer", code.objection, code)
        try:
            answer = self.door.call(run, CHANGE_TOOL, _describe_proposal(run, code.files, failed))
        except LedgerError:
            raise
        except AstraError as error:
            return _describe_failure(error.reason, error.detail, code)
        return Waiting(on=str(answer["id"]), why="for a person's decision", usage=code.usage)

    def _revise_change(self, run: TaskRun, change: Change) -> Done | Waiting:
        """Give failing tests back to the writer, a few times and within the goal's budget."""
        if not self.writer.is_there() or run.goal.usage.find_spent(run.goal.budget):
            return _describe_end(change)
        if self._count_tries(change) >= MOST_TRIES or run.node.id not in change.about["reason"]:
            return _describe_end(change)
        return self._write_change(run, failed=change)

    def _count_tries(self, change: Change) -> int:
        tries = 1
        while tries < MOST_TRIES and (earlier := change.about.get("supersedes")):
            change = self.book.get(str(earlier))
            tries += 1
        return tries

    def look(self, run: TaskRun, on: str) -> Done | Waiting | None:
        if on == ANY_CHANGE:
            change = self._find_newest(run)
            return Waiting(on=change.id, why="for a person's decision") if change else None
        change = self.book.get(on)
        while change.superseded_by:
            change = self.book.get(change.superseded_by)
        if change.state is State.EXECUTED:
            return Done(outputs={"change": change.id, "notes": f"{change.id} is merged"})
        if change.state in OPEN:
            return None
        if change.state is State.TESTS_FAILED:
            return self._revise_change(run, change)
        return _describe_end(change)

    def recover(self, run: TaskRun) -> Done | Waiting | None:
        """Find the change that an attempt proposed before a crash cut it off."""
        change = self._find_newest(run, marked=True)
        return Waiting(on=change.id, why="for a person's decision") if change else None

    def _find_newest(self, run: TaskRun, *, marked: bool = False) -> Change | None:
        """Give the newest open change for a goal; `marked`: one that this task proposed."""
        for record in reversed(self.ledger.find_mentions(run.goal.id, model.SCHEDULED)):
            change = self.book.get(str(record.subject))
            is_of_task = run.node.id in change.about["reason"]
            if change.about["goal"] == run.goal.id and (is_of_task or not marked):
                return change if change.state in OPEN or change.state is State.EXECUTED else None
        return None


def _describe_proposal(
    run: TaskRun, files: Mapping[str, str | None], failed: Change | None
) -> dict[str, Any]:
    reason = one_line(str(run.arguments["instruction"]), 1000)
    edits = [
        {"path": path, "delete": True} if text is None else {"path": path, "content": text}
        for path, text in files.items()
    ]
    return {
        "reason": f"{reason} ({run.node.id})",
        "edits": edits,
        "goal": run.goal.id,
        "research": str(run.arguments.get("research", "")),
        **({"supersedes": failed.id} if failed else {}),
    }


def _describe_failure(reason: str, detail: str, code: WrittenCode) -> Done:
    """Say how an attempt failed, with the tokens that it used all the same."""
    return Done(succeeded=False, reason=reason, detail=detail, usage=code.usage)


def _describe_end(change: Change) -> Done:
    return Done(
        succeeded=False,
        reason=f"change_{change.state}",
        detail=f"{change.id}: {one_line(change.reason, 500)}",
        final=True,
    )
