"""Archiving finished months of a chain in files: what would leave, and moving it by signature.

Nothing is removed before three things are durable: the copy in the archive, read back and compared;
the record that the operator signed; and what stays of the month. So a crash anywhere leaves a month
whole here, or its remainder here and the month in the archive. Whether what stays is believed is
not decided here but by whoever verifies (`trusted.ledger.verification`).
"""

import gzip
import hashlib
import io
import os
import re
import stat
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from astra.trusted.file_ledger import archived, segments
from astra.trusted.file_ledger.check import check_files
from astra.trusted.file_ledger.indexed import IndexedLedger
from astra.trusted.file_ledger.ledger import FileLedger
from astra.trusted.file_ledger.offline import find_staying
from astra.trusted.files.data_root import DataRoot
from astra.trusted.kernel.clock import Clock
from astra.trusted.kernel.errors import AstraError, BadInput, Conflict, LedgerDamaged
from astra.trusted.kernel.private_files import sync_folder
from astra.trusted.ledger import remainder
from astra.trusted.ledger.record import Event, Record
from astra.trusted.ledger.remainder import ARCHIVED, Month
from astra.trusted.ledger.segments import Segment
from astra.trusted.policy import authority, telemetry
from astra.trusted.policy.authority import Signed

SUBJECT = "ledger_archive"
TELEMETRY = frozenset({telemetry.TOOL_CALLED, telemetry.REFUSALS_COUNTED})
"""What thinning takes out: calls that only read, and counts of refusals. Never anything that had an
effect, was decided or signed."""
_BLOCK = 1 << 20
_MONTH = re.compile(r"[0-9]{4}-(?:0[1-9]|1[0-2])")


@dataclass(frozen=True, kw_only=True)
class Order:
    """Which months go where, and whether only their telemetry leaves."""

    before: str
    to: str
    thin: bool = False


@dataclass(frozen=True, kw_only=True)
class MonthPlan:
    month: Month
    remainder: bytes
    """The compressed file that stays."""
    digest: str

    @property
    def saved(self) -> int:
        return self.month.size - len(self.remainder)

    def as_dict(self) -> dict[str, Any]:
        return {
            "month": self.month.month,
            "records": self.month.last - self.month.first + 1,
            "bytes": self.month.size,
            "stays": len(self.remainder),
            "saved": self.saved,
        }


@dataclass(frozen=True, kw_only=True)
class Plan:
    months: tuple[MonthPlan, ...]
    content: dict[str, Any]
    """What the operator signs: every month that lies in an archive from then on."""


@dataclass(frozen=True)
class LedgerArchive:
    ledger: IndexedLedger
    root: DataRoot
    clock: Clock

    def plan(self, order: Order) -> Plan:
        """Say what would leave, after the whole chain was verified; nothing is changed."""
        folder = self._check_order(order)
        self.ledger.compress_finished()
        report = check_files(self.root.var, public_key=self.root.read_ledger_key().public)
        if report.problems:
            raise LedgerDamaged(
                f"the chain is not as it was written: {report.problems[0].detail}",
                next_step="astra ledger verify; nothing was archived",
            )
        stays = _telemetry_leaves if order.thin else find_staying(self.ledger)
        plans = (
            _plan_month(self._chain, segment, folder, stays)
            for segment in self._list_finished(order.before)
        )
        months = tuple(plan for plan in plans if plan.saved > 0)
        new_names = {plan.month.month for plan in months}
        earlier = [entry for entry in self._read_earlier() if entry["month"] not in new_names]
        new = [remainder.describe_month(plan.month, plan.digest) for plan in months]
        content = {"months": sorted([*earlier, *new], key=lambda entry: entry["month"])}
        return Plan(months=months, content=content)

    def move(self, order: Order, signed: Signed) -> tuple[Record, Plan]:
        """Copy the months away, record what the operator signed, and leave their remainders."""
        plan = self.plan(order)
        if not plan.months:
            raise Conflict(
                f"no finished month before {order.before} is here that would save anything",
                next_step="astra ledger verify",
            )
        event = Event(type=ARCHIVED, actor="operator", data=plan.content, subject=SUBJECT)
        event = authority.signed_event(self.ledger, event, signed, now=self.clock.now())
        version = self.ledger.version(SUBJECT)
        for month_plan in plan.months:
            _copy_month(self._chain, month_plan.month)
        (record,) = self.ledger.append([event], expect={SUBJECT: version})
        try:
            for month_plan in plan.months:
                _leave_remainder(self._chain, month_plan)
        except OSError as error:
            raise AstraError(
                f"record {record.sequence} says what was archived, and not every month could leave"
                f" this disk: {error.strerror}",
                code="archive_failed",
                next_step="make room, then run it again; nothing is missing",
            ) from None
        return record, plan

    @property
    def _chain(self) -> Path:
        return self.ledger.places.chain

    def _check_order(self, order: Order) -> Path:
        if not isinstance(self.ledger, FileLedger):
            raise BadInput(
                "this chain is in a database: only months in files can be archived",
                code="chain_in_database",
                next_step="use the database's own means, or `astra ledger move --to files`",
            )
        if not _MONTH.fullmatch(order.before):
            raise BadInput(f"{order.before!a} is not a month", next_step="write it as 2026-03")
        to = Path(order.to)
        if not to.is_absolute() or not to.is_dir():
            raise BadInput(f"there is no folder {order.to!a}", next_step="make it first")
        if to.resolve().is_relative_to(self.root.path.resolve()):
            raise BadInput(
                "an archive inside the data root saves nothing", next_step="name a place elsewhere"
            )
        folder = to.resolve() / str(self.root.require_first_record().data["root_id"])
        if os.path.lexists(folder):
            _check_folder(folder)
        return folder

    def _list_finished(self, before: str) -> list[Segment]:
        """Leave out the segment that the chain grows in, whatever its month."""
        finished = segments.segments(self._chain)[:-1]
        return [
            segment
            for segment in finished
            if segment.month < before and segment.compressed and not segment.archived
        ]

    def _read_earlier(self) -> list[dict[str, Any]]:
        record = self.ledger.newest(ARCHIVED)
        return list(record.data["months"]) if record else []


