"""The keys in force are read once, and again exactly when a record could have changed them."""

from collections.abc import Sequence
from typing import Any

import pytest

from astra.bootstrap import PROJECTIONS
from astra.testing import MemoryLedger, RootInMemory
from astra.trusted.kernel.errors import SignatureRejected
from astra.trusted.kernel.signatures import KeyPair
from astra.trusted.ledger.record import Event
from astra.trusted.policy import authority


class Counting(MemoryLedger):
    """Counts how often all rotations are read."""

    reads = 0

    def query(self, sql: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        self.reads += authority.KEY_ROTATED in parameters and "ASC" in sql
        return super().query(sql, parameters)


def rotate(root: RootInMemory, new: KeyPair, old: KeyPair) -> int:
    signed = root.sign(authority.KEY_ROTATED, {"new_key": new.public}, old)
    event = authority.build_rotation_event(root.ledger, new.public, signed, now=root.clock.now())
    (record,) = root.ledger.append([event])
    return record.sequence


def test_a_rotation_counts_from_its_own_record_on() -> None:
    root, second, third = RootInMemory(), KeyPair.generate(), KeyPair.generate()
    assert authority.find_keys(root.ledger).operator == root.operator.public
    first_turn = rotate(root, second, root.operator)
    second_turn = rotate(root, third, second)
    assert [
        authority.find_keys(root.ledger, before=place).operator
        for place in (1, first_turn, first_turn + 1, second_turn, second_turn + 1)
    ] == [root.operator.public] * 2 + [second.public] * 2 + [third.public]
    assert authority.find_keys(root.ledger).operator == third.public


def test_a_rotation_that_nobody_signed_changes_nothing() -> None:
    root, thief = RootInMemory(), KeyPair.generate()
    data = {"new_key": thief.public}
    before = authority.find_keys(root.ledger)
    root.ledger.append([Event(type=authority.KEY_ROTATED, actor="operator", data=data)])
    assert authority.find_keys(root.ledger) == before
    with pytest.raises(SignatureRejected):
        rotate(root, KeyPair.generate(), thief)


def test_other_records_do_not_have_the_keys_read_again() -> None:
    root = RootInMemory()
    ledger = Counting(projections=PROJECTIONS, clock=root.clock)
    for record in root.ledger.records():
        ledger.append([Event(type=record.type, actor=record.actor, data=record.data)])
    for _ in range(5):
        authority.find_keys(ledger)
        ledger.append([Event(type="thing_happened", actor="agent")])
    assert ledger.reads == 1
    ledger.append([Event(type=authority.KEY_ROTATED, actor="agent", data={"new_key": "0" * 64})])
    authority.find_keys(ledger)
    authority.find_keys(ledger, before=3)
    assert ledger.reads == 2


def test_two_ledgers_have_keys_of_their_own() -> None:
    one, other = RootInMemory(), RootInMemory()
    assert authority.find_keys(one.ledger).operator == one.operator.public
    assert authority.find_keys(other.ledger).operator == other.operator.public
