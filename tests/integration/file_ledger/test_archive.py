"""Finished months move to an archive by signature, and the chain can still be verified."""

import errno
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from archive_world import MONTHS, ArchiveWorld
from astra.adapters.backups.making import make_backup
from astra.adapters.ledger_archive import LedgerArchive
from astra.trusted.file_ledger import archived
from astra.trusted.kernel.errors import (
    AstraError,
    BadInput,
    LedgerArchived,
    LedgerDamaged,
    SignatureRejected,
)
from astra.trusted.kernel.signatures import KeyPair
from astra.trusted.ledger.record import Event

CRASHING = ("/adapters/ledger_archive.py", "/file_ledger/archived.py")


@pytest.fixture
def world(tmp_path: Path) -> ArchiveWorld:
    world = ArchiveWorld(tmp_path)
    world.fill()
    return world


def forms(world: ArchiveWorld) -> list[str]:
    return sorted(path.name for path in world.chain.iterdir())


@pytest.mark.parametrize("thin", [False, True])
def test_archived_months_are_verified_from_the_archive_or_by_digest(
    world: ArchiveWorld, *, thin: bool
) -> None:
    whole, before = world.lines(), world.verify()
    with world.opened() as ledger:
        world.move(ledger, thin=thin)
        assert ledger.compare_rebuilt() == []
    left = [f"{month}.remainder.gz" for month in MONTHS]
    assert forms(world) == [*left, "2026-05.ndjson.gz", "2026-06.ndjson"]
    report = world.verify()
    assert report.ok
    assert [month.month for month in report.from_archive] == list(MONTHS)
    assert world.lines()[: len(whole)] == whole
    world.archive.rename(world.folder / "elsewhere")
    report = world.verify()
    assert report.ok
    assert report.records == before.records + 1
    assert [month.month for month in report.by_digest] == list(MONTHS)
    moved = world.verify(world.folder / "elsewhere" / world.archived_files.name)
    assert moved.ok
    assert not moved.by_digest
    assert moved.head == report.head


def test_without_its_archive_a_data_root_opens_and_goes_on_but_builds_no_index(
    world: ArchiveWorld,
) -> None:
    with world.opened() as ledger:
        world.move(ledger)
    shutil.move(world.archive, world.folder / "elsewhere")
    first = world.root.require_first_record()
    assert first.sequence == 1
    with world.opened() as ledger:
        count = ledger.head().sequence
        with pytest.raises(LedgerArchived, match="records 1 to"):
            ledger.rebuild()
        assert ledger.record(5) is not None
    with pytest.raises(LedgerArchived):
        world.lines()
    shutil.copy(
        world.folder / "elsewhere" / world.archived_files.name / "2026-03.ndjson.gz", world.chain
    )
    shutil.move(world.folder / "elsewhere", world.archive)
    with world.opened() as ledger:
        assert ledger.rebuild() == count


def test_thinning_leaves_everything_but_reads(world: ArchiveWorld) -> None:
    with world.opened() as ledger:
        world.move(ledger, thin=True)
    for month in MONTHS:
        text = b"".join(archived.read_lines(world.chain / f"{month}.remainder.gz"))
        assert text.count(b'"type":"thing_happened"') == 20
        assert text.count(b'"type":"tool_called"') == 0


def test_a_later_archive_vouches_for_the_earlier_one_too(world: ArchiveWorld) -> None:
    with world.opened() as ledger:
        world.move(ledger)
        world.clock.advance(days=31)
        ledger.append([Event(type="thing_happened", actor="agent")])
        world.move(ledger, before="2026-07")
    assert world.verify().ok
    shutil.rmtree(world.archive)
    report = world.verify()
    assert report.ok
    assert [month.month for month in report.by_digest] == [*MONTHS, "2026-05"]


def test_a_month_that_is_not_finished_stays(world: ArchiveWorld) -> None:
    with world.opened() as ledger:
        plan = LedgerArchive(ledger, world.root, world.clock).plan(world.order(before="2030-01"))
    assert [month.month.month for month in plan.months] == ["2026-03", "2026-04", "2026-05"]
    assert all(month.as_dict()["saved"] > 0 for month in plan.months)


def test_a_month_that_would_take_more_room_archived_stays(world: ArchiveWorld) -> None:
    with world.opened() as ledger:
        world.clock.advance(days=31)
        ledger.append([Event(type="thing_happened", actor="agent")])
        archive = LedgerArchive(ledger, world.root, world.clock)
        plan = archive.plan(world.order(before="2030-01"))
    assert "2026-06" not in [month.month.month for month in plan.months]


