"""What is recorded on a full disk follows from where an event leads, not from a list."""

import re

import pytest

from astra.bootstrap.directions import _TABLE, DIRECTIONS, Direction, is_urgent
from astra.bootstrap.events import EVENTS
from astra.trusted.ledger.record import Event

TAKES_AWAY = re.compile(
    "_(revoked|rejected|removed|withdrawn|paused|aborted|stopped|expired|stale|closed|finished"
    "|interrupted|ended|rolled_back|quarantined|retired|forgotten|disabled|settled)$"
)


def event(type_: str, **data: str) -> Event:
    return Event(type=type_, actor="somebody", data=data)


def test_every_event_declares_its_direction_once() -> None:
    assert set(DIRECTIONS) == set(EVENTS)
    assert sum(map(len, _TABLE.values())) == len(DIRECTIONS)


@pytest.mark.parametrize("name", sorted(filter(TAKES_AWAY.search, EVENTS)))
def test_whatever_takes_away_goes_back_or_ends_is_urgent(name: str) -> None:
    assert is_urgent([event(name)])


@pytest.mark.parametrize(
    "name", ["tool_called", "tool_refused", "tool_started", "change_commented"]
)
def test_what_an_agent_can_repeat_at_will_is_not_urgent(name: str) -> None:
    assert name in EVENTS
    assert not is_urgent([event(name)])


def test_a_beginning_makes_a_batch_ordinary_and_a_note_does_not() -> None:
    assert not is_urgent([event("approval_granted"), event("tool_started")])
    assert is_urgent([event("change_commented"), event("approval_rejected")])
    assert not is_urgent([])


def test_a_type_that_nobody_declared_is_not_urgent() -> None:
    assert not is_urgent([event("something_new")])


@pytest.mark.parametrize(
    "name", [name for name, way in DIRECTIONS.items() if way is Direction.BY_KIND]
)
def test_a_step_of_a_rollback_is_urgent_and_one_of_a_deployment_is_not(name: str) -> None:
    assert is_urgent([event(name, kind="rollback")])
    assert not is_urgent([event(name, kind="deploy")])
