"""What tool handlers may use, as small ports; bootstrap fills them in."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from astra.changes.service import Changes
from astra.desires.book import Desires
from astra.goals.promotion import Promotions
from astra.persona.awareness import Awareness
from astra.plans.book import Plans
from astra.plans.drafting import Drafting
from astra.plans.views import PlanViews
from astra.schedules.service import Timetable
from astra.trusted.approvals.desk import Desk
from astra.trusted.kernel.clock import Clock
from astra.trusted.ledger.ports import Ledger
from astra.trusted.policy.call import Call, Footprint
from astra.trusted.sandbox.ports import GrantedBoxes


class SourceView(Protocol):
    """The target's files, read from git objects."""

    def list(
        self,
        *,
        at: str | None,
        folder: str,
        glob: str | None,
        cursor: str | None,
        limit: int | None,
    ) -> Any: ...

    def read(
        self, path: str, *, at: str | None, start: int | None, end: int | None, numbered: bool
    ) -> Any: ...

    def find(
        self,
        text: str,
        *,
        regex: bool,
        ignore_case: bool,
        at: str | None,
        folder: str,
        glob: str | None,
        context: int,
        limit: int | None,
    ) -> Any: ...


class PersonaFiles(Protocol):
    """The agent's own notes, and the target mirrored below `src/`."""

    def list(self, folder: str, *, cursor: str | None, limit: int) -> Any: ...

    def read(self, path: str, *, start: int | None, end: int | None, numbered: bool) -> Any: ...

    def write(self, path: str, text: str) -> Any: ...

    def delete(self, path: str) -> None: ...

    def writable(self, path: str) -> Any:
        """Give the path a write would go to, or refuse it, without touching anything."""
        ...


class Deployments(Protocol):
    """Deploying as an agent may ask for it."""

    def named(self) -> str:
        """Name exactly what would be deployed now."""
        ...

    def deploy_for_agent(
        self, message: str, expected: str, *, actor: str, correlation: str
    ) -> dict[str, Any]: ...


@dataclass(frozen=True, kw_only=True)
class Services:
    ledger: Ledger
    clock: Clock
    approvals: Desk
    schedules: Timetable
    changes: Changes
    desires: Desires
    promotions: Promotions
    awareness: Awareness
    plans: Plans
    plan_views: PlanViews
    drafting: Drafting
    source: SourceView
    persona: PersonaFiles
    persona_root: str
    health: Callable[[], dict[str, Any]]
    set_flag_off: Callable[[str], dict[str, Any]]
    approval_link: Callable[[str], str]
    boxes: GrantedBoxes
    plan_boxes: Callable[[str], GrantedBoxes]
    deployments: Deployments
    actor: str = ""
    correlation: str = ""
    footprint: Footprint = field(default_factory=Footprint)
    """What the gate was told that the call would touch."""

    def for_call(self, call: Call) -> "Services":
        """Give the same services, knowing on whose behalf they act; a plan gets its own box."""
        boxes = self.plan_boxes(call.plan_id) if call.plan_id else self.boxes
        return replace(
            self,
            actor=str(call.actor),
            correlation=call.correlation,
            footprint=call.footprint,
            boxes=boxes,
        )
