"""A smoke run tells what is wrong with each part, and no part can keep it from telling."""

import threading

import pytest

from astra.operations import smoke
from astra.operations.smoke import ProbeFailed, Smoke
from astra.testing import RootInMemory
from astra.trusted.kernel.errors import Conflict, LedgerUnavailable

TOKEN = "ghp_" + "a1B2c3D4e5F6" * 3


def fail() -> str:
    raise ProbeFailed("the host takes no connection", next_step="start it")


def break_down() -> str:
    raise ValueError(f"{TOKEN} was refused")


def test_each_part_is_an_item_and_one_that_fails_makes_the_run_fail() -> None:
    root = RootInMemory()
    report = Smoke(root.ledger, {"good": lambda: "fine", "bad": fail}).run(actor="operator")
    assert [(item.name, item.ok) for item in report.items] == [
        ("ledger append", True),
        ("good", True),
        ("bad", False),
    ]
    assert report.ok is False
    assert report.items[2].detail == "the host takes no connection; next: start it"


def test_what_a_part_raises_is_shown_without_its_secrets() -> None:
    report = Smoke(RootInMemory().ledger, {"bad": break_down}).run(actor="operator")
    assert report.items[1].detail == "ValueError: [masked] was refused"


def test_the_last_run_is_read_back_from_the_record() -> None:
    root = RootInMemory()
    run = Smoke(root.ledger, {"bad": fail})
    assert run.find_last() is None
    report = run.run(actor="operator")
    assert run.find_last() == report
    assert [record.type for record in root.ledger.records_of(report.id)] == [
        smoke.STARTED,
        smoke.FINISHED,
    ]


def test_a_part_that_hangs_is_a_failed_item_and_is_not_started_twice() -> None:
    release, starts = threading.Event(), list[int]()

    def hang() -> str:
        starts.append(1)
        release.wait()
        return "late"

    run = Smoke(RootInMemory().ledger, {"slow": hang, "good": lambda: "x"}, deadline_seconds=0.01)
    first, second = run.run(actor="operator"), run.run(actor="operator")
    release.set()
    for report in (first, second):
        assert (report.items[1].name, report.items[1].ok) == ("slow", False)
        assert report.items[1].detail.startswith("no answer in 0 s")
    assert starts == [1]


def test_two_runs_at_once_are_refused() -> None:
    entered, release = threading.Event(), threading.Event()

    def wait() -> str:
        entered.set()
        release.wait()
        return "done"

    run = Smoke(RootInMemory().ledger, {"slow": wait})
    thread = threading.Thread(target=lambda: run.run(actor="operator"))
    thread.start()
    entered.wait()
    with pytest.raises(Conflict):
        run.run(actor="agent:x")
    release.set()
    thread.join()


def test_a_ledger_that_takes_nothing_is_told_though_it_cannot_be_recorded() -> None:
    class FullLedger:
        def append(self, *_events: object, **_options: object) -> list[object]:
            raise LedgerUnavailable("the disk is full", next_step="make room")

    report = Smoke(FullLedger(), {"good": lambda: "fine"}).run(actor="operator")  # pyright: ignore[reportArgumentType]
    assert (report.ok, report.items[0].detail) == (False, "the disk is full; next: make room")
