"""The registry of tools as plans know it: a book of skills."""

from astra.plans.skills import SkillFacts
from astra.trusted.calls.registry import Registry
from astra.trusted.kernel.errors import NotFound
from astra.trusted.policy.call import Tier


class RegistrySkills:
    """The tools of this server, as skills that a plan may name."""

    def __init__(self, registry: Registry) -> None:
        self._registry = registry

    def find(self, name: str) -> SkillFacts | None:
        try:
            tool = self._registry.find(name)
        except NotFound:
            return None
        return SkillFacts(
            name=tool.name,
            tier=int(tool.tier),
            operator_only=tool.operator_only,
            repeatable=tool.tier is Tier.READ,
        )

    def names(self) -> list[str]:
        return [tool.name for tool in self._registry.list_all() if not tool.operator_only]
