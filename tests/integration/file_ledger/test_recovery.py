"""What a crash, a cut, or a failing disk leaves behind, and what opening makes of it."""

import contextlib
import gc
import gzip
import os
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import pytest

from astra.testing import SetClock
from astra.trusted.file_ledger.check import check_files
from astra.trusted.file_ledger.ledger import FileLedger
from astra.trusted.kernel.errors import LedgerDamaged, LedgerLocked
from astra.trusted.kernel.signatures import KeyPair
from astra.trusted.ledger import views
from astra.trusted.ledger.record import Event
from astra.trusted.ledger.timekeeping import CLOCK_ACCEPTED

KEY = KeyPair.generate()


def happened(number: int, **fields: str) -> Event:
    return Event(type="thing_happened", actor="agent", data={"n": number}, **fields)


@contextmanager
def opened(var: Path, clock: SetClock | None = None) -> Iterator[FileLedger]:
    ledger = FileLedger(var, key=KEY, clock=clock or SetClock())
    try:
        yield ledger
    finally:
        ledger.close()


@pytest.fixture
def var(tmp_path: Path) -> Path:
    with opened(tmp_path / "var") as ledger:
        for number in range(5):
            ledger.append([happened(number)])
    return tmp_path / "var"


def segment(var: Path) -> Path:
    return var / "ledger" / "2026-03.ndjson"


def index_files(var: Path) -> list[Path]:
    return sorted((var / "index").glob("*.sqlite3"))


def numbers(ledger: FileLedger) -> list[int]:
    found = views.records(ledger, type_="thing_happened", limit=1000)
    return [record.data["n"] for record in found]


@pytest.mark.parametrize("length", [1, 40, 120])
def test_what_a_crash_left_of_a_checkpoint_is_cut_off_by_the_next(var: Path, length: int) -> None:
    path = var / "checkpoints/checkpoints.ndjson"
    whole = path.read_bytes()
    path.write_bytes(whole + whole.splitlines()[-1][:length])
    assert check_files(var, public_key=KEY.public).ok
    with opened(var) as ledger:
        ledger.append([happened(5)])
    assert check_files(var, public_key=KEY.public).ok
    assert path.read_bytes().startswith(whole)


def test_a_checkpoint_that_does_not_fit_on_the_disk_leaves_nothing_behind(var: Path) -> None:
    """A limit on the size of files stands in for the disk: the kernel writes what fits."""
    path = var / "checkpoints/checkpoints.ndjson"
    whole = path.read_bytes()
    script = (
        "import resource, signal, sys; from pathlib import Path;"
        "from astra.trusted.file_ledger import checkpoints;"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN);"
        "path = Path(sys.argv[1]); point = checkpoints.newest(path); size = path.stat().st_size;"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (size + 60, size + 60));"
        "checkpoints.append(path, point)"
    )
    done = subprocess.run([sys.executable, "-c", script, path], capture_output=True, check=False)
    assert b"No space left" in done.stderr
    assert path.read_bytes() == whole


def test_what_was_appended_is_there_after_reopening(var: Path) -> None:
    with opened(var) as ledger:
        assert numbers(ledger) == [0, 1, 2, 3, 4]
        assert ledger.head().sequence == 5


def a_next_line(var: Path, copy: Path, count: int = 1) -> bytes:
    """Give the bytes that an append behind the end of this ledger would write."""
    subprocess.run(["cp", "-r", var, copy], check=True)
    before = segment(copy).stat().st_size
    ledger = FileLedger(copy, clock=SetClock())
    ledger.append([happened(9)] * count)
    ledger.close()
    return segment(copy).read_bytes()[before:]


def test_a_line_torn_anywhere_is_set_aside_and_the_chain_tells_of_it(
    var: Path, tmp_path: Path
) -> None:
    line = a_next_line(var, tmp_path / "copy")
    for cut in range(1, len(line), 7):
        with segment(var).open("ab") as file:
            file.write(line[:cut])
        with opened(var) as ledger:
            told = views.newest_records(ledger, count=1)[0]
            assert numbers(ledger) == [0, 1, 2, 3, 4]
            assert (told.type, told.data["bytes"]) == ("ledger_tail_set_aside", cut)
            assert (var / "set-aside" / told.data["file"]).read_bytes() == line[:cut]
            line = a_next_line_after(ledger, line)
    assert check_files(var, public_key=KEY.public).ok


def a_next_line_after(ledger: FileLedger, line: bytes) -> bytes:
    """Any bytes do as the start of a torn line: recovery never looks inside."""
    assert ledger.head().sequence
    return line


