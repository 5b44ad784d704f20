"""Once an hour the feed says what is wanted most; nothing else ever comes of it."""

from datetime import datetime

import pytest

from astra import flow
from astra.bootstrap import PROJECTIONS
from astra.desires.idle import IdlePolicy
from astra.persona.awareness import Awareness
from astra.testing import GateInMemory
from astra.trusted.file_ledger.sqlite_index import SqliteIndex
from astra.trusted.ledger import chain, views
from astra.trusted.ledger.record import Record


@pytest.fixture
def gate() -> GateInMemory:
    gate = GateInMemory()
    gate.root.clock.advance(minutes=20)
    return gate


def want(gate: GateInMemory, text: str = "sail", strength: float = 1.0) -> str:
    made = gate.desires.record(
        text, strength=strength, actor="agent:test", correlation="cor_0000000000000001"
    )
    return made.id


def surveys(gate: GateInMemory) -> list[Record]:
    return views.records(gate.root.ledger, type_="desires_surveyed", limit=1000)


def test_without_desires_nothing_is_due(gate: GateInMemory) -> None:
    gate.root.clock.advance(days=1)
    assert flow.next_due(gate.root.ledger) is None


def test_at_the_next_full_hour_the_top_ten_are_in_the_feed(gate: GateInMemory) -> None:
    for number in range(12):
        want(gate, f"wish {number}", strength=1 - number / 20)
    steps = gate.steps()
    gate.root.clock.advance(minutes=39)
    assert steps.run_due() == 0
    gate.root.clock.advance(minutes=1)
    assert steps.run_due() == 1
    (note,), _ = Awareness(gate.root.ledger).read()
    assert note.kind == "idle"
    lines = note.text.splitlines()[1:]
    assert [line.split(maxsplit=2)[2] for line in lines] == [f"wish {n}" for n in range(10)]
    assert len(surveys(gate)) == 1


def test_another_interval_counts_from_the_first_survey_on(gate: GateInMemory) -> None:
    want(gate)
    gate.root.clock.advance(minutes=40)
    IdlePolicy(gate.desires, hours=6).survey()
    due = flow.next_due(gate.root.ledger)
    assert due is not None
    assert due.due == "2026-03-01T19:00:00.000000Z"


def test_each_hour_has_one_survey_however_often_the_daemon_starts(gate: GateInMemory) -> None:
    want(gate)
    for _ in range(5 * 60):
        gate.root.clock.advance(minutes=1)
        gate.steps().run_due()
    hours = [record.data["hour"] for record in surveys(gate)]
    assert hours == [f"2026-03-01T{hour}" for hour in range(13, 18)]


def test_two_who_survey_the_same_hour_write_it_once(gate: GateInMemory) -> None:
    want(gate)
    gate.root.clock.advance(hours=1)
    IdlePolicy(gate.desires).survey()
    IdlePolicy(gate.desires).survey()
    assert len(surveys(gate)) == 1


def test_hours_of_downtime_are_not_made_up_for(gate: GateInMemory) -> None:
    want(gate)
    gate.root.clock.advance(hours=9)
    assert gate.steps().run_due() == 1
    assert gate.steps().run_due() == 0
    gate.root.clock.advance(hours=1)
    assert gate.steps().run_due() == 1


def test_what_is_due_next_is_derived_from_the_chain(gate: GateInMemory) -> None:
    want(gate)
    gate.root.clock.advance(hours=1)
    gate.steps().run_due()
    rebuilt = SqliteIndex(None, PROJECTIONS)
    rebuilt.apply(chain.parse(line) for line in gate.root.ledger.lines)
    asked = "SELECT subject, step, due FROM due_step"
    assert rebuilt.query(asked) == gate.root.ledger.query(asked)
    assert rebuilt.query(asked) == [("desires", "survey", "2026-03-01T14:00:00.000000Z")]
    rebuilt.close()


def test_when_all_have_faded_one_last_survey_says_so(gate: GateInMemory) -> None:
    made = want(gate)
    gate.root.clock.advance(days=60)
    assert gate.steps().run_due() == 1
    gate.root.clock.advance(days=1)
    assert gate.steps().run_due() == 0
    assert surveys(gate)[-1].data["top"] == []
    gate.desires.reinforce(made, actor="agent:test")
    gate.root.clock.advance(hours=1)
    assert gate.steps().run_due() == 1


def test_surveys_stay_out_of_a_desires_own_story(gate: GateInMemory) -> None:
    made = want(gate)
    gate.root.clock.advance(hours=1)
    gate.steps().run_due()
    assert "desires_surveyed" not in [record.type for record in views.story(gate.root.ledger, made)]


def test_no_survey_ever_makes_or_asks_for_a_goal(gate: GateInMemory) -> None:
    for _ in range(5):
        made = want(gate)
        gate.desires.reinforce(made, actor="agent:test")
    for _ in range(50):
        gate.root.clock.advance(hours=1)
        gate.steps().run_due()
    types = {record.type for record in views.records(gate.root.ledger, limit=1000)}
    assert not types & {"goal_created", "approval_requested", "desire_promoted"}


def test_a_survey_just_before_the_hour_leaves_the_next_hour_its_own(gate: GateInMemory) -> None:
    want(gate)
    gate.root.clock.set(datetime.fromisoformat("2026-03-01T13:59:59.999999Z"))
    assert gate.steps().run_due() == 1
    gate.root.clock.advance(seconds=1)
    assert gate.steps().run_due() == 1
