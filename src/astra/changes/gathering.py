"""Gathering evidence on a change's own branch, before anybody decides: findings, then tests.

Each step looks at what is recorded and does what is missing. A test run that a crash cut off is
run again under the next attempt, which is recorded too. Where nothing can run (no sandbox, no test
command) the record says so, and so does the review.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from astra.changes.mutation import MutationEvidence, MutationRuns, not_measured
from astra.trusted.changes import admission, commands, events, verdicts
from astra.trusted.changes.evidence import Finding, Severity, TestReport, TestVerdict
from astra.trusted.changes.files import ChangedFile
from astra.trusted.changes.model import Change, Run, State
from astra.trusted.changes.workbench import Workbench
from astra.trusted.kernel.errors import AstraError, Refused
from astra.trusted.kernel.text import printable

MOST_ATTEMPTS = 3
CHANGE, BASE_TESTS, OLD_CODE = verdicts.OWN_RUN, "base tests, new code", "new tests, base code"
_MOST_FINDINGS = 500
_LONGEST_TEXT = 4000
_LONGEST_OUTPUT = 20_000
_MOST_FAILURES = 50
_MEASURED_AFTER = frozenset({TestVerdict.PASSED, TestVerdict.FLAKY})
_BLOCKING = frozenset({"flag_off", "stopped"})


def _silently(_chunk: bytes) -> None:
    return


@dataclass(frozen=True)
class Gathering:
    bench: Workbench
    show: Callable[[str, bytes], None] | None = None
    """Gets a change's id and what its tests print, as it comes."""
    mutations: MutationRuns | None = None
    """Tries mutants of a change against its tests; None where there is nothing to try them in."""

    def scan(self, identifier: str) -> None:
        """Look at the text of a change; nothing of it runs on the host."""
        change = self.bench.book.get(identifier)
        if change.state is not State.GATHERING or change.findings is not None:
            return
        self.bench.require_open()
        self.bench.repo.place(change.id, change.commit)
        files = self.bench.repo.differences(change.base, change.commit)
        target = self.bench.configuration().target
        try:
            found = self.bench.scanner.scan(
                files,
                test_paths=admission.tests_of(target),
                actor=change.actor,
                correlation=change.correlation,
            )
        except AstraError as error:
            _pass_on(error)
            found = (_not_scanned(error),)
        found = (*_of_command(files, target.test_command), *found)
        clean = [_clean(finding.as_dict()) for finding in found[:_MOST_FINDINGS]]
        self.bench.append(change, events.scanned(change, clean))

    def test(self, identifier: str) -> None:
        """Run the target's tests on the change, and side by side where it touches tests."""
        change = self.bench.book.get(identifier)
        if change.state is not State.GATHERING or change.tests is not None:
            return
        for run in planned(change):
            self._run(identifier, run)
        change = self.bench.book.get(identifier)
        if change.state is not State.GATHERING:
            return  # somebody decided meanwhile
        verdict, words = judged(change)
        mutation = self._measure_mutants(change, verdict)
        change = self.bench.book.get(identifier)
        if change.state is not State.GATHERING:
            return
        before = self.bench.book.of_commit(change.base)
        said = warnings(change, before)
        completed = events.tests_completed(
            change,
            verdict,
            words,
            warnings=said,
            mutation=None if mutation is None else _clean(mutation.as_dict()),
            findings=[_clean(f.as_dict()) for f in mutation.findings()] if mutation else (),
        )
        self.bench.append(change, completed)

    def _measure_mutants(self, change: Change, verdict: str) -> MutationEvidence | None:
        """Try mutants of what the change touches, where its tests pass without any."""
        if self.mutations is None:
            return None
        if verdict not in _MEASURED_AFTER:
            return not_measured("the tests do not pass")
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
            return not_measured(error.detail)

    def cut_short(self, identifier: str) -> None:
        """End the tests of a change that was decided on meanwhile: nobody will read the report."""
        if self.bench.book.get(identifier).state is not State.GATHERING:
            self.bench.tests.end(identifier)

    def _run(self, identifier: str, run: dict[str, str]) -> None:
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
            self.bench.append(change, events.tests_started(change, run, attempt=attempt))
            report = self._report(change, run)
        now = self.bench.book.get(identifier)
        if now.state is State.GATHERING and now.round == change.round:
            self.bench.append(now, events.tests_ended(now, run, _cut(report)))

    def _report(self, change: Change, run: dict[str, str]) -> TestReport:
        show = self.show
        try:
            return self.bench.tests.run(
                commit=run["code"],
                tests_from=run["tests"] if run["tests"] != run["code"] else None,
                label=change.id,
                actor=change.actor,
                correlation=change.correlation,
                show=_silently if show is None else lambda chunk: show(change.id, chunk),
            )
        except AstraError as error:
            _pass_on(error)
            return _never_ran(run, f"{error.detail} (next: {error.next_step})")


