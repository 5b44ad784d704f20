"""What an agent writes cannot hide on the screen of the person who signs."""

import json

import pytest

from astra.changes.findings.source import Source
from astra.changes.findings.text_traps import examine
from astra.interfaces.cli.console import Console
from astra.trusted.changes.evidence import Severity

HIDDEN = {
    "C1 control sequence": "\x9b2J",
    "Hangul filler": "\u3164",
    "half-width Hangul filler": "\uffa0",
    "variation selector": "\ufe0f",
    "variation selector of the supplement": "\U000e0101",
    "combining grapheme joiner": "\u034f",
    "right-to-left override": "\u202e",
    "isolate": "\u2067",
    "tag": "\U000e0041",
    "zero width space": "\u200b",
    "terminal escape": "\x1b]0;owned\x07",
}
INVISIBLE = {name: text for name, text in HIDDEN.items() if not text.startswith(("\x9b", "\x1b"))}


@pytest.mark.parametrize("name", HIDDEN)
def test_json_on_the_terminal_has_no_hidden_character_and_the_same_value(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    document = {"path": f"a{HIDDEN[name]}b", HIDDEN[name]: ["x"]}
    Console(as_json=True).print_result(document)

    written = capsys.readouterr().out.removesuffix("\n")
    assert written.isascii()
    assert written.isprintable()
    assert json.loads(written) == document


@pytest.mark.parametrize("name", HIDDEN)
def test_a_line_that_nobody_escaped_before_is_escaped_at_the_terminal(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Console(as_json=False).print_result({}, f"+ x = '{HIDDEN[name]}'")

    written = capsys.readouterr().out.removesuffix("\n")
    assert written.isprintable()
    assert written.isascii()


@pytest.mark.parametrize("name", INVISIBLE)
def test_invisible_text_on_an_added_line_is_a_danger(name: str) -> None:
    source = Source(path="notes.md", old="one\n", new=f"one\ntwo{INVISIBLE[name]}three\n")
    dangers = [item for item in examine(source) if item.severity is Severity.DANGER]

    assert [item.line for item in dangers] == [2]
    assert INVISIBLE[name] not in dangers[0].excerpt


@pytest.mark.parametrize("name", INVISIBLE)
def test_invisible_text_in_a_path_is_a_danger(name: str) -> None:
    source = Source(path=f"src/ag{INVISIBLE[name]}ent.py", new="x = 1\n")
    rules = {item.rule for item in examine(source) if item.severity is Severity.DANGER}

    assert rules & {"invisible-character", "turns-reading-direction"}


@pytest.mark.parametrize("name", INVISIBLE)
def test_a_name_of_code_with_invisible_letters_is_a_danger(name: str) -> None:
    source = Source(path="a.js", new=f"const a{INVISIBLE[name]} = 1;\n")

    assert Severity.DANGER in {item.severity for item in examine(source)}


def test_ordinary_text_of_other_scripts_is_no_danger() -> None:
    source = Source(path="docs/שלום.md", new="naïve שלום 漢字 🙂 हिन्दी\n")

    assert Severity.DANGER not in {item.severity for item in examine(source)}
