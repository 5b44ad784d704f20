"""What happens to workers and jobs, as events."""

from collections.abc import Mapping, Sequence
from typing import Any

from astra.trusted.kernel.ids import random_id
from astra.trusted.kernel.text import one_line, printable
from astra.trusted.ledger.record import Event
from astra.workers.model import Ending, Job, Offer, Skills

JOINED, CHECKED = "worker_joined", "worker_checked"
DRAINING, LEFT = "worker_draining", "worker_left"
OFFERED, CLAIMED, MOVED = "job_offered", "job_claimed", "job_moved"
ENDED, WITHDRAWN = "job_ended", "job_withdrawn"
ACTOR, LEADER = "worker", "daemon"
_LONGEST_TEXT = 500


def joined(
    worker: str, name: str, skills: Skills, *, version: str, epoch: int, problems: Sequence[str]
) -> Event:
    data = {
        "worker": worker,
        "name": printable(name),
        "kinds": list(skills.kinds),
        "labels": dict(skills.labels),
        "instance": skills.instance,
        "jobs": skills.jobs,
        "version": version,
        "epoch": epoch,
        "problems": _clean_problems(problems),
    }
    return Event(type=JOINED, actor=ACTOR, data=data, subject=worker)


def checked(worker: str, problems: Sequence[str]) -> Event:
    data = {"worker": worker, "problems": _clean_problems(problems)}
    return Event(type=CHECKED, actor=ACTOR, data=data, subject=worker)


def draining(worker: str) -> Event:
    return Event(type=DRAINING, actor=ACTOR, data={"worker": worker}, subject=worker)


def left(worker: str) -> Event:
    return Event(type=LEFT, actor=ACTOR, data={"worker": worker}, subject=worker)


def offered(offer: Offer, *, correlation: str) -> Event:
    job = random_id("job")
    data = {
        "job": job,
        "kind": offer.kind,
        "work": dict(offer.work),
        "label": offer.label,
        "labels": dict(offer.labels),
        "seconds": offer.seconds,
        "repeatable": offer.repeatable,
    }
    return Event(type=OFFERED, actor=LEADER, data=data, subject=job, correlation=correlation)


def claimed(job: Job, worker: str, epoch: int) -> Event:
    return _make_job_event(job, CLAIMED, ACTOR, {"worker": worker, "epoch": epoch})


def moved(job: Job, why: str, *, is_slow: bool) -> Event:
    data = {"worker": job.worker, "why": one_line(why, _LONGEST_TEXT), "slow": is_slow}
    return _make_job_event(job, MOVED, LEADER, data)


def ended(
    job: Job, ending: Ending, *, result: Mapping[str, Any], why: str = "", actor: str = ACTOR
) -> Event:
    data = {
        "worker": job.worker,
        "epoch": job.epoch,
        "ending": str(ending),
        "why": one_line(why, _LONGEST_TEXT),
        "result": dict(result),
    }
    return _make_job_event(job, ENDED, actor, data)


def withdrawn(job: Job, why: str) -> Event:
    data = {"worker": job.worker, "why": one_line(why, _LONGEST_TEXT)}
    return _make_job_event(job, WITHDRAWN, LEADER, data)


def _make_job_event(job: Job, type_: str, actor: str, data: Mapping[str, Any]) -> Event:
    return Event(
        type=type_,
        actor=actor,
        data={"job": job.id, **data},
        subject=job.id,
        correlation=job.correlation,
    )


def _clean_problems(problems: Sequence[str]) -> list[str]:
    return [one_line(problem, _LONGEST_TEXT) for problem in problems]