def test_an_incomplete_batch_is_set_aside_whole(var: Path, tmp_path: Path) -> None:
    lines = a_next_line(var, tmp_path / "copy", count=3).splitlines(keepends=True)
    with segment(var).open("ab") as file:
        file.write(lines[0] + lines[1])
    with opened(var) as ledger:
        told = views.newest_records(ledger, count=1)[0]
        assert ledger.head().sequence == 6, "only the record that tells of it"
        assert told.data["bytes"] == len(lines[0] + lines[1])
        assert "incomplete_batch" in told.data["file"]


def test_zeros_that_a_power_cut_left_at_the_end_are_set_aside(var: Path, tmp_path: Path) -> None:
    line = a_next_line(var, tmp_path / "copy")
    with segment(var).open("ab") as file:
        file.write(b"\0" * (len(line) - 1) + b"\n")
    with opened(var) as ledger:
        assert numbers(ledger) == [0, 1, 2, 3, 4]
        assert "damaged_line" in views.newest_records(ledger, count=1)[0].data["file"]


def test_a_complete_line_the_index_has_not_seen_is_kept(var: Path, tmp_path: Path) -> None:
    line = a_next_line(var, tmp_path / "copy")
    with segment(var).open("ab") as file:
        file.write(line)
    with opened(var) as ledger:
        assert numbers(ledger) == [0, 1, 2, 3, 4, 9]


def test_setting_aside_is_told_even_when_a_crash_came_in_between(var: Path) -> None:
    (var / "set-aside" / "2026-03.ndjson-12-torn_line.bin").write_bytes(b"{")
    with opened(var) as ledger:
        assert views.newest_records(ledger, count=1)[0].type == "ledger_tail_set_aside"
    with opened(var) as ledger:
        assert len(views.records(ledger, type_="ledger_tail_set_aside")) == 1, "told once"


def test_a_torn_first_line_of_a_new_month_is_set_aside(var: Path) -> None:
    (var / "ledger" / "2026-04.ndjson").write_bytes(b'{"sequence":6,"ti')
    with opened(var) as ledger:
        assert numbers(ledger) == [0, 1, 2, 3, 4]
        assert ledger.head().sequence == 6
    assert check_files(var, public_key=KEY.public).ok


@pytest.mark.parametrize("kept", [0, 1, 4])
def test_a_cut_chain_is_an_alarm_and_nothing_is_repaired(var: Path, kept: int) -> None:
    lines = segment(var).read_bytes().splitlines(keepends=True)
    segment(var).write_bytes(b"".join(lines[:kept]))
    before = {path: path.read_bytes() for path in (var / "ledger").iterdir()}
    for _ in range(2):
        with pytest.raises(LedgerDamaged) as alarm:
            FileLedger(var, key=KEY)
        assert alarm.value.reason == "ledger_cut"
    assert {path: path.read_bytes() for path in (var / "ledger").iterdir()} == before
    report = check_files(var, public_key=KEY.public)
    assert [(p.kind, p.sequence) for p in report.problems] == [("truncated", kept + 1)]


@pytest.mark.parametrize("witness", ["index", "checkpoints"])
def test_either_witness_alone_notices_a_cut(var: Path, witness: str) -> None:
    lines = segment(var).read_bytes().splitlines(keepends=True)
    segment(var).write_bytes(b"".join(lines[:-1]))
    gone = (
        index_files(var) if witness == "checkpoints" else [var / "checkpoints/checkpoints.ndjson"]
    )
    for path in gone:
        path.unlink()
    with pytest.raises(LedgerDamaged):
        FileLedger(var, key=KEY)


def test_the_last_record_rewritten_with_a_fresh_hash_is_an_alarm(var: Path, tmp_path: Path) -> None:
    lines = segment(var).read_bytes().splitlines(keepends=True)
    other = tmp_path / "other"
    subprocess.run(["cp", "-r", var, other], check=True)
    segment(other).write_bytes(b"".join(lines[:-1]))
    for path in [*index_files(other), other / "checkpoints/checkpoints.ndjson"]:
        path.unlink()
    forged = a_next_line(other, tmp_path / "forged")
    segment(var).write_bytes(b"".join(lines[:-1]) + forged)
    with pytest.raises(LedgerDamaged):
        FileLedger(var, key=KEY)
    problems = check_files(var, public_key=KEY.public).problems
    assert {(p.kind, p.sequence) for p in problems} == {("rewritten", 5)}


def test_a_missing_index_is_rebuilt(var: Path) -> None:
    for path in index_files(var):
        path.unlink()
    with opened(var) as ledger:
        assert numbers(ledger) == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("damage", [b"", b"garbage" * 5000])
