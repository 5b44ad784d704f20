"""The machines that share a chain: who they are, and which of them does what has one doer.

A data root on its own is one machine, alone: it does everything and waits for nobody.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from astra.trusted.ledger.fencing import Fence

ANSWERING_SECONDS = 5.0
"""How long ago a machine may have been seen and still counts as one that answers."""


@dataclass(frozen=True, kw_only=True)
class Machine:
    id: str
    name: str
    seen_seconds: float
    """How long ago it was seen, by the database's clock."""
    leads: tuple[str, ...] = ()
    """The leases that it holds."""

    @property
    def is_answering(self) -> bool:
        return self.seen_seconds < ANSWERING_SECONDS

    def as_dict(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "name": self.name,
            "answers": self.is_answering,
            "seen_seconds_ago": round(self.seen_seconds, 1),
            "leads": list(self.leads),
        }


@dataclass(frozen=True)
class Term:
    """A time in which this machine may do a kind of work: under a lease, or alone without one."""

    fence: Fence | None = None


@dataclass(frozen=True)
class LeaseHolder:
    machine: str
    epoch: int


class Machines(Protocol):
    @property
    def own_id(self) -> str:
        """Give this machine's id, or nothing where it is alone."""
        ...

    def list_machines(self) -> Sequence[Machine]: ...

    def find_term(self, lease: str) -> Term | None:
        """Give the term in which this machine holds a lease, or None while another does."""
        ...

    def list_leases(self) -> Mapping[str, LeaseHolder]:
        """Give who has or had each lease, with its epoch, whether or not it is over."""
        ...

    def forget(self, machine_id: str) -> bool:
        """Forget a machine that does not come back; False where it answers or is not known."""
        ...

    def start(self) -> None: ...

    def close(self) -> None: ...


class Alone:
    own_id = ""

    def list_machines(self) -> Sequence[Machine]:
        return ()

    def find_term(self, lease: str) -> Term | None:  # noqa: ARG002 - the port's name
        return Term()

    def list_leases(self) -> Mapping[str, LeaseHolder]:
        return {}

    def forget(self, machine_id: str) -> bool:  # noqa: ARG002 - the port's name
        return False

    def start(self) -> None:
        pass

    def close(self) -> None:
        pass
