"""The page about attacks: every group of them has words, a row, and a sum that is right."""

import runpy
from pathlib import Path

ROOT = Path(__file__).parents[3]
SCRIPT = runpy.run_path(str(ROOT / "scripts" / "attacks.py"))
PAGE = (ROOT / "docs" / "explanation" / "attacks.md").read_text()


def test_every_group_of_attacks_has_words_and_a_row() -> None:
    folders = {path.parent.name for path in (ROOT / "tests" / "attack").glob("*/test_*.py")}
    attempts, inside = SCRIPT["read_table"](PAGE)
    assert set(SCRIPT["SUBJECTS"]) == folders
    assert set(attempts) == folders
    assert {"app", "disk", "files", "load", "memory"} <= set(inside)


def test_the_sum_is_that_of_the_rows() -> None:
    attempts, inside = SCRIPT["read_table"](PAGE)
    total = attempts.total() + inside.total()
    assert f"| all | | {total} | {total} |" in PAGE


def test_a_table_that_was_read_is_written_the_same() -> None:
    attempts, inside = SCRIPT["read_table"](PAGE)
    assert SCRIPT["write_table"](attempts, inside) in PAGE