def _check_folder(folder: Path) -> None:
    """Refuse a folder that others could lead elsewhere, or empty: back into the chain, say."""
    facts = folder.lstat()
    if not stat.S_ISDIR(facts.st_mode) or facts.st_uid not in {os.geteuid(), 0}:
        raise BadInput(
            f"{folder} is not a folder of the daemon's own user",
            next_step="look who made it, and name another place",
        )


def _telemetry_leaves(record: Record) -> bool:
    return record.type not in TELEMETRY


def _plan_month(
    chain: Path, segment: Segment, folder: Path, stays: Callable[[Record], bool]
) -> MonthPlan:
    first, last = _read_ends(chain, segment)
    with (chain / segment.name).open("rb") as file:
        digest, size = archived.digest_file(file), file.tell()
    month = Month(
        month=segment.month,
        first=first,
        last=last.sequence,
        hash=last.hash,
        sha256=digest,
        size=size,
        folder=str(folder),
    )
    packed, text_digest = io.BytesIO(), hashlib.sha256()
    with gzip.GzipFile(filename="", fileobj=packed, mode="wb", mtime=0) as file:
        for raw in remainder.write_remainder(month, _read_lines(chain, segment), stays):
            text_digest.update(raw)
            file.write(raw)
    return MonthPlan(month=month, remainder=packed.getvalue(), digest=text_digest.hexdigest())


def _read_ends(chain: Path, segment: Segment) -> tuple[int, Record]:
    with segments.open_segment(chain, segment) as file:
        first = segments.sequence_of(file.readline())
    last = segments.read_tail(chain, segment).last
    if last is None:
        raise LedgerDamaged(f"{segment.name} is empty", next_step="astra ledger verify")
    return first, last


def _read_lines(chain: Path, segment: Segment) -> Iterator[bytes]:
    with segments.open_segment(chain, segment) as file:
        yield from cast("Iterable[bytes]", file)


def _copy_month(chain: Path, month: Month) -> None:
    """Copy a month's file into the archive, and read it back; another file there stays."""
    source, place = chain / month.file_name, Path(month.folder) / month.file_name
    try:
        digest = _copy_file(source, place)
    except OSError as error:
        raise AstraError(
            f"{month.file_name} could not be copied to {month.folder}: {error.strerror}",
            code="archive_failed",
            next_step="let the daemon's user write there (of a systemd unit: ReadWritePaths= in a"
            " drop-in), or name another folder; the chain is as it was",
        ) from None
    if digest != month.sha256:
        raise Conflict(
            f"{place} is another file, or the chain's own",
            next_step="name another folder; the chain is as it was",
        )


def _copy_file(source: Path, place: Path) -> str:
    """Copy a file unless it is there, make it durable, and give its digest as it is there.

    What leads back to the source is no copy: there the digest is empty.
    """
    place.parent.mkdir(mode=0o700, exist_ok=True)
    _check_folder(place.parent)
    sync_folder(place.parent.parent)
    if not os.path.lexists(place):
        with source.open("rb") as file:
            archived.write_file(place, iter(lambda: file.read(_BLOCK), b""))
    with archived.open_regular(place, os.O_NOFOLLOW) as file:
        if os.path.samestat(os.fstat(file.fileno()), source.stat()):
            return ""
        digest = archived.digest_file(file)
        os.fsync(file.fileno())
    sync_folder(place.parent)
    return digest


def _leave_remainder(chain: Path, plan: MonthPlan) -> None:
    archived.write_file(chain / archived.remainder_name(plan.month.month), [plan.remainder])
    (chain / plan.month.file_name).unlink()
    sync_folder(chain)
