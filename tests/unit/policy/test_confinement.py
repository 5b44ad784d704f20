import pytest

from astra.testing import RootInMemory
from astra.trusted.kernel.errors import DuplicateKey, SignatureRejected
from astra.trusted.kernel.signatures import KeyPair
from astra.trusted.ledger.record import Event
from astra.trusted.policy import confinement
from astra.trusted.policy.confinement import ALLOWED, UnsafeRecord
from astra.trusted.policy.manifest import Manifest, describe_unconfined


def allow(root: RootInMemory, key: KeyPair | None = None) -> None:
    signed = root.sign(ALLOWED, confinement.content(), key)
    root.ledger.append([confinement.build_allowed_event(root.ledger, signed, now=root.clock.now())])


def test_without_a_record_nothing_is_allowed(root: RootInMemory) -> None:
    assert not UnsafeRecord(root.ledger).is_in_force()


def test_the_operators_signature_allows_it_until_anybody_takes_it_back(root: RootInMemory) -> None:
    record = UnsafeRecord(root.ledger)
    allow(root)
    assert record.is_in_force()
    root.ledger.append([confinement.build_revoked_event(actor="user:1000")])
    assert not record.is_in_force()
    allow(root)
    assert record.is_in_force()


def test_another_key_is_not_heard(root: RootInMemory) -> None:
    with pytest.raises(SignatureRejected):
        allow(root, KeyPair.generate())


def test_a_record_without_a_signature_counts_for_nothing(root: RootInMemory) -> None:
    forged = Event(
        type=ALLOWED, actor="operator", data=confinement.content(), subject=confinement.SUBJECT
    )
    root.ledger.append([forged])
    assert not UnsafeRecord(root.ledger).is_in_force()


def test_one_signature_counts_once(root: RootInMemory) -> None:
    signed = root.sign(ALLOWED, confinement.content())
    event = confinement.build_allowed_event(root.ledger, signed, now=root.clock.now())
    root.ledger.append([event])
    root.ledger.append([confinement.build_revoked_event(actor="user:1000")])
    with pytest.raises(DuplicateKey):
        root.ledger.append([event])
    assert not UnsafeRecord(root.ledger).is_in_force()


def test_the_words_promise_nothing_that_is_not_enforced() -> None:
    words = describe_unconfined(Manifest(network_domains=("example.com",)))
    assert words.startswith("UNSAFE")
    assert "domains cannot be enforced" in words
    assert "nothing else" not in words
