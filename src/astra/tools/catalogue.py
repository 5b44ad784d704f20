"""Every tool there is, in one registry."""

from astra.tools import (
    awareness,
    changes,
    deploying,
    desires,
    desk,
    later,
    persona,
    plans,
    sandbox,
    schedules,
    source,
)
from astra.trusted.calls.registry import Registry


def make_registry() -> Registry:
    families = (
        source,
        persona,
        desires,
        awareness,
        desk,
        sandbox,
        schedules,
        changes,
        plans,
        deploying,
        later,
    )
    return Registry(tool for family in families for tool in family.TOOLS)
