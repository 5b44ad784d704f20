"""Hosts that a step tried to reach and was refused, as grants that a person could give.

A program's hosts are known only once it ran. So its step waits where it ended: a grant, signed for
exactly this action, lets it run again; skipping goes on with what came of it, and is remembered.
"""

from collections.abc import Container, Iterable
from typing import Any, Protocol

from astra.plans import events
from astra.plans.grants import Item
from astra.plans.model import AgentPlan
from astra.plans.register import Register
from astra.plans.schema import Permissions
from astra.trusted.kernel.errors import AstraError
from astra.trusted.kernel.text import one_line
from astra.trusted.policy import domains
from astra.trusted.policy.domains import WEB_PORTS, BadDomain

MOST_ASKED = 10

Attempt = tuple[str, int]


class Refusals(Protocol):
    """What the boxes of a plan were kept from reaching."""

    def read_since(self, plan: AgentPlan, sequence: int) -> tuple[Attempt, ...]:
        """Name the hosts and ports that no grant named, since a record."""
        ...


def find_missing_grants(
    attempts: Iterable[Attempt], granted: Permissions, left_out: Container[Item] = ()
) -> tuple[Item, ...]:
    """Give the narrowest grants for what was refused; what nobody may grant is left out."""
    names = (
        _spell_grant(host, port) for host, port in attempts if not _can_reach(granted, host, port)
    )
    items = dict.fromkeys(("network_domains", name) for name in names if name)
    return tuple(item for item in items if item not in left_out)[:MOST_ASKED]


def read_skipped_grants(register: Register, plan: AgentPlan) -> frozenset[Item]:
    """Give what the operator left refused: a plan asks for it once, not at every command."""
    records = register.ledger.find_mentions(plan.id, events.ACTION_SKIPPED)
    items = (item for record in records for item in record.data.get("items", ()))
    return frozenset((kind, value) for kind, value in items)


def describe_refused_hosts(items: Iterable[Item], outcome: str) -> str:
    hosts = ", ".join(one_line(value, 200) for _kind, value in items)
    return f"it ran ({outcome}) and was refused {hosts}; a grant lets it run again"


def make_refused_result(block: dict[str, Any], decision: str) -> dict[str, str]:
    """Give what a step that ran ends with, when nobody lets it run again."""
    ran = block["ran"]
    hosts = ", ".join(value for _kind, value in block["items"])
    result = f"refused while it ran: {hosts}; {decision}\n{ran['result']}"
    return {"outcome": ran["outcome"], "result": result}


def _spell_grant(host: str, port: int) -> str:
    """Spell a host as a plan would name it, or nothing where no grant can.

    >>> _spell_grant("example.com", 443), _spell_grant("example.com", 8443)
    ('example.com', 'example.com:8443')
    >>> _spell_grant("localhost", 80)
    ''
    """
    try:
        return str(domains.parse_grant(host if port in WEB_PORTS else f"{host}:{port}"))
    except AstraError:
        return ""


def _can_reach(granted: Permissions, host: str, port: int) -> bool:
    try:
        return domains.allows(domains.parse_grants(granted.network_domains), host, port)
    except BadDomain:
        return False
