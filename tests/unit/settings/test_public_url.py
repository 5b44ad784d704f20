"""The public address is exact, or an error that says what it should look like."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from astra.trusted.kernel.errors import BadSetting
from astra.trusted.settings.public_url import read_public_url


@pytest.mark.parametrize(
    ("text", "origin", "name"),
    [
        ("https://astra.example", "https://astra.example", "astra.example"),
        ("https://astra.example/", "https://astra.example", "astra.example"),
        ("https://astra.example:443", "https://astra.example", "astra.example"),
        ("https://Box.Tail-1.ts.net:8443", "https://box.tail-1.ts.net:8443", "box.tail-1.ts.net"),
    ],
)
def test_a_proper_address_is_read(text: str, origin: str, name: str) -> None:
    found = read_public_url(text)
    assert found
    assert (found.origin, found.name) == (origin, name)


@pytest.mark.parametrize(
    "text",
    [
        "http://astra.example",
        "https://10.0.0.1",
        "https://1.2.3",
        "https://[2001:db8::1]",
        "https://localhost",
        "https://a@b.example",
        "https://b.example/x",
        "https://b.example#x",
        "https://-b.example",
        "https://b..example",
        "https://b.example:x",
        "https://b.exam\tple",
        "ftp://b.example",
        "b.example",
    ],
)
def test_anything_else_is_an_error_with_a_next_step(text: str) -> None:
    with pytest.raises(BadSetting) as caught:
        read_public_url(text)
    assert "https://NAME" in caught.value.next_step


@given(st.text(max_size=40))
def test_whatever_is_accepted_is_a_plain_https_origin(text: str) -> None:
    try:
        found = read_public_url(f"https://{text}")
    except BadSetting:
        return
    if found:
        assert found.origin.isascii()
        assert not set(found.origin.removeprefix("https://")) & set("/@?#\\ \t\r\n*")
