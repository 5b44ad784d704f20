"""Jobs: offered, claimed by one, moved once, never done twice where that does harm."""

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from astra.bootstrap import PROJECTIONS
from astra.testing import MemoryLedger
from astra.trusted.kernel.errors import NotFound
from astra.trusted.kernel.ids import random_id
from astra.trusted.ledger.fencing import Fence, LeaseLost, work_under
from astra.trusted.stop.machines import LeaseHolder, Machine, Term
from astra.workers import events
from astra.workers.book import JobBook, WorkerBook
from astra.workers.model import KINDS, TESTS, Job, JobState, Offer, Skills, lease_of
from astra.workers.offering import JobBoard
from astra.workers.reaping import Reaper
from astra.workers.taking import JobTaking

PATIENCE = 60
STORY = random_id("cor")
ANYTHING = Skills()


@dataclass
class Cluster:
    """Machines that a test lets answer or not."""

    own_id: str = "mch_leader"
    epochs: dict[str, int] = field(default_factory=dict[str, int])
    terms: dict[str, Term] = field(default_factory=dict[str, Term])
    silent: set[str] = field(default_factory=set[str])
    """Those that hold their lease no more."""
    asked: threading.Event = field(default_factory=threading.Event)
    """Set when somebody asks whether it still leads."""

    def list_machines(self) -> Sequence[Machine]:
        return [
            Machine(
                id=worker,
                name=worker,
                seen_seconds=0.0,
                leads=() if worker in self.silent else (lease_of(worker),),
            )
            for worker in self.epochs
        ]

    def find_term(self, lease: str) -> Term | None:
        self.asked.set()
        return self.terms.get(lease)

    def list_leases(self) -> Mapping[str, LeaseHolder]:
        return {
            lease_of(worker): LeaseHolder(worker, epoch) for worker, epoch in self.epochs.items()
        }

    def forget(self, machine_id: str) -> bool:
        return self.epochs.pop(machine_id, None) is not None

    def start(self) -> None: ...

    def close(self) -> None: ...


@dataclass
class Recorder:
    """Does jobs by noting them; a test can have something happen meanwhile."""

    done: list[str] = field(default_factory=list[str])
    ended: list[str] = field(default_factory=list[str])
    error: Exception | None = None
    meanwhile: Any = None

    def perform(self, job: Job) -> Mapping[str, Any]:
        self.done.append(job.id)
        if self.meanwhile:
            self.meanwhile()
        if self.error:
            raise self.error
        return {"answer": 42}

    def end(self, job: Job) -> None:
        self.ended.append(job.id)


@dataclass
class World:
    ledger: MemoryLedger = field(default_factory=lambda: MemoryLedger(projections=PROJECTIONS))
    cluster: Cluster = field(default_factory=Cluster)
    recorder: Recorder = field(default_factory=Recorder)
    now: float = 0.0

    def __post_init__(self) -> None:
        self.book = JobBook(self.ledger)
        self.workers = WorkerBook(ledger=self.ledger, machines=self.cluster)
        self.board = JobBoard(ledger=self.ledger, machines=self.cluster)
        self.reaper = Reaper(ledger=self.ledger, machines=self.cluster, seconds=lambda: self.now)

    def join(
        self,
        worker: str,
        skills: Skills = ANYTHING,
        *,
        epoch: int = 1,
        problems: Sequence[str] = (),
    ) -> JobTaking:
        self.cluster.epochs[worker] = epoch
        joined = events.joined(worker, worker, skills, version="1", epoch=epoch, problems=problems)
        self.ledger.append([joined])
        return JobTaking(
            ledger=self.ledger,
            worker=worker,
            skills=skills,
            performers=dict.fromkeys(KINDS, self.recorder),
            is_fit=lambda: not problems,
        )

    def offer(self, offer: Offer) -> str:
        (record,) = self.ledger.append([events.offered(offer, correlation=STORY)])
        return str(record.subject)

    def run(self, taking: JobTaking, job: str, *, epoch: int = 1) -> None:
        with work_under(Fence(lease_of(taking.worker), taking.worker, epoch)):
            taking.run(job)

    def get(self, job: str) -> Job:
        found_job = self.book.find_job(job)
        assert found_job is not None
        return found_job


TEST_RUN = Offer(kind=TESTS, work={"commit": "c"}, label="chg_1", seconds=100.0, repeatable=True)
ONCE = replace(TEST_RUN, repeatable=False)


