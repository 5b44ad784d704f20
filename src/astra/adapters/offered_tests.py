"""Test runs on workers: what the leader offers, and how a worker does it.

A run is a commit, and perhaps another whose tests are put in: ids that the chain holds. The worker
fetches both, checks them by their ids, and runs the signed test command in a box of its own; what
it sends back is a report as this machine would have made it. What the tests print while they run is
not passed on; the end of it is in the report.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from astra.adapters.git_objects import ObjectExchange
from astra.changes.gathering import trim_report
from astra.trusted.changes.evidence import Failure, TestReport, TestRuns, TestVerdict
from astra.workers.model import TESTS, Job, Offer
from astra.workers.offering import JobBoard

TEST_RUNS = 2
"""Tests that failed are run once more."""
PREPARATION_SECONDS = 600.0
"""What fetching the commit and building its environment may take."""


@dataclass(frozen=True, kw_only=True)
class OfferedTests:
    """Runs tests on a worker; here, where no worker can."""

    board: JobBoard
    own: TestRuns
    objects: ObjectExchange
    labels: Callable[[], Sequence[tuple[str, str]]]
    seconds: Callable[[], float]

    def run(
        self,
        *,
        commit: str,
        tests_from: str | None,
        label: str,
        actor: str,
        correlation: str,
        show: Callable[[bytes], None],
    ) -> TestReport:
        def run_here() -> TestReport:
            return self.own.run(
                commit=commit,
                tests_from=tests_from,
                label=label,
                actor=actor,
                correlation=correlation,
                show=show,
            )

        offer = Offer(
            kind=TESTS,
            work={"commit": commit, "tests_from": tests_from or "", "actor": actor},
            label=label,
            seconds=self.seconds(),
            labels=dict(self.labels()),
            repeatable=True,
        )
        if not self.objects.is_configured or not self.board.has_able_worker(offer):
            return run_here()
        self.objects.publish([name for name in (commit, tests_from) if name])
        show(b"[offered to the workers; what they print comes with the report]\n")
        outcome = self.board.have_done(offer, correlation=correlation, do_here=run_here)
        if outcome.own is not None:
            return outcome.own
        if outcome.result is not None:
            return read_report(outcome.result)
        return TestReport(
            verdict=TestVerdict.STOPPED if outcome.is_withdrawn else TestVerdict.NEVER_RAN,
            reason=outcome.why or "it was withdrawn before it ended",
            command="",
            code_commit=commit,
            tests_commit=tests_from or commit,
        )

    def end(self, label: str) -> None:
        self.own.end(label)
        self.board.withdraw_all(label, "its change was decided on before it ended")


@dataclass(frozen=True, kw_only=True)
class TestPerformer:
    """Runs the tests of a job on this machine."""

    __test__ = False

    own: TestRuns
    objects: ObjectExchange

    def perform(self, job: Job) -> Mapping[str, Any]:
        work = job.offer.work
        commit, tests_from = str(work["commit"]), str(work["tests_from"]) or None
        self.objects.ensure([name for name in (commit, tests_from) if name])
        report = self.own.run(
            commit=commit,
            tests_from=tests_from,
            label=job.id,
            actor=str(work["actor"]),
            correlation=job.correlation,
            show=_ignore_output,
        )
        return trim_report(report)

    def end(self, job: Job) -> None:
        self.own.end(job.id)


def read_report(document: Mapping[str, Any]) -> TestReport:
    """Read the report that a worker recorded."""
    failures = (
        Failure(name=str(failure["name"]), message=str(failure["message"]))
        for failure in document["failures"]
    )
    return TestReport(
        verdict=TestVerdict(document["verdict"]),
        reason=str(document["reason"]),
        command=str(document["command"]),
        code_commit=str(document["code_commit"]),
        tests_commit=str(document["tests_commit"]),
        **{name: document[name] for name in ("passed", "failed", "errors", "skipped")},
        failures=tuple(failures),
        flaky=tuple(document["flaky"]),
        seconds=float(document["seconds"]),
        output_tail=str(document["output_tail"]),
        withheld=tuple(document["withheld"]),
    )


def _ignore_output(_chunk: bytes) -> None:
    return
