"""Every tool there is, in one registry."""

from astra.tools import (
    awareness,
    beliefs,
    changes,
    deploying,
    desires,
    desk,
    goals,
    operating,
    persona,
    plans,
    research,
    sandbox,
    schedules,
    source,
    tasks,
)
from astra.trusted.calls.registry import ImportedTools, Registry


def make_registry(imported: ImportedTools | None = None) -> Registry:
    """Give Astra's own tools, and those of other servers behind them."""
    families = (
        source,
        persona,
        desires,
        goals,
        awareness,
        beliefs,
        desk,
        sandbox,
        schedules,
        tasks,
        changes,
        plans,
        research,
        deploying,
        operating,
    )
    return Registry((tool for family in families for tool in family.TOOLS), imported)
