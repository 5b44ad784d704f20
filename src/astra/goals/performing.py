"""The kinds of tasks that need no other domain: a tool, a check, a question.

A call that has to wait for an approval makes its task wait for it; once it was given, the same call
is made again, and the gate uses the approval up.
"""

import json
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from astra.goals.door import Door
from astra.goals.graph import Node
from astra.goals.kinds import COMMAND_TOOL, FILE_TOOL
from astra.goals.outcomes import Outcomes
from astra.goals.ports import Done, TaskRun, Waiting
from astra.trusted.approvals.desk import Desk
from astra.trusted.kernel import canonical
from astra.trusted.kernel.errors import BadInput, NeedsApproval
from astra.trusted.kernel.text import json_text, one_line

QUESTION = "goal_question"
_REFUSED = {"rejected": "the operator said no", "expired": "nobody decided in time"}


@dataclass(frozen=True, kw_only=True)
class ToolTask:
    """A task that is one call of a tool."""

    door: Door
    desk: Desk
    is_tool_repeatable: Callable[[str], bool]
    model_calls: int = 0

    def is_repeatable(self, node: Node) -> bool:
        return self.is_tool_repeatable(node.tool)

    def begin(self, run: TaskRun) -> Done | Waiting:
        return self._call(run, run.node.tool, run.arguments)

    def look(self, run: TaskRun, on: str) -> Done | Waiting | None:
        return look_at_approval(self.desk, on, granted=lambda: self.begin(run))

    def recover(self, _run: TaskRun) -> Done | Waiting | None:
        return None

    def _call(self, run: TaskRun, tool: str, arguments: Mapping[str, Any]) -> Done | Waiting:
        try:
            answer = self.door.call(run, tool, arguments)
        except NeedsApproval as waits:
            approval = str(waits.facts.get("approval_id", ""))
            return Waiting(on=approval, why=f"{tool} waits for {approval}")
        return Done(outputs={"notes": json_text(answer)})


@dataclass(frozen=True, kw_only=True)
class CheckTask:
    """A command that has to pass in the sandbox, a file of the target, or what records say."""

    door: Door
    outcomes: Outcomes
    model_calls: int = 0

    def is_repeatable(self, _node: Node) -> bool:
        return True

    def begin(self, run: TaskRun) -> Done | Waiting:
        if file := run.arguments.get("file"):
            self.door.call(run, FILE_TOOL, {"path": str(file)})
            return Done(outputs={"notes": f"{file} is there"})
        if outcome := run.arguments.get("outcome"):
            return self.outcomes.check_outcome(run.goal, str(outcome))
        if metric := run.arguments.get("metric"):
            return self.outcomes.check_metric(run.goal, str(metric))
        return self._run_command(run)

    def _run_command(self, run: TaskRun) -> Done:
        answer = self.door.call(
            run, COMMAND_TOOL, {"command": _split_command(run.arguments.get("command"))}
        )
        output_line = one_line(str(answer["stderr"] or answer["stdout"]), 500)
        if answer["exit_code"] == 0:
            return Done(outputs={"notes": output_line})
        detail = f"{answer['reason']}{f': {output_line}' if output_line else ''}"
        return Done(succeeded=False, reason="check_failed", detail=detail)

    def look(self, _run: TaskRun, _on: str) -> Done | Waiting | None:
        return None

    def recover(self, _run: TaskRun) -> Done | Waiting | None:
        return None


@dataclass(frozen=True, kw_only=True)
class QuestionTask:
    """A question that the operator answers by a signature: yes, or no with a reason."""

    desk: Desk
    model_calls: int = 0

    def is_repeatable(self, _node: Node) -> bool:
        return True

    def begin(self, run: TaskRun) -> Done | Waiting:
        question = {"goal": run.goal.id, "node": run.node.id, "question": run.arguments["question"]}
        content = {**question, "notes": run.arguments.get("notes", "")}
        approval = self.desk.ask(
            kind=QUESTION,
            subject_id=run.goal.id,
            digest=sha256(canonical.encode({"kind": QUESTION, **content})).hexdigest(),
            summary=f"{run.goal.id} asks: {one_line(str(question['question']), 150)}",
            details=content,
            actor="daemon",
            correlation=run.goal.correlation,
        )
        return Waiting(on=approval, why=f"the operator answers {approval}")

    def look(self, _run: TaskRun, on: str) -> Done | Waiting | None:
        return look_at_approval(
            self.desk, on, granted=lambda: Done(outputs={"answer": "yes", "notes": "yes"})
        )

    def recover(self, _run: TaskRun) -> Done | Waiting | None:
        return None


def look_at_approval(
    desk: Desk, approval_id: str, *, granted: Callable[[], Done | Waiting]
) -> Done | Waiting | None:
    """Go on with a signed yes, end with a no, wait otherwise."""
    approval = desk.get(approval_id)
    if approval.state == "approved" and desk.stands(approval_id):
        return granted()
    if approval.state in {"pending", "approved"}:
        return None
    why = approval.reason or _REFUSED.get(approval.state, "")
    return Done(
        succeeded=False,
        reason=f"approval_{approval.state}",
        detail=f"{approval_id}: {one_line(why, 500)}",
        final=True,
    )


def _split_command(command: Any) -> list[str]:
    if isinstance(command, list):
        return [str(part) for part in json.loads(json.dumps(command))]
    try:
        return shlex.split(str(command or ""))
    except ValueError as error:
        raise BadInput(
            f"the command cannot be read: {error}", next_step="close the quotation"
        ) from None
