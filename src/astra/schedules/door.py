"""The door of schedules: firings call tools at the counter, and the registry is their catalogue."""

from collections.abc import Callable, Mapping
from typing import Any

from astra.schedules.model import Firing, Schedule
from astra.schedules.ports import ToolFacts
from astra.trusted.calls.counter import Counter, Request
from astra.trusted.calls.registry import Registry
from astra.trusted.policy.call import Actor, Call, Role, Tier


class RegistryCatalogue:
    def __init__(self, registry: Registry) -> None:
        self._registry = registry

    def facts(self, name: str) -> ToolFacts:
        tool = self._registry.find(name)
        return ToolFacts(
            name=tool.name,
            tier=int(tool.tier),
            operator_only=tool.operator_only,
            idempotent=tool.tier is Tier.READ or tool.hints.idempotent,
            slow=tool.slow,
        )

    def check(self, name: str, payload: Mapping[str, Any]) -> None:
        self._registry.find(name).parse(payload)


class ScheduleDoor:
    """The door `schedule`: the agent acts, under the schedule's own name and budget."""

    def __init__(self, counter: Callable[[], Counter]) -> None:
        self._counter = counter

    def understand(self, schedule: Schedule, firing: Firing) -> Call:
        return self._counter().understand(_make_request(schedule, firing))

    def begin(self, schedule: Schedule, firing: Firing) -> Callable[[], Mapping[str, Any]]:
        return self._counter().begin(_make_request(schedule, firing))


def _make_request(schedule: Schedule, firing: Firing) -> Request:
    return Request(
        name=schedule.definition.target_tool,
        arguments=schedule.definition.payload,
        actor=Actor(role=Role.AGENT, name=schedule.id, door="schedule"),
        correlation=firing.correlation,
        schedule_id=schedule.id,
        schedule_budget=schedule.definition.per_day_budget,
        at_least=Tier(schedule.definition.safety_tier),
    )
