"""Moving a chain from files into a database and back: whole or not at all, line for line.

Into a database: the records go over in one transaction, and then `var/chain.json` says where the
chain is. Back: the files are written beside, the head in the database is closed in
the transaction that read it, so that no other machine appends what the files do not have, and then
the files take their place. Whoever is cut off in between runs the same command again: what is over
already is recognised by its hash and stays.

No daemon may run on this data root meanwhile. Files that a chain left stay in
`var/ledger-before-move` until the operator removes them.
"""

import math
import os
import shutil
import socket
from collections.abc import Generator, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

import psycopg

from astra.adapters.postgres_ledger import connecting, schema
from astra.adapters.postgres_ledger.chain_table import CHANNEL, ChainTable, HeadLost
from astra.adapters.postgres_ledger.connecting import Connection, connect, describe_address
from astra.trusted.file_ledger import segments
from astra.trusted.file_ledger.check import check_files
from astra.trusted.file_ledger.moved import MARKER, ChainPlace, read_place
from astra.trusted.file_ledger.owner_lock import OwnerLock
from astra.trusted.file_ledger.places import LedgerPlaces
from astra.trusted.file_ledger.stored import ChainFiles
from astra.trusted.files.data_root import DataRoot
from astra.trusted.kernel.errors import Conflict, LedgerDamaged, LedgerUnavailable
from astra.trusted.kernel.private_files import sync_folder, write_private
from astra.trusted.ledger import chain, stored
from astra.trusted.ledger.record import EMPTY, GENESIS, Head
from astra.trusted.ledger.stored import StoredChain

BEFORE_MOVE, INCOMING = "ledger-before-move", "ledger-incoming"
_TRANSACTION = """
    BEGIN;
    SET LOCAL application_name = 'astra moves a chain';
    SET LOCAL statement_timeout = 0;
    SET LOCAL idle_in_transaction_session_timeout = 60000;
    SELECT sequence, hash, time, closed FROM astra.head FOR UPDATE
"""
_COPY = "COPY astra.record (sequence, line) FROM STDIN"
_MOVE = "UPDATE astra.head SET sequence = %s, hash = %s, time = %s, closed = %s"


@dataclass(frozen=True, kw_only=True)
class Moved:
    records: int
    head: str
    copied: int
    """How many records this run took over; the others were there already."""
    place: str


def move_to_database(root: DataRoot, url: str) -> Moved:
    """Move the chain of a data root into a database, or say that it is there now."""
    connecting.check_server(url)
    schema.check_tables(url)
    with closing(OwnerLockOfRoot(root)):
        if (place := read_place(root.var)) is not None and not _has_files(root):
            return _note_new_address(root, place, url)
        stored_chain = ChainFiles(LedgerPlaces(root.var).chain)
        first = root.require_first_record()
        _refuse_damaged(root, stored_chain)
        head, copied = _copy_records(stored_chain, url)
        place = ChainPlace(address=describe_address(url), first=first)
        write_private(root.var / MARKER, place.as_text().encode())
        _set_files_aside(root)
    return Moved(records=head.sequence, head=head.hash, copied=copied, place=place.address)


def move_to_files(root: DataRoot, url: str) -> Moved:
    """Move the chain out of its database into the files of this data root, or say it is there."""
    with closing(OwnerLockOfRoot(root)):
        if (place := read_place(root.var)) is None:
            end = ChainFiles(LedgerPlaces(root.var).chain).read_end()
            return Moved(records=end.sequence, head=end.hash, copied=0, place="files")
        _refuse_unknown_database(root, place, url)
        incoming = root.var / INCOMING
        with closing(connect(url)) as connection, _explain_failures(url):
            head, closed_by = _lock_head(connection)
            name = f"files of {root.path} on {socket.gethostname()}"
            if closed_by not in {"", name}:
                raise Conflict(
                    f"the chain was moved out of this database already: {closed_by}",
                    next_step="copy it from there with `astra backup`",
                )
            _write_files(url, incoming, head)
            connection.execute(_MOVE, [head.sequence, head.hash, head.time, name])
            connection.execute(f"SELECT pg_notify('{CHANNEL}', '0')".encode())
            connection.execute("COMMIT")
        _put_in_place(root, incoming)
    return Moved(records=head.sequence, head=head.hash, copied=head.sequence, place="files")


class OwnerLockOfRoot:
    """The lock that a daemon holds: taken here, so that none runs while its chain moves."""

    def __init__(self, root: DataRoot) -> None:
        LedgerPlaces(root.var).make()
        self._lock = OwnerLock(LedgerPlaces(root.var).lock)

    def close(self) -> None:
        self._lock.release()


# Into a database


def _has_files(root: DataRoot) -> bool:
    return bool(segments.segments(LedgerPlaces(root.var).chain))


def _refuse_damaged(root: DataRoot, stored_chain: StoredChain) -> None:
    report = check_files(
        root.var, stored_chain=stored_chain, public_key=root.read_ledger_key().public
    )
    if not report.ok:
        problem = report.problems[0]
        raise LedgerDamaged(
            f"the chain is not as it was written and is not moved: {problem.detail}",
            next_step="astra ledger verify",
        )


def _copy_records(stored_chain: StoredChain, url: str) -> tuple[Head, int]:
    """Copy what the database does not have yet, and open it for appends, in one transaction."""
    with closing(connect(url)) as connection, _explain_failures(url):
        database_head, closed_by = _lock_head(connection)
        end = stored_chain.read_end()
        _refuse_other_chain(connection, stored_chain, database_head, end)
        if database_head.sequence >= end.sequence and not closed_by:
            connection.execute("ROLLBACK")
            return database_head, 0
        if database_head.sequence > end.sequence:
            raise Conflict(
                f"the database has {database_head.sequence} records and the files {end.sequence}:"
                " they are an older state of a chain that was moved out of it",
                next_step="use the data root that has all of it",
            )
        with connection.cursor().copy(_COPY) as copy:
            for record in stored.read_records(stored_chain, after=database_head.sequence):
                copy.write_row([record.sequence, record.line])
        connection.execute(_MOVE, [end.sequence, end.hash, end.time, ""])
        _refuse_incomplete(connection, end)
        connection.execute("COMMIT")
    return end, end.sequence - database_head.sequence


