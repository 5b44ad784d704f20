"""What a model is told to do next is something it can do."""

import pytest

from astra.interfaces.mcp.next_steps import for_model
from astra.tools.catalogue import make_registry

NAMES = {tool.underscored for tool in make_registry().list_all()} | {"tools/list"}


@pytest.mark.parametrize(
    ("written", "told"),
    [
        ("look before you try again", "look before you try again"),
        ("see `astra approvals`", "see astra_approvals_pending"),
        ("see `astra changes show chg_12`", "see astra_changes_get with id chg_12"),
        ("run `astra config sign`", "tell the operator: run `astra config sign`"),
        (
            "an operator turns it on with `astra flags set X on`",
            "an operator turns it on with `astra flags set X on`",
        ),
        ("see `astra plans show X` or `astra doctor`", None),
    ],
)
def test_a_command_becomes_a_tool_or_a_message_to_a_person(written: str, told: str | None) -> None:
    rewritten = for_model(written)
    assert rewritten == (told or rewritten)
    assert "`astra " not in rewritten or "operator" in rewritten


def test_every_tool_it_names_exists() -> None:
    from astra.interfaces.mcp import next_steps

    assert set(next_steps.TOOLS.values()) <= NAMES
