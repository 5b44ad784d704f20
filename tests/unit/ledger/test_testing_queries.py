"""The check of queries finds what reads a growing table, also where SQLite calls it a search."""

from collections.abc import Iterator
from contextlib import closing

import pytest

from astra import testing_queries
from astra.bootstrap import PROJECTIONS
from astra.trusted.file_ledger.sqlite_index import SqliteIndex


@pytest.fixture(scope="module")
def index() -> Iterator[SqliteIndex]:
    with closing(SqliteIndex(None, PROJECTIONS)) as opened:
        yield opened


def find(index: SqliteIndex, sql: str) -> list[str]:
    return testing_queries.find_scanned_tables(index, sql, [None] * sql.count("?"))


FIRST = "SELECT sequence, line FROM record WHERE {} AND (type = ? OR ? = '') ORDER BY sequence"


@pytest.mark.parametrize(
    "sql",
    [
        FIRST.format("sequence > ?"),
        FIRST.format("sequence > ?") + " LIMIT ?",
        FIRST.format("sequence > ? AND sequence < ?") + " DESC LIMIT ?",
        FIRST.format("sequence BETWEEN ? AND ?") + " LIMIT 1",
        "SELECT count(*) FROM record WHERE sequence > ? AND +type = ?",
        "SELECT line FROM record WHERE sequence > ? AND correlation IN (?, ?) LIMIT ?",
        "SELECT line FROM record WHERE sequence > ? AND time IS NULL LIMIT ?",
        (
            "SELECT line FROM record WHERE type = ? UNION ALL"
            " SELECT line FROM record WHERE sequence > ? AND correlation != ? LIMIT ?"
        ),
        "SELECT id FROM mention WHERE id > ? AND sequence % 2 = ? LIMIT ?",
        "SELECT 1 WHERE EXISTS (SELECT 1 FROM record WHERE sequence < ? AND correlation = ?)",
    ],
)
def test_a_range_that_is_passed_over_for_a_condition_is_read_whole(
    index: SqliteIndex, sql: str
) -> None:
    assert find(index, sql) in (["record_row"], ["mention"])


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT line FROM record WHERE sequence > ? ORDER BY sequence LIMIT ?",
        "SELECT line FROM record WHERE sequence BETWEEN ? AND ? ORDER BY sequence DESC LIMIT ?",
        "SELECT line FROM record WHERE type = ? AND sequence > ? ORDER BY sequence LIMIT ?",
        "SELECT line FROM record WHERE type = ? AND sequence > ? AND correlation = ? LIMIT ?",
        "SELECT coalesce(correlation, ''), type = ? FROM record WHERE sequence > ? LIMIT ?",
        "SELECT max(sequence) FROM record",
        "SELECT id, claim FROM belief WHERE changed > ? ORDER BY changed LIMIT ?",
        "SELECT name FROM schedule WHERE id > ? AND name = ?",
        (
            "SELECT line FROM mention JOIN record USING (sequence)"
            " WHERE mention.id = ? AND sequence < ? ORDER BY sequence DESC LIMIT 1"
        ),
    ],
)
def test_a_page_of_a_range_and_an_index_that_answers_are_not(index: SqliteIndex, sql: str) -> None:
    assert find(index, sql) == []
