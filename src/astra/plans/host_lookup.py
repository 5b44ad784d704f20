"""Which hosts of a plan exist: asked of the name server only when an operator says so.

A plan's hosts are named by an agent. Whoever runs a domain sees every question for a name in it, so
a lookup that nobody asked for would carry out whatever the agent wrote into the name. That it was
asked for is a record, written before the first question. What came of it is told to the operator
alone: it is in no view that an agent reads.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from astra.plans import events
from astra.plans.register import Register
from astra.trusted.kernel.errors import AstraError
from astra.trusted.ledger.record import Event
from astra.trusted.policy import domains
from astra.trusted.policy.addresses import is_public

MOST_HOSTS = 20
_TOO_MANY = f"not looked up: at most {MOST_HOSTS} names at once"
_PATTERN = "a pattern: there is no one name to look up"
Resolve = Callable[[Sequence[str]], Mapping[str, list[str] | None]]
"""Gives the addresses of each name: none where it does not exist, None where nobody answered."""


@dataclass(frozen=True, kw_only=True)
class HostLookup:
    register: Register
    resolve: Resolve

    def look_up(self, plan_id: str, *, actor: str) -> list[dict[str, str]]:
        """Say of each host that a plan asks for whether it exists."""
        plan = self.register.get(plan_id)
        values = plan.plan.manifest.network_domains if plan.plan else ()
        names = {value: _read_name(value) for value in values}
        asked_names = list(dict.fromkeys(name for name in names.values() if name))[:MOST_HOSTS]
        addresses: Mapping[str, list[str] | None] = {}
        if asked_names:
            data = {"plan": plan.id, "hosts": asked_names}
            event = Event(
                type=events.HOSTS_LOOKED_UP, actor=actor, data=data, correlation=plan.correlation
            )
            self.register.ledger.append([event])
            addresses = self.resolve(asked_names)
        return [
            {"value": value, "outcome": _describe(name, addresses)} for value, name in names.items()
        ]


def _read_name(value: str) -> str:
    """Give the one name that a grant is about; nothing for a pattern or what is no name."""
    try:
        grant = domains.parse_grant(value)
    except AstraError:
        return ""
    return "" if grant.below else grant.host


def _describe(name: str, addresses: Mapping[str, list[str] | None]) -> str:
    if not name:
        return _PATTERN
    if name not in addresses:
        return _TOO_MANY
    answer = addresses[name]
    if answer is None:
        return "not known: the name server did not answer in time"
    if not answer:
        return "does not exist"
    if all(map(is_public, answer)):
        return "exists"
    return "exists, at an address of this machine or its network"
