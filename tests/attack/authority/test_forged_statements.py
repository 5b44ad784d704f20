"""Everything an agent could try instead of the operator's signature."""

from collections.abc import Callable
from typing import Any

import pytest

from astra.testing import RootInMemory as Root
from astra.trusted.kernel.errors import SignatureRejected
from astra.trusted.kernel.signatures import KeyPair
from astra.trusted.ledger.record import Event, Head, Record
from astra.trusted.policy import authority
from astra.trusted.policy.authority import KEY_ROTATED, Signed

EVENT = Event(type="flag_set", actor="operator", data={"flag": "X", "on": True})
Forge = Callable[[Root], Signed]


def accept(root: Root, signed: Signed) -> None:
    event = authority.signed_event(root.ledger, EVENT, signed, now=root.clock.now())
    (record,) = root.ledger.append([event])
    assert authority.is_signed_by_operator(root.ledger, record)


def altered(root: Root, **changes: Any) -> Signed:
    """Change a statement after it was signed."""
    signed = root.sign(EVENT.type, dict(EVENT.data))
    return Signed(
        statement={**signed.statement, **changes}, signature=signed.signature, key=signed.key
    )


def resigned(root: Root, **changes: Any) -> Signed:
    """Have the operator sign a statement that says something else."""
    statement = {**root.statement(EVENT.type, dict(EVENT.data)), **changes}
    return authority.sign(statement, root.operator)


FORGERIES: dict[str, Forge] = {
    "another key": lambda root: root.sign(EVENT.type, dict(EVENT.data), KeyPair.generate()),
    "the recovery key": lambda root: root.sign(EVENT.type, dict(EVENT.data), root.recovery),
    "content changed": lambda root: altered(root, content={"flag": "Y", "on": True}),
    "expiry changed": lambda root: altered(root, expires_at="2099-01-01T00:00:00.000000Z"),
    "nonce changed": lambda root: altered(root, nonce="nonce_0000000000000000"),
    "other action signed": lambda root: resigned(root, action="config_signed"),
    "other content signed": lambda root: resigned(root, content={"flag": "Y", "on": True}),
    "on as one": lambda root: resigned(root, content={"flag": "X", "on": 1}),
    "more content signed": lambda root: resigned(root, content={**EVENT.data, "more": 1}),
    "other root": lambda root: resigned(root, data_root="root_0000000000000002"),
    "future head": lambda root: resigned(root, head={"sequence": 99, "hash": "0" * 64}),
    "wrong head": lambda root: resigned(root, head={"sequence": 1, "hash": "0" * 64}),
    "no head": lambda root: resigned(root, head=None),
    "expired": lambda root: resigned(root, expires_at="2020-01-01T00:00:00.000000Z"),
    "extra part": lambda root: resigned(root, extra=True),
    "no signature": lambda root: Signed(
        statement=root.statement(EVENT.type, dict(EVENT.data)),
        signature="",
        key=root.operator.public,
    ),
    "key swapped": lambda root: Signed(
        statement=(forged := root.sign(EVENT.type, dict(EVENT.data), KeyPair.generate())).statement,
        signature=forged.signature,
        key=root.operator.public,
    ),
}


def test_the_honest_statement_is_accepted() -> None:
    root = Root()
    accept(root, root.sign(EVENT.type, dict(EVENT.data)))


@pytest.mark.parametrize("name", FORGERIES)
def test_a_forged_statement_is_rejected(name: str) -> None:
    root = Root()
    before = root.ledger.head()
    with pytest.raises(SignatureRejected):
        accept(root, FORGERIES[name](root))
    assert root.ledger.head() == before


@pytest.mark.parametrize("name", FORGERIES)
def test_a_forged_statement_put_into_the_chain_by_hand_is_not_believed(name: str) -> None:
    root = Root()
    data = {**EVENT.data, "authority": FORGERIES[name](root).as_dict()}
    (record,) = root.ledger.append([Event(type=EVENT.type, actor="operator", data=data)])
    assert not authority.is_signed_by_operator(root.ledger, record)


@pytest.mark.parametrize("value", [None, 7, [], {}, {"statement": 1}, {"statement": {}}])
def test_garbage_in_place_of_a_signature_is_rejected(value: object) -> None:
    with pytest.raises(SignatureRejected):
        Signed.read(value)


def test_a_statement_outlives_its_expiry_only_in_the_record_it_was_accepted_into() -> None:
    root = Root()
    signed = root.sign(EVENT.type, dict(EVENT.data))
    event = authority.signed_event(root.ledger, EVENT, signed, now=root.clock.now())
    (record,) = root.ledger.append([event])
    root.clock.advance(days=1)
    assert authority.is_signed_by_operator(root.ledger, record)
    with pytest.raises(SignatureRejected):
        authority.signed_event(root.ledger, EVENT, signed, now=root.clock.now())


