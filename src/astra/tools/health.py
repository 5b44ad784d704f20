"""What an agent hears when it asks how Astra is: what is on, what waits, what confines it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from astra import __version__
from astra.trusted.approvals.desk import Desk
from astra.trusted.policy import flags
from astra.trusted.policy.switches import Switches


@dataclass(frozen=True, kw_only=True)
class HealthReport:
    switches: Switches
    desk: Desk
    sandbox_state: Callable[[], Mapping[str, Any]]

    def read(self) -> dict[str, Any]:
        effective = self.switches.flags()
        stopped = self.switches.stopped()
        sandbox = self.sandbox_state()
        return {
            "status": "stopped" if stopped else "ok",
            "version": __version__,
            "code_access": flags.code_access(effective),
            "stopped": stopped,
            "flags": {name: flag.on for name, flag in effective.items()},
            "pending_approvals": len(self.desk.list_by_state()),
            "sandbox": {name: sandbox[name] for name in ("kind", "state")},
        }
