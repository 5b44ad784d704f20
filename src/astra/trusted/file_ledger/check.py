"""Verifying a ledger's files from outside, without its lock and without the daemon."""

import os
import sqlite3
from collections.abc import Iterable, Sequence
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from astra.trusted.file_ledger import archived, checkpoints, segments, sqlite_index
from astra.trusted.file_ledger.offline import open_offline
from astra.trusted.file_ledger.places import LedgerPlaces
from astra.trusted.file_ledger.stored import ChainFiles
from astra.trusted.kernel.errors import AstraError
from astra.trusted.ledger import folding, stored
from astra.trusted.ledger.checkpoint import Checkpoint
from astra.trusted.ledger.projection import Projection
from astra.trusted.ledger.remainder import ARCHIVED, Month, digest_lines, is_vouched_for
from astra.trusted.ledger.stored import StoredChain
from astra.trusted.ledger.verification import Problem, Report, verify
from astra.trusted.policy import authority


class Outside(NamedTuple):
    """What a witness outside the data root keeps, and up to when that was signed away."""

    points: Sequence[Checkpoint | None]
    left_behind: str = ""


def check_files(
    var: Path,
    *,
    public_key: str | None,
    outside: Outside | None = None,
    stored_chain: StoredChain | None = None,
) -> Report:
    """Verify the chain against itself, its checkpoints, its index and what was read outside.

    The witnesses are read first: a daemon that appends meanwhile makes the chain longer than they
    remember, never shorter. The chain is in the files, unless a `stored_chain` is given.
    """
    places = LedgerPlaces(var)
    chain = stored_chain or ChainFiles(places.chain)
    witnesses = list(checkpoints.read(places.checkpoints))
    position = _index_position(places.index)
    report = verify(
        chain.read_segments,
        checkpoints=witnesses,
        public_key=public_key,
        index=position,
        outside=outside.points if outside else (),
        left_behind=outside.left_behind if outside else "",
    )
    return _check_archived(chain, report) if isinstance(chain, ChainFiles) else report


def _check_archived(chain: ChainFiles, report: Report) -> Report:
    """Check what the operator signed about archived months, those that were read too."""
    months = [segment for segment in segments.segments(chain.folder) if segment.archived]
    if not months:
        return report
    try:
        with open_offline(chain) as ledger:
            record = ledger.newest(ARCHIVED)
            is_signed = record is not None and authority.is_signed_by_operator(ledger, record)
        remainders = [_read_remainder(chain.folder / segment.name) for segment in months]
    except (AstraError, OSError) as error:
        problem = Problem("archive", 1, f"archived months cannot be checked: {error}")
        return replace(report, problems=[*report.problems, problem])
    unread_names = {month.month for month in report.by_digest}
    read_months = [entry for entry in remainders if entry[0].month not in unread_names]
    problems = [
        Problem("archive", month.first, f"what is left of {month.month} is not what was signed")
        for month, digest in read_months
        if not is_vouched_for(record, month, digest)
    ]
    if not is_signed:
        detail = "the record that archives months is not signed by the operator"
        problems.append(Problem("archive", record.sequence if record else 1, detail))
    problems += [
        Problem("archive", month.first, f"{month.folder} holds another {month.file_name}")
        for month in report.by_digest
        if _may_hold((chain.archive or Path(month.folder)) / month.file_name)
    ]
    return replace(
        report,
        problems=[*report.problems, *problems],
        from_archive=tuple(month for month, _ in read_months),
    )


def _may_hold(place: Path) -> bool:
    """Tell whether there is a file that can be looked at; one nobody may look at is not there."""
    try:
        place.stat()
    except OSError:
        return False
    return os.access(place, os.R_OK)


def _read_remainder(path: Path) -> tuple[Month, str]:
    return archived.read_month(path), digest_lines(archived.read_lines(path))


def check_folds(
    var: Path, projections: Sequence[Projection], stored_chain: StoredChain | None = None
) -> int:
    """Read every record that the index of these projections has not taken in, and count them.

    Raises for the first that cannot be read. What an index has applied could be read when it was.
    """
    places = LedgerPlaces(var)
    path, _ = sqlite_index.find_newest(places.index, projections)
    applied = max(read_positions([path]), default=(0, ""))[0]
    chain = stored_chain or ChainFiles(places.chain)
    return folding.check(projections, stored.read_records(chain, after=applied))


def _index_position(folder: Path) -> tuple[int, str] | None:
    """Read what the newest index has applied, whichever version of Astra made it."""
    return max(read_positions(folder.glob("index-*.sqlite3")), default=None)


def read_positions(indexes: Iterable[Path]) -> list[tuple[int, str]]:
    positions: list[tuple[int, str]] = []
    for path in indexes:
        with (
            suppress(sqlite3.Error),
            closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as connection,
        ):
            positions += connection.execute("SELECT sequence, hash FROM position").fetchall()
    return positions
