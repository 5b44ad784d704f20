"""Gathering evidence on a change's own branch, before anybody decides: findings, then tests.

Each step looks at what is recorded and does what is missing. A test run that a crash cut off is
run again under the next attempt, which is recorded too. Where nothing can run (no sandbox, no test
command) the record says so, and so does the review.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from astra.changes import evidence_events
from astra.changes.mutation import MutationEvidence, MutationRuns, make_unmeasured
from astra.trusted.changes import admission, verdicts
from astra.trusted.changes.evidence import Finding, Severity, TestReport, TestVerdict
from astra.trusted.changes.files import ChangedFile
from astra.trusted.changes.model import Change, Run, State
from astra.trusted.changes.named_files import list_named_files
from astra.trusted.changes.workbench import Workbench
from astra.trusted.kernel.errors import AstraError, Refused
from astra.trusted.kernel.text import printable

MOST_ATTEMPTS = 3
CHANGE, BASE_TESTS, OLD_CODE = verdicts.OWN_RUN, "base tests, new code", verdicts.PROOF_RUN
_MOST_FINDINGS = 500
_LONGEST_TEXT = 4000
_LONGEST_OUTPUT = 20_000
_MOST_FAILURES = 50
_MEASURED_AFTER = frozenset({TestVerdict.PASSED, TestVerdict.FLAKY})
_BLOCKING = frozenset({"flag_off", "stopped"})


def _ignore_output(_chunk: bytes) -> None:
    return


@dataclass(frozen=True)
class Gathering:
    bench: Workbench
    show: Callable[[str, bytes], None] | None = None
    """Gets a change's id and what its tests print, as it comes."""
    mutations: MutationRuns | None = None
    """Tries mutants of a change against its tests; None where there is nothing to try them in."""
    compare_environments: Callable[[str, str], tuple[str, ...]] | None = None
    """Says how what a commit installs differs from what its base does."""

    def scan(self, identifier: str) -> None:
        """Look at the text of a change; nothing of it runs on the host."""
        change = self.bench.book.get(identifier)
        if change.state is not State.GATHERING or change.findings is not None:
            return
        self.bench.require_open()
        self.bench.repo.set_change_branch(change.id, change.commit)
        files = self.bench.repo.differences(change.base, change.commit)
        target = self.bench.configuration().target
        try:
            findings = self.bench.scanner.scan(
                files,
                test_paths=admission.list_test_places(target),
                actor=change.actor,
                correlation=change.correlation,
            )
        except AstraError as error:
            _pass_on(error)
            findings = (_not_scanned(error),)
        findings = (*_of_command(files, target.test_command), *findings)
        clean = [_clean_value(finding.as_dict()) for finding in findings[:_MOST_FINDINGS]]
        self.bench.append(change, evidence_events.scanned(change, clean))

    def test(self, identifier: str) -> None:
        """Run the target's tests on the change, and side by side where it touches tests."""
        change = self.bench.book.get(identifier)
        if change.state is not State.GATHERING or change.tests is not None:
            return
        for planned_run in plan_runs(change):
            self._record_run(identifier, planned_run)
        change = self.bench.book.get(identifier)
        if change.state is not State.GATHERING:
            return  # somebody decided meanwhile
        verdict, summary = judge_runs(change, base_has_tests=self.bench.has_tests(change.base))
        mutation = self._measure_mutants(change)
        change = self.bench.book.get(identifier)
        if change.state is not State.GATHERING:
            return
        before = self.bench.book.find_by_commit(change.base)
        test_warnings = [*list_warnings(change, before), *self._compare_environments(change)]
        completed = evidence_events.tests_completed(
            change,
            verdict,
            summary,
            warnings=test_warnings,
            mutation=None if mutation is None else _clean_value(mutation.as_dict()),
            findings=[_clean_value(f.as_dict()) for f in mutation.findings()] if mutation else (),
        )
        self.bench.append(change, completed)

    def _measure_mutants(self, change: Change) -> MutationEvidence | None:
        """Try mutants of what the change touches, where its own tests pass without any.

        That the tests as they were fail on the new code is no reason to leave it out: a change
        that breaks one old test on purpose could weaken all the others unmeasured.
        """
        if self.mutations is None:
            return None
        if verdicts.own_verdict(change) not in _MEASURED_AFTER:
            return make_unmeasured("the tests do not pass")
        self.bench.require_open()
        try:
            return self.mutations.measure(
                base=change.base,
                commit=change.commit,
                files=self.bench.repo.differences(change.base, change.commit),
                tests=change.facts["tests"],
                label=change.id,
                actor=change.actor,
                correlation=change.correlation,
            )
        except AstraError as error:
            _pass_on(error)
            return make_unmeasured(error.detail)

    def _compare_environments(self, change: Change) -> tuple[str, ...]:
        """Show what a change of dependencies brings along; the tests have built it by now."""
        if self.compare_environments is None or not change.facts["dependencies"]:
            return ()
        try:
            return self.compare_environments(change.base, change.commit)
        except AstraError as error:
            return (printable(f"its environment cannot be compared: {error.detail}"),)

    def cut_short(self, identifier: str) -> None:
        """End the tests of a change that was decided on meanwhile: nobody will read the report."""
        if self.bench.book.get(identifier).state is not State.GATHERING:
            self.bench.tests.end(identifier)

    def _record_run(self, identifier: str, run: dict[str, str]) -> None:
        change = self.bench.book.get(identifier)
        if change.state is not State.GATHERING:
            return
        before = change.runs.get(run["label"])
        if before is not None and before.report is not None:
            return
        attempt = before.attempts + 1 if before else 1
        if attempt > MOST_ATTEMPTS:
            report = _never_ran(run, f"it was cut off {MOST_ATTEMPTS} times")
        else:
            self.bench.append(change, evidence_events.tests_started(change, run, attempt=attempt))
            report = self._execute_run(change, run)
        now = self.bench.book.get(identifier)
        if now.state is State.GATHERING and now.round == change.round:
            self.bench.append(now, evidence_events.tests_ended(now, run, trim_report(report)))

    def _execute_run(self, change: Change, run: dict[str, str]) -> TestReport:
        show = self.show
        try:
            return self.bench.tests.run(
                commit=run["code"],
                tests_from=run["tests"] if run["tests"] != run["code"] else None,
                label=change.id,
                actor=change.actor,
                correlation=change.correlation,
                show=_ignore_output if show is None else lambda chunk: show(change.id, chunk),
            )
        except AstraError as error:
            _pass_on(error)
            return _never_ran(run, f"{error.detail} (next: {error.next_step})")


