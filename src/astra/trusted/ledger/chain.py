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

from astra.trusted.kernel import canonical, masking
from astra.trusted.kernel.errors import BadInput, LedgerDamaged
from astra.trusted.kernel.ids import is_id
from astra.trusted.ledger.record import Event, Head, Record
from astra.trusted.ledger.upcasting import schema_of

HASH_TAIL = len(',"hash":"') + 64 + len('"}\n')
LARGEST_RECORD = 1 << 20
_TYPE = re.compile(r"[a-z][a-z0-9_]{2,63}")
_NUMBER = "([0-9]{1,16})"
_PLAIN = r'[^"\\\x00-\x1f]*'
_QUOTED = rf'"{_PLAIN}(?:\\(?:["\\/bfnrt]|u[0-9a-f]{{4}}){_PLAIN})*"'
_START = re.compile(
    rf'\{{"sequence":{_NUMBER},"time":"([0-9TZ:.-]*)","type":"([a-z0-9_]*)","actor":({_QUOTED}),'
    rf'"correlation":"([a-z0-9_]*)","subject":(null|{_QUOTED}),"key":(null|{_QUOTED}),'
    rf'"schema":{_NUMBER},"batch":\[{_NUMBER},{_NUMBER}\],"data":(?=\{{)'
)
_END = ',"previous":"%s","hash":"%s"}'
END_LENGTH = len(_END % ("0" * 64, "0" * 64))


def link(events: Sequence[Event], *, after: Head, time: str) -> list[Record]:
    """Chain one batch of events behind a head."""
    start, count, head = after.sequence + 1, len(events), after
    records: list[Record] = []
    for event in events:
        record = _make_record(event, head, time, (start, count))
        head = Head(record.sequence, record.hash, time)
        records.append(record)
    return records


def parse(line: str) -> Record:
    """Read a line back. It checks the shape only; `intact` checks the hash.

    An index is rebuilt at the speed of this function, so it reads no more JSON than it has to: the
    members in front have one fixed order, and the data stays text until it is asked for.
    """
    start, previous, digest = _START.match(line), line[-140:-76], line[-66:-2]
    if not start or line[-END_LENGTH:] != _END % (previous, digest):
        raise LedgerDamaged(
            f"a line of the ledger is not a record: {line[:80]!r}", next_step="astra ledger verify"
        )
    sequence, time, type_, actor, correlation, subject, key, schema, first, count = start.groups()
    return Record(
        int(sequence),
        time,
        type_,
        _unquote_or_none(actor),
        correlation,
        _unquote_or_none(subject),
        _unquote_or_none(key),
        int(schema),
        (int(first), int(count)),
        line[start.end() : -END_LENGTH],
        previous,
        digest,
        line,
    )


def is_intact(line: bytes) -> bool:
    """Tell whether a whole line (with its newline) carries the hash of its own bytes."""
    return line[-67:] == hashlib.sha256(line[:-HASH_TAIL]).hexdigest().encode() + b'"}\n'


def completes_batch(record: Record) -> bool:
    start, count = record.batch
    return record.sequence == start + count - 1


def _make_record(event: Event, head: Head, time: str, batch: tuple[int, int]) -> Record:
    _check_event(event)
    sequence, content = head.sequence + 1, _encode_data(event)
    schema = schema_of(event.type)
    body = (
        f'{{"sequence":{sequence},"time":"{time}","type":"{event.type}",'
        f'"actor":{quote_or_null(event.actor)},"correlation":"{event.correlation}",'
        f'"subject":{quote_or_null(event.subject)},"key":{quote_or_null(event.key)},"schema":{schema},'
        f'"batch":[{batch[0]},{batch[1]}],"data":{content},"previous":"{head.hash}"'
    )
    digest = _digest_body(body)
    return Record(
        sequence,
        time,
        event.type,
        event.actor,
        event.correlation,
        event.subject,
        event.key,
        schema,
        batch,
        content,
        head.hash,
        digest,
        f'{body},"hash":"{digest}"}}',
    )


def _encode_data(event: Event) -> str:
    """Give the data as it is kept: every secret value in it masked, unless a signature covers it.

    Every record is made here, so nothing that an agent writes gets into the chain another way.
    """
    content = canonical.encode_text(event.data)
    if event.signed or not masking.may_hold_secrets(content):
        return content
    return canonical.encode_text(masking.mask_value(event.data))


def _digest_body(body: str) -> str:
    try:
        raw = body.encode()
    except UnicodeEncodeError:
        raise canonical.NotCanonical(
            "the event contains a lone surrogate, which is not valid Unicode",
            next_step="send valid Unicode",
        ) from None
    if len(raw) > LARGEST_RECORD:
        raise BadInput(
            f"a record of {len(raw):,} bytes is over the limit of {LARGEST_RECORD:,}",
            code="record_too_large",
            next_step="keep large content in a file and record its digest",
        )
    return hashlib.sha256(raw).hexdigest()


def _check_event(event: Event) -> None:
    if not _TYPE.fullmatch(event.type):
        raise BadInput(
            f"{event.type!r} is not an event name", next_step="use lower_case words, past tense"
        )
    if not is_id(event.correlation):
        raise BadInput(
            f"{event.correlation!r} is not a correlation id", next_step="use an id such as cor_…"
        )


def quote_or_null(text: str | None) -> str:
    return "null" if text is None else _quote(text)


def _unquote_or_none(text: str) -> Any:
    if text == "null":
        return None
    return json.loads(text) if "\\" in text else text[1:-1]