def test_a_corrupt_index_is_rebuilt(var: Path, damage: bytes) -> None:
    (path,) = index_files(var)
    path.write_bytes(damage)
    with opened(var) as ledger:
        assert numbers(ledger) == [0, 1, 2, 3, 4]


def test_an_index_damaged_in_the_middle_is_rebuilt(var: Path) -> None:
    with opened(var) as ledger:
        ledger.append([happened(n) for n in range(5, 500)])
    (path,) = index_files(var)
    with path.open("r+b") as file:
        file.seek(4096 * 2)
        file.write(os.urandom(4096 * 6))
    with opened(var) as ledger:
        assert numbers(ledger) == list(range(500))


def test_an_index_damaged_while_in_use_is_rebuilt(var: Path) -> None:
    with opened(var) as ledger:
        ledger.append([happened(n) for n in range(5, 3000)])
        (path,) = index_files(var)
        with sqlite3.connect(path) as outside:
            outside.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        outside.close()
        with path.open("r+b") as file:
            file.seek(4096)
            file.write(os.urandom(path.stat().st_size - 4096))
        found = ledger.query("SELECT count(*) FROM record_row NOT INDEXED WHERE content LIKE '%n%'")
        assert found == [(3000,)]
        ledger.append([happened(3000)])


def test_an_index_whose_rows_were_changed_is_found_by_comparing(var: Path) -> None:
    with opened(var) as ledger:
        assert ledger.compare_rebuilt() == []
        with sqlite3.connect(index_files(var)[0]) as tamper:
            tamper.execute("UPDATE record_row SET actor = '\"operator\"' WHERE sequence = 2")
        tamper.close()
        assert ledger.compare_rebuilt() == ["rows of record_row"]
        ledger.rebuild()
        assert ledger.compare_rebuilt() == []
        assert len(index_files(var)) == 1


def test_a_rebuild_that_a_crash_cut_short_leaves_nothing_behind(var: Path) -> None:
    (unfinished := var / "index" / "building-index-0-2.sqlite3").write_bytes(b"half")
    with opened(var) as ledger:
        assert numbers(ledger) == [0, 1, 2, 3, 4]
    assert not unfinished.exists()


def test_a_rebuild_that_fails_leaves_the_index_in_use_as_it_was(var: Path) -> None:
    with opened(var) as ledger:
        before = index_files(var)
        segment(var).write_bytes(segment(var).read_bytes().replace(b'"schema":1', b'"scheme":1'))
        with pytest.raises(LedgerDamaged):
            ledger.rebuild()
        assert index_files(var) == before
        assert numbers(ledger) == [0, 1, 2, 3, 4]


def test_a_second_owner_is_refused_with_the_first_ones_pid(var: Path) -> None:
    with opened(var), pytest.raises(LedgerLocked) as refused:
        FileLedger(var)
    assert refused.value.facts["pid"] == os.getpid()


def test_the_lock_of_a_dead_process_is_no_obstacle(var: Path) -> None:
    program = (
        "import os, sys; from pathlib import Path;"
        "from astra.trusted.file_ledger.ledger import FileLedger;"
        "ledger = FileLedger(Path(sys.argv[1])); os.kill(os.getpid(), 9)"
    )
    done = subprocess.run([sys.executable, "-c", program, str(var)], check=False)
    assert done.returncode == -9
    with opened(var) as ledger:
        assert ledger.head().sequence == 5


def test_months_have_segments_of_their_own_and_finished_ones_are_compressed(tmp_path: Path) -> None:
    var, clock = tmp_path / "var", SetClock(datetime(2026, 1, 31, 23, 59, tzinfo=UTC))
    with opened(var, clock) as ledger:
        for number in range(4):
            ledger.append([happened(number, key=f"k{number}")])
            clock.advance(days=28)
        ledger.compress_finished()
        names = sorted(path.name for path in (var / "ledger").iterdir())
        assert names == [
            "2026-01.ndjson.gz",
            "2026-02.ndjson.gz",
            "2026-03.ndjson.gz",
            "2026-04.ndjson",
        ]
        ledger.rebuild()
        assert numbers(ledger) == [0, 1, 2, 3]
    for path in index_files(var):
        path.unlink()
    with opened(var, clock) as ledger:
        assert numbers(ledger) == [0, 1, 2, 3]
    assert check_files(var, public_key=KEY.public).ok


