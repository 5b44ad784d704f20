"""Which questions to the index may read a whole table: those about tables that history cannot fill.

SQLite says how it would answer (`EXPLAIN QUERY PLAN`), and it decides that by the tables and their
indexes, not by what is in them. So a question that would take a minute after a year is found on an
empty ledger: the ledger in memory refuses it, in whichever test it is asked.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Protocol

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
        "instr(d.folded, ?)": "a search of desires by a piece of a word reads those that are left",
    }
)
"""Pieces of questions that may read a whole table all the same, each with the reason."""

_SCAN = re.compile(r"^SCAN (\w+)(?: USING (?:COVERING )?INDEX (\w+))?")


class Explains(Protocol):
    def query(self, sql: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]: ...


def find_scanned_tables(index: Explains, sql: str, parameters: Sequence[Any]) -> list[str]:
    """Name the growing tables that a question would read from end to end."""
    if any(piece in sql for piece in ALLOWED):
        return []
    plan = index.query(f"EXPLAIN QUERY PLAN {sql}", parameters)
    schema = dict(index.query("SELECT name, coalesce(sql, '') FROM sqlite_master", ()))
    growing = (name for name in _find_scans(plan, sql, schema) if name in schema)
    return [name for name in growing if name not in BOUNDED]


def _find_scans(
    plan: Iterable[tuple[Any, ...]], sql: str, schema: Mapping[str, str]
) -> Iterable[str]:
    """Name the tables that are read whole; an index over a few chosen rows is not the table."""
    for row in plan:
        match = _SCAN.match(str(row[-1]))
        if match and " WHERE " not in schema.get(match[2] or "", ""):
            yield _resolve_table(match[1], sql)


def _resolve_table(name: str, sql: str) -> str:
    """Give the table behind a short name: `d` of `desire d`."""
    match = re.search(rf"(?:FROM|JOIN) (\w+) (?:AS )?{re.escape(name)}\b", sql)
    return match[1] if match else name
