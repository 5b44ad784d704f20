"""How records become tables.

A projection owns its tables and is a pure function from a record to statements on them. The index
is nothing but the projections applied to the chain in order, so it can be thrown away and rebuilt.
Its statements touch no table of another one: many records are folded one projection at a time, so
what the other's table holds then is not what it held at that record.

To add one, write its tables and its function, and name it in `bootstrap.PROJECTIONS`:

    def apply(record: Record) -> Iterator[Statement]:
        yield "INSERT INTO desire VALUES (?, ?)", (record.subject, record.data["text"])

    DESIRES = Projection("desires", ("CREATE TABLE desire (id TEXT PRIMARY KEY, text TEXT)",),
                         apply, types=frozenset({"desire_recorded"}))
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from astra.trusted.kernel.ids import ID
from astra.trusted.ledger.chain import END_LENGTH, quote_or_null
from astra.trusted.ledger.record import Record

Statement = tuple[str, tuple[Any, ...]]


@dataclass(frozen=True)
class Projection:
    name: str
    tables: tuple[str, ...]
    apply: Callable[[Record], Iterable[Statement]]
    types: frozenset[str] | None = None
    version: int = 1

    def wants(self, record: Record) -> bool:
        return self.types is None or record.type in self.types


_RECORD = "INSERT INTO record_row VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
_ADVANCE = """
    INSERT INTO subject VALUES (?, 1, ?)
    ON CONFLICT (id) DO UPDATE SET version = version + 1, sequence = excluded.sequence
"""
_MENTIONED = "INSERT INTO mention VALUES (?, ?)"
_CLAIM = "INSERT INTO unique_key VALUES (?, ?)"
_MENTION = re.compile(f'"({ID.pattern})"')


def _apply_records(record: Record) -> list[Statement]:
    """Keep a record in parts; one whose line is not put together from them exactly, whole."""
    r, actor, subject = record, quote_or_null(record.actor), quote_or_null(record.subject)
    frame = _write_frame(r)
    line = (
        f'{{"sequence":{r.sequence},"time":"{r.time}","type":"{r.type}","actor":{actor},'
        f'"correlation":"{r.correlation}","subject":{subject}{frame}{r.content},'
        f'"previous":"{r.previous}","hash":"{r.hash}"}}'
    )
    is_usual = r.batch == (r.sequence, 1) and r.schema == 1 and r.key is None
    row = (
        *(r.sequence, r.time, r.type, actor, r.correlation, subject),
        *(None if is_usual else frame, r.content, bytes.fromhex(r.previous + r.hash)),
        None if line == r.line else r.line,
    )
    return [(_RECORD, row)]


def _write_frame(r: Record) -> str:
    batch = f"[{r.batch[0]},{r.batch[1]}]"
    return f',"key":{quote_or_null(r.key)},"schema":{r.schema},"batch":{batch},"data":'


def _apply_mentions(record: Record) -> list[Statement]:
    identifiers = _MENTION.findall(record.line, 0, len(record.line) - END_LENGTH)
    return [(_MENTIONED, (identifier, record.sequence)) for identifier in set(identifiers)]


def _apply_subjects(record: Record) -> list[Statement]:
    return [] if record.subject is None else [(_ADVANCE, (record.subject, record.sequence))]


def _apply_keys(record: Record) -> list[Statement]:
    return [] if record.key is None else [(_CLAIM, (record.key, record.sequence))]


RECORDS = Projection(
    "records",
    (
        """CREATE TABLE record_row (
            sequence INTEGER PRIMARY KEY,
            time TEXT, type TEXT, actor TEXT, correlation TEXT, subject TEXT,
            frame TEXT, content TEXT, hashes BLOB, odd_line TEXT
        )""",
        "CREATE INDEX record_type ON record_row (type, sequence)",
        # Lines are put together when they are read: half of each would be there twice otherwise.
        """CREATE VIEW record AS SELECT sequence, time, type, correlation, coalesce(odd_line,
            '{"sequence":' || sequence || ',"time":"' || time || '","type":"' || type
            || '","actor":' || actor || ',"correlation":"' || correlation
            || '","subject":' || subject
            || coalesce(frame, ',"key":null,"schema":1,"batch":[' || sequence || ',1],"data":')
            || content || ',"previous":"' || lower(hex(substr(hashes, 1, 32)))
            || '","hash":"' || lower(hex(substr(hashes, 33))) || '"}'
        ) AS line FROM record_row""",
    ),
    _apply_records,
)

MENTIONS = Projection(
    "mentions",
    ("CREATE TABLE mention (id TEXT, sequence INTEGER, PRIMARY KEY (id, sequence)) WITHOUT ROWID",),
    _apply_mentions,
)

SUBJECTS = Projection(
    "subjects",
    (
        """CREATE TABLE subject (
            id TEXT PRIMARY KEY, version INTEGER, sequence INTEGER
        ) WITHOUT ROWID""",
    ),
    _apply_subjects,
)

KEYS = Projection(
    "keys",
    ("CREATE TABLE unique_key (key TEXT PRIMARY KEY, sequence INTEGER) WITHOUT ROWID",),
    _apply_keys,
)

CORE = (RECORDS, MENTIONS, SUBJECTS, KEYS)
