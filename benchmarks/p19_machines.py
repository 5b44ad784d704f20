"""P19: several machines on one chain in Postgres: appends, and jobs that workers take.

Appends are those of several writers to the chain, against a bare insert and commit of one row by
the same number of writers on the same server, which syncs its disk. Jobs wait for a while and do
nothing: with four workers they should take a quarter of the time that one needs. The server is
started for the measure, from Debian's packages, on a socket in a temporary folder.
"""

import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import measuring

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

from astra.adapters.postgres_ledger import connecting
from astra.adapters.postgres_ledger.ledger import PostgresLedger
from astra.adapters.postgres_ledger.membership import Membership
from astra.bootstrap import PROJECTIONS
from astra.trusted.kernel.clock import SystemClock
from astra.trusted.kernel.ids import random_id
from astra.trusted.ledger.fencing import work_under
from astra.trusted.ledger.record import Event
from astra.workers import events
from astra.workers.book import JobBook
from astra.workers.model import TESTS, Job, JobState, Offer, Skills, lease_of
from astra.workers.taking import JobTaking
from postgres_server import Database, PostgresServer

WRITERS = 8
MOST_WORKERS = 4
_FOLD_SECONDS = 60.0
_BARE = "CREATE TABLE bare (number bigint PRIMARY KEY, line text NOT NULL)"


def main() -> None:
    quick = measuring.is_quick()
    server = PostgresServer(options=())
    try:
        with measuring.folder() as folder:
            report_appends(server, folder, 20 if quick else 400, rounds=1 if quick else 3)
            report_jobs(server, folder, 8 if quick else 40, 0.05 if quick else 0.5)
    finally:
        server.remove()


def report_appends(server: PostgresServer, folder: Path, each: int, rounds: int) -> None:
    database = server.create_database()
    with database.connect() as connection:
        connection.execute(_BARE.encode())
    with closing(open_ledger(database, folder / "appends")) as ledger:
        best = measuring.best_rounds(
            {
                "chain": lambda: run_writers(lambda: append_records(ledger, each)),
                "bare": lambda: run_writers(lambda: insert_rows(database, each)),
            },
            rounds,
        )
    rates = {name: WRITERS * each / seconds for name, seconds in best.items()}
    name = f"P19 appends a second to a chain in Postgres, {WRITERS} writers"
    measuring.report(name, rates["chain"], rates["bare"], measuring.at_least(0.5))


def append_records(ledger: PostgresLedger, count: int) -> None:
    for _ in range(count):
        ledger.append([Event(type="thing_happened", actor="daemon", data={"text": "x" * 100})])


def insert_rows(database: Database, count: int) -> None:
    with closing(connecting.connect(database.owner_url)) as connection:
        for _ in range(count):
            number = time.monotonic_ns() * WRITERS + threading.get_native_id() % WRITERS
            connection.execute("INSERT INTO bare VALUES (%s, %s)", [number, "x" * 400])


def run_writers(write: Callable[[], None]) -> float:
    threads = [threading.Thread(target=write) for _ in range(WRITERS)]

    def run_all() -> None:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    return measuring.seconds(run_all)


def report_jobs(server: PostgresServer, folder: Path, jobs: int, wait: float) -> None:
    best = {
        count: run_jobs(server.create_database(), folder / f"workers-{count}", count, jobs, wait)
        for count in (1, MOST_WORKERS)
    }
    name = f"P19 jobs a second that wait {wait:g} s, {MOST_WORKERS} workers (reference: one)"
    rates = {count: jobs / seconds for count, seconds in best.items()}
    measuring.report(name, rates[MOST_WORKERS], rates[1], measuring.at_least(3.2))


def run_jobs(database: Database, folder: Path, workers: int, jobs: int, wait: float) -> float:
    with ExitStack() as stack:
        machines = [open_worker(database, folder / str(n), wait, stack) for n in range(workers)]
        ledger = machines[0][0].ledger
        for number in range(jobs):
            offer = Offer(
                kind=TESTS, work={"number": number}, label="bench", seconds=600.0, repeatable=True
            )
            ledger.append([events.offered(offer, correlation=random_id("cor"))])
        threads = [threading.Thread(target=take_jobs, args=machine) for machine in machines]

        def run_all() -> None:
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()

        seconds = measuring.seconds(run_all)
        wait_for_ends(ledger, jobs)
        return seconds


def wait_for_ends(ledger: PostgresLedger, jobs: int) -> None:
    """See that every job ended; what another machine appended last may not be folded here yet."""
    deadline = time.monotonic() + _FOLD_SECONDS
    while (ended := len(JobBook(ledger).list_jobs(JobState.ENDED))) < jobs:
        assert time.monotonic() < deadline, f"{ended} of {jobs} jobs ended"
        time.sleep(0.01)


def open_worker(
    database: Database, folder: Path, wait: float, stack: ExitStack
) -> tuple[JobTaking, Membership]:
    ledger = stack.enter_context(closing(open_ledger(database, folder)))
    wanted_leases: dict[str, Callable[[], bool]] = {}
    member = stack.enter_context(closing(Membership(database.url, folder, wanted_leases)))
    wanted_leases[lease_of(member.own_id)] = lambda: True
    member.start()
    while member.find_term(lease_of(member.own_id)) is None:
        time.sleep(0.01)
    skills = Skills()
    joined = events.joined(member.own_id, folder.name, skills, version="", epoch=1, problems=())
    ledger.append([joined])
    taking = JobTaking(
        ledger=ledger,
        worker=member.own_id,
        skills=skills,
        performers={TESTS: Waiting(wait)},
        is_fit=lambda: True,
    )
    return taking, member


def take_jobs(taking: JobTaking, member: Membership) -> None:
    term = member.find_term(lease_of(member.own_id))
    assert term is not None
    with work_under(term.fence):
        while due := taking.list_due():
            taking.run(choose_job(due, taking.worker).id)


def choose_job(due: Sequence[Job], worker: str) -> Job:
    """Pick by the worker's id, so that not all try the same one first."""
    return due[hash(worker) % len(due)]


class Waiting:
    def __init__(self, seconds: float) -> None:
        self._seconds = seconds

    def perform(self, job: Job) -> Mapping[str, Any]:
        time.sleep(self._seconds)
        return {"number": job.offer.work["number"]}

    def end(self, job: Job) -> None: ...


def open_ledger(database: Database, folder: Path) -> PostgresLedger:
    folder.mkdir(parents=True, exist_ok=True)
    return PostgresLedger(database.url, folder, projections=PROJECTIONS, clock=SystemClock())


if __name__ == "__main__":
    main()
