"""What is written into an encrypted folder opens whole and for its purpose, or not at all."""

from typing import Any

import pytest

from astra.adapters.backups.sealing import (
    KeyedSeal,
    PlainSeal,
    make_key_pair,
    unwrap_key,
    unwrap_with_private_key,
    wrap_for_recipient,
    wrap_new_key,
)
from astra.trusted.kernel.errors import BadInput
from astra.trusted.kernel.signatures import WrongPassphrase

HEADER = {"format": 2, "root_id": "root_1", "folder": "00" * 16}
SEAL = KeyedSeal(key=b"k" * 32)


@pytest.mark.parametrize("content", [b"", b"x", b"hello" * 1000])
def test_what_was_closed_opens_for_the_same_purpose(content: bytes) -> None:
    assert SEAL.open("piece a", SEAL.close("piece a", content)) == content


@pytest.mark.parametrize("purpose", ["piece b", "manifest", "piece"])
def test_it_opens_for_no_other_purpose(purpose: str) -> None:
    with pytest.raises(BadInput, match="cut short, changed or exchanged"):
        SEAL.open(purpose, SEAL.close("piece a", b"content"))


@pytest.mark.parametrize("length", [0, 1, 15, 16, 31, 32, 38])
def test_it_does_not_open_when_it_was_cut_short(length: int) -> None:
    sealed = SEAL.close("piece a", b"content")
    assert length < len(sealed)
    with pytest.raises(BadInput):
        SEAL.open("piece a", sealed[:length])


def test_every_bit_of_it_counts() -> None:
    sealed = SEAL.close("piece a", b"content")
    for position in range(len(sealed)):
        changed = bytearray(sealed)
        changed[position] ^= 1
        with pytest.raises(BadInput):
            SEAL.open("piece a", bytes(changed))


def test_the_same_content_is_written_differently_each_time_under_the_same_name() -> None:
    assert SEAL.close("piece a", b"content") != SEAL.close("piece a", b"content")
    assert SEAL.name_content(b"content") == SEAL.name_content(b"content")


def test_a_name_does_not_show_what_content_it_stands_for_without_the_key() -> None:
    names = {
        KeyedSeal(key=b"1" * 32).name_content(b"content"),
        KeyedSeal(key=b"2" * 32).name_content(b"content"),
        PlainSeal().name_content(b"content"),
    }
    assert len(names) == 3


@pytest.fixture(scope="module")
def wrapped() -> tuple[KeyedSeal, dict[str, Any]]:
    return wrap_new_key("correct horse", HEADER)


def test_only_the_passphrase_opens_the_key(wrapped: tuple[KeyedSeal, dict[str, Any]]) -> None:
    seal, encryption = wrapped
    assert unwrap_key("correct horse", HEADER, encryption) == seal
    assert "correct horse" not in str(encryption)
    assert seal.key.hex() not in str(encryption)
    with pytest.raises(WrongPassphrase) as refused:
        unwrap_key("wrong horse", HEADER, encryption)
    assert refused.value.reason == "wrong_backup_passphrase"


@pytest.mark.parametrize("change", [{"root_id": "root_2"}, {"folder": "11" * 16}, {"more": 1}])
def test_a_header_that_was_changed_opens_as_little(
    wrapped: tuple[KeyedSeal, dict[str, Any]], change: dict[str, Any]
) -> None:
    with pytest.raises(WrongPassphrase, match="or their header was changed"):
        unwrap_key("correct horse", {**HEADER, **change}, wrapped[1])


@pytest.mark.parametrize(
    "change",
    [
        {"log_n": 60},
        {"log_n": "17"},
        {"log_n": True},
        {"r": 1 << 30},
        {"p": 0},
        {"kdf": "none"},
        {"cipher": "none"},
        {"salt": "zz"},
        {"salt": None},
        {"wrapped": "0"},
        {"wrapped": []},
    ],
)
def test_a_header_cannot_ask_for_another_cipher_or_for_all_memory(
    wrapped: tuple[KeyedSeal, dict[str, Any]], change: dict[str, Any]
) -> None:
    with pytest.raises(BadInput, match="encryption that this version does not know"):
        unwrap_key("correct horse", HEADER, {**wrapped[1], **change})


def test_only_the_private_key_of_the_recipient_opens_the_key() -> None:
    private, public = make_key_pair()
    seal, encryption = wrap_for_recipient(public, HEADER)
    assert unwrap_with_private_key(private, HEADER, encryption) == seal
    assert seal.key.hex() not in str(encryption)
    for key, header, facts in (
        (make_key_pair()[0], HEADER, encryption),
        (private, {**HEADER, "root_id": "root_2"}, encryption),
        (private, HEADER, {**encryption, "recipient": make_key_pair()[1]}),
        (private, HEADER, {**encryption, "ephemeral": make_key_pair()[1]}),
        (private, HEADER, {**encryption, "ephemeral": "00" * 32}),
        (private, HEADER, {**encryption, "ephemeral": None}),
        (private, HEADER, {**encryption, "wrapped": None}),
        (private, HEADER, {**encryption, "kdf": "scrypt"}),
    ):
        with pytest.raises(WrongPassphrase, match="does not open"):
            unwrap_with_private_key(key, header, facts)


@pytest.mark.parametrize("recipient", ["", "zz", "ab", "00" * 32, "00" * 33])
def test_nothing_is_encrypted_for_what_is_no_key(recipient: str) -> None:
    with pytest.raises(BadInput) as refused:
        wrap_for_recipient(recipient, HEADER)
    assert refused.value.reason == "bad_recipient"
