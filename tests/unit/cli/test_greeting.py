"""What `astra` alone says of a daemon that runs: what matters most comes first."""

from typing import Any

import pytest

from astra.interfaces.cli.greeting import describe_status
from astra.interfaces.cli.main import COMMANDS

CALM: dict[str, Any] = {
    "held": [],
    "stopped": False,
    "daemon": {"url": None},
}


@pytest.mark.parametrize(
    ("state", "change", "waiting", "summary"),
    [
        ("ready", {}, 0, "nothing waits for you"),
        ("waiting", {}, 1, "1 thing waits for you"),
        ("waiting", {}, 3, "3 things wait for you"),
        ("stopped", {"stopped": True}, 3, "all work is stopped"),
        ("held", {"held": ["records were cut off"], "stopped": True}, 3, "records were cut off"),
    ],
)
def test_what_holds_everything_up_comes_before_what_waits(
    state: str, change: dict[str, Any], waiting: int, summary: str
) -> None:
    situation = describe_status({**CALM, **change}, waiting=waiting)
    assert situation.state == state
    assert summary in situation.summary


def test_every_command_it_names_exists() -> None:
    for change in ({}, {"stopped": True}, {"held": ["x"]}):
        for waiting in (0, 1):
            for command, _ in describe_status({**CALM, **change}, waiting=waiting).next_commands:
                assert command.split()[1] in COMMANDS


def test_the_page_is_named_where_one_is_served() -> None:
    situation = describe_status({**CALM, "daemon": {"url": "http://localhost:1"}}, waiting=0)
    assert any("http://localhost:1" in about for _, about in situation.next_commands)
