"""The door of plans: steps call tools at the counter, inside what their plan was granted."""

import json
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import Any

from pydantic import BaseModel

from astra.plans.model import AgentPlan
from astra.trusted.calls.counter import Counter, Request
from astra.trusted.calls.registry import Registry
from astra.trusted.policy.call import Actor, Call, Role


class PlanDoor:
    """The door `plan`: the agent acts, under the plan's own name and grants."""

    def __init__(self, counter: Callable[[], Counter], registry: Registry) -> None:
        self._counter = counter
        self._registry = registry

    def understand(self, plan: AgentPlan, tool: str, arguments: Mapping[str, Any]) -> Call:
        return self._counter().understand(_make_request(plan, tool, arguments))

    def run(self, plan: AgentPlan, tool: str, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        return self._counter().call(_make_request(plan, tool, arguments))

    def describe(self, names: Iterable[str]) -> str:
        wanted_names = set(names)
        return "\n".join(
            f"{tool.name}: {tool.description} arguments: {_describe_arguments(tool.input)}"
            for tool in self._registry.list_all()
            if tool.name in wanted_names
        )


@lru_cache(maxsize=256)
def _describe_arguments(model: type[BaseModel]) -> str:
    """Keep what says how to call a tool: its arguments, and the definitions they refer to.

    It is asked for at every step of a plan, and is always the same for one model.
    """
    schema = model.model_json_schema()
    arguments: dict[str, Any] = schema.get("properties", {})
    more = {name: schema[name] for name in ("required", "$defs") if schema.get(name)}
    return json.dumps({"properties": arguments, **more} if more else arguments)


def _make_request(plan: AgentPlan, tool: str, arguments: Mapping[str, Any]) -> Request:
    return Request(
        name=tool,
        arguments=arguments,
        actor=Actor(role=Role.AGENT, name=plan.id, door="plan"),
        correlation=plan.correlation,
        plan_id=plan.id,
    )
