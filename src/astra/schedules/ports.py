"""What schedules need of the rest of Astra, as small ports; bootstrap fills them in."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from astra.schedules.model import Firing, Schedule
from astra.trusted.policy.call import Call


@dataclass(frozen=True, kw_only=True)
class ToolFacts:
    """What the server knows about a tool; nothing here is anybody's claim."""

    name: str
    tier: int
    operator_only: bool
    idempotent: bool
    slow: bool


class Catalogue(Protocol):
    def facts(self, name: str) -> ToolFacts:
        """Describe a tool, or raise NotFound with the nearest names."""
        ...

    def check(self, name: str, payload: Mapping[str, Any]) -> None:
        """Raise BadInput where the tool would not understand its arguments."""
        ...


class Door(Protocol):
    """The counter, as the executor calls at it."""

    def understand(self, schedule: Schedule, firing: Firing) -> Call:
        """Work out exactly what would run, without running it."""
        ...

    def begin(self, schedule: Schedule, firing: Firing) -> Callable[[], Mapping[str, Any]]:
        """Pass the gate (or raise its refusal); the result runs the tool."""
        ...


class Jobs(Protocol):
    """The engine that runs what takes long, and goes on with it after a crash."""

    def submit(self, key: str, kind: str, argument: str) -> None:
        """Run a job in the background. While one with this key is under way, that one is meant."""
        ...


class Tokens(Protocol):
    """The token files an operator's approvals are exported to, and the log of used ones."""

    def read(self, schedule_id: str) -> str | None: ...

    def write(self, schedule_id: str, text: str) -> None: ...

    def remove(self, schedule_id: str) -> None: ...

    def list_pending(self) -> list[str]:
        """Name the schedules for which there is a file."""
        ...

    def log(self, line: str) -> None: ...

    def read_log(self) -> str:
        """Give the log of used tokens as it is."""
        ...
