"""Callers in a queue: one commit serves those who wait, and those it may expect."""

import threading
import time

from astra.trusted.file_ledger.turns import Pending, Turns

CALLERS, ROUNDS = 8, 12
COMMIT_SECONDS = 0.05


class SlowCommits:
    """Commits that take as long as a disk does, and remember how many each of them served."""

    def __init__(self) -> None:
        self.sizes: list[int] = []

    def commit(self, group: list[Pending]) -> None:
        time.sleep(COMMIT_SECONDS)
        self.sizes.append(len(group))


def run_callers(turns: Turns, count: int) -> float:
    def call() -> None:
        for _ in range(ROUNDS):
            turns.take(Pending([], {}, lazy=False))

    threads = [threading.Thread(target=call) for _ in range(count)]
    begun = time.monotonic()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return time.monotonic() - begun


def test_one_commit_serves_all_who_come_again_and_again() -> None:
    commits = SlowCommits()
    run_callers(Turns(commits.commit, gathering_share=0.5), CALLERS)
    assert sum(commits.sizes) == CALLERS * ROUNDS
    most = CALLERS * ROUNDS / len(commits.sizes)
    assert most > 0.75 * CALLERS, commits.sizes


def test_without_waiting_they_stand_in_two_groups() -> None:
    commits = SlowCommits()
    run_callers(Turns(commits.commit), CALLERS)
    assert CALLERS * ROUNDS / len(commits.sizes) < 0.7 * CALLERS, commits.sizes


def test_a_caller_alone_waits_for_nobody() -> None:
    commits = SlowCommits()
    turns = Turns(commits.commit, gathering_share=50.0)
    seconds = run_callers(turns, 1)
    assert commits.sizes == [1] * ROUNDS
    assert seconds < COMMIT_SECONDS * ROUNDS * 20


def test_callers_who_do_not_come_again_are_waited_for_once_and_not_long() -> None:
    commits = SlowCommits()
    turns = Turns(commits.commit, gathering_share=1.0)
    run_callers(turns, CALLERS)
    begun = time.monotonic()
    turns.take(Pending([], {}, lazy=False))
    turns.take(Pending([], {}, lazy=False))
    assert commits.sizes[-2:] == [1, 1]
    assert time.monotonic() - begun < COMMIT_SECONDS * 100
