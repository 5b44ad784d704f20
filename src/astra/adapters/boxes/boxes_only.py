"""The sandbox for what must never run without one: everything that comes out of a change.

Where the sandbox is switched off (`off-unsafe`), that is refused here, and the review says so.
"""

from dataclasses import dataclass
from typing import Any

from astra.adapters.boxes.sandbox import Sandbox
from astra.trusted.policy.manifest import Manifest
from astra.trusted.sandbox.machine import SandboxUnavailable
from astra.trusted.sandbox.outcome import Outcome


@dataclass(frozen=True)
class BoxesOnly:
    """The sandbox, for what must never run without one."""

    sandbox: Sandbox

    def run(self, command: tuple[str, ...], manifest: Manifest, **how: Any) -> Outcome:
        if self.sandbox.off:
            raise SandboxUnavailable(
                "nothing of a change runs outside a box, and the sandbox is switched off",
                next_step="unset ASTRA_SANDBOX, then look at `astra doctor`",
            )
        return self.sandbox.run(command, manifest, **how)

    def end(self, label: str, why: str) -> None:
        self.sandbox.end(label, why)
