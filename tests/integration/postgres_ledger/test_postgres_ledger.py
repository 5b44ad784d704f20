"""One chain in Postgres: several machines append to it, and what happens to it is never silent."""

import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from itertools import pairwise
from pathlib import Path

import psycopg
import pytest

from astra.adapters.postgres_ledger import connecting
from astra.adapters.postgres_ledger.chain_table import ChainTable
from astra.adapters.postgres_ledger.ledger import PostgresLedger
from astra.testing import SetClock
from astra.trusted.file_ledger import segments
from astra.trusted.file_ledger.ledger import FileLedger
from astra.trusted.kernel.errors import (
    BadInput,
    BadSetting,
    DuplicateKey,
    LedgerDamaged,
    LedgerUnavailable,
    LedgerUncertain,
    StaleVersion,
)
from astra.trusted.kernel.signatures import KeyPair
from astra.trusted.ledger import chain
from astra.trusted.ledger.record import Event, Head, Record
from cutting_proxy import AFTER, BEFORE, CuttingProxy
from postgres_server import DAEMON, OWNER, Database, PostgresServer, pause_within_batch, run_as

Open = Callable[..., PostgresLedger]
STORY = "cor_00000000000000aa"


def happened(text: str = "hello", **fields: str) -> Event:
    return Event(type="thing_happened", actor="agent", data={"text": text}, **fields)


def read_lines(database: Database) -> list[str]:
    with database.connect() as connection:
        rows = connection.execute("SELECT line FROM astra.record ORDER BY sequence").fetchall()
    return [str(line) for (line,) in rows]


def test_lines_and_hashes_are_byte_for_byte_those_of_the_file_ledger(
    database: Database, open_machine: Open, tmp_path: Path
) -> None:
    batches = [
        [happened("größe ☃ \u0000 \u2028 \x7f", correlation=STORY)],
        [happened(correlation=STORY, subject="des_00000001", key="k'1\"\\"), *[happened()] * 0],
        [happened(f"{n}", correlation=STORY) for n in range(3)],
    ]
    postgres = open_machine(database.url)
    files = FileLedger(tmp_path / "files", clock=SetClock())
    for batch in batches:
        postgres.append(batch)
        files.append(batch)
    files.close()
    assert read_lines(database) == list(segments.lines(files.places.chain))
    assert postgres.head() == files.head()


def test_several_machines_make_one_unbroken_chain_and_exactly_one_wins_a_key(
    database: Database, open_machine: Open
) -> None:
    machines = [open_machine(database.url, name) for name in ("one", "two", "three")]
    wins: list[int] = []

    def work(number: int) -> None:
        machine = machines[number % 3]
        for turn in range(10):
            machine.append([happened(f"{number} {turn}"), happened()])
        try:
            machine.append([happened(key="only-one")])
            wins.append(number)
        except DuplicateKey:
            pass

    threads = [threading.Thread(target=work, args=[number]) for number in range(9)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(wins) == 1
    for machine in machines:
        assert machine.wait(after=180, timeout=60)
        records = machine.records(limit=1_000)
        assert [record.sequence for record in records] == list(range(1, 182))
        assert all(b.previous == a.hash for a, b in pairwise(records))


def test_a_version_that_another_machine_moved_is_stale_here_at_once(
    database: Database, open_machine: Open
) -> None:
    one, two = open_machine(database.url), open_machine(database.url, "two")
    one.append([happened(subject="des_00000001")], expect={"des_00000001": 0})
    with pytest.raises(StaleVersion):
        two.append([happened(subject="des_00000001")], expect={"des_00000001": 0})
    two.append([happened(subject="des_00000001")], expect={"des_00000001": 1})


def test_what_another_machine_appended_is_heard_without_asking(
    database: Database, open_machine: Open
) -> None:
    one, two = open_machine(database.url), open_machine(database.url, "two")
    (record,) = one.append([happened("over there")])
    assert two.wait(after=0, timeout=60)
    assert two.records() == [record]


def test_a_machine_that_was_away_catches_up_when_it_opens(
    database: Database, open_machine: Open, tmp_path: Path
) -> None:
    PostgresLedger(database.url, tmp_path / "two" / "var", clock=SetClock()).close()
    open_machine(database.url).append([happened(), happened()])
    assert [record.sequence for record in open_machine(database.url, "two").records()] == [1, 2]


# Who may do what


@pytest.mark.parametrize("role", [DAEMON, OWNER])
@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE astra.record SET line = 'x'",
        "DELETE FROM astra.record",
        "TRUNCATE astra.record",
    ],
)
def test_records_are_changed_by_nobody(
    database: Database, open_machine: Open, role: str, statement: str
) -> None:
    open_machine(database.url).append([happened()])
    with database.connect(role) as connection, pytest.raises(psycopg.Error) as refused:
        connection.execute(statement.encode())
    permission = psycopg.errors.InsufficientPrivilege
    assert isinstance(refused.value, permission) is (role == DAEMON)


