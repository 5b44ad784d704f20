"""What stays of a month of the chain whose file was archived elsewhere.

`YYYY-MM.remainder.gz` begins with a line about the month (a header), then holds the lines that
stayed, word for word, and for each run of records that left one line about the gap:

    {"archived":{"first":1,"folder":"/srv/archive/root_…","hash":"…","last":900,"month":"2026-01",…}}⏎
    {"sequence":1,"time":"…","type":"data_root_created",…}⏎
    {"gap":[2,900],"hash":"<hash of record 900>","time":"…"}⏎

A gap claims hashes that nobody can compute from this file. So a remainder counts only if a record
of the chain behind it, signed by the operator (`ledger_archived`), names the sha-256 of its text:
that record is held by the chain, and the chain by its checkpoints. The newest such record names
every month that was ever archived, and so never lies in one of them.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from hashlib import sha256
from typing import Any, NamedTuple

from astra.trusted.kernel import canonical
from astra.trusted.kernel.errors import LedgerDamaged
from astra.trusted.ledger import chain
from astra.trusted.ledger.record import ARCHIVED, Record

MARK = f'"type":"{ARCHIVED}"'.encode()
_GAP = re.compile(
    rb'\{"gap":\[([0-9]{1,16}),([0-9]{1,16})\],"hash":"([0-9a-f]{64})","time":"([0-9TZ:.-]{27})"\}\n'
)


@dataclass(frozen=True, kw_only=True)
class Month:
    """An archived month: which records, and which file holds them."""

    month: str
    first: int
    last: int
    hash: str
    """The hash of its last record."""
    sha256: str
    """The digest of the compressed file in the archive."""
    size: int
    folder: str

    @property
    def file_name(self) -> str:
        return f"{self.month}.ndjson.gz"


class Gap(NamedTuple):
    first: int
    last: int
    hash: str
    time: str


def write_remainder(
    month: Month, lines: Iterable[bytes], stays: Callable[[Record], bool]
) -> Iterator[bytes]:
    """Give the lines of a remainder: those of records that stay, and gaps."""
    yield write_header(month)
    gap: Gap | None = None
    for raw in lines:
        record = chain.parse(raw[:-1].decode())
        if stays(record):
            if gap:
                yield _write_gap(gap)
            yield raw
            gap = None
        else:
            first = gap.first if gap else record.sequence
            gap = Gap(first, record.sequence, record.hash, record.time)
    if gap:
        yield _write_gap(gap)


def write_header(month: Month) -> bytes:
    return canonical.encode({"archived": asdict(month)}) + b"\n"


def read_header(raw: bytes) -> Month:
    try:
        return read_month(json.loads(raw)["archived"])
    except (ValueError, KeyError, TypeError, RecursionError):
        raise LedgerDamaged(
            "what is left of an archived month does not say which one it is",
            next_step="put it back from a backup",
        ) from None


def read_month(stated: Mapping[str, Any]) -> Month:
    for name, value in stated.items():
        if type(value) is not (int if name in _NUMBERS else str):
            raise ValueError(f"{name} of an archived month has the wrong type")
    return Month(**stated)


_NUMBERS = frozenset({"first", "last", "size"})


def read_gap(raw: bytes) -> Gap | None:
    if match := _GAP.fullmatch(raw):
        first, last, digest, time = match.groups()
        return Gap(int(first), int(last), digest.decode(), time.decode())
    return None


def digest_lines(lines: Iterable[bytes]) -> str:
    digest = sha256()
    for raw in lines:
        digest.update(raw)
    return digest.hexdigest()


def describe_month(month: Month, remainder_digest: str) -> dict[str, Any]:
    """Give what the operator signs about a month."""
    return {**asdict(month), "remainder": remainder_digest}


def is_vouched_for(record: Record | None, month: Month, remainder_digest: str) -> bool:
    """Tell whether a record names a month with exactly this remainder."""
    months = record.raw_data.get("months") if record else None
    return isinstance(months, list) and describe_month(month, remainder_digest) in months


def _write_gap(gap: Gap) -> bytes:
    return f'{{"gap":[{gap.first},{gap.last}],"hash":"{gap.hash}","time":"{gap.time}"}}\n'.encode()
