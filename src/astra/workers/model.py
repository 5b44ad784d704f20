"""Workers and jobs as they stand in the records."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

TESTS, MUTANTS, RESEARCH = "tests", "mutants", "research"
KINDS = (TESTS, MUTANTS, RESEARCH)
"""What a worker can be asked to do."""


class WorkerState(StrEnum):
    READY = "ready"
    UNFIT = "unfit"
    DRAINING = "draining"
    LEFT = "left"


class JobState(StrEnum):
    OFFERED = "offered"
    CLAIMED = "claimed"
    ENDED = "ended"
    WITHDRAWN = "withdrawn"


class Ending(StrEnum):
    """How a job ended: with a result, with a reason why there is none, or cut off."""

    DONE = "done"
    FAILED = "failed"
    INTERRUPTED = "interrupted"


def lease_of(worker: str) -> str:
    """Name the lease that a worker holds: its own, which nobody else wants."""
    return f"worker:{worker}"


@dataclass(frozen=True, kw_only=True)
class Skills:
    """What a worker says of itself when it joins."""

    kinds: tuple[str, ...] = KINDS
    labels: Mapping[str, str] = field(default_factory=dict[str, str])
    instance: str = ""
    jobs: int = 1
    """How many jobs it does at once."""


@dataclass(frozen=True, kw_only=True)
class Worker:
    id: str
    name: str
    skills: Skills
    state: WorkerState
    problems: tuple[str, ...]
    """Why it takes no jobs, found by its preflight."""
    version: str
    epoch: int
    since: str
    answers: bool = False
    """Whether it was seen within the last seconds, by the database's clock."""
    current_jobs: tuple[str, ...] = ()

    @property
    def shown_state(self) -> str:
        """Say how it is now: one that is away says nothing of itself."""
        if self.state is not WorkerState.LEFT and not self.answers:
            return "away"
        return str(self.state)

    def as_dict(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "name": self.name,
            "instance": self.skills.instance,
            "kinds": list(self.skills.kinds),
            "labels": dict(self.skills.labels),
            "jobs": self.skills.jobs,
            "state": self.shown_state,
            "problems": list(self.problems),
            "current_jobs": list(self.current_jobs),
            "version": self.version,
            "epoch": self.epoch,
            "since": self.since,
        }


@dataclass(frozen=True, kw_only=True)
class Offer:
    """What is to be done, for whoever can do it."""

    kind: str
    work: Mapping[str, Any]
    """What the kind needs to know; never more than ids that the chain or the repository hold."""
    label: str
    """Whose job it is: a change, a goal. Ending that ends its jobs."""
    seconds: float
    """How long it may take on one worker before it is moved."""
    labels: Mapping[str, str] = field(default_factory=dict[str, str])
    """What a worker must say of itself to get it."""
    repeatable: bool = False
    """Whether doing it twice does no harm. What is not repeatable is never moved once begun."""

    def fits(self, skills: Skills) -> bool:
        has_labels = all(skills.labels.get(name) == value for name, value in self.labels.items())
        return self.kind in skills.kinds and has_labels


@dataclass(frozen=True, kw_only=True)
class Job:
    id: str
    offer: Offer
    state: JobState
    correlation: str
    worker: str = ""
    """Who has it, or had it last."""
    epoch: int = 0
    moves: int = 0
    slow_worker: str = ""
    """Who was too slow with it, and does not get it again."""
    ended_at: int = 0
    """The place of the record of its end."""

    def may_take(self, worker: str, skills: Skills) -> bool:
        is_open = self.state is JobState.OFFERED and self.slow_worker != worker
        return is_open and self.offer.fits(skills)
