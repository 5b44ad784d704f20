"""The feed tells what happened, newest first, page by page."""

import pytest

from astra.persona.awareness import Awareness
from astra.testing import GateInMemory
from astra.trusted.kernel.errors import BadInput
from astra.trusted.ledger.record import Event
from astra.trusted.policy import telemetry


@pytest.fixture
def gate() -> GateInMemory:
    return GateInMemory()


def ask(gate: GateInMemory, digest: str) -> str:
    return gate.desk.ask(
        kind="test",
        subject_id="thing",
        digest=digest * 64,
        summary="run a thing",
        details={},
        actor="agent:test",
        correlation="cor_0000000000000001",
    )


def test_a_new_root_has_nothing_to_tell(gate: GateInMemory) -> None:
    assert Awareness(gate.root.ledger).read() == ([], None)


def test_outcomes_are_told_newest_first(gate: GateInMemory) -> None:
    rejected, granted, stale = ask(gate, "a"), ask(gate, "b"), ask(gate, "c")
    gate.desk.reject(rejected, "not today", actor="user:1000")
    gate.approve(granted)
    gate.desk.go_stale(stale, "the branch moved")
    notes, _ = Awareness(gate.root.ledger).read()
    assert [note.about for note in notes] == [stale, granted, rejected]
    assert {note.kind for note in notes} == {"outcome"}
    assert notes[-1].text == f"{rejected} was rejected: not today"
    assert "the branch moved" in notes[0].text


def test_a_reason_cannot_steer_the_terminal_of_who_reads(gate: GateInMemory) -> None:
    gate.desk.reject(ask(gate, "a"), "enough\x1b[2J", actor="user:1000")
    (note,), _ = Awareness(gate.root.ledger).read()
    assert "enough" in note.text
    assert "\x1b" not in note.text


def test_a_call_that_was_cut_off_is_an_alert(gate: GateInMemory) -> None:
    started = Event(
        type="tool_started", actor="agent:test", data={"tool": "write_file"}, subject="call_0001"
    )
    gate.root.ledger.append([started])
    telemetry.close_interrupted(gate.root.ledger)
    (note,), _ = Awareness(gate.root.ledger).read(kind="alert")
    assert "write_file" in note.text
    assert Awareness(gate.root.ledger).read(kind="outcome") == ([], None)


def test_pages_reach_back_to_the_beginning(gate: GateInMemory) -> None:
    wanted = [ask(gate, digit) for digit in "abcde"]
    for identifier in wanted:
        gate.desk.reject(identifier, "no", actor="user:1000")
    feed, seen, cursor = Awareness(gate.root.ledger), [], None
    while True:
        notes, cursor = feed.read(limit=2, cursor=cursor)
        seen += [note.about for note in notes]
        if cursor is None:
            break
    assert seen == wanted[::-1]


@pytest.mark.parametrize(
    "asked", [{"cursor": "x"}, {"cursor": "9" * 30}, {"cursor": "²"}, {"limit": 0}, {"kind": "x"}]
)
def test_what_cannot_be_asked_is_refused(gate: GateInMemory, asked: dict[str, object]) -> None:
    with pytest.raises(BadInput):
        Awareness(gate.root.ledger).read(**asked)  # type: ignore[arg-type]