@pytest.fixture
def world() -> World:
    return World()


def test_a_job_is_done_by_one_worker_and_its_end_says_who_and_when(world: World) -> None:
    first, second = world.join("mch_a"), world.join("mch_b")
    job = world.offer(TEST_RUN)
    world.run(first, job)
    world.run(second, job)
    assert world.recorder.done == [job]
    end = world.book.read_end(world.get(job))
    assert (end["worker"], end["epoch"], end["ending"]) == ("mch_a", 1, "done")
    assert end["result"] == {"answer": 42}


def test_a_job_that_fails_says_why(world: World) -> None:
    worker, job = world.join("mch_a"), world.offer(TEST_RUN)
    world.recorder.error = NotFound("no such commit", next_step="push it")
    world.run(worker, job)
    end = world.book.read_end(world.get(job))
    assert (end["ending"], end["why"]) == ("failed", "no such commit (next: push it)")


@pytest.mark.parametrize("offer", [TEST_RUN, ONCE])
def test_the_end_of_a_job_that_was_taken_away_meanwhile_is_not_recorded(
    world: World, offer: Offer
) -> None:
    worker, job = world.join("mch_a"), world.offer(offer)
    world.recorder.meanwhile = lambda: lose_worker(world, "mch_a")
    world.run(worker, job)
    state = world.get(job).state
    assert state is (JobState.OFFERED if offer.repeatable else JobState.ENDED)
    ends = world.ledger.records_of(job, events.ENDED)
    assert [end.actor for end in ends] == ([] if offer.repeatable else [events.LEADER])


def lose_worker(world: World, worker: str) -> None:
    world.cluster.silent.add(worker)
    world.reaper.settle()


def test_a_lost_job_is_moved_once_and_then_interrupted(world: World) -> None:
    job = world.offer(TEST_RUN)
    for worker in ("mch_a", "mch_b"):
        taking = world.join(worker)
        world.recorder.meanwhile = lambda worker=worker: lose_worker(world, worker)
        world.run(taking, job)
    assert world.recorder.done == [job, job]
    assert len(world.ledger.records_of(job, events.MOVED)) == 1
    end = world.book.read_end(world.get(job))
    assert (end["ending"], end["why"]) == ("interrupted", "its worker does not answer")


def test_what_may_not_happen_twice_is_interrupted_and_never_offered_again(world: World) -> None:
    worker, job = world.join("mch_a"), world.offer(ONCE)
    world.recorder.meanwhile = lambda: lose_worker(world, "mch_a")
    world.run(worker, job)
    world.run(world.join("mch_b"), job)
    assert world.recorder.done == [job]
    assert world.book.read_end(world.get(job))["ending"] == "interrupted"


def test_a_worker_that_came_back_under_a_new_epoch_lost_what_it_had(world: World) -> None:
    worker, job = world.join("mch_a"), world.offer(TEST_RUN)
    world.recorder.meanwhile = lambda: (world.join("mch_a", epoch=2), world.reaper.settle())
    world.run(worker, job)
    assert world.get(job).state is JobState.OFFERED
    (moved,) = world.ledger.records_of(job, events.MOVED)
    assert moved.data["why"] == "its worker came back after its lease was over"


def test_a_slow_worker_is_seen_and_does_not_get_its_job_again(world: World) -> None:
    slow, job = world.join("mch_a"), world.offer(TEST_RUN)

    def let_time_pass() -> None:
        world.reaper.settle()
        world.now = 100.5
        world.reaper.settle()

    world.recorder.meanwhile = let_time_pass
    world.run(slow, job)
    assert world.get(job).slow_worker == "mch_a"
    world.recorder.meanwhile = None
    world.run(slow, job)
    assert world.recorder.done == [job]
    world.run(world.join("mch_b"), job)
    assert world.book.read_end(world.get(job))["worker"] == "mch_b"


def test_a_new_leader_counts_a_jobs_time_anew(world: World) -> None:
    worker, job = world.join("mch_a"), world.offer(TEST_RUN)

    def change_leader() -> None:
        world.reaper.settle()
        world.now = 100.5
        world.reaper.forget()
        world.reaper.settle()

    world.recorder.meanwhile = change_leader
    world.run(worker, job)
    assert world.book.read_end(world.get(job))["ending"] == "done"


