"""The sandbox for what must never run without one: everything that comes out of a change.

Where the sandbox is switched off (`off-unsafe`), that is refused here, and the review says so.
"""

from dataclasses import dataclass

from astra.adapters.boxes.sandbox import Sandbox
from astra.trusted.sandbox.machine import SandboxUnavailable
from astra.trusted.sandbox.ports import BoxRequest, Outcome


@dataclass(frozen=True)
class BoxesOnly:
    """The sandbox, for what must never run without one."""

    sandbox: Sandbox

    def run(self, request: BoxRequest) -> Outcome:
        if self.sandbox.is_off:
            raise SandboxUnavailable(
                "nothing of a change runs outside a box, and the sandbox is switched off",
                next_step="unset ASTRA_SANDBOX, then look at `astra doctor`",
            )
        return self.sandbox.run(request)

    def end(self, label: str, why: str) -> int:
        return self.sandbox.end(label, why)