def _refuse_other_chain(
    connection: Connection, stored_chain: StoredChain, database_head: Head, end: Head
) -> None:
    """Let a database be empty, or hold a beginning of this chain, or go on from its end."""
    place = min(database_head.sequence, end.sequence)
    if place == 0:
        return
    record = next(stored.read_records(stored_chain, after=place - 1), None)
    query = "SELECT line FROM astra.record WHERE sequence = %s"
    rows = connection.execute(query, [place]).fetchall()
    if record and rows == [(record.line,)]:
        return
    raise Conflict(
        f"the database holds another chain: its record {database_head.sequence} is not this one's",
        next_step="name an empty database, prepared with `astra ledger prepare`",
    )


def _refuse_incomplete(connection: Connection, end: Head) -> None:
    rows = connection.execute("SELECT count(*), max(sequence) FROM astra.record").fetchall()
    lines = connection.execute(
        "SELECT line FROM astra.record WHERE sequence = %s", [end.sequence]
    ).fetchall()
    if rows != [(end.sequence, end.sequence)] or chain.parse(lines[0][0]).hash != end.hash:
        connection.execute("ROLLBACK")
        raise LedgerDamaged(
            "the database holds other records than were copied; nothing was moved",
            next_step="name an empty database, prepared with `astra ledger prepare`",
        )


def _note_new_address(root: DataRoot, place: ChainPlace, url: str) -> Moved:
    """Take a database for the one that holds the chain: it has what this machine has seen."""
    head = _refuse_unknown_database(root, place, url)
    new_place = ChainPlace(address=describe_address(url), first=place.first)
    write_private(root.var / MARKER, new_place.as_text().encode())
    return Moved(records=head.sequence, head=head.hash, copied=0, place=new_place.address)


def _refuse_unknown_database(root: DataRoot, place: ChainPlace, url: str) -> Head:
    """Refuse a database without the chain of this data root as it is known here; gives its head."""
    with closing(ChainTable(url)) as table:
        try:
            head = table.read_head().head
            first = next(table.read_lines(0), "")
            unknown_places = [
                sequence
                for sequence, digest in _list_known(root)
                if table.find_hash(sequence) != digest
            ]
        except HeadLost as error:
            raise connecting.unreachable_error(url, error) from error
    if first != place.first.line or unknown_places:
        raise Conflict(
            "that database does not hold the chain of this data root",
            next_step=f"the chain is in {place.address}; name a database that has all of it",
        )
    return head


def _list_known(root: DataRoot) -> list[tuple[int, str]]:
    from astra.trusted.file_ledger import checkpoints

    point = checkpoints.newest(LedgerPlaces(root.var).checkpoints)
    return [(point.sequence, point.hash)] if point else []


def _set_files_aside(root: DataRoot) -> None:
    folder = LedgerPlaces(root.var).chain
    aside = root.var / BEFORE_MOVE
    shutil.rmtree(aside, ignore_errors=True)
    folder.rename(aside)
    folder.mkdir(mode=0o700)
    sync_folder(root.var)


# Back into files


def _write_files(url: str, folder: Path, head: Head) -> None:
    """Write the chain as files, each line checked as it comes."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(mode=0o700)
    with closing(ChainTable(url)) as table:
        lines = _check_lines(table.read_lines(0), head)
        for name, raw_lines in stored.group_by_segment(lines):
            descriptor = os.open(folder / name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(descriptor, "wb") as file:
                file.writelines(raw_lines)
                file.flush()
                os.fsync(file.fileno())
    sync_folder(folder)


def _check_lines(lines: Iterator[str], head: Head) -> Iterator[str]:
    sequence, previous = 0, GENESIS
    for line in lines:
        record = chain.parse(line)
        linked = (record.sequence, record.previous) == (sequence + 1, previous)
        if not linked or not chain.is_intact(f"{line}\n".encode()):
            break
        sequence, previous = record.sequence, record.hash
        yield line
    if (sequence, previous) != (head.sequence, head.hash):
        raise LedgerDamaged(
            f"the chain in the database is broken behind record {sequence}; nothing was moved",
            next_step="astra ledger verify",
        )


def _put_in_place(root: DataRoot, incoming: Path) -> None:
    folder = LedgerPlaces(root.var).chain
    shutil.rmtree(folder, ignore_errors=True)
    incoming.rename(folder)
    sync_folder(root.var)
    (root.var / MARKER).unlink(missing_ok=True)
    sync_folder(root.var)


def _lock_head(connection: Connection) -> tuple[Head, str]:
    connection.answer_seconds = math.inf
    cursor = connection.execute(_TRANSACTION.encode())
    while cursor.nextset():
        pass
    ((sequence, digest, time, closed_by),) = cursor.fetchall()
    return Head(sequence, digest, time) if sequence else EMPTY, closed_by


@contextmanager
def _explain_failures(url: str) -> Generator[None, None, None]:
    try:
        yield
    except HeadLost as error:
        raise connecting.unreachable_error(url, error) from error
    except psycopg.Error as error:
        raise LedgerUnavailable(
            f"the chain was not moved: {str(error).splitlines()[0]}",
            next_step="the same command again: nothing is half moved",
        ) from error
