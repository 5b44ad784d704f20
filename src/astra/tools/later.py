"""Tools whose parts of Astra are still to come: known, listed, and answering `not_available`."""

from typing import Any, NoReturn

from pydantic import ConfigDict

from astra.tools.services import Services
from astra.tools.source import PERSONA
from astra.trusted.calls.registry import Answer, AnyTool, Arguments, Hints, Tool
from astra.trusted.kernel.errors import Refused
from astra.trusted.policy.call import Tier

_WRITE = (*PERSONA, "ASTRA_CODE_WRITE_ENABLED")


class Whatever(Arguments):
    model_config = ConfigDict(extra="allow")


class NeverGiven(Answer):
    pass


def _later(
    name: str, tier: Tier, *, flags: tuple[str, ...] = (), operator_only: bool = False, **more: Any
) -> AnyTool:
    title = name.removeprefix("astra.").replace(".", " ").replace("_", " ")
    return Tool(
        name=name,
        title=title.capitalize(),
        description=f"{title.capitalize()}. Not available in this version.",
        input=Whatever,
        output=NeverGiven,
        tier=tier,
        flags=flags,
        operator_only=operator_only,
        available=False,
        hints=Hints(open_world=tier is Tier.EXTERNAL),
        handler=_never,
        **more,
    )


def _never(_arguments: Whatever, _services: Services) -> NoReturn:
    raise Refused("this tool is not available", code="not_available", next_step="use another")


TOOLS: tuple[AnyTool, ...] = (
    _later("research_and_summarize", Tier.LOCAL_WRITE),
    _later("astra.goals.create", Tier.LOCAL_WRITE, aliases=("goals.create", "goals_create")),
    _later("execute_goal", Tier.LOCAL_WRITE, flags=_WRITE),
    _later("astra.stop", Tier.LOCAL_WRITE, operator_only=True),
)