def test_a_changed_byte_in_a_compressed_month_is_found(tmp_path: Path) -> None:
    var, clock = tmp_path / "var", SetClock(datetime(2026, 1, 31, tzinfo=UTC))
    with opened(var, clock) as ledger:
        ledger.append([happened(1)])
        ledger.append([happened(2)])
        clock.advance(days=28)
        ledger.append([happened(3)])
        ledger.compress_finished()
    packed = var / "ledger" / "2026-01.ndjson.gz"
    packed.write_bytes(
        gzip.compress(gzip.decompress(packed.read_bytes()).replace(b'"n":2', b'"n":7'))
    )
    problems = check_files(var, public_key=KEY.public).problems
    assert [(p.kind, p.sequence) for p in problems] == [("edited", 2)]


def test_a_compressed_month_that_cannot_be_unpacked_is_a_problem_not_a_crash(
    tmp_path: Path,
) -> None:
    var, clock = tmp_path / "var", SetClock(datetime(2026, 1, 31, tzinfo=UTC))
    with opened(var, clock) as ledger:
        ledger.append([happened(1)])
        clock.advance(days=28)
        ledger.append([happened(2)])
        ledger.compress_finished()
    packed = var / "ledger" / "2026-01.ndjson.gz"
    packed.write_bytes(packed.read_bytes()[:-20])
    assert not check_files(var, public_key=KEY.public).ok


@pytest.mark.parametrize("leftover", ["both", "temporary"])
def test_a_crash_while_compressing_leaves_a_complete_month(tmp_path: Path, leftover: str) -> None:
    var, clock = tmp_path / "var", SetClock(datetime(2026, 1, 31, tzinfo=UTC))
    with opened(var, clock) as ledger:
        ledger.append([happened(1)])
    plain = var / "ledger" / "2026-01.ndjson"
    if leftover == "both":
        plain.with_name("2026-01.ndjson.gz").write_bytes(gzip.compress(plain.read_bytes()))
    else:
        plain.with_name("2026-01.ndjson.gz.tmp").write_bytes(b"half of it")
    clock.advance(days=28)
    with opened(var, clock) as ledger:
        ledger.append([happened(2)])
        ledger.compress_finished()
        assert numbers(ledger) == [1, 2]
    names = sorted(path.name for path in (var / "ledger").iterdir())
    assert names == ["2026-01.ndjson.gz", "2026-02.ndjson"]
    assert check_files(var, public_key=KEY.public).ok


def test_after_the_clock_was_accepted_the_chain_goes_on_in_its_last_segment(tmp_path: Path) -> None:
    """Also across restarts, and past an empty file that a torn end left behind."""
    var, clock = tmp_path / "var", SetClock(datetime(2026, 3, 31, tzinfo=UTC))
    with opened(var, clock) as ledger:
        ledger.append([happened(1)])
        clock.advance(days=365)
        ledger.append([happened(2)])
        clock.advance(days=-365)
        ledger.append([Event(type=CLOCK_ACCEPTED, actor="operator", signed=True)])
        ledger.append([happened(3)])
    (var / "ledger" / "2028-01.ndjson").touch()
    with opened(var, clock) as ledger:
        clock.advance(days=1)
        ledger.append([happened(4)])
        ledger.compress_finished()
        assert ledger.head().time[:7] == "2026-04"
        ledger.rebuild()
    lines = {path.name: path for path in sorted((var / "ledger").iterdir())}
    assert set(lines) == {"2026-03.ndjson.gz", "2027-03.ndjson", "2028-01.ndjson"}
    assert len(lines["2027-03.ndjson"].read_text().splitlines()) == 4
    assert check_files(var, public_key=KEY.public).ok
    with opened(var, clock) as ledger:
        clock.advance(days=365)
        ledger.append([happened(5)])
        ledger.compress_finished()
    assert (var / "ledger" / "2027-04.ndjson").exists()
    assert check_files(var, public_key=KEY.public).ok


def test_after_many_readers_at_once_only_a_few_connections_are_kept(tmp_path: Path) -> None:
    """Each holds pages of its own."""
    slow = (
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200000)"
        " SELECT count(*) FROM n"
    )
    with opened(tmp_path / "var") as ledger:
        start = threading.Barrier(30)

        def ask() -> None:
            start.wait()
            assert ledger.query(slow) == [(200_000,)]

        threads = [threading.Thread(target=ask) for _ in range(30)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert open_connections(tmp_path / "var") <= 9


def open_connections(var: Path) -> int:
    """Count connections to an index in this process; whoever was closed does not answer."""
    (index,) = index_files(var)
    count = 0
    for connection in [each for each in gc.get_objects() if isinstance(each, sqlite3.Connection)]:
        with contextlib.suppress(sqlite3.ProgrammingError):
            count += connection.execute("PRAGMA database_list").fetchone()[2] == str(index)
    return count