def test_a_chain_without_its_first_month_is_no_empty_place(world: ArchiveWorld) -> None:
    (world.chain / "2026-03.ndjson.gz").unlink()
    with pytest.raises(LedgerDamaged, match="begins with record 42"):
        world.root.require_first_record()


def test_a_full_disk_here_loses_nothing_and_the_next_attempt_finishes(
    world: ArchiveWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, write_file = world.lines(), archived.write_file

    def fill_up(path: Path, chunks: Iterable[bytes]) -> None:
        if path.parent == world.chain:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        write_file(path, chunks)

    with world.opened() as ledger:
        with monkeypatch.context() as patch:
            patch.setattr(archived, "write_file", fill_up)
            with pytest.raises(AstraError, match="No space left"):
                world.move(ledger)
        assert world.lines()[: len(whole)] == whole
        world.move(ledger)
    assert [month.month for month in world.verify().from_archive] == list(MONTHS)


def test_only_the_operator_archives_and_nothing_is_written_for_anybody_else(
    world: ArchiveWorld,
) -> None:
    with world.opened() as ledger:
        archive = LedgerArchive(ledger, world.root, world.clock)
        content = archive.plan(world.order()).content
        for signed in (
            world.sign(ledger, content, KeyPair.generate()),
            world.sign(ledger, {"months": []}),
        ):
            with pytest.raises(SignatureRejected):
                archive.move(world.order(), signed)
    assert list(world.archive.iterdir()) == []
    assert not [name for name in forms(world) if "remainder" in name]


@pytest.mark.parametrize(
    "changes", [{"before": "March"}, {"to": "relative"}, {"to": "/nowhere/at/all"}]
)
def test_an_order_that_cannot_be_done_is_refused(
    world: ArchiveWorld, changes: dict[str, str]
) -> None:
    with world.opened() as ledger, pytest.raises(BadInput):
        LedgerArchive(ledger, world.root, world.clock).plan(world.order(**changes))


def test_an_archive_inside_the_data_root_is_refused(world: ArchiveWorld) -> None:
    inside = str(world.root.path / "sandbox")
    with world.opened() as ledger, pytest.raises(BadInput, match="saves nothing"):
        LedgerArchive(ledger, world.root, world.clock).plan(world.order(to=inside))


@pytest.mark.parametrize("reachable", [True, False])
def test_a_backup_takes_archived_months_along_where_it_can(
    world: ArchiveWorld, *, reachable: bool
) -> None:
    subprocess.run(["git", "init", "--quiet", "--bare", str(world.root.git)], check=True)
    with world.opened() as ledger:
        world.move(ledger)
    if not reachable:
        shutil.rmtree(world.archive)
    backup = make_backup(world.root, world.folder / "backups", world.clock)
    names = {entry.path for entry in backup.manifest.entries}
    assert ("var/ledger/2026-03.ndjson.gz" in names) is reachable
    assert ("var/ledger/2026-03.remainder.gz" in names) is not reachable
    assert backup.manifest.sequence == world.verify().records


def test_killed_between_any_two_lines_a_month_is_whole_somewhere(tmp_path: Path) -> None:
    """A child is killed at line 1, 2, 3 … of the code that moves months, until one lives."""
    start = ArchiveWorld(tmp_path / "start")
    start.folder.mkdir()
    start.fill()
    whole, line, lived = start.lines(), 0, False
    while not lived:
        line += 1
        world = ArchiveWorld(tmp_path / f"{line}", start.clock, start.operator)
        shutil.copytree(start.folder, world.folder)
        lived = run_child(world, line)
        assert world.lines()[: len(whole)] == whole, f"killed at line {line}"
        report = world.verify()
        assert report.ok, (line, report.problems)
        with world.opened() as ledger:
            world.move(ledger, before="2026-06")
        assert world.verify().ok
        shutil.rmtree(world.folder)
    assert line > 20


def run_child(world: ArchiveWorld, line: int) -> bool:
    """Archive in a child that is killed when it reaches a line; says whether it lived."""
    child = os.fork()
    if child == 0:
        with world.opened() as ledger:
            archive = LedgerArchive(ledger, world.root, world.clock)
            signed = world.sign(ledger, archive.plan(world.order()).content)
            countdown = [line]

            def trace(frame: FrameType, event: str, _argument: Any) -> Any:
                path = frame.f_code.co_filename
                if not path.endswith(CRASHING) or "plan" in frame.f_code.co_name:
                    return trace if path.endswith(CRASHING) else None
                if event == "line":
                    countdown[0] -= 1
                    if countdown[0] == 0:
                        os.kill(os.getpid(), signal.SIGKILL)
                return trace

            sys.settrace(trace)
            archive.move(world.order(), signed)
            sys.settrace(None)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status) or os.WEXITSTATUS(status) == 0
    return not os.WIFSIGNALED(status)