def test_an_end_that_the_database_did_not_take_is_tried_again_or_interrupted(
    world: World,
) -> None:
    for offer, ending, count in ((TEST_RUN, "done", 2), (ONCE, "interrupted", 1)):
        worker, job = world.join("mch_a"), world.offer(offer)
        world.recorder.done.clear()
        cut_off = replace(worker, has_given_up=lambda: True)
        world.run(cut_off, job)
        assert world.get(job).state is JobState.CLAIMED
        world.run(worker, job)
        assert world.book.read_end(world.get(job))["ending"] == ending
        assert len(world.recorder.done) == count


@pytest.mark.parametrize(
    ("skills", "fits"),
    [
        (Skills(labels={"gpu": "yes", "arch": "arm"}), True),
        (Skills(labels={"gpu": "no"}), False),
        (Skills(), False),
        (Skills(kinds=(), labels={"gpu": "yes"}), False),
    ],
)
def test_kinds_and_labels_decide_who_gets_a_job(world: World, skills: Skills, fits: bool) -> None:
    worker = world.join("mch_a", skills)
    job = world.offer(replace(TEST_RUN, labels={"gpu": "yes"}))
    assert [due.id for due in worker.list_due()] == ([job] if fits else [])
    world.run(worker, job)
    assert world.recorder.done == ([job] if fits else [])


def test_a_worker_whose_preflight_fails_is_offered_nothing(world: World) -> None:
    worker = world.join("mch_a", problems=["no bubblewrap"])
    world.offer(TEST_RUN)
    assert worker.list_due() == []
    assert not world.board.has_able_worker(TEST_RUN)
    (shown,) = world.workers.list_workers()
    assert (shown.shown_state, shown.problems) == ("unfit", ("no bubblewrap",))


def test_a_worker_that_does_not_answer_is_away(world: World) -> None:
    world.join("mch_a")
    world.cluster.silent.add("mch_a")
    (shown,) = world.workers.list_workers()
    assert shown.shown_state == "away"
    assert not world.board.has_able_worker(TEST_RUN)
    world.cluster.forget("mch_a")
    assert world.workers.list_workers() == []


def test_the_leader_waits_for_the_end_and_gets_the_result(world: World) -> None:
    worker = world.join("mch_a")
    results: list[Any] = []

    def ask() -> None:
        results.append(world.board.have_done(TEST_RUN, correlation=STORY, do_here=lambda: "here"))

    asking = threading.Thread(target=ask)
    asking.start()
    while not (due := worker.list_due()):
        world.ledger.wait(world.ledger.head().sequence, 0.05)
    world.run(worker, due[0].id)
    asking.join(PATIENCE)
    assert [outcome.result for outcome in results] == [{"answer": 42}]


def test_the_leader_does_it_itself_when_nobody_can_any_more(world: World) -> None:
    outcome = world.board.have_done(TEST_RUN, correlation=STORY, do_here=lambda: "here")
    assert outcome.own == "here"
    (job,) = world.book.list_jobs(JobState.WITHDRAWN)
    assert job.offer.label == "chg_1"


def test_the_next_leader_waits_for_the_job_of_the_one_before(world: World) -> None:
    worker, job = world.join("mch_a"), world.offer(TEST_RUN)
    fence = Fence("background", "mch_leader", 2)
    world.cluster.terms["background"] = Term(fence)
    world.recorder.meanwhile = lambda: world.cluster.asked.wait(PATIENCE)
    working = threading.Thread(target=lambda: world.run(worker, job))
    working.start()
    with work_under(fence):
        outcome = world.board.have_done(TEST_RUN, correlation=STORY, do_here=lambda: "here")
    working.join(PATIENCE)
    assert outcome.result == {"answer": 42}
    assert [offered.subject for offered in world.ledger.records(events.OFFERED)] == [job]


def test_a_leader_that_lost_its_lease_waits_no_longer(world: World) -> None:
    world.join("mch_a")
    world.cluster.terms["background"] = Term(Fence("background", "mch_other", 2))
    with work_under(Fence("background", "mch_leader", 1)), pytest.raises(LeaseLost):
        world.board.have_done(TEST_RUN, correlation=STORY, do_here=lambda: "here")


def test_a_job_whose_change_was_decided_on_is_taken_back(world: World) -> None:
    worker, job = world.join("mch_a"), world.offer(TEST_RUN)
    world.recorder.meanwhile = lambda: world.board.withdraw_all("chg_1", "decided")
    world.run(worker, job)
    assert world.get(job).state is JobState.WITHDRAWN
    assert world.ledger.records_of(job, events.ENDED) == []
