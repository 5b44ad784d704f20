"""Runs the target's tests in a box, on files made for that one run, and says what came of it.

The box has no network, a fresh copy of the commit's files, and one folder for its report. What it
printed is shown as it comes, up to a bound. The verdict is the server's (`astra.changes.judging`);
counts are what the code under test reported. Tests that failed are run once more, alone: one that
passes then is flaky, which is not the same as passing.
"""

import contextlib
import os
import tempfile
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from astra.adapters.environment_orders import Purpose
from astra.adapters.environments import Environment, ProvideEnvironment, provide_nothing
from astra.adapters.workspaces import Workspaces
from astra.adoption import target_command
from astra.adoption.target_command import TestCommand
from astra.changes import jest_report, judging, junit, unittest_text
from astra.changes.judging import Judgement
from astra.changes.junit import Case, Report, State
from astra.trusted.changes.evidence import Failure, TestReport, TestVerdict
from astra.trusted.kernel.errors import AstraError
from astra.trusted.kernel.masking import mask
from astra.trusted.kernel.text import one_line, printable
from astra.trusted.policy.manifest import MIB, Limits, Manifest
from astra.trusted.sandbox import machine, staging, toolchain
from astra.trusted.sandbox.ports import Boxes, BoxRequest, Outcome, Verdict, Workspace
from astra.trusted.sandbox.results import read_result

MOST_SHOWN = MIB
TAIL = 8_000
MOST_FAILURES = 50
MOST_RERUN = 50
MOST_WITHHELD = 200
_ENDINGS = {
    Verdict.NEVER_RAN: TestVerdict.NEVER_RAN,
    Verdict.TIMED_OUT: TestVerdict.TIMED_OUT,
    Verdict.KILLED_BY_LIMIT: TestVerdict.KILLED,
    Verdict.STOPPED_BY_OPERATOR: TestVerdict.STOPPED,
}
_REPORT = "junit.xml"
_CUT = b"\n[more output is not shown]\n"
Show = Callable[[bytes], None]


@dataclass(frozen=True, kw_only=True)
class BoxedTests:
    boxes: Boxes
    workspaces: Workspaces
    test_command: str
    test_paths: Sequence[str]
    limits: Limits = field(default_factory=Limits)
    programs: Callable[[], tuple[Path, ...]] = tuple
    environment: ProvideEnvironment = provide_nothing
    variables: Mapping[str, str] = field(default_factory=dict[str, str])

    def run(
        self,
        *,
        commit: str,
        tests_from: str | None,
        label: str,
        actor: str,
        correlation: str,
        show: Show,
    ) -> TestReport:
        """Test a commit; with `tests_from`, its test paths are replaced by that commit's."""
        blank = TestReport(
            verdict=TestVerdict.NEVER_RAN,
            reason="",
            command=self.test_command,
            code_commit=commit,
            tests_commit=tests_from or commit,
        )
        try:
            command = target_command.parse(self.test_command)
            with self.workspaces.open(
                commit, tests_from=tests_from, test_paths=self.test_paths
            ) as files:
                blank = replace(
                    blank, withheld=self.workspaces.list_withheld(commit)[:MOST_WITHHELD]
                )
                purpose = Purpose(actor=actor, correlation=correlation, label=label, show=show)
                environment = self.environment(commit, purpose)
                story = _Story(self, command, files, environment, purpose)
                return story.tell(blank, show, lambda: self._list_paths(commit, tests_from))
        except AstraError as error:
            return replace(blank, reason=error.detail)

    def end(self, label: str) -> None:
        self.boxes.end(label, "its change was decided on before it ended")

    def _list_paths(self, commit: str, tests_from: str | None) -> frozenset[bytes]:
        return frozenset[bytes]().union(
            *(self.workspaces.paths(name) for name in (commit, tests_from) if name)
        )


@dataclass(frozen=True)
class _Run:
    outcome: Outcome
    report: Report | None
    judgement: Judgement
    tail: str


@dataclass(frozen=True)
class _Story:
    """One commit under test: a first run, and one more for what failed."""

    tests: BoxedTests
    command: TestCommand
    files: Workspace
    environment: Environment
    purpose: Purpose

    def tell(
        self, blank: TestReport, show: Show, list_paths: Callable[[], frozenset[bytes]]
    ) -> TestReport:
        first = self._run_tests(self.command.build_words, show)
        report = _fill_report(blank, first)
        if self.command.pytest is None or report.verdict is not TestVerdict.FAILED:
            return report
        paths = list_paths()
        names = _node_ids(first, paths)
        if not names:
            return report
        show(b"\n[running the failed tests once more, alone]\n")
        again = self._run_tests(self._words_for(names, paths), show)
        return _with_flaky(report, first, again, names)

    def _words_for(
        self, names: dict[str, Case], paths: frozenset[bytes]
    ) -> Callable[[str], tuple[str, ...]]:
        def is_path(word: str) -> bool:
            place = os.fsencode(word.removeprefix("./").rstrip("/"))
            return any(path == place or path.startswith(place + b"/") for path in paths)

        return lambda report: self.command.select_tests(report, tuple(names), is_path=is_path)

    def _run_tests(self, words: Callable[[str], tuple[str, ...]], show: Show) -> _Run:
        screen = _Screen(show)
        with _make_results_folder() as folder:
            command = words(str(folder / _REPORT))
            request = BoxRequest(
                command=command,
                manifest=Manifest(
                    write_paths=(str(folder),),
                    limits=self.tests.limits,
                    environment=dict(self.tests.variables),
                ),
                workdir=self.files.place,
                actor=self.purpose.actor,
                correlation=self.purpose.correlation,
                programs=(*toolchain.find_named_programs(command), *self.tests.programs()),
                workspace=self.environment.link_modules(self.files),
                on_output=screen.take,
                label=self.purpose.label,
                environment=self.environment.toolchain,
            )
            outcome = self.tests.boxes.run(request)
            report, problem = _find_report(self.command, folder, screen)
        judgement = _judge_run(outcome, report, problem, is_pytest=self.command.pytest is not None)
        return _Run(outcome, report, judgement, screen.tail())


