"""What counts as hidden is Unicode's own list, and JSON that is made visible keeps its value."""

import json
import sys
import unicodedata

import pytest

from astra.trusted.kernel.text import (
    DEFAULT_IGNORABLE,
    is_default_ignorable,
    is_invisible,
    json_text,
    one_line,
    printable,
    turns_direction,
)

HIDDEN = [
    "\x1b", "\x7f", "\x9b", "\u00ad", "\u034f", "\u061c", "\u115f", "\u17b4", "\u180e", "\u200b",
    "\u202e", "\u2066", "\u3164", "\ufe0f", "\ufeff", "\uffa0", "\ud800", "\U000e0041",
    "\U000e0101", "\U0001d173",
]  # fmt: skip


@pytest.mark.parametrize("char", HIDDEN, ids=[f"U+{ord(char):04X}" for char in HIDDEN])
def test_a_character_that_cannot_be_seen_is_spelled_out(char: str) -> None:
    shown = printable(f"a{char}b")

    assert char not in shown
    assert shown.isascii()
    assert one_line(f"a{char}b") == shown


@pytest.mark.parametrize("char", HIDDEN, ids=[f"U+{ord(char):04X}" for char in HIDDEN])
def test_json_spells_it_out_and_keeps_its_value(char: str) -> None:
    document = {f"a{char}": [f'b{char}c\n\t"', 1]}
    text = json_text(document)

    assert char not in text
    assert json.loads(text) == document


def test_ordinary_letters_of_any_script_stay_as_they_are() -> None:
    text = "naïve שלום 漢字 🙂 क्षि\n\tx"

    assert printable(text) == text
    assert json.loads(json_text({"text": text})) == {"text": text}
    assert "漢字" in json_text({"text": text})


def test_the_table_is_sorted_and_its_ranges_are_apart() -> None:
    edges = [edge for bounds in DEFAULT_IGNORABLE for edge in bounds]

    assert edges == sorted(edges)
    assert len({first for first, _ in DEFAULT_IGNORABLE}) == len(DEFAULT_IGNORABLE)


def test_every_format_character_is_in_the_table_or_is_one_that_unicode_draws() -> None:
    """Default_Ignorable is derived from Cf, less annotations, hieroglyph and prepended marks."""
    drawn = {*range(0xFFF9, 0xFFFC), *range(0x13430, 0x13441), *range(0x0600, 0x0606)}
    drawn |= {0x06DD, 0x070F, 0x0890, 0x0891, 0x08E2, 0x110BD, 0x110CD}
    formatting = {
        code for code in range(sys.maxunicode + 1) if unicodedata.category(chr(code)) == "Cf"
    }
    outside = {code for code in formatting if not is_default_ignorable(chr(code))}

    assert outside <= drawn
    assert all(is_invisible(chr(code)) for code in formatting)


@pytest.mark.parametrize("code", [*range(0x202A, 0x202F), *range(0x2066, 0x206A), 0x200E, 0x61C])
def test_what_turns_the_reading_direction_is_known(code: int) -> None:
    assert turns_direction(chr(code))
    assert not turns_direction("א")
