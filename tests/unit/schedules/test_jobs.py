"""What takes long runs as a job: claimed in the ledger, gone on with after a crash."""

from typing import Any

import pytest


class ListedJobs:
    """An engine that does nothing until it is told to; it forgets everything when it dies."""

    def __init__(self) -> None:
        self.submitted: dict[str, str] = {}

    def submit(self, key: str, kind: str, argument: str) -> None:
        assert kind == "firing"
        self.submitted[key] = argument

    def run(self, executor: Any) -> None:
        while self.submitted:
            _, argument = self.submitted.popitem()
            executor.job_done(argument, executor.job_run(argument))


class Died(BaseException):
    pass


def die() -> None:
    raise Died


def outcomes(world: Any, schedule: Any) -> list[tuple[str, str]]:
    return [(item["outcome"], item["reason"]) for item in world.history(schedule)]


def restart(world: Any) -> ListedJobs:
    """Stand for a new daemon whose engine has lost its database."""
    world.executor = world.new_executor()
    world.executor.jobs = jobs = ListedJobs()
    world.executor.settle()
    return jobs


@pytest.fixture
def jobs(world: Any) -> ListedJobs:
    return restart(world)


def test_a_slow_tool_is_a_job_and_holds_nobody_up(world: Any, jobs: ListedJobs) -> None:
    slow, quick = world.create("think", name="a"), world.create("look", name="b")
    world.advance(minutes=1)
    assert outcomes(world, slow) == [("running", "")]
    assert outcomes(world, quick) == [("succeeded", "ok")]
    jobs.run(world.executor)
    assert outcomes(world, slow) == [("succeeded", "ok")]


def test_a_job_nobody_began_is_submitted_again_when_the_engine_lost_it(
    world: Any, jobs: ListedJobs
) -> None:
    schedule = world.create("spend", "@hourly")
    world.advance(hours=1)
    keys = set(jobs.submitted)
    again = restart(world)
    assert set(again.submitted) == keys
    again.run(world.executor)
    assert outcomes(world, schedule) == [("succeeded", "ok")]
    assert len(world.ran) == 1


def test_a_job_cut_off_in_the_middle_is_interrupted_unless_it_may_happen_twice(
    world: Any, jobs: ListedJobs
) -> None:
    once, often = world.create("spend", "@hourly"), world.create("think", "@hourly")
    world.advance(hours=1)
    world.meanwhile = die
    while jobs.submitted:
        with pytest.raises(Died):
            jobs.run(world.executor)
    world.meanwhile = lambda: None
    restart(world).run(world.executor)
    assert outcomes(world, once) == [("interrupted", "interrupted")]
    assert outcomes(world, often) == [("succeeded", "ok")]
    assert [name for name, _ in world.ran].count("spend") == 1


def test_what_ran_to_its_end_is_recorded_and_not_run_again(world: Any, jobs: ListedJobs) -> None:
    """The engine kept the outcome; the process died before it was written down."""
    schedule = world.create("spend", "@hourly")
    world.advance(hours=1)
    ((_, argument),) = jobs.submitted.items()
    outcome = world.executor.job_run(argument)
    restart(world)
    world.executor.job_done(argument, outcome)
    assert outcomes(world, schedule) == [("succeeded", "ok")]
    world.executor.job_done(argument, outcome)
    assert world.executor.job_run(argument) == ""
    assert len(world.ran) == 1


def test_a_job_that_fails_is_tried_again_under_a_key_of_its_own(
    world: Any, jobs: ListedJobs
) -> None:
    schedule = world.create("think", "@hourly", attempts=2)
    world.failing = True
    world.advance(hours=1)
    first = set(jobs.submitted)
    jobs.run(world.executor)
    assert outcomes(world, schedule) == [("retrying", "broken")]
    world.failing = False
    world.advance(minutes=1)
    assert not first & set(jobs.submitted)
    jobs.run(world.executor)
    assert outcomes(world, schedule) == [("succeeded", "ok")]
