"""Killed between any two effects, a change goes on where it was and does nothing twice.

Every append and every move of the repository is a place to die: before it, and after it. A daemon
that died is stood for by new objects over the same ledger and repository.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from astra.tasks.book import TaskBook
from astra.trusted.changes import model
from astra.trusted.changes.evidence import TestVerdict
from astra.trusted.changes.model import State
from astra.trusted.kernel.errors import AstraError
from changing import ChangesHere, git


class Killed(BaseException):
    """The process is gone: nothing after this line ran."""


class Fuse:
    """Burns down by one at each effect, and kills before or after the one it is set to."""

    def __init__(self) -> None:
        self.left: int | None = None
        self.burnt = 0

    def around(self, effect: Callable[..., Any]) -> Callable[..., Any]:
        def guarded(*positional: Any, **named: Any) -> Any:
            self._burn()
            done = effect(*positional, **named)
            self._burn()
            return done

        return guarded

    def _burn(self) -> None:
        self.burnt += 1
        if self.left is not None:
            self.left -= 1
            if self.left == 0:
                self.left = None
                raise Killed


def armed(folder: Path) -> tuple[ChangesHere, Fuse]:
    here, fuse = ChangesHere(folder), Fuse()
    ledger: Any = here.root.ledger
    ledger.append = fuse.around(ledger.append)
    repo: Any = here.repo
    for name in ("commit", "set_change_branch", "fast_forward"):
        setattr(repo, name, fuse.around(getattr(repo, name)))
    tests: Any = here.tests
    tests.run = fuse.around(tests.run)
    return here, fuse


def go_on(here: ChangesHere) -> None:
    """Start again after a death, as a new daemon does, and let it work."""
    here.steps = here.new_steps()
    here.steps.run_due()


def story(here: ChangesHere) -> None:
    """Live through everything up to the merge, as an operator and a daemon would."""
    found, _ = here.changes.book.list_page()
    if not found:
        here.propose()
    here.steps.run_due()
    (change,) = here.changes.book.list_page()[0]
    if change.state is State.AWAITING and change.approval:
        here.grant(change.approval)
    here.steps.run_due()


def count_effects(folder: Path) -> int:
    here, fuse = armed(folder)
    story(here)
    here.close()
    return fuse.burnt


def test_a_kill_at_any_effect_is_resumed_and_repeats_nothing(tmp_path: Path) -> None:
    total = count_effects(tmp_path / "whole")
    assert total > 20
    for place in range(1, total + 1):
        here, fuse = armed(tmp_path / f"killed-{place}")
        fuse.left = place
        with pytest.raises(Killed):
            story(here)
        go_on(here)
        story(here)
        check(here, place)
        here.close()


def check(here: ChangesHere, place: int) -> None:
    (change,) = here.changes.book.list_page()[0]
    assert change.state is State.EXECUTED, place
    assert here.repo.head() == change.commit
    assert git(here.git_dir, "rev-parse", f"refs/heads/astra/{change.id}") == change.commit
    types = here.types()
    for once in (model.SCHEDULED, model.SCANNED, model.TESTS_COMPLETED, model.APPROVED):
        assert types.count(once) == 1, (place, once)
    assert types.count(model.EXECUTED) == 1
    assert types.count(model.TESTS_STARTED) <= 2
    assert TaskBook(here.root.ledger).get(change.task).outcome == "executed"
    assert here.steps.run_due() == 0


def test_a_test_run_that_was_cut_off_is_run_again_under_the_next_attempt(here: ChangesHere) -> None:
    change = here.propose()
    here.tests.error = Killed()
    with pytest.raises(Killed):
        here.steps.run_due()
    here.tests.error = None
    go_on(here)
    (run,) = here.get(change.id).runs.values()
    assert run.attempts == 2
    assert here.types().count(model.TESTS_STARTED) == 2
    assert here.types().count(model.TESTS_PASSED) == 1


def test_a_run_that_kills_the_daemon_every_time_is_given_up(here: ChangesHere) -> None:
    change = here.propose()
    here.tests.error = Killed()
    for _ in range(3):
        with pytest.raises(Killed):
            go_on(here)
    go_on(here)
    found = here.get(change.id)
    assert found.state is State.AWAITING
    assert found.tests
    assert found.tests["verdict"] == TestVerdict.NEVER_RAN


def test_a_step_that_fails_is_recorded_once_and_tried_again(here: ChangesHere) -> None:
    change = here.propose()
    set_change_branch: Any = here.repo.set_change_branch

    def fails(*_given: Any) -> None:
        raise AstraError("no space left", next_step="make room")

    repo: Any = here.repo
    repo.set_change_branch = fails
    passed = 0.0
    here.steps = here.new_steps(seconds=lambda: passed)
    for _ in range(3):
        assert here.steps.run_due() == 1
        passed += 400.0
    assert here.types().count("change_step_failed") == 1
    assert "no space left" in here.steps.trouble()
    repo.set_change_branch = set_change_branch
    here.steps.run_due()
    assert here.get(change.id).state is State.AWAITING
    assert here.steps.trouble() == ""


def test_the_flag_turned_off_stops_every_queued_step_and_on_lets_it_go_on(
    here: ChangesHere,
) -> None:
    change = here.propose()
    here.set_flag(on=False)
    before = here.types()
    assert here.steps.run_due() == 0
    assert here.types() == before
    here.set_flag(on=True)
    here.steps.run_due()
    awaiting = here.get(change.id)
    here.grant(str(awaiting.approval))
    here.set_flag(on=False)
    head = here.repo.head()
    assert here.steps.run_due() == 0
    assert here.repo.head() == head
    here.set_flag(on=True)
    here.steps.run_due()
    assert here.get(change.id).state is State.EXECUTED


def test_the_flag_turned_off_during_a_test_run_records_nothing_of_it(here: ChangesHere) -> None:
    change = here.propose()
    here.tests.during = lambda: here.set_flag(on=False)
    here.steps.run_due()
    here.tests.during = lambda: None
    assert model.TESTS_PASSED not in here.types()
    here.set_flag(on=True)
    here.steps = here.new_steps()
    here.steps.run_due()
    assert here.get(change.id).state is State.AWAITING
    assert here.get(change.id).runs["change"].attempts == 2


def test_a_stop_is_like_the_flag_for_what_is_queued(here: ChangesHere) -> None:
    change = here.propose()
    here.stopped = True
    assert here.steps.run_due() == 0
    with pytest.raises(AstraError) as refused:
        here.propose()
    assert refused.value.reason == "stopped"
    here.stopped = False
    here.steps.run_due()
    assert here.get(change.id).state is State.AWAITING
