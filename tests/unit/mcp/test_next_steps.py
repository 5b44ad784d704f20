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
        ("astra changes list", "astra_changes_list"),
        ("astra plans show pln_1 --json", "astra_plans_get with id pln_1"),
        ("astra status says what is off", "astra_health says what is off"),
        ("look again: astra research show res_1", "look again: check_recent_research"),
        (
            "astra schedules modify sch_1, then astra schedules resume",
            "astra_schedule_modify with id sch_1, then astra_schedule_resume",
        ),
        (
            "wait until the operator has decided some of them: astra plans list",
            "wait until the operator has decided some of them: astra_plans_list",
        ),
        ("use the newest Astra; edit astra.toml", "use the newest Astra; edit astra.toml"),
    ],
)
def test_a_command_that_has_a_tool_becomes_it(written: str, told: str) -> None:
    assert for_model(written) == told


@pytest.mark.parametrize(
    "written",
    [
        "run `astra config sign`",
        "set port in astra.toml, then astra config sign",
        "see `astra plans show X` or `astra doctor`",
        "look at the failures: astra changes show chg_1; or astra approve chg_1 --despite-tests",
    ],
)
def test_what_only_a_person_can_do_is_told_to_them_as_it_stands(written: str) -> None:
    assert for_model(written) == f"tell the operator: {written}"


@pytest.mark.parametrize(
    "written",
    [
        "tell the operator to look at apr_1 (`astra approvals`), then make the same call again",
        "an operator turns it on with `astra flags set X on`",
        "an operator makes another: astra tokens create --help",
    ],
)
def test_what_is_for_a_person_anyway_keeps_its_commands(written: str) -> None:
    assert for_model(written) == written


def test_every_tool_it_names_exists() -> None:
    from astra.interfaces.mcp import next_steps

    assert set(next_steps.TOOLS.values()) <= NAMES
