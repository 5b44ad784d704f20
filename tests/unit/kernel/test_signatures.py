import pytest

from astra.trusted.kernel import signatures
from astra.trusted.kernel.signatures import KeyPair, WrongPassphrase


def test_a_signature_holds_for_its_message_and_key_only() -> None:
    pair, other = KeyPair.generate(), KeyPair.generate()
    signature = pair.sign(b"yes")
    assert signatures.verify(pair.public, b"yes", signature)
    assert not signatures.verify(pair.public, b"no", signature)
    assert not signatures.verify(other.public, b"yes", signature)


@pytest.mark.parametrize("signature", ["", "zz", "00" * 64, "0" * 127])
def test_a_malformed_signature_is_simply_false(signature: str) -> None:
    assert not signatures.verify(KeyPair.generate().public, b"yes", signature)


def test_a_malformed_public_key_is_simply_false() -> None:
    assert not signatures.verify("not a key", b"yes", KeyPair.generate().sign(b"yes"))


def test_guessing_a_passphrase_costs_64_mebibytes_each_time() -> None:
    cost = signatures.seal(KeyPair.generate().seed, "correct horse")["kdf"]
    assert cost["name"] == "argon2id"
    assert cost["iterations"] >= 3
    assert cost["memory_kib"] >= 64 * 1024


def test_a_sealed_seed_opens_with_its_passphrase_only() -> None:
    pair = KeyPair.generate()
    box = signatures.seal(pair.seed, "correct horse")
    assert pair.seed.hex() not in str(box)
    assert signatures.unseal(box, "correct horse") == pair.seed
    with pytest.raises(WrongPassphrase):
        signatures.unseal(box, "correct hors")


def test_a_recovery_key_survives_paper() -> None:
    pair = KeyPair.generate()
    text = signatures.recovery_text(pair.seed)
    assert signatures.recovery_seed(text) == pair.seed
    assert signatures.recovery_seed(text.lower().replace("-", " ")) == pair.seed


def test_a_mistyped_recovery_key_is_noticed() -> None:
    text = signatures.recovery_text(KeyPair.generate().seed)
    wrong = ("B" if text[0] != "B" else "C") + text[1:]
    for bad in (wrong, text[:-2], "", "not a key at all!"):
        with pytest.raises(WrongPassphrase):
            signatures.recovery_seed(bad)


def test_a_key_pair_never_prints_its_seed() -> None:
    pair = KeyPair.generate()
    assert pair.seed.hex() not in repr(pair)
    assert str(pair.seed) not in repr(pair)