def plan_runs(change: Change) -> list[dict[str, str]]:
    """Say which runs a change needs: with touched tests, old and new are put against each other."""
    runs = [{"label": CHANGE, "code": change.commit, "tests": change.commit}]
    if change.facts["tests"]:
        runs += [
            {"label": BASE_TESTS, "code": change.commit, "tests": change.base},
            {"label": OLD_CODE, "code": change.base, "tests": change.commit},
        ]
    return runs


def judge_runs(change: Change, *, base_has_tests: bool = True) -> tuple[str, str]:
    """Sum the runs up: the verdict on the change, and what a reviewer should read into it."""
    reports = {label: test_run.report or {} for label, test_run in change.runs.items()}
    verdict = str(reports.get(CHANGE, {}).get("verdict", TestVerdict.UNKNOWN))
    summary_parts = [f"tests {verdict.replace('_', ' ')}"]
    if BASE_TESTS in reports and not base_has_tests:
        summary_parts.append("these are the first tests: there were none to hold it against")
    elif BASE_TESTS in reports:
        on_base = reports[BASE_TESTS]["verdict"]
        summary_parts.append(f"the tests as they were: {on_base.replace('_', ' ')} on the new code")
        if on_base != TestVerdict.PASSED and verdict == TestVerdict.PASSED:
            verdict = str(TestVerdict.FAILED)
            summary_parts.append("the change passes only with the tests it changed")
    if OLD_CODE in reports and reports[OLD_CODE]["verdict"] == TestVerdict.PASSED:
        summary_parts.append("the new tests pass on the old code too, so they prove nothing new")
    if OLD_CODE in reports and verdicts.could_not_collect(reports[OLD_CODE]):
        summary_parts.append(
            "the new tests cannot even start on the old code, which proves nothing"
        )
    return verdict, "; ".join(summary_parts)


