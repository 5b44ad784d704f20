"""Sentences are about this event, with its numbers; a record that lacks a member breaks none."""

from typing import Any

import pytest

from astra.bootstrap.events import EVENTS
from astra.interfaces.cli.record_words import CONSTANT_SENTENCES, SENTENCES
from astra.interfaces.cli.story import SAYINGS as EVERY_SAYING
from astra.interfaces.cli.story_words import SAYINGS


def say(event_type: str, **data: Any) -> str:
    return SAYINGS[event_type](data)


def test_tests_are_told_with_their_numbers() -> None:
    report = {"verdict": "passed", "passed": 13, "failed": 0, "errors": 0, "seconds": 0.51}
    assert say("tests_passed", report=report) == "tests passed: 13 of 13 in 0.5 s"
    report = {"verdict": "failed", "passed": 11, "failed": 1, "errors": 1, "reason": "exit code 1"}
    assert say("tests_failed", report=report) == ("tests did not pass: 2 of 13 failed: exit code 1")


def test_a_proposal_is_told_with_its_reason_and_size() -> None:
    diff = {"files": 2, "added": 10, "removed": 3}
    told = say("code_modification_scheduled", about={"reason": "greet"}, facts={"diff": diff})
    assert told == "a change was proposed, “greet”: 2 files, +10 -3"


def test_a_rollback_says_where_it_went() -> None:
    told = say("deployment_rolled_back", **{"from": "rel_2", "release": "rel_1"})
    assert told == "went back from rel_2 to rel_1"


def test_every_event_has_a_sentence_of_its_own() -> None:
    """A description of the type says nothing about what happened this time."""
    assert set(EVENTS) - set(EVERY_SAYING) - set(CONSTANT_SENTENCES) == set()
    assert set(SENTENCES) & set(CONSTANT_SENTENCES) == set()
    assert set(CONSTANT_SENTENCES) <= set(EVENTS)


def test_a_box_is_told_with_its_program_its_time_and_how_it_ended() -> None:
    record = {"program": "python", "seconds": 0.31, "reason": "exit code 0", "egress": {"sent": 9}}
    sentence = SENTENCES["box_ended"](record)
    assert sentence == "a box with python ended after 0.3 s, 9 bytes sent: exit code 0"


@pytest.mark.parametrize("event_type", sorted({**SENTENCES, **SAYINGS}))
def test_every_sentence_is_about_an_event_there_is_and_survives_a_bare_record(
    event_type: str,
) -> None:
    assert event_type in EVENTS
    assert EVERY_SAYING[event_type]({})
