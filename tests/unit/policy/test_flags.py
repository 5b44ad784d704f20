import pytest

from astra.testing import RootInMemory
from astra.trusted.kernel.errors import BadInput, DuplicateKey, SignatureRejected
from astra.trusted.ledger.record import Event
from astra.trusted.policy import flags
from astra.trusted.policy.flags import FLAG_SET, content, read_flags, turn_off, turn_on
from astra.trusted.settings.environment import FLAGS

WRITE = "ASTRA_CODE_WRITE_ENABLED"


def switch_on(root: RootInMemory, name: str = WRITE) -> None:
    signed = root.sign(FLAG_SET, content(name, on=True))
    root.ledger.append([turn_on(root.ledger, name, signed, now=root.clock.now())])


def test_without_a_word_from_anybody_the_defaults_hold(root: RootInMemory) -> None:
    found = read_flags(root.ledger)
    assert {name: flag.on for name, flag in found.items()} == {
        name: default for name, (default, _) in FLAGS.items()
    }


def test_code_writing_is_off_by_default(root: RootInMemory) -> None:
    assert not read_flags(root.ledger)[WRITE].on


def test_an_operators_signature_turns_a_flag_on(root: RootInMemory) -> None:
    switch_on(root)
    assert read_flags(root.ledger)[WRITE].on


def test_anybody_may_turn_a_flag_off_and_it_stays_off(root: RootInMemory) -> None:
    switch_on(root)
    root.ledger.append([turn_off(WRITE, actor="user:1000")])
    assert not read_flags(root.ledger)[WRITE].on


def test_the_environment_wins_over_the_operators_on(root: RootInMemory) -> None:
    switch_on(root)
    assert not read_flags(root.ledger, off=frozenset({WRITE}))[WRITE].on


def test_the_environments_on_names_the_command_that_would_do_it(root: RootInMemory) -> None:
    flag = read_flags(root.ledger, asked_on=frozenset({WRITE}))[WRITE]
    assert not flag.on
    assert f"astra flags set {WRITE} on" in flag.note


def test_a_record_that_says_on_without_a_signature_does_not_count(root: RootInMemory) -> None:
    forged = Event(type=FLAG_SET, actor="operator", data=content(WRITE, on=True))
    root.ledger.append([forged])
    flag = read_flags(root.ledger)[WRITE]
    assert (flag.on, flag.source) == (False, "forged")


def test_a_signature_for_one_flag_does_not_turn_on_another(root: RootInMemory) -> None:
    signed = root.sign(FLAG_SET, content("PERSONA_MODE_ENABLED", on=True))
    with pytest.raises(SignatureRejected):
        turn_on(root.ledger, WRITE, signed, now=root.clock.now())


def test_a_signature_is_used_once(root: RootInMemory) -> None:
    signed = root.sign(FLAG_SET, content(WRITE, on=True))
    event = turn_on(root.ledger, WRITE, signed, now=root.clock.now())
    root.ledger.append([event])
    root.ledger.append([turn_off(WRITE, actor="user:1000")])
    replayed = turn_on(root.ledger, WRITE, signed, now=root.clock.now())
    with pytest.raises(DuplicateKey):
        root.ledger.append([replayed])
    assert not read_flags(root.ledger)[WRITE].on


def test_there_are_no_other_flags() -> None:
    with pytest.raises(BadInput):
        flags.content("ASTRA_EVERYTHING_ENABLED", on=True)
