"""One thing that waits for a person: what it is, why it waits, and the command that moves it on."""

from dataclasses import dataclass
from typing import Any

WAITING_PLAN, RESTING_CHANGE, HELD_GOAL = "waiting_plan", "resting_change", "held_goal"
FAILED_DEPLOYMENT, ALERT = "failed_deployment", "alert"
WAITING_SIGNATURE = "waiting_signature"


@dataclass(frozen=True, kw_only=True)
class InboxItem:
    id: str
    kind: str
    """What a request is for (`tool_call`, `change`, `plan`, …), or one of the kinds above."""
    title: str
    why: str
    waiting_since: str
    command: str
    subject_id: str
    """What it is about: a change, a plan, a schedule, a release, or a tool."""
    expires_at: str | None = None

    def as_dict(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__dataclass_fields__}
