"""Runs mutants of a change against its tests, in the same kind of box as the tests themselves.

The worker (`mutation_worker`) is copied beside its job into a folder that the box can only read,
and is named to the target's own pytest as a plugin. Where the command is not pytest's, nothing is
measured, and that is said. Where the change touches tests, the mutants are chosen and tried with
the tests as they were first, and then tried with the tests of the change.
"""

import contextlib
import json
import os
import tempfile
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import resources
from pathlib import Path
from typing import Any

from astra.adapters.environment_orders import Purpose
from astra.adapters.environments import ProvideEnvironment, provide_nothing
from astra.adapters.workspaces import PLACE, Workspaces
from astra.adoption import target_command
from astra.adoption.target_command import TestCommand
from astra.changes import mutation
from astra.changes.mutation import Fault, Measured, MutationEvidence, Touched
from astra.trusted.changes.files import ChangedFile
from astra.trusted.changes.places import belongs_to_tests
from astra.trusted.kernel.errors import AstraError
from astra.trusted.kernel.masking import mask
from astra.trusted.kernel.text import one_line, printable
from astra.trusted.policy.manifest import Limits, Manifest
from astra.trusted.sandbox import machine, staging, toolchain
from astra.trusted.sandbox.ports import Boxes, BoxRequest, Outcome, Verdict
from astra.trusted.sandbox.results import read_result

_PACKAGE, _WORKER = "astra_mutation_worker", "astra.adapters.mutation_worker"
_RESULT = "mutants.json"
_MOST_FILES = 20_000
_GRACE = 15.0
"""Seconds over the budget before a box that does not end by itself is ended."""


@dataclass(frozen=True, kw_only=True)
class BoxedMutation:
    boxes: Boxes
    workspaces: Workspaces
    test_command: str
    test_paths: Sequence[str]
    seconds: int
    limits: Limits
    programs: Callable[[], tuple[Path, ...]] = tuple
    environment: ProvideEnvironment = provide_nothing
    variables: Mapping[str, str] = field(default_factory=dict[str, str])

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
        """Say how many mutants of what a change touches survive; `tests` are its test files."""
        test_files = frozenset(tests)
        touched = mutation.find_touched(files, lambda path: path in test_files)
        if reason := self._explain_unmeasured(touched):
            return mutation.make_unmeasured(reason, touched.other)
        story = _Story(
            self, target_command.parse(self.test_command), commit, label, actor, correlation
        )
        return story.tell(base, touched)

    def _explain_unmeasured(self, touched: Touched) -> str:
        if not self.seconds:
            return "it is switched off (target.mutation_seconds is 0)"
        if not touched.code and not touched.touches_tests:
            return "the change touches no Python code and no test"
        try:
            command = target_command.parse(self.test_command)
        except AstraError as error:
            return error.detail
        return "" if command.pytest is not None else "test_command is not one of pytest's"


