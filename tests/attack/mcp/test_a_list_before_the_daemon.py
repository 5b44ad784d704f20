"""Before there is a daemon no tool is listed that the gate would call unreachable."""

import itertools

import pytest

from astra.interfaces.mcp.first_answers import FirstAnswers, Standing
from astra.interfaces.mcp.session import Opening
from astra.tools.catalogue import make_registry
from astra.trusted.settings.environment import FLAGS

REGISTRY = make_registry()
REQUEST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}


@pytest.mark.parametrize("operator", [False, True])
def test_no_combination_of_flags_lists_a_tool_that_is_off(*, operator: bool) -> None:
    for states in itertools.product([False, True], repeat=len(FLAGS)):
        flags = dict(zip(FLAGS, states, strict=True))
        for off in ((), *((name,) for name in FLAGS)):
            opening = Opening(operator=operator, names="dotted", off=frozenset(off))
            answer = FirstAnswers(standing=Standing(flags=flags), opening=opening).find(
                REQUEST, "2025-11-25"
            )
            assert answer is not None
            on = {name: state and name not in off for name, state in flags.items()}
            visible = {tool.name for tool in REGISTRY.list_visible(on, operator=operator)}
            assert {tool["name"] for tool in answer["tools"]} == visible


def test_a_flag_that_nobody_wrote_down_is_off() -> None:
    answers = FirstAnswers(standing=Standing(flags={}), opening=Opening(names="dotted"))
    answer = answers.find(REQUEST, "2025-11-25")
    assert answer is not None
    for tool in answer["tools"]:
        assert not REGISTRY.find(tool["name"]).flags, tool["name"]
