"""Background work has one doer: whoever holds the lease, by the database's clock, in its epoch."""

import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from astra.adapters.postgres_ledger import connecting
from astra.adapters.postgres_ledger.ledger import PostgresLedger
from astra.adapters.postgres_ledger.membership import Membership, read_machine_id
from astra.trusted.ledger.fencing import LeaseLost, work_under
from astra.trusted.ledger.record import Event
from postgres_server import Database, PostgresServer, pause_within_batch

WORK = "background"
Open = Callable[..., PostgresLedger]


def happened(text: str) -> Event:
    return Event(type="thing_happened", actor="daemon", data={"text": text}, key=text)


def join(database: Database, folder: Path) -> Membership:
    folder.mkdir(parents=True, exist_ok=True)
    member = Membership(database.url, folder, {WORK: lambda: True})
    member.start()
    return member


def wait_until(condition: Callable[[], bool], seconds: float = 180) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_one_machine_leads_and_the_next_one_when_it_leaves_in_order(
    database: Database, tmp_path: Path
) -> None:
    first = join(database, tmp_path / "one")
    wait_until(lambda: first.find_term(WORK) is not None)
    with closing(join(database, tmp_path / "two")) as second:
        wait_until(lambda: len(second.list_machines()) == 2)
        assert second.find_term(WORK) is None
        first.close()
        wait_until(lambda: second.find_term(WORK) is not None)
        (machine,) = second.list_machines()
        assert (machine.id, machine.leads) == (second.own_id, (WORK,))


def test_a_holder_that_hangs_in_the_middle_of_a_batch_keeps_no_lease(
    database: Database, tmp_path: Path
) -> None:
    first = join(database, tmp_path / "one")
    wait_until(lambda: first.find_term(WORK) is not None)
    first.close()
    with closing(connecting.connect(database.url)) as hanging:
        hanging.execute("BEGIN; SELECT * FROM astra.lease FOR UPDATE")
        pause_within_batch(hanging)
        with closing(join(database, tmp_path / "two")) as second:
            wait_until(lambda: second.find_term(WORK) is not None)


def test_a_copied_data_folder_is_another_machine(tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    identifier = read_machine_id(tmp_path / "one")
    shutil.copytree(tmp_path / "one", tmp_path / "two")
    assert read_machine_id(tmp_path / "one") == identifier
    assert read_machine_id(tmp_path / "two") != identifier


def test_an_append_under_a_lease_that_is_over_records_nothing(
    database: Database, open_machine: Open, tmp_path: Path
) -> None:
    ledger = open_machine(database.url)
    first = join(database, tmp_path / "one")
    wait_until(lambda: first.find_term(WORK) is not None)
    term = first.find_term(WORK)
    assert term is not None
    with work_under(term.fence):
        ledger.append([happened("in time")])
    first.close()
    with work_under(term.fence), pytest.raises(LeaseLost):
        ledger.append([happened("too late")])
    assert [record.data["text"] for record in ledger.records()] == ["in time"]
    ledger.append([happened("of a door, under no lease")])


def test_one_caller_that_lost_its_lease_does_not_fail_the_others_of_its_commit(
    database: Database, open_machine: Open, tmp_path: Path
) -> None:
    ledger = open_machine(database.url)
    first = join(database, tmp_path / "one")
    wait_until(lambda: first.find_term(WORK) is not None)
    term = first.find_term(WORK)
    assert term is not None
    first.close()
    lost: list[int] = []

    def work(number: int) -> None:
        with work_under(term.fence if number % 2 else None):
            try:
                ledger.append([happened(f"{number}")])
            except LeaseLost:
                lost.append(number)

    threads = [threading.Thread(target=work, args=[number]) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(lost) == [1, 3, 5, 7]
    assert len(ledger.records()) == 4


class Machine:
    """A process of its own that appends under its lease, and says what became of each append."""

    def __init__(self, url: str, var: Path) -> None:
        program = Path(__file__).with_name("leading_machine.py")
        self.process = subprocess.Popen(
            [sys.executable, str(program), url, str(var)], stdout=subprocess.PIPE, text=True
        )
        self.appended: list[str] = []
        self.refused: list[str] = []
        self._reader = threading.Thread(target=self._listen)
        self._reader.start()

    def end(self) -> None:
        self.process.kill()
        self.process.wait()
        self._reader.join()
        assert self.process.stdout is not None
        self.process.stdout.close()

    def _listen(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            if not line.endswith("\n"):  # it was killed while it said so
                return
            kind, text = line.split()
            (self.appended if kind == "appended" else self.refused).append(text)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSTOP])
def test_the_work_of_a_killed_or_hung_leader_goes_on_elsewhere_and_nothing_is_done_twice(
    database: Database, tmp_path: Path, open_machine: Open, number: signal.Signals
) -> None:
    machines = [Machine(database.url, tmp_path / name / "var") for name in ("a", "b")]
    try:
        wait_until(lambda: any(len(machine.appended) > 5 for machine in machines))
        leader = max(machines, key=lambda machine: len(machine.appended))
        (other,) = [machine for machine in machines if machine is not leader]
        os.kill(leader.process.pid, number)
        before = len(other.appended)
        wait_until(lambda: len(other.appended) > before + 5)
        if number == signal.SIGSTOP:
            count = len(other.appended)
            os.kill(leader.process.pid, signal.SIGCONT)
            wait_until(lambda: len(other.appended) > count + 20)
    finally:
        for machine in machines:
            machine.end()
    texts = [record.data["text"] for record in open_machine(database.url).records(limit=100_000)]
    acknowledged = [text for machine in machines for text in machine.appended]
    assert set(acknowledged) <= set(texts)
    assert not set(texts) & set(leader.refused + other.refused)
    epochs = [int(text.split(":")[0]) for text in texts]
    assert epochs == sorted(epochs)
    assert len(set(epochs)) >= 2


def test_a_restart_of_the_database_keeps_one_leader(
    own_server: PostgresServer, tmp_path: Path, open_machine: Open
) -> None:
    database = own_server.create_database()
    machines = [Machine(database.url, tmp_path / name / "var") for name in ("a", "b")]
    try:
        wait_until(lambda: any(len(machine.appended) > 5 for machine in machines))
        own_server.stop(signal.SIGQUIT)
        own_server.start()
        counts = [len(machine.appended) for machine in machines]
        wait_until(lambda: sum(len(m.appended) for m in machines) > sum(counts) + 20)
    finally:
        for machine in machines:
            machine.end()
    texts = [record.data["text"] for record in open_machine(database.url).records(limit=100_000)]
    assert {text for machine in machines for text in machine.appended} <= set(texts)
    epochs = [int(text.split(":")[0]) for text in texts]
    assert epochs == sorted(epochs)
