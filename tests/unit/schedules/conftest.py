"""Tools that exist only in tests: one a tier, and ones that fail or take their time."""

from typing import TYPE_CHECKING, Any

import pytest

from astra.testing import ScheduledInMemory
from astra.trusted.calls.registry import Answer, AnyTool, Arguments, Hints, Tool
from astra.trusted.kernel.errors import AstraError
from astra.trusted.policy.call import Tier

if TYPE_CHECKING:
    from collections.abc import Callable


class Text(Arguments):
    text: str = ""


class Said(Answer):
    text: str


class World(ScheduledInMemory):
    """A world whose tools count what they did."""

    def __init__(self) -> None:
        self.ran: list[tuple[str, str]] = []
        self.failing = False
        self.meanwhile: Callable[[], None] = lambda: None
        super().__init__(
            self.tool("look", Tier.READ),
            self.tool("write", Tier.LOCAL_WRITE),
            self.tool("send", Tier.EXTERNAL),
            self.tool("count", Tier.LOCAL_WRITE, hints=Hints(idempotent=False)),
            self.tool("think", Tier.LOCAL_WRITE, slow=True),
            self.tool("spend", Tier.LOCAL_WRITE, slow=True, hints=Hints(idempotent=False)),
            self.tool("deploy", Tier.EXTERNAL, flags=("ASTRA_CODE_WRITE_ENABLED",)),
            self.tool("theirs", Tier.LOCAL_WRITE, operator_only=True),
        )

    def tool(self, name: str, tier: Tier, **fields: Any) -> AnyTool:
        def act(arguments: Text, _services: Any) -> Said:
            self.ran.append((name, arguments.text))
            self.meanwhile()
            if self.failing:
                raise AstraError("it broke", next_step="mend it", code="broken")
            return Said(text=arguments.text)

        return Tool(
            name=name,
            title=name,
            description=name,
            input=Text,
            output=Said,
            tier=tier,
            handler=act,
            **fields,
        )


@pytest.fixture
def world() -> World:
    return World()