class _Screen:
    """What a run prints: passed on up to a bound, its end kept."""

    def __init__(self, show: Show) -> None:
        self._show = show
        self._left = MOST_SHOWN
        self._end = b""
        self._ends = {"stdout": bytearray(), "stderr": bytearray()}

    def take(self, stream: str, data: bytes) -> None:
        self._end = (self._end + data[-TAIL:])[-TAIL:]
        stream_end = self._ends[stream]
        stream_end += data
        if len(stream_end) > 2 * unittest_text.LARGEST:
            del stream_end[: -unittest_text.LARGEST]
        if self._left > 0:
            self._show(data[: self._left])
            self._left -= len(data)
            if self._left <= 0:
                self._show(_CUT)

    def tail(self) -> str:
        return mask(printable(self._end.decode("utf-8", "replace")))

    def read_summary(self) -> Report | None:
        """Read what unittest printed: on its own stream, else where a shell sent it."""
        for stream in ("stderr", "stdout"):
            end = bytes(self._ends[stream][-unittest_text.LARGEST :])
            if report := unittest_text.read(end.decode("utf-8", "replace")):
                return report
        return None


def _judge_run(
    outcome: Outcome, report: Report | None, problem: str, *, is_pytest: bool
) -> Judgement:
    if outcome.verdict in _ENDINGS:
        return Judgement(_ENDINGS[outcome.verdict], _in_words(outcome))
    code = outcome.exit_code if outcome.exit_code is not None else 1
    return judging.judge(exit_code=code, report=report, problem=problem, is_pytest=is_pytest)


def _in_words(outcome: Outcome) -> str:
    step = f"; {outcome.next_step}" if outcome.verdict is Verdict.NEVER_RAN else ""
    return one_line(outcome.reason + step, 500)


def _find_report(command: TestCommand, folder: Path, screen: _Screen) -> tuple[Report | None, str]:
    """Read the report that the run was asked for, or what it printed, or say why there is none."""
    if command.prints_summary:
        report = screen.read_summary()
        return report, "" if report else "the output has no summary of unittest"
    if not command.has_report:
        return None, "the command writes no report (see {junit})"
    return _read_report(folder)


def _read_report(folder: Path) -> tuple[Report | None, str]:
    try:
        data = read_result(folder, _REPORT, most=junit.LARGEST)
        read_cases = jest_report.read if data.lstrip()[:1] == b"{" else junit.read
        return read_cases(data), ""
    except AstraError as error:
        return None, one_line(error.detail, 300)


def _fill_report(blank: TestReport, run: _Run) -> TestReport:
    report = run.report
    return replace(
        blank,
        verdict=run.judgement.verdict,
        reason=run.judgement.reason,
        passed=report.count(State.PASSED) if report else None,
        failed=report.count(State.FAILED) if report else None,
        errors=report.count(State.ERROR) if report else None,
        skipped=report.count(State.SKIPPED) if report else None,
        failures=tuple(_failure_from_case(case) for case in report.failed_cases[:MOST_FAILURES])
        if report
        else (),
        seconds=round(run.outcome.seconds, 3),
        output_tail=run.tail,
    )


def _failure_from_case(case: Case) -> Failure:
    return Failure(name=one_line(case.title), message=case.message)


def _with_flaky(told: TestReport, first: _Run, again: _Run, names: dict[str, Case]) -> TestReport:
    """Name what passed the second time; only if that is all that failed, the run is flaky."""
    passed_titles = (
        {c.title for c in again.report.cases if c.state is State.PASSED}
        if again.report
        else set[str]()
    )
    passed_titles -= {case.title for case in again.report.failed_cases} if again.report else set()
    flaky = tuple(one_line(case.title) for case in names.values() if case.title in passed_titles)
    bad = len(first.report.failed_cases) if first.report else 0
    if flaky and len(flaky) == bad and again.judgement.verdict is TestVerdict.PASSED:
        reason = f"{len(flaky)} tests failed at first and passed when run again"
        return replace(told, verdict=TestVerdict.FLAKY, reason=reason, flaky=flaky)
    return replace(told, flaky=flaky)


def _node_ids(run: _Run, paths: frozenset[bytes]) -> dict[str, Case]:
    """Spell what failed as pytest does; only for files that the commit really has."""
    bad = run.report.failed_cases if run.report else []
    if len(bad) > MOST_RERUN:
        return {}
    return {name: case for case in bad if (name := _node_id(case, paths))}


def _node_id(case: Case, paths: frozenset[bytes]) -> str:
    module = case.file.removesuffix(".py").replace("/", ".")
    is_known = os.fsencode(case.file) in paths and not case.file.startswith("-")
    is_file = case.name == module  # it could not even be collected
    if not is_known or is_file or not case.name or "\0" in case.name:
        return ""
    inner = case.group.removeprefix(module).strip(".")
    groups = "".join(f"::{part}" for part in inner.split(".") if part)
    return f"{case.file}{groups}::{case.name}"


@contextlib.contextmanager
def _make_results_folder() -> Generator[Path, None, None]:
    """Make a folder that the boxes' user can write and nobody else can reach."""
    with tempfile.TemporaryDirectory(prefix="astra-tests-", ignore_cleanup_errors=True) as name:
        inner = Path(name).resolve() / "results"
        inner.mkdir(mode=0o755)
        staging.hand_over(inner, machine.inspect_machine().identity)
        yield inner
