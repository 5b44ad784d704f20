"""The leader offers a job and waits for its end; it does the work itself where no worker can.

A leader that takes over finds the jobs of the one before it and waits for those. A job that nobody
has and nobody can take is withdrawn and done here; one that is withdrawn by whoever decided on its
change ends on its worker too.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from astra.trusted.ledger.fencing import build_lost_error, find_fence
from astra.trusted.ledger.ports import Ledger
from astra.trusted.stop.machines import Machines
from astra.workers import events
from astra.workers.book import JobBook, WorkerBook
from astra.workers.model import Ending, Job, JobState, Offer

_LOOK_SECONDS = 1.0
Answer = TypeVar("Answer")


@dataclass(frozen=True, kw_only=True)
class Outcome(Generic[Answer]):
    """What a job came to: exactly one of a result, an answer of this machine, or a reason."""

    result: Mapping[str, Any] | None = None
    own: Answer | None = None
    why: str = ""
    is_withdrawn: bool = False


@dataclass(frozen=True, kw_only=True)
class JobBoard:
    ledger: Ledger
    machines: Machines

    @property
    def is_shared(self) -> bool:
        """Tell whether there may be workers: a machine that is alone has none."""
        return bool(self.machines.own_id)

    def has_able_worker(self, offer: Offer) -> bool:
        return bool(self._workers.list_able(offer))

    def have_done(
        self, offer: Offer, *, correlation: str, do_here: Callable[[], Answer]
    ) -> Outcome[Answer]:
        """Have a worker do a job, and wait for it."""
        job_id = self._find_same(offer) or self._offer(offer, correlation)
        while True:
            self._require_term()
            head = self.ledger.head().sequence
            job = JobBook(self.ledger).find_job(job_id)
            if job is not None and job.state is JobState.ENDED:
                return self._read_outcome(job)
            if job is None or job.state is JobState.WITHDRAWN:
                return Outcome(is_withdrawn=True)
            if job.state is JobState.OFFERED and not self._can_be_taken(job):
                if self._withdraw(job_id, JobState.OFFERED, "no worker is there that can do it"):
                    return Outcome(own=do_here())
                continue
            self.ledger.wait(head, _LOOK_SECONDS)

    def withdraw_all(self, label: str, why: str) -> None:
        """Take back every open job of a change or a goal; its worker ends what it began."""
        for job in JobBook(self.ledger).list_open(label):
            self._withdraw(job.id, job.state, why)

    @property
    def _workers(self) -> WorkerBook:
        return WorkerBook(ledger=self.ledger, machines=self.machines)

    def _find_same(self, offer: Offer) -> str:
        """Find an open job that another leader offered, and that asks for exactly this."""
        for job in JobBook(self.ledger).list_open(offer.label):
            if (job.offer.kind, dict(job.offer.work)) == (offer.kind, dict(offer.work)):
                return job.id
        return ""

    def _offer(self, offer: Offer, correlation: str) -> str:
        (record,) = self.ledger.append([events.offered(offer, correlation=correlation)])
        return str(record.subject)

    def _can_be_taken(self, job: Job) -> bool:
        able_workers = self._workers.list_able(job.offer)
        return any(worker.id != job.slow_worker for worker in able_workers)

    def _withdraw(self, job_id: str, state: JobState, why: str) -> bool:
        version = self.ledger.version(job_id)
        job = JobBook(self.ledger).find_job(job_id)
        if job is None or job.state is not state:
            return False
        self.ledger.append([events.withdrawn(job, why)], expect={job_id: version})
        return True

    def _read_outcome(self, job: Job) -> Outcome[Answer]:
        end = JobBook(self.ledger).read_end(job)
        if end.get("ending") == Ending.DONE:
            return Outcome(result=end["result"])
        return Outcome(why=f"{end.get('ending', 'lost')} on a worker: {end.get('why', '')}")

    def _require_term(self) -> None:
        """Stop waiting when another machine leads: it waits for the same job by now."""
        fence = find_fence()
        if fence is None:
            return
        term = self.machines.find_term(fence.name)
        if term is None or term.fence != fence:
            raise build_lost_error(fence)