def planned(change: Change) -> list[dict[str, str]]:
    """Say which runs a change needs: with touched tests, old and new are put against each other."""
    runs = [{"label": CHANGE, "code": change.commit, "tests": change.commit}]
    if change.facts["tests"]:
        runs += [
            {"label": BASE_TESTS, "code": change.commit, "tests": change.base},
            {"label": OLD_CODE, "code": change.base, "tests": change.commit},
        ]
    return runs


def judged(change: Change) -> tuple[str, str]:
    """Sum the runs up: the verdict on the change, and what a reviewer should read into it."""
    reports = {label: run.report or {} for label, run in change.runs.items()}
    verdict = str(reports.get(CHANGE, {}).get("verdict", TestVerdict.UNKNOWN))
    words = [f"tests {verdict.replace('_', ' ')}"]
    if BASE_TESTS in reports:
        on_base = reports[BASE_TESTS]["verdict"]
        words.append(f"the tests as they were: {on_base.replace('_', ' ')} on the new code")
        if on_base != TestVerdict.PASSED and verdict == TestVerdict.PASSED:
            verdict = str(TestVerdict.FAILED)
            words.append("the change passes only with the tests it changed")
    if OLD_CODE in reports and reports[OLD_CODE]["verdict"] == TestVerdict.PASSED:
        words.append("the new tests pass on the old code too, so they prove nothing new")
    if OLD_CODE in reports and verdicts.could_not_collect(reports[OLD_CODE]):
        words.append("the new tests cannot even start on the old code, which proves nothing")
    return verdict, "; ".join(words)


def warnings(change: Change, before: Change | None) -> list[str]:
    """Say what runs show when they are held against each other, whatever each says of itself.

    A runner that was told to leave tests out, or a report that was written by somebody else, shows
    in how few tests there are: fewer than with the base's own tests, or, where the base was a
    change itself, than its tests were.
    """
    now = _executed(change.runs.get(CHANGE))
    then = _executed(change.runs.get(BASE_TESTS))
    words = "than with the tests as they were"
    if then is None and before is not None:
        then, words = _executed(before.runs.get(CHANGE)), f"than on {before.id}, its base"
    if now is None or then is None or now >= then:
        return []
    return [f"{then - now} fewer test{'s' if then - now > 1 else ''} ran {words}"]


def _executed(run: Run | None) -> int | None:
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
    named = set(commands.named_files(command))
    message = "is what the signed test_command goes by, so it decides what the tests are"
    return tuple(
        Finding(rule="test-hook", severity=Severity.DANGER, path=file.path, message=message)
        for file in files
        if file.path in named
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


def _cut(report: TestReport) -> dict[str, Any]:
    """Keep of a report what a reviewer reads: what the code under test says can be endless."""
    said = report.as_dict()
    tail = str(said.pop("output_tail"))[-_LONGEST_OUTPUT:]
    said["failures"] = said["failures"][:_MOST_FAILURES]
    return {**_clean(said), "output_tail": printable(tail)}


def _clean(value: Any) -> Any:
    if isinstance(value, str):
        return printable(value)[:_LONGEST_TEXT]
    if isinstance(value, dict):
        return {str(name): _clean(item) for name, item in value.items()}  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
    if isinstance(value, list | tuple):
        return [_clean(item) for item in value]  # pyright: ignore[reportUnknownVariableType]
    return value