def test_the_daemon_role_cannot_take_the_trigger_away(database: Database) -> None:
    with database.connect(DAEMON) as connection:
        for statement in (
            "ALTER TABLE astra.record DISABLE TRIGGER never_changed",
            "DROP TRIGGER never_changed ON astra.record",
            "SET session_replication_role = replica",
        ):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                connection.execute(statement.encode())


def test_a_role_that_could_change_records_is_refused(
    database: Database, open_machine: Open
) -> None:
    with pytest.raises(BadSetting, match="may change or remove records"):
        open_machine(database.owner_url)


def test_a_database_without_tables_says_how_to_make_them(own_server: PostgresServer) -> None:
    with pytest.raises(BadSetting) as refused:
        PostgresLedger(own_server.url("postgres", DAEMON), Path("/nonexistent"))
    assert "astra ledger prepare" in refused.value.next_step


def test_no_message_repeats_a_password() -> None:
    url = "postgresql://astra:hunter2@127.0.0.1:1/chain"
    with pytest.raises(LedgerUnavailable) as refused:
        connecting.connect(url)
    assert "hunter2" not in f"{refused.value} {refused.value.next_step}"
    assert "chain at 127.0.0.1:1" in str(refused.value)


# A commit whose answer is lost


@pytest.fixture
def proxy(database: Database) -> Iterator[CuttingProxy]:
    with tempfile.TemporaryDirectory(prefix="astra-cut-") as folder:
        proxy = CuttingProxy(Path(folder), database.server.folder / ".s.PGSQL.5432")
        proxy_folders[id(proxy)] = folder
        yield proxy
        proxy.close()


proxy_folders: dict[int, str] = {}


def through(proxy: CuttingProxy, database: Database) -> str:
    return f"postgresql://{DAEMON}@/{database.name}?host={proxy_folders[id(proxy)]}"


@pytest.mark.parametrize("when", [BEFORE, AFTER])
def test_a_commit_whose_answer_is_lost_is_settled_and_done_once(
    database: Database, open_machine: Open, proxy: CuttingProxy, when: str
) -> None:
    ledger = open_machine(through(proxy, database))
    ledger.append([happened("first")])
    proxy.cut_at = when
    records = ledger.append([happened("cut", key="once"), happened("cut too")])
    ledger.append([happened("last")])
    assert proxy.cuts == 1
    texts = [record.data["text"] for record in ledger.records()]
    assert texts == ["first", "cut", "cut too", "last"]
    assert [record.line for record in records] == read_lines(database)[1:3]


def test_a_commit_that_cannot_be_settled_is_said_to_be_uncertain(
    database: Database, open_machine: Open, proxy: CuttingProxy
) -> None:
    ledger = open_machine(through(proxy, database), patience=0.3)
    ledger.append([happened("before")])
    proxy.cut_at, proxy.is_down = AFTER, True
    with pytest.raises(LedgerUncertain):
        ledger.append([happened("who knows")])
    proxy.is_down = False
    (record,) = ledger.append([happened("after")])
    assert [r.data["text"] for r in ledger.records()] == ["before", "who knows", "after"]
    assert record.sequence == 3


def test_a_database_that_never_answers_does_not_keep_a_ledger_open(
    database: Database, proxy: CuttingProxy, tmp_path: Path
) -> None:
    ledger = PostgresLedger(through(proxy, database), tmp_path / "var", clock=SetClock())
    ledger.append([happened("before")])
    proxy.is_silent = True
    assert proxy.swallowed.wait(60), "the follower asks every second"
    ledger.close()


def test_a_database_that_never_answers_is_given_up(database: Database, proxy: CuttingProxy) -> None:
    with closing(connecting.connect(through(proxy, database))) as connection:
        connection.answer_seconds = 0.5
        proxy.is_silent = True
        with pytest.raises(connecting.NoAnswer):
            connection.execute("SELECT 1")
        assert connection.closed
        proxy.is_silent = False