def list_warnings(change: Change, before: Change | None) -> list[str]:
    """Say what runs show when they are held against each other, whatever each says of itself.

    A runner that was told to leave tests out, or a report that was written by somebody else, shows
    in how few tests there are: fewer than with the base's own tests, or, where the base was a
    change itself, than its tests were.
    """
    now = _count_executed(change.runs.get(CHANGE))
    base_count = _count_executed(change.runs.get(BASE_TESTS))
    comparison = "than with the tests as they were"
    if base_count is None and before is not None and _ran_same_command(change, before):
        base_count, comparison = (
            _count_executed(before.runs.get(CHANGE)),
            f"than on {before.id}, its base",
        )
    if now is None or base_count is None or now >= base_count:
        return []
    return [f"{base_count - now} fewer test{'s' if base_count - now > 1 else ''} ran {comparison}"]


def _ran_same_command(change: Change, before: Change) -> bool:
    """Tell whether two changes were tested by one command: counts of others mean nothing."""
    test_commands = [
        ((side.runs[CHANGE].report if CHANGE in side.runs else None) or {}).get("command")
        for side in (change, before)
    ]
    return test_commands[0] == test_commands[1]


def _count_executed(run: Run | None) -> int | None:
    """Count the tests of a run, if it said how many there were."""
    report = (run.report if run else None) or {}
    counts = [report.get(name) for name in ("passed", "failed", "errors")]
    return None if None in counts else sum(int(count) for count in counts if count)


def _pass_on(error: AstraError) -> None:
    """Let the step end without a record where the work was closed, not the evidence bad."""
    if isinstance(error, Refused) and error.reason in _BLOCKING:
        raise error


def _of_command(files: Sequence[ChangedFile], command: str) -> tuple[Finding, ...]:
    """Find what decides how the tests are run: the command is signed, these files are not."""
    command_files = set(list_named_files(command))
    message = "is what the signed test_command goes by, so it decides what the tests are"
    return tuple(
        Finding(rule="test-hook", severity=Severity.DANGER, path=file.path, message=message)
        for file in files
        if file.path in command_files
    )


def _not_scanned(error: AstraError) -> Finding:
    return Finding(
        rule="not-scanned",
        severity=Severity.DANGER,
        path="",
        message=f"the change was not scanned: {error.detail}",
    )


def _never_ran(run: dict[str, str], reason: str) -> TestReport:
    return TestReport(
        verdict=TestVerdict.NEVER_RAN,
        reason=reason,
        command="",
        code_commit=run["code"],
        tests_commit=run["tests"],
    )


def trim_report(report: TestReport) -> dict[str, Any]:
    """Keep of a report what a reviewer reads: what the code under test says can be endless."""
    document = report.as_dict()
    tail = str(document.pop("output_tail"))[-_LONGEST_OUTPUT:]
    document["failures"] = document["failures"][:_MOST_FAILURES]
    return {**_clean_value(document), "output_tail": printable(tail)}


def _clean_value(value: Any) -> Any:
    if isinstance(value, str):
        return printable(value)[:_LONGEST_TEXT]
    if isinstance(value, dict):
        return {str(name): _clean_value(item) for name, item in value.items()}  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
    if isinstance(value, list | tuple):
        return [_clean_value(item) for item in value]  # pyright: ignore[reportUnknownVariableType]
    return value
