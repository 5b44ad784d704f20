"""An edit of the chain cannot be passed off as a month that was archived or thinned."""

import gzip
import json
import os
import shutil
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

import pytest

from archive_world import ArchiveWorld
from astra.trusted.file_ledger import archived
from astra.trusted.kernel.errors import AstraError, BadInput, LedgerArchived
from astra.trusted.ledger import remainder
from astra.trusted.ledger.record import Event
from astra.trusted.ledger.remainder import Month

Edit = Callable[[list[bytes]], list[bytes]]


@pytest.fixture
def world(tmp_path: Path) -> ArchiveWorld:
    world = ArchiveWorld(tmp_path)
    world.fill()
    with world.opened() as ledger:
        world.move(ledger, thin=True)
    return world


def edit(world: ArchiveWorld, change: Edit, month: str = "2026-03") -> None:
    path = world.chain / f"{month}.remainder.gz"
    lines = change(list(archived.read_lines(path)))
    path.write_bytes(gzip.compress(b"".join(lines)))


def drop_a_decision(lines: list[bytes]) -> list[bytes]:
    """Let a record that stayed disappear in the gap beside it."""
    place = next(n for n, raw in enumerate(lines) if b"thing_happened" in raw)
    before = remainder.read_gap(lines[place - 1])
    assert before
    record = json.loads(lines[place])
    gap = (
        f'{{"gap":[{before.first},{record["sequence"]}],"hash":"{record["hash"]}",'
        f'"time":"{record["time"]}"}}\n'
    ).encode()
    return [*lines[: place - 1], gap, *lines[place + 1 :]]


def change_a_record(lines: list[bytes]) -> list[bytes]:
    return [raw.replace(b'{"n":7}', b'{"n":8}') for raw in lines]


def change_a_hash_in_a_gap(lines: list[bytes]) -> list[bytes]:
    place = next(n for n, raw in enumerate(lines) if remainder.read_gap(raw))
    gap = remainder.read_gap(lines[place])
    assert gap
    lines[place] = lines[place].replace(gap.hash.encode(), b"0" * 64)
    return lines


def change_the_header(lines: list[bytes]) -> list[bytes]:
    month = remainder.read_header(lines[0])
    return [remainder.write_header(Month(**{**asdict(month), "sha256": "0" * 64})), *lines[1:]]


def remove_the_header(lines: list[bytes]) -> list[bytes]:
    return lines[1:]


def keep_nothing(_lines: list[bytes]) -> list[bytes]:
    return []


EDITS = [
    *(drop_a_decision, change_a_record, change_a_hash_in_a_gap),
    *(change_the_header, remove_the_header, keep_nothing),
]


@pytest.mark.parametrize("reachable", [True, False])
@pytest.mark.parametrize("change", EDITS)
def test_an_edited_remainder_is_noticed(
    world: ArchiveWorld, change: Edit, *, reachable: bool
) -> None:
    if not reachable:
        shutil.rmtree(world.archive)
    edit(world, change)
    report = world.verify()
    assert not report.ok
    assert {problem.kind for problem in report.problems} & {"archive", "edited"}


def test_a_remainder_that_nobody_signed_is_noticed(world: ArchiveWorld) -> None:
    """Take a month away that was never archived, and leave a remainder made by its own rules."""
    path = world.chain / "2026-05.ndjson.gz"
    lines = gzip.decompress(path.read_bytes()).splitlines(keepends=True)
    first, last = json.loads(lines[0]), json.loads(lines[-1])
    month = Month(
        month="2026-05",
        first=first["sequence"],
        last=last["sequence"],
        hash=last["hash"],
        sha256="0" * 64,
        size=1,
        folder=str(world.archive),
    )
    text = remainder.write_remainder(month, lines, lambda _record: False)
    (world.chain / "2026-05.remainder.gz").write_bytes(gzip.compress(b"".join(text)))
    path.unlink()
    report = world.verify()
    assert [problem.kind for problem in report.problems] == ["archive"]
    assert "2026-05" in report.problems[0].detail


def test_a_remainder_taken_away_is_noticed(world: ArchiveWorld) -> None:
    (world.chain / "2026-03.remainder.gz").unlink()
    assert "deleted" in {problem.kind for problem in world.verify().problems}


def test_the_record_that_vouches_cannot_be_edited_along(world: ArchiveWorld) -> None:
    edit(world, change_a_record)
    digest = remainder.digest_lines(archived.read_lines(world.chain / "2026-03.remainder.gz"))
    live = world.chain / "2026-06.ndjson"
    signed = json.loads(live.read_bytes().splitlines()[-1])["data"]["months"][0]["remainder"]
    live.write_bytes(live.read_bytes().replace(signed.encode(), digest.encode()))
    assert "edited" in {problem.kind for problem in world.verify().problems}


def test_words_of_an_agent_vouch_for_nothing(world: ArchiveWorld) -> None:
    """Data that looks like the record, in a record of another type, has no say."""
    edit(world, change_a_hash_in_a_gap)
    path = world.chain / "2026-03.remainder.gz"
    month = archived.read_month(path)
    claim = remainder.describe_month(month, remainder.digest_lines(archived.read_lines(path)))
    with world.opened() as ledger:
        data = {"type": "ledger_archived", "months": [claim]}
        ledger.append([Event(type="thing_happened", actor="agent", data=data)])
    assert not world.verify().ok


