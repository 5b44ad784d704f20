"""Which workers and jobs there are; which workers answer is asked of the machines, now."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from astra.trusted.ledger.ports import Ledger
from astra.trusted.stop.machines import Machines
from astra.workers.model import Job, JobState, Offer, Skills, Worker, WorkerState, lease_of
from astra.workers.projection import JOB_COLUMNS, WORKER_COLUMNS

_PRESENT = (str(WorkerState.READY), str(WorkerState.UNFIT), str(WorkerState.DRAINING))
_OPEN = (str(JobState.OFFERED), str(JobState.CLAIMED))


@dataclass(frozen=True, kw_only=True)
class WorkerBook:
    ledger: Ledger
    machines: Machines

    def list_workers(self) -> Sequence[Worker]:
        """Give the workers that joined and have not left, with whether each of them answers.

        One whose machine was forgotten is not listed.
        """
        rows = self.ledger.query(
            f"SELECT {WORKER_COLUMNS} FROM worker WHERE state IN (?, ?, ?)"  # noqa: S608 - columns of our own
            " ORDER BY name, id",
            _PRESENT,
        )
        if not rows:
            return ()
        machines = {machine.id: machine for machine in self.machines.list_machines()}
        holding = {name for machine in machines.values() for name in machine.leads}
        claimed_jobs = JobBook(self.ledger).list_jobs(JobState.CLAIMED)
        return [self._read_worker(row, holding, claimed_jobs) for row in rows if row[0] in machines]

    def list_able(self, offer: Offer) -> Sequence[Worker]:
        """Give the workers that could do a job now: they answer, and their preflight holds."""
        return [
            worker
            for worker in self.list_workers()
            if worker.answers and worker.state is WorkerState.READY and offer.fits(worker.skills)
        ]

    def _read_worker(
        self, row: tuple[Any, ...], holding: set[str], claimed_jobs: Sequence[Job]
    ) -> Worker:
        identifier, name, kinds, labels, instance, jobs, version, epoch, state, problems, since = (
            row
        )
        skills = Skills(
            kinds=tuple(json.loads(kinds)), labels=json.loads(labels), instance=instance, jobs=jobs
        )
        return Worker(
            id=identifier,
            name=name,
            skills=skills,
            state=WorkerState(state),
            problems=tuple(json.loads(problems)),
            version=version,
            epoch=epoch,
            since=since,
            answers=lease_of(identifier) in holding,
            current_jobs=tuple(
                f"{job.id} ({job.offer.kind} of {job.offer.label})"
                for job in claimed_jobs
                if job.worker == identifier
            ),
        )


@dataclass(frozen=True)
class JobBook:
    ledger: Ledger

    def find_job(self, job_id: str) -> Job | None:
        jobs = self._select("id = ?", job_id)
        return jobs[0] if jobs else None

    def list_jobs(self, state: JobState) -> Sequence[Job]:
        return self._select("state = ?", str(state))

    def list_open(self, label: str) -> Sequence[Job]:
        """Give the jobs of a change or a goal that are not over."""
        return self._select("label = ? AND state IN (?, ?)", label, *_OPEN)

    def read_end(self, job: Job) -> dict[str, Any]:
        """Give what the record of a job's end says."""
        record = self.ledger.record(job.ended_at)
        return record.data if record else {}

    def _select(self, condition: str, *parameters: str) -> list[Job]:
        rows = self.ledger.query(
            f"SELECT {JOB_COLUMNS} FROM job WHERE {condition} ORDER BY sequence",  # noqa: S608 - words of our own
            parameters,
        )
        return [_read_job(row) for row in rows]


def _read_job(row: tuple[Any, ...]) -> Job:
    identifier, kind, work, label, labels, seconds, repeatable, correlation = row[:8]
    state, worker, epoch, moves, slow_worker, ended_at = row[8:]
    return Job(
        id=identifier,
        offer=Offer(
            kind=kind,
            work=json.loads(work),
            label=label,
            seconds=seconds,
            labels=json.loads(labels),
            repeatable=bool(repeatable),
        ),
        state=JobState(state),
        correlation=correlation,
        worker=worker,
        epoch=epoch,
        moves=moves,
        slow_worker=slow_worker,
        ended_at=ended_at,
    )