def test_turning_the_clock_back_does_not_revive_an_expired_statement() -> None:
    root = Root()
    signed = root.sign(EVENT.type, dict(EVENT.data))
    root.clock.advance(hours=1)
    root.ledger.append([Event(type="thing_happened", actor="agent")])
    root.clock.advance(hours=-1)
    with pytest.raises(SignatureRejected):
        accept(root, signed)


def test_a_signature_from_another_ledger_with_the_same_key_is_rejected() -> None:
    here, there = Root(), Root()
    there.operator = here.operator
    there.ledger.append([Event(type="thing_happened", actor="agent")])
    with pytest.raises(SignatureRejected):
        accept(here, there.sign(EVENT.type, dict(EVENT.data)))


def rotate(root: Root, new: KeyPair, signer: KeyPair) -> None:
    signed = root.sign(KEY_ROTATED, {"new_key": new.public}, signer)
    event = authority.build_rotation_event(root.ledger, new.public, signed, now=root.clock.now())
    root.ledger.append([event])


@pytest.mark.parametrize("signer", ["operator", "recovery"])
def test_a_rotated_key_speaks_and_the_old_one_is_silent(signer: str) -> None:
    root, new = Root(), KeyPair.generate()
    old = root.sign(EVENT.type, dict(EVENT.data))
    rotate(root, new, getattr(root, signer))
    with pytest.raises(SignatureRejected):
        accept(root, old)
    accept(root, root.sign(EVENT.type, dict(EVENT.data), new))


def test_what_the_old_key_decided_before_the_rotation_still_holds() -> None:
    root = Root()
    event = authority.signed_event(
        root.ledger, EVENT, root.sign(EVENT.type, dict(EVENT.data)), now=root.clock.now()
    )
    (record,) = root.ledger.append([event])
    rotate(root, KeyPair.generate(), root.operator)
    assert authority.is_signed_by_operator(root.ledger, record)


def signed_record(root: Root) -> Record:
    signed = root.sign(EVENT.type, dict(EVENT.data))
    event = authority.signed_event(root.ledger, EVENT, signed, now=root.clock.now())
    (record,) = root.ledger.append([event])
    return record


@pytest.mark.parametrize(
    ("member", "value"),
    [
        ("content", None),
        ("type", "config_signed"),
        ("sequence", 1),
        ("time", "2099-01-01T00:00:00.000000Z"),
    ],
)
def test_a_record_that_was_believed_is_not_once_a_member_is_another(
    member: str, value: object
) -> None:
    root = Root()
    record = signed_record(root)
    assert authority.is_signed_by_operator(root.ledger, record)
    if member == "content":
        value = record.content.replace('"flag":"X"', '"flag":"Y"')
        assert value != record.content
    assert not authority.is_signed_by_operator(root.ledger, record._replace(**{member: value}))


def test_what_one_ledger_found_good_is_checked_anew_in_another() -> None:
    root, other = Root(), Root()
    record = signed_record(root)
    assert authority.is_signed_by_operator(root.ledger, record)
    assert not authority.is_signed_by_operator(other.ledger, record)


def test_so_many_signatures_that_old_ones_are_forgotten_are_still_checked() -> None:
    root = Root()
    first = signed_record(root)
    for number in range(authority.MOST_REMEMBERED + 1):
        assert authority.is_signed_by_operator(root.ledger, first._replace(correlation=f"{number}"))
    assert authority.is_signed_by_operator(root.ledger, first)


def test_a_rotation_put_into_the_chain_by_hand_changes_nothing() -> None:
    root, thief = Root(), KeyPair.generate()
    signed = root.sign(KEY_ROTATED, {"new_key": thief.public}, thief)
    data = {"new_key": thief.public, "authority": signed.as_dict()}
    root.ledger.append([Event(type=KEY_ROTATED, actor="operator", data=data)])
    assert authority.find_keys(root.ledger).operator == root.operator.public


def test_a_rotation_signed_for_one_key_does_not_introduce_another() -> None:
    root, thief = Root(), KeyPair.generate()
    signed = root.sign(KEY_ROTATED, {"new_key": KeyPair.generate().public})
    data = {"new_key": thief.public, "authority": signed.as_dict()}
    root.ledger.append([Event(type=KEY_ROTATED, actor="operator", data=data)])
    assert authority.find_keys(root.ledger).operator == root.operator.public


def test_a_second_creation_record_changes_no_key() -> None:
    root, thief = Root(), KeyPair.generate()
    data = {
        "root_id": root.root_id,
        "throwaway": True,
        "operator_key": thief.public,
        "recovery_key": thief.public,
    }
    root.ledger.append([Event(type=authority.ROOT_CREATED, actor="operator", data=data)])
    assert authority.find_keys(root.ledger).operator == root.operator.public
    assert root.ledger.head() != Head(0, "", "")
