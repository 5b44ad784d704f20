"""The door of goals: tasks call tools at the counter, and only those that their kind may call."""

from collections.abc import Callable, Mapping
from typing import Any, Protocol

from astra.goals.ports import TaskRun
from astra.trusted.calls.counter import Counter, Request
from astra.trusted.kernel.errors import Refused
from astra.trusted.policy.call import Actor, Role


class Door(Protocol):
    def call(self, run: TaskRun, tool: str, arguments: Mapping[str, Any]) -> Mapping[str, Any]: ...


class GoalDoor:
    """The door `goal`: the agent acts, under the goal's own name and in its story.

    An adoption grants nothing beyond what an agent may do: the gate decides every call, and one
    that reaches outside waits for its own approval. What the task's kind does not call is refused
    here, before the gate is asked.
    """

    def __init__(self, counter: Callable[[], Counter]) -> None:
        self._counter = counter

    def call(self, run: TaskRun, tool: str, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        name = self._counter().registry.find(tool).name
        if name not in {
            self._counter().registry.find(tool_name).name for tool_name in run.node.tools
        }:
            raise Refused(
                f"the task {run.node.path} may not call {name}",
                code="outside_manifest",
                next_step="plan the goal by a method whose tasks call it",
            )
        return self._counter().call(
            Request(
                name=name,
                arguments=arguments,
                actor=Actor(role=Role.AGENT, name=run.goal.id, door="goal"),
                correlation=run.goal.correlation,
            )
        )
