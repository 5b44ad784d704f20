"""Which tools a session is shown: sets by name, or only those that read.

    astra mcp --toolsets source,changes --read-only

Choosing is for the client's sake (a shorter list, fewer things to mistake for another) and can only
narrow: what a session did not choose is refused when it is called all the same.

>>> Selection.parse("source,plans").names == {"source", "plans"}
True
"""

from dataclasses import dataclass
from typing import Protocol, Self

from astra.tools.toolsets import ALWAYS, TOOLSETS, find_toolset
from astra.trusted.kernel.errors import BadInput
from astra.trusted.policy.call import Tier
from astra.trusted.policy.decision import Decision, Reason, deny


class NamedTool(Protocol):
    """What a set has to know of a tool; the relay reads this module, and no registry."""

    @property
    def name(self) -> str: ...

    @property
    def tier(self) -> Tier: ...


@dataclass(frozen=True, kw_only=True)
class Selection:
    """The chosen sets, none of them meaning all, and whether only tools that read are shown."""

    names: frozenset[str] = frozenset()
    read_only: bool = False

    @classmethod
    def parse(cls, text: str, *, read_only: bool = False) -> Self:
        names = frozenset(name.strip() for name in text.split(",") if name.strip())
        return cls(names=frozenset() if "all" in names else check_names(names), read_only=read_only)

    def includes(self, tool: NamedTool) -> bool:
        if self.read_only and tool.tier is not Tier.READ:
            return False
        return not self.names or find_toolset(tool.name) in self.names | {ALWAYS}

    def objection(self, tool: NamedTool) -> Decision | None:
        """Say why this session cannot call a tool that others can."""
        if self.includes(tool):
            return None
        shown_tools = "only tools that read" if self.read_only else "other toolsets"
        return deny(
            Reason.NOT_AVAILABLE,
            f"this session was started with {shown_tools}, so {tool.name} is not in it",
            "go on with the tools in your list, or tell the person who started this session to"
            f" add the toolset {find_toolset(tool.name)!r}",
        )


def check_names(names: frozenset[str]) -> frozenset[str]:
    if unknown := sorted(names - TOOLSETS.keys()):
        raise BadInput(
            f"there is no toolset {unknown[0][:40]!r}",
            code="unknown_toolset",
            next_step=f"choose from: all, {', '.join(TOOLSETS)}",
        )
    return names
