"""Branches of changes: several hands at once, and what a power cut leaves behind."""

import os
from concurrent.futures import ThreadPoolExecutor

from changing import ChangesHere, git


def test_a_branch_that_several_put_in_place_at_once_is_in_place(here: ChangesHere) -> None:
    commit = here.repo.head()
    with ThreadPoolExecutor(8) as pool:
        done = [pool.submit(here.repo.set_change_branch, "chg_1", commit) for _ in range(16)]
    assert [each.exception() for each in done] == [None] * 16
    assert git(here.git_dir, "rev-parse", "refs/heads/astra/chg_1") == commit


def test_a_lock_that_a_power_cut_left_does_not_keep_a_branch_forever(here: ChangesHere) -> None:
    lock = here.git_dir / "refs" / "heads" / "astra" / "chg_1.lock"
    lock.parent.mkdir(parents=True)
    lock.touch()
    os.utime(lock, (0, 0))
    here.repo.set_change_branch("chg_1", here.repo.head())
    assert git(here.git_dir, "rev-parse", "refs/heads/astra/chg_1") == here.repo.head()
    assert not lock.exists()