def test_an_append_that_is_never_answered_is_an_error_and_what_became_of_it_is_found_out(
    database: Database, open_machine: Open, proxy: CuttingProxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger = open_machine(through(proxy, database), patience=0.1)
    ledger.append([happened("before")])
    monkeypatch.setattr(connecting, "ANSWER_SECONDS", 0.5)
    proxy.is_silent = True
    with pytest.raises(LedgerUncertain):
        ledger.append([happened("lost")])
    with pytest.raises(LedgerUnavailable):
        ledger.append([happened("refused")])
    monkeypatch.undo()
    proxy.is_silent = False
    ledger.append([happened("after")])
    assert [r.data["text"] for r in ledger.records()] == ["before", "after"]


# One statement, where nobody else appended meanwhile


def make_next(table: ChainTable) -> tuple[Head, list[Record]]:
    """Give the head, and a record that goes behind it."""
    head = table.read_head().head
    return head, chain.link([happened()], after=head, time="2026-01-01T00:00:00.000000Z")


@pytest.fixture
def writers(database: Database) -> Iterator[tuple[ChainTable, ChainTable]]:
    """Two writers, the first of whom appended the one record that there is."""
    with closing(ChainTable(database.url)) as first, closing(ChainTable(database.url)) as second:
        first.lock_head()
        first.commit_records(make_next(second)[1])
        yield first, second


def test_it_appends_nothing_where_somebody_else_did(
    writers: tuple[ChainTable, ChainTable], database: Database
) -> None:
    first, second = writers
    head, records = make_next(second)
    assert not second.append_directly(head, records), "it was not the last one to append"
    assert first.append_directly(head, records)
    second.lock_head()
    second.commit_records(make_next(second)[1])
    assert not first.append_directly(*make_next(first))
    assert len(read_lines(database)) == 3


def test_it_appends_nothing_to_a_chain_that_was_moved_away(
    writers: tuple[ChainTable, ChainTable], database: Database
) -> None:
    first, second = writers
    change_as_owner(database, "UPDATE astra.head SET closed = 'files'")
    assert not first.append_directly(*make_next(second))
    assert len(read_lines(database)) == 1


@pytest.mark.parametrize("is_barred", [True, False])
def test_one_that_comes_late_appends_nothing_once_its_commit_was_settled(
    writers: tuple[ChainTable, ChainTable], database: Database, is_barred: bool
) -> None:
    late, settling = writers
    head, records = make_next(settling)
    settling.lock_head()
    outcomes: list[bool] = []
    thread = threading.Thread(target=lambda: outcomes.append(late.append_directly(head, records)))
    thread.start()
    wait_until(lambda: count_waiting(database) == 1)
    if is_barred:
        settling.bar_late_commits()
    else:
        settling.let_go()
    thread.join()
    assert outcomes == [not is_barred]
    assert len(read_lines(database)) == (1 if is_barred else 2)


def count_waiting(database: Database) -> int:
    with database.connect() as connection:
        rows = connection.execute(
            "SELECT count(*) FROM pg_locks JOIN pg_stat_activity USING (pid)"
            " WHERE NOT granted AND datname = current_database()"
        ).fetchall()
    return int(str(rows[0][0]))


def test_a_refusal_is_looked_at_again_under_the_lock(
    database: Database, open_machine: Open
) -> None:
    """What this machine has not heard of yet may be what makes a call right."""
    ledger = open_machine(database.url)
    ledger.append([happened(subject="des_00000001")], expect={"des_00000001": 0})
    append_unheard(database, happened(subject="des_00000001"))
    (record,) = ledger.append([happened(subject="des_00000001")], expect={"des_00000001": 2})
    assert record.sequence == 3


def append_unheard(database: Database, event: Event) -> None:
    """Append as another machine whose notification gets lost."""
    with closing(ChainTable(database.url)) as table:
        head = table.read_head().head
    (record,) = chain.link([event], after=head, time="2026-01-01T00:00:00.000000Z")
    with database.connect() as connection, connection.transaction():
        place = (record.sequence, record.hash, record.time)
        connection.execute("UPDATE astra.head SET sequence = %s, hash = %s, time = %s", place)
        row = (record.sequence, record.line)
        connection.execute("INSERT INTO astra.record (sequence, line) VALUES (%s, %s)", row)


# Whoever hangs with the head


def test_a_writer_that_hangs_with_the_head_is_ended_and_the_others_go_on(
    database: Database, open_machine: Open
) -> None:
    ledger = open_machine(database.url)
    hanging = connecting.connect(database.url)
    hanging.execute("BEGIN; SELECT * FROM astra.head FOR UPDATE")
    ledger.append([happened()])
    with pytest.raises(psycopg.Error):
        hanging.execute("COMMIT")
    hanging.close()


def test_a_writer_that_hangs_in_the_middle_of_a_batch_is_ended_by_the_others(
    database: Database, open_machine: Open
) -> None:
    """The server's own limits do not see it: it is neither idle nor within a statement."""
    ledger = open_machine(database.url, patience=120)
    idle = connecting.connect(database.url)
    hanging = connecting.connect(database.url)
    hanging.execute("BEGIN; SELECT * FROM astra.head FOR UPDATE")
    pause_within_batch(hanging)
    ledger.append([happened()])
    assert [r.data["text"] for r in ledger.records()] == ["hello"]
    hanging.close()
    idle.execute("SELECT 1")
    idle.close()


def test_an_append_whose_connection_was_ended_is_tried_again(
    database: Database, open_machine: Open
) -> None:
    ledger = open_machine(database.url)
    for number in range(5):
        ledger.append([happened(f"{number}")])
        database.end_connections()
    ledger.append([happened("last")])
    assert [r.data["text"] for r in ledger.records()] == ["0", "1", "2", "3", "4", "last"]


def test_the_chain_is_read_although_its_connection_was_ended_meanwhile(
    database: Database, open_machine: Open
) -> None:
    ledger = open_machine(database.url)
    ledger.append([happened("hello")])
    assert ledger.compare_rebuilt() == []
    others = "FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
    with database.server.connect(database.name, "postgres") as connection:

        def list_others() -> set[tuple[object, ...]]:
            return set(connection.execute(f"SELECT pid {others}".encode()).fetchall())

        before = list_others()
        connection.execute(f"SELECT pg_terminate_backend(pid) {others}".encode())
        wait_until(lambda: not before & list_others())
    assert ledger.compare_rebuilt() == []


def test_a_restart_of_the_database_loses_and_doubles_nothing(
    own_server: PostgresServer, open_machine: Open
) -> None:
    database = own_server.create_database()
    machines = [open_machine(database.url, name) for name in ("one", "two")]
    acknowledged: list[str] = []
    done = threading.Event()

    def work(number: int) -> None:
        turn = 0
        while not done.is_set():
            turn += 1
            text = f"{number}-{turn}"
            machines[number % 2].append([happened(text, key=text)])
            acknowledged.append(text)

    threads = [threading.Thread(target=work, args=[number]) for number in range(4)]
    for thread in threads:
        thread.start()
    for number in (signal.SIGINT, signal.SIGQUIT):
        count = len(acknowledged)
        wait_until(lambda count=count: len(acknowledged) > count + 20)
        own_server.stop(number)
        own_server.start()
    count = len(acknowledged)
    wait_until(lambda: len(acknowledged) > count + 20)
    done.set()
    for thread in threads:
        thread.join()
    machines[0].append([happened("end")])
    texts = [record.data["text"] for record in machines[0].records(limit=100_000)]
    assert sorted(texts) == sorted([*acknowledged, "end"])
    assert machines[1].wait(after=len(texts) - 1, timeout=60)
    assert machines[1].head() == machines[0].head()


def test_an_answer_is_never_old_for_long(
    own_server: PostgresServer, open_machine: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    from astra.adapters.postgres_ledger import ledger as module

    ledger = open_machine(own_server.create_database().url)
    ledger.append([happened()])
    monkeypatch.setattr(module, "OLDEST_ANSWER_SECONDS", 0.2)
    own_server.stop()
    wait_until(lambda: is_refused(ledger))
    own_server.start()
    wait_until(lambda: not is_refused(ledger))
    assert len(ledger.records()) == 1


def is_refused(ledger: PostgresLedger) -> bool:
    try:
        ledger.records()
    except LedgerUnavailable:
        return True
    return False


def wait_until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


# What somebody does to the database itself


def change_as_owner(database: Database, *statements: str) -> None:
    with database.connect() as connection:
        connection.execute("ALTER TABLE astra.record DISABLE TRIGGER never_changed")
        for statement in statements:
            connection.execute(statement.encode())


def test_a_cut_in_the_database_is_found_by_whoever_had_folded_it(
    database: Database, tmp_path: Path
) -> None:
    ledger = PostgresLedger(database.url, tmp_path / "var")
    first, _ = ledger.append([happened()]) + ledger.append([happened()])
    change_as_owner(
        database,
        "DELETE FROM astra.record WHERE sequence = 2",
        f"UPDATE astra.head SET sequence = 1, hash = '{first.hash}'",
    )
    with pytest.raises(LedgerDamaged) as refused:
        ledger.append([happened()])
    assert refused.value.reason == "ledger_cut"
    assert ledger.trouble
    ledger.close()
    with pytest.raises(LedgerDamaged):
        PostgresLedger(database.url, tmp_path / "var")


def test_a_rewritten_record_is_not_folded(database: Database, open_machine: Open) -> None:
    one = open_machine(database.url)
    one.append([happened("true")])
    change_as_owner(database, "UPDATE astra.record SET line = replace(line, 'true', 'fake')")
    with pytest.raises(LedgerDamaged):
        open_machine(database.url, "two")


def test_a_record_behind_the_head_is_an_alarm_and_not_a_second_chain(
    database: Database, open_machine: Open
) -> None:
    ledger = open_machine(database.url)
    with database.connect(DAEMON) as connection:
        connection.execute("INSERT INTO astra.record VALUES (1, 'planted')")
    with pytest.raises(LedgerDamaged):
        ledger.append([happened()])


def test_a_checkpoint_is_signed_here_as_on_files(database: Database, open_machine: Open) -> None:
    ledger = open_machine(database.url, key=KeyPair.generate())
    (record,) = ledger.append([happened()])
    point = ledger.last_checkpoint
    assert point is not None
    assert (point.sequence, point.hash) == (1, record.hash)


# Poolers


@pytest.fixture
def pooler(database: Database) -> Iterator[Callable[[str], str]]:
    with tempfile.TemporaryDirectory(prefix="astra-pool-") as name:
        folder = Path(name)
        folder.chmod(0o777)
        processes: list[subprocess.Popen[bytes]] = []

        def start(mode: str) -> str:
            settings = folder / "pgbouncer.ini"
            settings.write_text(
                f"[databases]\n{database.name} = user={DAEMON} host={database.server.folder}\n"
                f"[pgbouncer]\npool_mode = {mode}\nauth_type = any\nlisten_port = 6432\n"
                f"unix_socket_dir = {folder}\nunix_socket_mode = 0777\nlogfile = \n"
            )
            processes.append(
                subprocess.Popen(
                    [*run_as(), "/usr/sbin/pgbouncer", "-q", str(settings)],
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                )
            )
            wait_until(lambda: is_listening(folder / ".s.PGSQL.6432"))
            return f"postgresql://{DAEMON}@/{database.name}?host={folder}&port=6432"

        yield start
        for process in processes:
            process.terminate()
            process.wait(240)


def is_listening(path: Path) -> bool:
    with socket.socket(socket.AF_UNIX) as end:
        try:
            end.connect(str(path))
        except OSError:
            return False
        return True


def test_a_pooler_that_shares_connections_between_transactions_is_refused_with_words(
    pooler: Callable[[str], str], open_machine: Open
) -> None:
    with pytest.raises(BadSetting, match="pooler") as refused:
        open_machine(pooler("transaction"))
    assert "session" in refused.value.next_step


def test_a_pooler_that_keeps_a_connection_for_its_client_is_fine(
    pooler: Callable[[str], str], open_machine: Open
) -> None:
    ledger = open_machine(pooler("session"))
    ledger.append([happened()])
    assert ledger.wait(after=0, timeout=60)


def test_one_machine_on_files_imports_nothing_of_postgres() -> None:
    program = (
        "import sys, astra.bootstrap.build, astra.interfaces.daemon.app;"
        "names = ('psycopg', 'astra.adapters.postgres');"
        "print([name for name in sys.modules if name.startswith(names)])"
    )
    answer = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert answer.stdout.strip() == "[]"


def test_a_wrong_event_is_refused_without_losing_the_head(
    database: Database, open_machine: Open
) -> None:
    ledger = open_machine(database.url)
    with pytest.raises(BadInput):
        ledger.append([Event(type="Not A Name", actor="agent")])
    open_machine(database.url, "two").append([happened()])
    assert ledger.lost_heads == 0
