"""Messages as RFC 8291 and RFC 8292 want them."""

from datetime import UTC, datetime

import pytest
from cryptography.hazmat.primitives.asymmetric import ec

from astra.notifications import encryption
from astra.notifications.encryption import LENGTH, ServerKey
from push_service import Browser, content, point, proven, text

NOW = datetime(2026, 5, 1, tzinfo=UTC)


def test_the_example_of_the_standard_comes_out_byte_by_byte() -> None:
    """Appendix A of RFC 8291, whose message has no padding."""
    scalar = content("yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw")
    made = encryption.encrypt(
        b"When I grow up, I want to be a watermelon",
        receiver=content(
            "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4"
        ),
        auth=content("BTBZMqHH6r4Tts7J_aSIgg"),
        sender=ec.derive_private_key(int.from_bytes(scalar, "big"), ec.SECP256R1()),
        salt=content("DGv6ra1nlYgDCS1FRnbzlw"),
        length=0,
    )
    assert text(made) == (
        "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIg"
        "Dll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyou"
        "BWLVWGNWQexSgSxsj_Qulcy4a-fN"
    )


def test_a_message_is_read_by_its_receiver_and_always_has_the_same_length() -> None:
    browser = Browser()
    receiver = point(browser.private.public_key())
    made = [
        encryption.encrypt(said, receiver=receiver, auth=browser.auth)
        for said in (b"", b"short", b"x" * (LENGTH - 1))
    ]
    assert [browser.read(each) for each in made] == [b"", b"short", b"x" * (LENGTH - 1)]
    assert len({len(each) for each in made}) == 1
    assert len(made[0]) <= 4096
    assert len({each[:16] for each in made}) == 3, "a salt is used once"


@pytest.mark.parametrize("bad", [b"", b"\x04" * 65, b"\x04" + bytes(64), b"\x02" + b"x" * 32])
def test_what_is_no_public_key_is_told(bad: bytes) -> None:
    assert not encryption.is_point(bad)


def test_the_proof_names_the_service_for_half_a_day_and_holds() -> None:
    key = ServerKey.generate()
    said = key.authorization("https://push.example.org", contact="https://astra.example", now=NOW)
    claims = proven(said)
    assert claims == {
        "aud": "https://push.example.org",
        "sub": "https://astra.example",
        "exp": int(NOW.timestamp()) + 12 * 3600,
        "k": key.public,
    }


def test_the_key_is_not_shown() -> None:
    key = ServerKey.generate()
    assert key.scalar.hex() not in repr(key)
    assert repr(key.scalar) not in repr(key)
