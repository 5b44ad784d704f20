"""What tool handlers may use, as small ports; bootstrap fills them in."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from astra.beliefs.views import BeliefViews
from astra.changes.service import Changes
from astra.desires.book import Desires
from astra.goals.promotion import Promotions
from astra.goals.service import GoalService
from astra.operations.smoke import Smoke
from astra.persona.awareness import Awareness
from astra.plans.book import Plans
from astra.plans.drafting import Drafting
from astra.plans.views import PlanViews
from astra.research.service import Research
from astra.schedules.service import Timetable
from astra.trusted.approvals.desk import Desk
from astra.trusted.calls.cancellation import Cancellation
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

    def read(self, path: str, *, at: str | None, **part: Any) -> Any: ...

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
        skip: int,
    ) -> Any: ...


class PersonaFiles(Protocol):
    """The agent's own notes, and the target mirrored below `src/`."""

    def list(self, folder: str, *, cursor: str | None, limit: int) -> Any: ...

    def read(self, path: str, **part: Any) -> Any: ...

    def write(self, path: str, text: str) -> Any: ...

    def delete(self, path: str) -> None: ...

    def resolve_writable(self, path: str) -> Any:
        """Give the path a write would go to, or refuse it, without touching anything."""
        ...


class OtherServers(Protocol):
    """Other MCP servers, as the signed configuration names them."""

    def call(
        self, server: str, tool: str, arguments: dict[str, Any], cancellation: Cancellation
    ) -> dict[str, Any]:
        """Call a tool that is as the operator signed for it; gives the server's answer, unread."""
        ...


class Deployments(Protocol):
    """Deploying as an agent may ask for it."""

    def describe_target(self) -> str:
        """Say in words what would be deployed now."""
        ...

    def name_target(self) -> str:
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
    goals: GoalService
    awareness: Awareness
    beliefs: BeliefViews
    plans: Plans
    plan_views: PlanViews
    drafting: Drafting
    research: Research
    source: SourceView
    persona: PersonaFiles
    persona_root: str
    health: Callable[[], dict[str, Any]]
    set_flag_off: Callable[[str], dict[str, Any]]
    stop_all: Callable[[bool], dict[str, Any]]
    """Ends everything an agent started, and the app unless told to keep it."""
    approval_link: Callable[[str], str]
    boxes: GrantedBoxes
    plan_boxes: Callable[[str], GrantedBoxes]
    deployments: Deployments
    servers: OtherServers
    smoke: Smoke
    actor: str = ""
    correlation: str = ""
    plan_id: str = ""
    footprint: Footprint = field(default_factory=Footprint)
    """What the gate was told that the call would touch."""

    cancellation: Cancellation = field(default_factory=Cancellation)
    """Says whether anybody still waits for the call."""

    def for_call(self, call: Call, cancellation: Cancellation) -> "Services":
        """Give the same services, knowing on whose behalf they act; a plan gets its own box."""
        boxes = self.plan_boxes(call.plan_id) if call.plan_id else self.boxes
        return replace(
            self,
            actor=str(call.actor),
            correlation=call.correlation,
            plan_id=call.plan_id or "",
            footprint=call.footprint,
            boxes=boxes,
            cancellation=cancellation,
        )

    def end_boxes(self, correlation: str, why: str) -> int:
        return self.boxes.end(correlation, why)
