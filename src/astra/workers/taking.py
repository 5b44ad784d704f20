"""A worker takes jobs: claims one, does it, and records how it ended, under its own lease.

A claim and an end are appends that expect the job as it was read: of two workers one gets it, and
the end of a job that was moved or withdrawn meanwhile is refused. Both carry the epoch of the
worker's lease, which is checked inside the append: a worker that was paused for longer than its
lease lives records nothing about what it began before.
"""

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from astra.trusted.kernel.errors import AstraError, StaleVersion
from astra.trusted.ledger.fencing import LeaseLost, find_fence
from astra.trusted.ledger.ports import Ledger
from astra.workers import events
from astra.workers.book import JobBook
from astra.workers.model import Ending, Job, JobState, Skills

_log = logging.getLogger("astra.worker")


class Performer(Protocol):
    """Does one kind of job on this machine."""

    def perform(self, job: Job) -> Mapping[str, Any]:
        """Do it and give the result; an AstraError says why there is none."""
        ...

    def end(self, job: Job) -> None:
        """End it early; called again and again until it is over."""
        ...


@dataclass(frozen=True, kw_only=True)
class JobTaking:
    ledger: Ledger
    worker: str
    skills: Skills
    performers: Mapping[str, Performer]
    is_fit: Callable[[], bool]
    """Whether the preflight holds: a worker that is not fit takes nothing."""
    has_given_up: Callable[[], bool] = lambda: False
    """Whether it is cutting its jobs off: what they come to then is no outcome."""

    def list_due(self) -> Sequence[Job]:
        """Give the jobs that are for this worker: those it has, then those it may take."""
        book, fence = JobBook(self.ledger), find_fence()
        epoch = fence.epoch if fence else 0
        own_jobs = [job for job in book.list_jobs(JobState.CLAIMED) if self._has(job, epoch)]
        if not self.is_fit():
            return own_jobs
        offered_jobs = book.list_jobs(JobState.OFFERED)
        return [*own_jobs, *(job for job in offered_jobs if job.may_take(self.worker, self.skills))]

    def run(self, job_id: str) -> None:
        """Claim a job and do it; whoever else claimed it first has it."""
        job = self._claim(job_id)
        if job is None:
            return
        ending, result, why = self._perform(job)
        if self.has_given_up():
            return
        version = self.ledger.version(job.id)
        current = JobBook(self.ledger).find_job(job.id)
        if current is None or not self._has(current, job.epoch):
            _log.info("the job %s was taken away while it ran", job.id)
            return
        end_event = events.ended(job, ending, result=result, why=why)
        try:
            self.ledger.append([end_event], expect={job.id: version})
        except (LeaseLost, StaleVersion):
            _log.warning("the end of job %s was refused: it is another's by now", job.id)

    def end(self, job: Job) -> None:
        self.performers[job.offer.kind].end(job)

    def _has(self, job: Job, epoch: int) -> bool:
        return job.state is JobState.CLAIMED and (job.worker, job.epoch) == (self.worker, epoch)

    def _claim(self, job_id: str) -> Job | None:
        fence, version = find_fence(), self.ledger.version(job_id)
        job = JobBook(self.ledger).find_job(job_id)
        if job is None or fence is None:
            return None
        if self._has(job, fence.epoch):
            return self._resume(job, version)
        if not job.may_take(self.worker, self.skills):
            return None
        try:
            claim_event = events.claimed(job, self.worker, fence.epoch)
            self.ledger.append([claim_event], expect={job.id: version})
        except StaleVersion:
            return None
        return replace(job, state=JobState.CLAIMED, worker=self.worker, epoch=fence.epoch)

    def _resume(self, job: Job, version: int) -> Job | None:
        """Do again what has no end though it is over: the database did not take it."""
        if job.offer.repeatable:
            return job
        why = "its end could not be recorded"
        end_event = events.ended(job, Ending.INTERRUPTED, result={}, why=why)
        self.ledger.append([end_event], expect={job.id: version})
        return None

    def _perform(self, job: Job) -> tuple[Ending, Mapping[str, Any], str]:
        try:
            return Ending.DONE, self.performers[job.offer.kind].perform(job), ""
        except AstraError as error:
            return Ending.FAILED, {}, f"{error.detail} (next: {error.next_step})"
        except Exception as error:  # noqa: BLE001 - whatever it was, the job is over and says so
            _log.exception("the job %s failed", job.id)
            return Ending.FAILED, {}, f"{type(error).__name__}: {error}"
