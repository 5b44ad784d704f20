"""The sums of what was spent, the calls that are not settled, what waits for room, raised caps."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from astra.spend.model import BY_DAY, NOTHING, Amount, Scope, list_scopes
from astra.trusted.ledger.projection import Projection, Statement
from astra.trusted.ledger.record import Record

RESERVED, SETTLED = "spend_reserved", "spend_settled"
REACHED, RAISED = "spend_cap_reached", "spend_cap_raised"
SUBJECT = "spend"
"""Whatever takes room under a cap expects the version of this subject."""

_ADD = """
    INSERT INTO spend_total VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (scope) DO UPDATE SET
        day = excluded.day, calls = calls + excluded.calls,
        tokens = tokens + excluded.tokens, nano = nano + excluded.nano,
        uncertain_tokens = uncertain_tokens + excluded.uncertain_tokens,
        uncertain_nano = uncertain_nano + excluded.uncertain_nano,
        reserved_tokens = reserved_tokens + excluded.reserved_tokens,
        reserved_nano = reserved_nano + excluded.reserved_nano
"""


def _apply_record(record: Record) -> Iterator[Statement]:
    yield from _EFFECTS[record.type](record)


def _reserve(record: Record) -> Iterator[Statement]:
    data = record.data
    reserved = Amount(**data["reserved"])
    for scope in _list_scopes(data):
        yield _add(scope, data["day"], calls=1, reserved=reserved)
    yield (
        "INSERT INTO spend_open VALUES (?, ?, ?, ?, ?)",
        (data["call"], record.time, data["model"], reserved.tokens, reserved.nano),
    )
    yield "DELETE FROM spend_waiting WHERE id IN (?, ?)", (data["plan"], data["goal"])


def _settle(record: Record) -> Iterator[Statement]:
    data = record.data
    reserved, cost = Amount(**data["reserved"]), Amount(**data["counted"])
    released = Amount(tokens=-reserved.tokens, nano=-reserved.nano)
    sums = {"settled" if data["certain"] else "uncertain": cost, "reserved": released}
    for scope in _list_scopes(data):
        yield _add(scope, data["day"], calls=0, **sums)
    yield "DELETE FROM spend_open WHERE call = ?", (data["call"],)


def _reach(record: Record) -> Iterator[Statement]:
    data = record.data
    if data["waiter"]:
        need = json.dumps({name: data[name] for name in ("account", "model", "wanted")})
        yield "INSERT OR REPLACE INTO spend_waiting VALUES (?, ?)", (data["waiter"], need)


def _raise(record: Record) -> Iterator[Statement]:
    data = record.data
    yield (
        "INSERT OR REPLACE INTO spend_raise VALUES (?, ?, ?, ?, ?, ?)",
        tuple(data[name] for name in ("scope", "cap", "approval", "configured", "from", "to")),
    )


def _list_scopes(data: Mapping[str, Any]) -> list[Scope]:
    return list_scopes(data, day=data["day"], model=data["model"])


def _add(
    scope: Scope,
    day: str,
    *,
    calls: int,
    settled: Amount = NOTHING,
    uncertain: Amount = NOTHING,
    reserved: Amount = NOTHING,
) -> Statement:
    sums = (settled.tokens, settled.nano, uncertain.tokens, uncertain.nano)
    key = (scope.key, scope.kind, scope.name, scope.day if scope.kind in BY_DAY else day)
    return _ADD, (*key, calls, *sums, reserved.tokens, reserved.nano)


_EFFECTS = {RESERVED: _reserve, SETTLED: _settle, REACHED: _reach, RAISED: _raise}

PROJECTION = Projection(
    "spend",
    (
        """CREATE TABLE spend_total (
            scope TEXT PRIMARY KEY, kind TEXT, name TEXT, day TEXT, calls INTEGER,
            tokens INTEGER, nano INTEGER, uncertain_tokens INTEGER, uncertain_nano INTEGER,
            reserved_tokens INTEGER, reserved_nano INTEGER
        ) WITHOUT ROWID""",
        "CREATE INDEX spend_total_day ON spend_total (day, kind)",
        """CREATE TABLE spend_open (
            call TEXT PRIMARY KEY, since TEXT, model TEXT, tokens INTEGER, nano INTEGER
        ) WITHOUT ROWID""",
        "CREATE INDEX spend_open_since ON spend_open (since)",
        "CREATE TABLE spend_waiting (id TEXT PRIMARY KEY, need TEXT) WITHOUT ROWID",
        """CREATE TABLE spend_raise (
            scope TEXT, cap TEXT, approval TEXT, configured INTEGER, raised_from INTEGER,
            raised_to INTEGER,
            PRIMARY KEY (scope, cap)
        ) WITHOUT ROWID""",
    ),
    _apply_record,
    types=frozenset(_EFFECTS),
)
