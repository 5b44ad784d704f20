"""A call as the gate sees it: who, which tool, and what it would touch.

Everything here is worked out by the server from the tool's definition and the arguments. What a
model says about its own call (that it is read-only, that it is safe) appears nowhere.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum, StrEnum
from functools import cached_property
from typing import Any

from astra.trusted.kernel import canonical
from astra.trusted.policy.limits import NO_LIMITS, Limits


class Tier(IntEnum):
    READ = 0
    LOCAL_WRITE = 1
    EXTERNAL = 2


class Role(StrEnum):
    AGENT = "agent"
    VIEWER = "viewer"
    OPERATOR = "operator"
    SERVICE = "service"


@dataclass(frozen=True, kw_only=True)
class Actor:
    """Who calls: a role that a door established, and a name for the record."""

    role: Role
    name: str
    door: str

    def __str__(self) -> str:
        return f"{self.role}:{self.name}"


@dataclass(frozen=True, kw_only=True)
class Footprint:
    """What a call would touch, computed from its arguments."""

    read_paths: tuple[str, ...] = ()
    write_paths: tuple[str, ...] = ()
    domains: tuple[str, ...] = ()
    skills: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    """Files the call acts on and somebody could edit before it runs, each with its sha-256."""
    destructive: bool = False
    amounts: tuple[str, ...] = ()
    """What of it is an amount, by the name of the argument: money, mails, rows."""

    def as_dict(self) -> dict[str, Any]:
        return {
            "read_paths": list(self.read_paths),
            "write_paths": list(self.write_paths),
            "domains": list(self.domains),
            "skills": list(self.skills),
            "files": list(self.files),
            "destructive": self.destructive,
            **({"amounts": list(self.amounts)} if self.amounts else {}),
        }


@dataclass(frozen=True, kw_only=True)
class Call:
    tool: str
    tier: Tier
    actor: Actor
    arguments: Mapping[str, Any]
    footprint: Footprint = field(default_factory=Footprint)
    flags: tuple[str, ...] = ()
    operator_only: bool = False
    available: bool = True
    correlation: str
    schedule_id: str | None = None
    schedule_budget: int = 0
    plan_id: str | None = None
    server: str = ""
    """The MCP server whose tool it is; nothing for Astra's own tools."""
    server_budget: int = 0
    loosens: str = ""
    """What it would loosen beyond what was signed, in words, where it is that which needs a yes."""
    defaults: frozenset[str] = frozenset()
    """Arguments that are what the tool takes them for anyway; a title leaves them out."""
    limits: Limits = NO_LIMITS
    """What the token that it came with may be used for."""
    touched: tuple[str, ...] | None = ()
    """The files that it would touch, as limits write them; None where that is not known."""
    later: tuple[tuple[str, int], ...] = ()
    """The tools that it would have called later, with their tiers."""
    words: str = ""
    """What it would do, in the server's words, where the name of the tool says too little."""

    def content(self) -> dict[str, Any]:
        """Give exactly what would run, whole: what a person reads before signing it."""
        return {
            "tool": self.tool,
            "tier": int(self.tier),
            "arguments": dict(self.arguments),
            "footprint": self.footprint.as_dict(),
            "schedule": self.schedule_id,
            **({"plan": self.plan_id} if self.plan_id else {}),
        }

    def digest(self) -> str:
        """Name exactly what would run: approvals bind to this, and to nothing looser."""
        return self._digest

    @cached_property
    def _digest(self) -> str:
        """Worked out once: a call is a value, and one with other arguments is another call."""
        return hashlib.sha256(canonical.encode(self.content())).hexdigest()
