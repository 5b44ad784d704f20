"""The written form of a record, and how one links to the next.

A record is one line of JSON in a fixed member order. `previous` and `hash` come last and have a
fixed width, so that a checker can slice them off the end of the line without parsing it. `hash` is
the sha-256 of every byte before it:

    {"sequence":1,"time":"…","type":"…","actor":"…","correlation":"…","subject":null,"key":null,
     "schema":1,"batch":[1,1],"data":{…},"previous":"<64 hex>","hash":"<64 hex>"}⏎
    └───────────────────────── hashed ─────────────────────────┘

Events of one append are a batch: each record says where its batch starts and how many it has, so an
incomplete batch at the end of a chain is recognised and set aside whole.
"""

import hashlib
import json
import re
from collections.abc import Sequence
from json.encoder import encode_basestring as _quote
from typing import Any

from astra.kernel import canonical
from astra.kernel.errors import BadInput, LedgerDamaged
from astra.kernel.ids import is_id
from astra.ledger.record import SCHEMA, Event, Head, Record

HASH_TAIL = len(',"hash":"') + 64 + len('"}\n')
LARGEST_RECORD = 1 << 20
_TYPE = re.compile(r"[a-z][a-z0-9_]{2,63}")
_MEMBERS = (
    '"sequence":%d,"time":"%s","type":"%s","actor":%s,"correlation":"%s",'
    '"subject":%s,"key":%s,"schema":%d,"batch":[%d,%d],"data":%s,"previous":"%s"'
)


def link(events: Sequence[Event], *, after: Head, time: str) -> list[Record]:
    """Chain one batch of events behind a head."""
    start, count, head = after.sequence + 1, len(events), after
    records: list[Record] = []
    for event in events:
        record = _record(event, head, time, (start, count))
        head = Head(record.sequence, record.hash, time)
        records.append(record)
    return records


def parse(line: str) -> Record:
    """Read a line back. It checks the shape only; `intact` checks the hash."""
    try:
        members: dict[str, Any] = json.loads(line)
        start, count = members.pop("batch")
        return Record(**members, batch=(int(start), int(count)), line=line)
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise LedgerDamaged(
            f"a line of the ledger is not a record: {error}", next_step="astra ledger verify"
        ) from None


def intact(line: bytes) -> bool:
    """Tell whether a whole line (with its newline) carries the hash of its own bytes."""
    return line[-67:] == hashlib.sha256(line[:-HASH_TAIL]).hexdigest().encode() + b'"}\n'


def completes_batch(record: Record) -> bool:
    start, count = record.batch
    return record.sequence == start + count - 1


def _record(event: Event, head: Head, time: str, batch: tuple[int, int]) -> Record:
    _check(event)
    data = canonical.encode_text(event.data)
    body = "{" + _MEMBERS % (
        head.sequence + 1,
        time,
        event.type,
        _text(event.actor),
        event.correlation,
        _text(event.subject),
        _text(event.key),
        SCHEMA,
        *batch,
        data,
        head.hash,
    )
    digest = _digest(body)
    return Record(
        sequence=head.sequence + 1,
        time=time,
        type=event.type,
        actor=event.actor,
        correlation=event.correlation,
        subject=event.subject,
        key=event.key,
        schema=SCHEMA,
        batch=batch,
        data=json.loads(data),
        previous=head.hash,
        hash=digest,
        line=f'{body},"hash":"{digest}"}}',
    )


def _digest(body: str) -> str:
    try:
        raw = body.encode()
    except UnicodeEncodeError:
        raise canonical.NotCanonical(
            "the event holds a lone surrogate, which is no character",
            next_step="send valid Unicode",
        ) from None
    if len(raw) > LARGEST_RECORD:
        raise BadInput(
            f"a record of {len(raw):,} bytes is over the limit of {LARGEST_RECORD:,}",
            code="record_too_large",
            next_step="keep large content in a file and record its digest",
        )
    return hashlib.sha256(raw).hexdigest()


def _check(event: Event) -> None:
    if not _TYPE.fullmatch(event.type):
        raise BadInput(
            f"{event.type!r} is not an event name", next_step="use lower_case words, past tense"
        )
    if not is_id(event.correlation):
        raise BadInput(
            f"{event.correlation!r} is not a correlation id", next_step="use an id such as cor_…"
        )


def _text(text: str | None) -> str:
    return "null" if text is None else _quote(text)
