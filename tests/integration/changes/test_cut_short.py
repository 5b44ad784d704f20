"""Tests of a change that somebody decided on meanwhile are ended, and no others."""

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from astra.changes.edits import WholeFile
from astra.trusted.changes.evidence import TestReport
from astra.trusted.changes.model import Change, State
from changing import ChangesHere, FakeTests
from deploying import until

Decide = Callable[[ChangesHere, Change], None]


@dataclass
class EndlessTests(FakeTests):
    """Tests that go on until somebody ends them, each run by its label."""

    begun: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(0))
    over: threading.Event = field(default_factory=threading.Event)

    def run(self, *, label: str, **what: Any) -> TestReport:
        self.begun.release()
        until(lambda: label in self.ended or self.over.is_set())
        return super().run(label=label, **what)


@pytest.fixture
def endless(tmp_path: Path) -> Iterator[ChangesHere]:
    tests = EndlessTests()
    here = ChangesHere(tmp_path, tests=tests)
    here.steps.start()
    yield here
    tests.over.set()
    here.steps.stop()
    here.close()


def under_test(here: ChangesHere, name: str, **more: Any) -> Change:
    """Propose a change, and come back once its tests run."""
    change = here.propose(WholeFile(path=name, content=b"x = 1\n"), **more)
    assert isinstance(here.tests, EndlessTests)
    assert here.tests.begun.acquire(timeout=60)
    return change


def reject(here: ChangesHere, change: Change) -> None:
    here.changes.remarks.reject(change.id, "no", actor="operator")


def send_back(here: ChangesHere, change: Change) -> None:
    here.changes.remarks.request_changes(change.id, "add a test", actor="operator")


def supersede(here: ChangesHere, change: Change) -> None:
    under_test(here, "better.py", supersedes=change.id)


def reject_while_off(here: ChangesHere, change: Change) -> None:
    here.set_flag(on=False)
    reject(here, change)


@pytest.mark.parametrize("decide", [reject, send_back, supersede, reject_while_off])
def test_the_tests_of_a_change_that_is_over_are_ended(endless: ChangesHere, decide: Decide) -> None:
    change = under_test(endless, "one.py")
    decide(endless, change)
    until(lambda: change.id in endless.tests.ended)
    until(lambda: change.commit in [commit for commit, _ in endless.tests.ran])
    assert set(endless.tests.ended) == {change.id}
    assert endless.get(change.id).runs["change"].report is None, "nobody reads that report"


def test_the_tests_of_other_changes_go_on(endless: ChangesHere) -> None:
    first, second = under_test(endless, "one.py"), under_test(endless, "two.py")
    reject(endless, first)
    until(lambda: first.id in endless.tests.ended)
    endless.changes.remarks.comment(second.id, "still looking", actor="operator")
    assert endless.get(second.id).state is State.GATHERING
    assert set(endless.tests.ended) == {first.id}
