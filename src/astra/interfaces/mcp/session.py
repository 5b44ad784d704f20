r"""One client of the MCP door: who it is, what it switched off for itself, what it may spend.

A session's role is settled by the relay's first line, before the client has said anything; whatever
the client says later about itself changes nothing. Everything in that line but the role can only
narrow: flags off, fewer tools, fewer calls.

>>> Opening.read(Opening(operator=True).to_line()).operator
True
>>> Opening.read(b'{"jsonrpc": "2.0", "id": 1, "method": "ping"}\n') is None
True
"""

import json
from dataclasses import dataclass, field
from typing import Any, cast

from astra.interfaces.mcp.toolsets import Selection
from astra.trusted.kernel.errors import BadInput
from astra.trusted.kernel.ids import random_id
from astra.trusted.policy.call import Actor, Role
from astra.trusted.policy.limits import NO_LIMITS, Limits

CALLS = 1_000
_MEMBERS = frozenset({"operator", "off", "names", "calls", "toolsets", "read_only", "plain"})
_SWITCHES = ("operator", "read_only", "plain")


@dataclass
class Budget:
    """So many calls, and then no more: of a session, or of an hour where there are none."""

    limit: int = CALLS
    used: int = 0
    hourly: bool = False
    refused: int = 0
    """How many calls came after the last."""

    def take(self) -> bool:
        if self.used >= self.limit:
            self.refused += 1
            return False
        self.used += 1
        return True


@dataclass(frozen=True, kw_only=True)
class Session:
    actor: Actor
    off: frozenset[str] = frozenset()
    dotted: bool = False
    budget: Budget = field(default_factory=Budget)
    selection: Selection = field(default_factory=Selection)
    plain: bool = False
    """Answers are text only, for clients that show a model the structure instead of the text."""
    limits: Limits = NO_LIMITS
    """What the token that it came with may be used for."""
    key: str = field(default_factory=lambda: random_id("ses"))
    """Tells its calls from those of other sessions."""

    @property
    def operator(self) -> bool:
        return self.actor.role is Role.OPERATOR


@dataclass(frozen=True, kw_only=True)
class Opening:
    """What a relay says first, about the one who started it."""

    operator: bool = False
    off: frozenset[str] = frozenset()
    names: str | None = None
    calls: int = CALLS
    toolsets: str = ""
    read_only: bool = False
    plain: bool = False

    def to_line(self) -> bytes:
        members = {
            "operator": self.operator,
            "off": sorted(self.off),
            "names": self.names,
            "calls": self.calls,
            "toolsets": self.toolsets,
            "read_only": self.read_only,
            "plain": self.plain,
        }
        return json.dumps({"astra": members}).encode() + b"\n"

    def make_session(self, who: str, *, dotted: bool) -> Session:
        role = Role.OPERATOR if self.operator else Role.AGENT
        return Session(
            actor=Actor(role=role, name=who, door="mcp"),
            off=self.off,
            dotted=dotted if self.names is None else self.names == "dotted",
            budget=Budget(min(max(self.calls, 0), CALLS)),
            selection=Selection.parse(self.toolsets, read_only=self.read_only),
            plain=self.plain,
        )

    @staticmethod
    def read(line: bytes) -> "Opening | None":
        """Read a first line; None when it is not one, an error when it is a wrong one."""
        try:
            document: Any = json.loads(line)
        except (ValueError, RecursionError):
            return None
        if not isinstance(document, dict) or "astra" not in document:
            return None
        raw_members: Any = cast("dict[str, Any]", document)["astra"]
        if not isinstance(raw_members, dict) or not _is_understood(
            cast("dict[str, Any]", raw_members)
        ):
            raise BadInput(
                "the first line of the session is not one this version understands",
                next_step="use `astra mcp` of the same version as the daemon",
            )
        members = cast("dict[str, Any]", raw_members)
        return Opening(
            operator=members.get("operator", False),
            off=frozenset(members.get("off", [])),
            names=members.get("names"),
            calls=members.get("calls", CALLS),
            toolsets=members.get("toolsets", ""),
            read_only=members.get("read_only", False),
            plain=members.get("plain", False),
        )


def _is_understood(members: dict[str, Any]) -> bool:
    off: Any = members.get("off", [])
    return (
        members.keys() <= _MEMBERS
        and all(type(members.get(name, False)) is bool for name in _SWITCHES)
        and isinstance(members.get("toolsets", ""), str)
        and isinstance(off, list)
        and all(isinstance(name, str) for name in cast("list[Any]", off))
        and members.get("names") in {None, "underscore", "dotted"}
        and type(members.get("calls", CALLS)) is int
    )
