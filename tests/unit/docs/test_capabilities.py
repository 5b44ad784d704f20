"""The list of capabilities names each one once, and shows a test for what it claims."""

import re
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "reference" / "capabilities.md").read_text()
COUNTS = {"A": 6, "B": 8, "C": 6, "D": 7, "E": 9, "F": 10, "G": 6, "H": 8, "I": 8, "J": 8}
SECOND_EDITION = [
    "B9",
    "B10",
    "B11",
    "C7",
    "C8",
    "C9",
    "E10",
    "F11",
    "H9",
    "H10",
    "H11",
    "H12",
    "I9",
    "I10",
    "I11",
    "I12",
    "J9",
    "J10",
    "J11",
    "J12",
    "J13",
    "J14",
    "L1",
    "L2",
    "M1",
    "M2",
]
IDS = [f"{family}{number}" for family, count in COUNTS.items() for number in range(1, count + 1)]
STATES = {"works", "partly", "not yet"}


class Row(NamedTuple):
    id: str
    capability: str
    state: str
    note: str
    shown_by: str


ROWS = [
    Row(*(cell.strip() for cell in line.strip("|").split("|")))
    for line in PAGE.splitlines()
    if re.match(r"\| [A-M]\d* ", line)
]


def test_every_capability_is_listed_once_in_order() -> None:
    assert [row.id for row in ROWS] == [*IDS, "K", *SECOND_EDITION]


def test_states_are_plain_words() -> None:
    assert {row.state for row in ROWS} <= STATES


def test_whatever_works_or_partly_works_has_a_test() -> None:
    for row in ROWS:
        if row.state != "not yet":
            assert named_tests(row), row.id


def test_every_test_it_names_exists() -> None:
    for row in ROWS:
        for path, name in named_tests(row):
            place = ROOT / path
            assert place.exists(), f"{row.id}: {path}"
            assert not name or f"def {name}(" in place.read_text(), f"{row.id}: {path}::{name}"


def named_tests(row: Row) -> list[tuple[str, str]]:
    return re.findall(r"`(tests/[\w/]+(?:\.py|/))(?:::(\w+))?`", row.shown_by)
