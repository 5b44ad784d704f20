"""Mutants of a change on workers: what the leader offers, and how a worker measures them.

An offer names a change and its two commits. The worker fetches both, checks them by their ids,
reads from the chain which files of the change are tests, and measures in boxes of its own as this
machine would. What it sends back is read as strictly as what comes out of a box here; whatever is
not exactly that counts as a measure that went wrong, never as a good one.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from astra.adapters.git_objects import ObjectExchange
from astra.adapters.offered_tests import PREPARATION_SECONDS
from astra.changes import mutation
from astra.changes.mutation import Measured, MutationEvidence, MutationRuns
from astra.trusted.changes.files import ChangedFile
from astra.trusted.changes.views import Book
from astra.trusted.kernel.errors import Refused
from astra.trusted.kernel.text import one_line
from astra.workers.model import MUTANTS, Job, Offer
from astra.workers.offering import JobBoard

_MOST_PATHS = 500
_LONGEST_TEXT = 300


class Differences(Protocol):
    def differences(self, old: str, new: str) -> Sequence[ChangedFile]: ...


@dataclass(frozen=True, kw_only=True)
class OfferedMutation:
    """Measures mutants on a worker; here, where no worker can."""

    board: JobBoard
    own: MutationRuns
    objects: ObjectExchange
    labels: Callable[[], Sequence[tuple[str, str]]]
    seconds: Callable[[], float]
    """How long they may be tried; 0 where mutants are switched off."""

    def measure(
        self,
        *,
        base: str,
        commit: str,
        files: Sequence[ChangedFile],
        tests: Sequence[str],
        label: str,
        actor: str,
        correlation: str,
    ) -> MutationEvidence:
        def measure_here() -> MutationEvidence:
            return self.own.measure(
                base=base,
                commit=commit,
                files=files,
                tests=tests,
                label=label,
                actor=actor,
                correlation=correlation,
            )

        offer = Offer(
            kind=MUTANTS,
            work={"change": label, "base": base, "commit": commit},
            label=label,
            seconds=self.seconds() + PREPARATION_SECONDS,
            labels=dict(self.labels()),
            repeatable=True,
        )
        is_worth_it = self.objects.is_configured and self.seconds() > 0
        if not is_worth_it or not self.board.has_able_worker(offer):
            return measure_here()
        self.objects.publish([base, commit])
        outcome = self.board.have_done(offer, correlation=correlation, do_here=measure_here)
        if outcome.own is not None:
            return outcome.own
        if outcome.result is not None:
            return read_evidence(outcome.result)
        why = one_line(outcome.why or "it was withdrawn before it ended", _LONGEST_TEXT)
        return MutationEvidence(now=Measured(problem=why))


@dataclass(frozen=True, kw_only=True)
class MutantPerformer:
    """Measures the mutants of a job on this machine."""

    own: MutationRuns
    repo: Differences
    book: Book
    objects: ObjectExchange
    end_boxes: Callable[[str], None]

    def perform(self, job: Job) -> Mapping[str, Any]:
        work = job.offer.work
        base, commit = str(work["base"]), str(work["commit"])
        change = self.book.get(str(work["change"]))
        if (change.base, change.commit) != (base, commit):
            raise Refused(
                f"{change.id} is of other commits by now",
                code="change_moved",
                next_step="its evidence is gathered anew by itself",
            )
        self.objects.ensure([base, commit])
        evidence = self.own.measure(
            base=base,
            commit=commit,
            files=self.repo.differences(base, commit),
            tests=change.facts["tests"],
            label=job.id,
            actor=change.actor,
            correlation=job.correlation,
        )
        return write_evidence(evidence)

    def end(self, job: Job) -> None:
        self.end_boxes(job.id)


def write_evidence(evidence: MutationEvidence) -> dict[str, Any]:
    """Give a measure whole, as the record of a job's end holds it."""
    return {
        "now": _write_measured(evidence.now),
        "then": _write_measured(evidence.then) if evidence.then is not None else None,
        "other": list(evidence.other[:_MOST_PATHS]),
        "reason": evidence.reason,
    }


def read_evidence(document: Mapping[str, Any]) -> MutationEvidence:
    """Read what a worker recorded; what cannot be read is a problem, never a result."""
    try:
        earlier = document["then"]
        return MutationEvidence(
            now=_read_measured(document["now"]),
            then=None if earlier is None else _read_measured(earlier),
            other=tuple(str(path) for path in document["other"]),
            reason=str(document["reason"]),
        )
    except (KeyError, TypeError, AttributeError):
        return MutationEvidence(now=Measured(problem="a worker's answer cannot be read"))


def _write_measured(measured: Measured) -> dict[str, Any]:
    faults = mutation.fault_documents(measured.verdicts)
    return {
        "mutants": [
            {**fault, "verdict": verdict}
            for fault, verdict in zip(faults, measured.verdicts.values(), strict=True)
        ],
        "tests": measured.tests,
        "usable": measured.usable,
        "seconds": measured.seconds,
        "problem": measured.problem,
    }


def _read_measured(document: Mapping[str, Any]) -> Measured:
    if document["problem"]:
        return Measured(problem=one_line(str(document["problem"]), _LONGEST_TEXT))
    return mutation.read_measured(json.dumps(dict(document)).encode())
