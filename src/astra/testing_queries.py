"""Which questions to the index may read a whole table: those about tables that history cannot fill.

SQLite says how it would answer (`EXPLAIN QUERY PLAN`), and it decides that by the tables and their
indexes, not by what is in them. So a question that would take a minute after a year is found on an
empty ledger: the ledger in memory refuses it, in whichever test it is asked.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple, Protocol

BOUNDED: Mapping[str, str] = MappingProxyType(
    {
        "position": "one row",
        "fading": "one row",
        "flag": "as many as there are flags",
        "change_flag": "one row",
        "awareness_code_flag": "one row",
        "change_counter": "as many as there are counters",
        "allowlist_export": "one row",
        "fleet_instance": "a row for each instance that was ever signed for",
        "tool_count": "a row for each tool and outcome",
        "approval_count": "a row for each state",
        "global_grant": "what the operator granted, piece by piece, to every plan",
        "merge_permission": "standing permissions for changes that the operator signed",
        "permission": "standing permissions that the operator signed",
        "token": "tokens that the operator made",
        "device": "devices that are subscribed now",
        "open_call": "calls that run now",
        "due_step": "what is due or will be, not what was",
        "change_alert": "records that should not exist; the first one is an incident",
        "schedule": "schedules there are; firings are elsewhere",
        "schedule_after": "schedules there are",
        "migration": "releases that came with a migration of data: some in a year",
        "quarantine": "commits that a person approved and that failed in service: some in a year",
        "alert_open": "alerts that are raised now: one for each rule at most",
        "alert_silence": "one for each rule that was ever silenced",
        "json_each": "what the caller passed",
    }
)
"""Tables that the past does not fill, each with what does."""

ALLOWED: Mapping[str, str] = MappingProxyType(
    {
        "SELECT state, count(*) FROM plan GROUP BY state": "plans are ordered by people: some"
        " thousands, of which only an index of the states is read",
        "FROM notice_try WHERE last > ? AND failed = 1": "the attempts of two hours are read",
        "(built_at, id) < (SELECT built_at, id FROM release": "a page begins behind the last one:"
        " what it passes over are releases that were built in the same microsecond",
        "WHERE (goal_task.sequence, goal_task.place) < (?, ?) ORDER BY": "a page begins behind the"
        " last one: what it passes over are tasks of the same record",
        "WHERE firing.sequence < ? AND ? >= 0 ORDER BY": "the second condition is about the page,"
        " not about a row",
        "instr(d.folded, ?)": "a search of desires by a piece of a word reads those that are left",
    }
)
"""Pieces of questions that may read a whole table all the same, each with the reason."""

_ROW = re.compile(r"^(SCAN|SEARCH) (\w+)(?: USING (?:COVERING )?INDEX (\w+))?")
_CONDITIONS = frozenset(
    {"Eq", "Ne", "Lt", "Le", "Gt", "Ge", "If", "IfNot", "IsNull", "NotNull", "Found", "NotFound"}
)
"""Instructions of SQLite that go on elsewhere or not, as a value is."""


class _Step(NamedTuple):
    """An instruction; `to` is where it jumps, and for one that opens a table, the table."""

    address: int
    what: str
    cursor: int
    to: int


class Explains(Protocol):
    def query(self, sql: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]: ...


def find_scanned_tables(index: Explains, sql: str, parameters: Sequence[Any]) -> list[str]:
    """Name the growing tables that a question would read from end to end.

    A search from one key to another counts when rows between them are read and passed over: it
    ends with the range then, whatever page was asked for.
    """
    if any(piece in sql for piece in ALLOWED):
        return []
    plan = index.query(f"EXPLAIN QUERY PLAN {sql}", parameters)
    schema = dict(index.query("SELECT name, coalesce(sql, '') FROM sqlite_master", ()))
    tables = [*_find_read(plan, sql, schema, _is_scan)]
    ranges = [name for name in _find_read(plan, sql, schema, _is_range) if name not in BOUNDED]
    if ranges:
        passed_over = _find_passed_over(index, sql, parameters)
        tables += [name for name in ranges if name in passed_over]
    return [name for name in tables if name in schema and name not in BOUNDED]


def _find_read(
    plan: Iterable[tuple[Any, ...]],
    sql: str,
    schema: Mapping[str, str],
    is_meant: Callable[[str], bool],
) -> Iterable[str]:
    """Name the tables that are read so; an index over a few chosen rows is not the table."""
    for row in plan:
        match = _ROW.match(str(row[-1]))
        if match and is_meant(match.string) and " WHERE " not in schema.get(match[3] or "", ""):
            yield _resolve_table(match[2], sql)


def _is_scan(step: str) -> bool:
    return step.startswith("SCAN")


def _is_range(step: str) -> bool:
    """Tell whether a search knows no value, only what its values lie between."""
    return step.startswith("SEARCH") and "(" in step and "=" not in step


def _find_passed_over(index: Explains, sql: str, parameters: Sequence[Any]) -> set[str]:
    """Name the tables of which rows are read and left out, by the program that SQLite would run.

    A condition that no index answers is a jump to the end of the loop, which takes the next row.
    """
    roots = dict(index.query("SELECT rootpage, tbl_name FROM sqlite_master", ()))
    program = [_Step(*row[:4]) for row in index.query(f"EXPLAIN {sql}", parameters)]
    tables_of_cursors = {
        step.cursor: roots.get(step.to) for step in program if step.what == "OpenRead"
    }
    return {
        str(tables_of_cursors[end.cursor])
        for end in program
        if end.what in {"Next", "Prev"} and end.cursor in tables_of_cursors
        if any(_leaves_out(step, end, tables_of_cursors) for step in program[end.to : end.address])
    }


def _leaves_out(step: _Step, end: _Step, tables_of_cursors: Mapping[int, str | None]) -> bool:
    """Tell whether a step is a condition; going from a key to the row it names is none."""
    if step.what in {"Found", "NotFound"} and step.cursor in tables_of_cursors:
        return False
    return step.what in _CONDITIONS and step.to == end.address


def _resolve_table(name: str, sql: str) -> str:
    """Give the table behind a short name: `d` of `desire d`."""
    match = re.search(rf"(?:FROM|JOIN) (\w+) (?:AS )?{re.escape(name)}\b", sql)
    return match[1] if match else name