@dataclass(frozen=True)
class _Story:
    """One change: run with its own tests, and before that with the old ones where it has others."""

    runs: BoxedMutation
    command: TestCommand
    commit: str
    label: str
    actor: str
    correlation: str

    def tell(self, base: str, touched: Touched) -> MutationEvidence:
        job: dict[str, Any] = {"touched": touched.code, "tests": {}, "mutants": None}
        if not touched.touches_tests:
            now = self._run_job(job, None, self.runs.seconds)
            return MutationEvidence(now=now, other=touched.other)
        budget = self.runs.seconds / 2
        earlier = self._run_job({**job, "tests": touched.old_tests}, base, budget)
        if earlier.verdicts:
            now = self._run_job({**job, "mutants": list(earlier.verdicts)}, None, budget)
        else:
            now = self._run_job({**job, "tests": touched.new_tests}, None, budget)
        return MutationEvidence(now=now, then=earlier, other=touched.other)

    def _run_job(self, job: dict[str, Any], tests_from: str | None, seconds: float) -> Measured:
        try:
            with (
                self.runs.workspaces.open(
                    self.commit, tests_from=tests_from, test_paths=self.runs.test_paths
                ) as files,
                _make_folders() as (worker, results),
            ):
                self._lay_out(worker, results, job, seconds)
                command = _with_plugin(self.command, worker, results)
                purpose = Purpose(actor=self.actor, correlation=self.correlation, label=self.label)
                environment = self.runs.environment(self.commit, purpose)
                request = BoxRequest(
                    command=command,
                    manifest=Manifest(
                        read_paths=(str(worker),),
                        write_paths=(str(results),),
                        limits=replace(self.runs.limits, wall_seconds=seconds + _GRACE),
                        environment=dict(self.runs.variables),
                    ),
                    workdir=files.place,
                    actor=self.actor,
                    correlation=self.correlation,
                    programs=(*toolchain.find_named_programs(command), *self.runs.programs()),
                    workspace=environment.link_modules(files),
                    label=self.label,
                    environment=environment.toolchain,
                )
                outcome = self.runs.boxes.run(request)
                return _read_measured(outcome, results)
        except AstraError as error:
            return Measured(problem=one_line(error.detail, 300))

    def _lay_out(self, worker: Path, results: Path, job: dict[str, Any], seconds: float) -> None:
        faults: list[Fault] | None = job["mutants"]
        job_document = {
            **job,
            "mutants": None if faults is None else mutation.fault_documents(faults),
            "root": PLACE,
            "result": str(results / _RESULT),
            "seconds": seconds,
            "most": mutation.MOST_MUTANTS,
            "files": self._code_files(),
        }
        package = worker / _PACKAGE
        package.mkdir(mode=0o755)
        for part in resources.files(_WORKER).iterdir():
            if part.name.endswith(".py"):
                (package / part.name).write_bytes(part.read_bytes())
        (package / "job.json").write_text(json.dumps(job_document), encoding="utf-8")

    def _code_files(self) -> list[str]:
        """Name the Python files that are no tests; a name that is no text cannot be imported."""
        names = (os.fsdecode(path) for path in self.runs.workspaces.paths(self.commit))
        is_test = self.runs.test_paths
        return sorted(
            name
            for name in names
            if name.endswith(".py") and name.isprintable() and not belongs_to_tests(name, is_test)
        )[:_MOST_FILES]


def _with_plugin(command: TestCommand, worker: Path, results: Path) -> tuple[str, ...]:
    """Name the worker to pytest; a PYTHONPATH that the command sets keeps what it has."""
    report = str(results / "junit.xml")
    arguments = [word.replace(target_command.PLACEHOLDER, report) for word in command.parts]
    place = command.pytest if command.pytest is not None else len(arguments) - 1
    arguments[place + 1 : place + 1] = ["-p", f"{_PACKAGE}.plugin"]
    for number, word in enumerate(arguments[:place]):
        if word.startswith("PYTHONPATH="):
            arguments[number] = f"{word}:{worker}"
            return tuple(arguments)
    return ("env", f"PYTHONPATH={worker}", *arguments)


def _read_measured(outcome: Outcome, results: Path) -> Measured:
    if outcome.verdict not in {Verdict.SUCCEEDED, Verdict.FAILED}:
        return Measured(problem=one_line(outcome.reason, 300))
    try:
        return mutation.read_measured(read_result(results, _RESULT))
    except AstraError:
        lines = (outcome.stderr + outcome.stdout).decode("utf-8", "replace").strip().splitlines()
        last = mask(printable(lines[-1])) if lines else "it said nothing"
        return Measured(problem=one_line(f"the run left no result: {last}", 300))


@contextlib.contextmanager
def _make_folders() -> Generator[tuple[Path, Path], None, None]:
    """Make a folder that a box can read, and one that it can write."""
    with tempfile.TemporaryDirectory(prefix="astra-mutants-", ignore_cleanup_errors=True) as name:
        top = Path(name).resolve()
        worker, results = top / "worker", top / "results"
        worker.mkdir(mode=0o755)
        results.mkdir(mode=0o755)
        staging.hand_over(results, machine.inspect_machine().identity)
        yield worker, results
