"""The leader looks after jobs that a worker has: one that is lost is moved once, or interrupted.

A job is lost when the lease under which it was claimed is over: its worker died, hangs, left, or
came back with a new epoch. It is slow when its worker answers and its time is over, counted by this
machine's own clock from when it saw the claim: clocks of machines may be apart. What may be done
twice is offered again, once; everything else ends as interrupted. Looking again until that is in
the chain is what a lane does.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from astra.trusted.ledger.ports import Ledger
from astra.trusted.stop.machines import Machines
from astra.workers import events
from astra.workers.book import JobBook
from astra.workers.model import Ending, Job, JobState, lease_of

MOST_MOVES = 1


@dataclass(kw_only=True)
class Reaper:
    ledger: Ledger
    machines: Machines
    seconds: Callable[[], float] = time.monotonic
    _seen: dict[tuple[str, int], float] = field(
        default_factory=dict[tuple[str, int], float], init=False
    )
    """When each claim was seen first."""

    def has_claimed(self) -> bool:
        return bool(JobBook(self.ledger).list_jobs(JobState.CLAIMED))

    def forget(self) -> None:
        """Begin a term: how long jobs took under another leader is not known here."""
        self._seen.clear()

    def settle(self) -> None:
        """Move or interrupt every job that nobody brings to an end."""
        claimed_jobs = JobBook(self.ledger).list_jobs(JobState.CLAIMED)
        self._note_claims(claimed_jobs)
        if not claimed_jobs:
            return
        holding = {name for machine in self.machines.list_machines() for name in machine.leads}
        for job in claimed_jobs:
            if why := self._find_loss(job, holding):
                self._take_away(job.id, job.epoch, why, is_slow=False)
            elif self._is_slow(job):
                why = f"its worker had it for more than {job.offer.seconds:g} s"
                self._take_away(job.id, job.epoch, why, is_slow=True)

    def _note_claims(self, jobs: Sequence[Job]) -> None:
        now = self.seconds()
        claims = {(job.id, job.epoch) for job in jobs}
        self._seen = {claim: self._seen.get(claim, now) for claim in claims}

    def _find_loss(self, job: Job, holding: set[str]) -> str:
        """Say how the claim of a job was lost, or nothing."""
        rows = self.ledger.query("SELECT epoch, state FROM worker WHERE id = ?", (job.worker,))
        epoch, state = rows[0] if rows else (0, "left")
        if state == "left":
            return "its worker left"
        if epoch > job.epoch:
            return "its worker came back after its lease was over"
        if lease_of(job.worker) not in holding:
            return "its worker does not answer"
        return ""

    def _is_slow(self, job: Job) -> bool:
        return self.seconds() - self._seen[job.id, job.epoch] > job.offer.seconds

    def _take_away(self, job_id: str, epoch: int, why: str, *, is_slow: bool) -> None:
        version = self.ledger.version(job_id)
        job = JobBook(self.ledger).find_job(job_id)
        if job is None or job.state is not JobState.CLAIMED or job.epoch != epoch:
            return
        if job.offer.repeatable and job.moves < MOST_MOVES:
            event = events.moved(job, why, is_slow=is_slow)
        else:
            event = events.ended(job, Ending.INTERRUPTED, result={}, why=why, actor=events.LEADER)
        self.ledger.append([event], expect={job_id: version})