def test_an_unsigned_record_of_the_type_vouches_for_nothing(world: ArchiveWorld) -> None:
    edit(world, drop_a_decision)
    shutil.rmtree(world.archive)
    path = world.chain / "2026-03.remainder.gz"
    month = archived.read_month(path)
    claim = remainder.describe_month(month, remainder.digest_lines(archived.read_lines(path)))
    with world.opened() as ledger:
        ledger.append([Event(type="ledger_archived", actor="operator", data={"months": [claim]})])
    details = [problem.detail for problem in world.verify().problems]
    assert "the record that archives months is not signed by the operator" in details


@pytest.mark.parametrize("content", [b"", b"not gzip", gzip.compress(b"{}\n", mtime=0)])
def test_another_file_in_the_archive_is_never_read_as_the_chain(
    world: ArchiveWorld, content: bytes
) -> None:
    (world.archived_files / "2026-03.ndjson.gz").write_bytes(content)
    with pytest.raises(LedgerArchived, match="not the file that was archived"):
        world.lines()
    report = world.verify()
    assert [problem.kind for problem in report.problems] == ["archive"]


def test_a_file_that_changes_while_it_is_read_is_never_read_to_its_end(world: ArchiveWorld) -> None:
    """The archive may be on a disk of others: its digest is compared, then its lines are read."""
    place = world.archived_files / "2026-03.ndjson.gz"
    whole = gzip.decompress(place.read_bytes())
    forged = gzip.compress(whole.replace(b'{"n":7}', b'{"n":8}'), mtime=0)
    with archived.open_archived(world.chain / "2026-03.remainder.gz") as lines:
        place.write_bytes(forged)
        with pytest.raises(LedgerArchived, match="changed while it was read"):
            lines.read()


@pytest.mark.parametrize("kind", ["pipe", "folder"])
def test_what_is_no_file_in_the_archive_is_not_waited_for(world: ArchiveWorld, kind: str) -> None:
    place = world.archived_files / "2026-03.ndjson.gz"
    place.unlink()
    os.mkfifo(place) if kind == "pipe" else place.mkdir()
    with pytest.raises(LedgerArchived, match="cannot be read"):
        world.lines()
    assert world.verify().by_digest[0].month == "2026-03"


@pytest.fixture
def unmoved(tmp_path: Path) -> ArchiveWorld:
    world = ArchiveWorld(tmp_path)
    world.fill()
    return world


def lead_the_folder_into_the_chain(world: ArchiveWorld) -> None:
    world.archived_files.symlink_to(world.chain)


def lead_a_file_into_the_chain(world: ArchiveWorld) -> None:
    world.archived_files.mkdir()
    place = world.archived_files / "2026-03.ndjson.gz"
    place.symlink_to(world.chain / place.name)


def give_the_file_a_second_name(world: ArchiveWorld) -> None:
    world.archived_files.mkdir()
    place = world.archived_files / "2026-03.ndjson.gz"
    place.hardlink_to(world.chain / place.name)


def lay_a_pipe_where_the_file_goes(world: ArchiveWorld) -> None:
    world.archived_files.mkdir()
    os.mkfifo(world.archived_files / "2026-03.ndjson.gz")


def make_a_file_of_the_folder(world: ArchiveWorld) -> None:
    world.archived_files.write_text("no folder")


@pytest.mark.parametrize(
    "prepare",
    [
        *(lead_the_folder_into_the_chain, lead_a_file_into_the_chain),
        *(give_the_file_a_second_name, lay_a_pipe_where_the_file_goes, make_a_file_of_the_folder),
    ],
)
def test_an_archive_that_leads_back_into_the_chain_is_no_copy(
    unmoved: ArchiveWorld, prepare: Callable[[ArchiveWorld], None]
) -> None:
    prepare(unmoved)
    before = unmoved.lines()
    with unmoved.opened() as ledger, pytest.raises(AstraError):
        unmoved.move(ledger)
    assert unmoved.lines() == before
    assert unmoved.verify().ok


def test_a_link_laid_for_the_copy_is_not_written_through(unmoved: ArchiveWorld) -> None:
    victim = unmoved.folder / "victim"
    victim.write_text("precious")
    unmoved.archived_files.mkdir()
    (unmoved.archived_files / "2026-03.ndjson.gz.tmp").symlink_to(victim)
    with unmoved.opened() as ledger:
        unmoved.move(ledger)
    assert victim.read_text() == "precious"
    assert unmoved.verify().from_archive[0].month == "2026-03"


def test_a_folder_of_another_user_is_refused(unmoved: ArchiveWorld) -> None:
    unmoved.archived_files.mkdir()
    try:
        os.chown(unmoved.archived_files, 12345, 12345)
    except PermissionError:
        pytest.skip("only root makes folders of others")
    with unmoved.opened() as ledger, pytest.raises(BadInput, match="own user"):
        unmoved.move(ledger)


def test_an_archive_that_may_not_be_looked_into_is_away(world: ArchiveWorld) -> None:
    """A person who verifies need not be the daemon's user, for whom alone the archive is."""
    long_name = "x" * 300  # no user at all may look at it, root neither
    report = world.verify(world.archive / long_name)
    assert report.ok
    assert len(report.by_digest) == 2
