"""How attempts at tasks go on, as records: an attempt ends once, or waits, or is tried again."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from astra.goals import control, events
from astra.goals.book import Goals, TaskRow
from astra.goals.events import TaskIdentity
from astra.goals.graph import Node
from astra.goals.methods import ABORT
from astra.goals.model import Goal, Usage
from astra.goals.ports import Done, Waiting
from astra.goals.states import State, TaskState
from astra.trusted.kernel.clock import Clock, format_time
from astra.trusted.kernel.errors import DuplicateKey
from astra.trusted.kernel.text import one_line
from astra.trusted.ledger.record import Event

BACKOFF = timedelta(seconds=10)
LARGEST_OUTPUT = 20_000
INTERRUPTED = Done(
    succeeded=False, reason="interrupted", detail="the daemon ended; how far it came is unknown"
)
_SKIPPED = Done(succeeded=False, reason="skipped", detail="a task before it did not succeed")


@dataclass(frozen=True)
class TaskEndings:
    goals: Goals
    clock: Clock

    def record(
        self, goal: Goal, node: Node, task: TaskRow, outcome: Done | Waiting, milliseconds: float
    ) -> None:
        identity = identify(goal, task)
        if isinstance(outcome, Waiting):
            self._append_task(
                Event(
                    type=events.TASK_WAITED,
                    **events.fill_task_event(
                        identity,
                        goal.correlation,
                        events.WAITED,
                        on=outcome.on,
                        why=one_line(outcome.why, 500),
                        **_describe_usage(outcome.usage, milliseconds),
                    ),
                )
            )
        elif outcome.succeeded or outcome.final or task.tries >= node.attempts:
            self._append_task(*self._build_end(goal, node, identity, outcome, milliseconds))
        else:
            pause = BACKOFF * 2 ** (task.tries - 1)
            self.record_retry(goal, node, task, outcome, pause=pause, milliseconds=milliseconds)

    def record_skip(self, goal: Goal, node: Node, task: TaskRow) -> None:
        self._append_task(*self._build_end(goal, node, identify(goal, task), _SKIPPED, 0.0))

    def build_success(
        self, goal: Goal, node: Node, task: TaskRow, outcome: Done, milliseconds: float
    ) -> Event:
        """Give the record of an attempt that succeeded, for a batch with what comes next."""
        (event,) = self._build_end(goal, node, identify(goal, task), outcome, milliseconds)
        return event

    def _build_end(
        self, goal: Goal, node: Node, identity: TaskIdentity, outcome: Done, milliseconds: float
    ) -> list[Event]:
        skipped = outcome is _SKIPPED
        state = TaskState.SUCCEEDED if outcome.succeeded else TaskState.FAILED
        fields = events.fill_task_event(
            identity,
            goal.correlation,
            events.ENDED,
            kind=str(node.kind),
            outcome=str(TaskState.SKIPPED if skipped else state),
            reason=outcome.reason,
            detail=one_line(outcome.detail, 1000),
            outputs=_bound_outputs(outcome.outputs),
            **_describe_usage(outcome.usage, milliseconds),
        )
        failed = not outcome.succeeded and not skipped and node.on_failure == ABORT
        failed = failed and self.goals.get(goal.id).state in {State.EXECUTING, State.BLOCKED}
        hold_events = [self._make_failure_hold(goal, node, outcome)] if failed else []
        return [Event(type=events.TASK_FINISHED, **fields), *hold_events]

    def record_retry(
        self,
        goal: Goal,
        node: Node,
        task: TaskRow,
        outcome: Done,
        *,
        pause: timedelta,
        milliseconds: float = 0.0,
    ) -> None:
        fields = events.fill_task_event(
            identify(goal, task),
            goal.correlation,
            events.ENDED,
            kind=str(node.kind),
            reason=outcome.reason,
            detail=one_line(outcome.detail, 1000),
            again_at=format_time(self.clock.now() + pause),
            **_describe_usage(outcome.usage, milliseconds),
        )
        self._append_task(Event(type=events.TASK_RETRIED, **fields))

    def _append_task(self, *batch: Event) -> None:
        """Record how an attempt goes on; what was recorded for it already stands."""
        try:
            self.goals.ledger.append(batch)
        except DuplicateKey:
            return

    def _make_failure_hold(self, goal: Goal, node: Node, outcome: Done) -> Event:
        detail = f"{node.path}: {outcome.reason}: {one_line(outcome.detail, 500)}"
        data = {"reason": control.TASK_FAILED, "detail": detail, "node": node.id}
        fields = events.fill_goal_event(
            goal.id, data, actor=events.DAEMON, correlation=goal.correlation
        )
        return Event(type=events.HELD, **fields)


def identify(goal: Goal, task: TaskRow) -> TaskIdentity:
    return TaskIdentity(goal.id, goal.planned or 0, task.id, task.attempt)


def _describe_usage(usage: Usage, milliseconds: float) -> dict[str, Any]:
    return {
        "model_calls": usage.model_calls,
        "tokens": usage.tokens,
        "milliseconds": round(milliseconds, 3),
    }


def _bound_outputs(outputs: Mapping[str, Any]) -> dict[str, Any]:
    """Keep what a task gave within what a record can hold."""
    return {
        name: value[:LARGEST_OUTPUT] if isinstance(value, str) else value
        for name, value in outputs.items()
    }
