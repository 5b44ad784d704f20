"""Sits in the target's pytest and runs its tests against faulty versions of its code.

The job lies beside this file. Before anything of the target is loaded, a second process is split
off (`_Cold`): it has pytest and nothing else, and each of its children loads the target with a
fault in what runs at import. This process loads the target once; each of its children exchanges
the code of functions and runs the tests that reach the fault, the quickest first, until one fails.

A first child runs every test on the code as it is, recompiled and exchanged in the same way: only
tests that pass there count, so that a test which merely notices the exchange kills nothing.

Everything here shares a process with the code under test, which can make of it what it likes. The
result is read as such.
"""

from __future__ import annotations

import gc
import json
import os
import select
import signal
import socket
from dataclasses import asdict
from pathlib import Path
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any

import pytest

from .coverage import Coverage, compile_on_import, exchange_code, loaded_functions
from .mutants import Mutant, apply_mutant, find_mutants, stratify

if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from types import FunctionType

_STARTED = monotonic()
_SURVIVED, _KILLED, _NOT_APPLIED = 0, 10, 11
_LEAST_SECONDS = 0.5
_PATIENCE = 2.0
"""Seconds that a child gets over five times what its tests took before."""
_SHARE_OF_FIRST_RUN = 0.6
_HERE = Path(__file__).parent
_exit, _fork, _kill, _waitpid = os._exit, os.fork, os.kill, os.waitpid
Spot = tuple[str, int]


class Job:
    """What to measure; paths are below the target's folder, kept whole."""

    def __init__(self, data: dict[str, Any]) -> None:
        root = data["root"]
        self.root: str = root
        self.result: str = data["result"]
        self.deadline = _STARTED + data["seconds"]
        self.seconds: float = data["seconds"]
        self.most: int = data["most"]
        self.files = frozenset(f"{root}/{path}" for path in data["files"])
        self.touched: dict[str, set[int]] = {
            f"{root}/{path}": set(lines) for path, lines in data["touched"].items()
        }
        self.tests: dict[str, list[int]] | None = data["tests"]
        self.mutants: list[dict[str, Any]] | None = data["mutants"]


class Trial:
    """One faulty version, and the tests that are to notice it."""

    def __init__(self, path: str, mutant: Mutant, source: str) -> None:
        self.path, self.mutant = path, mutant
        self.text = apply_mutant(source, mutant)


class _Cold:
    """The process that has loaded nothing of the target yet, and makes children that do."""

    def __init__(self) -> None:
        ours, theirs = socket.socketpair()
        if _fork():
            theirs.close()
            self.task: dict[str, Any] | None = None
            self._stream = ours.makefile("rw", encoding="utf-8")
        else:
            ours.close()
            self.task = _serve_tasks(theirs.makefile("rw", encoding="utf-8"))

    def try_out(self, trial: Trial, names: list[str], seconds: float) -> str:
        task = {"path": trial.path, "text": trial.text, "names": names, "seconds": seconds}
        try:
            self._stream.write(json.dumps(task) + "\n")
            self._stream.flush()
            return self._stream.readline().strip() or "unknown"
        except OSError:
            return "unknown"


def _serve_tasks(stream: Any) -> dict[str, Any]:
    """Answer one task after another; only a child returns, with the task that it is for."""
    for line in stream:
        task = json.loads(line)
        child = _fork()
        if not child:
            _detach_child()
            return task
        stream.write(_name_verdict(_await_child(child, task["seconds"])) + "\n")
        stream.flush()
    _exit(0)
    return {}


def _detach_child() -> None:
    """Stand in a group of one's own, and say nothing: nobody reads what a child prints."""
    os.setpgid(0, 0)
    nowhere = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nowhere, descriptor)


def _await_child(child: int, seconds: float) -> int | None:
    """Give the child's exit code, less than 0 for a signal; None if it took too long."""
    end, pause = monotonic() + seconds, 0.0005
    while True:
        ended, status = _waitpid(child, os.WNOHANG)
        if ended:
            _end_group(child)
            return os.waitstatus_to_exitcode(status)
        if monotonic() > end:
            _end_group(child)
            _waitpid(child, 0)
            return None
        sleep(pause)
        pause = min(pause * 1.3, 0.01)


def _end_group(child: int) -> None:
    for end in (os.killpg, _kill):
        try:
            end(child, signal.SIGKILL)
        except OSError:
            continue


def _name_verdict(code: int | None) -> str:
    if code is None:
        return "timed_out"
    return {_SURVIVED: "survived", _NOT_APPLIED: "not_applied"}.get(code, "killed")


class _InThisProcess:
    """The target loaded once: what tests there are, what they reach, and what each fault does."""

    def __init__(self, job: Job, cold: _Cold, coverage: Coverage) -> None:
        self.job, self.cold, self.coverage = job, cold, coverage
        self.items: list[pytest.Item] = []
        self.seconds: list[float] = []
        self.usable: list[bool] = []
        self.reached: dict[Spot, list[int]] = {}
        self.at_import: set[Spot] = set()
        self.failed_reports = 0
        self.functions: dict[str, list[FunctionType]] = {}

    def measure(self, session: pytest.Session) -> dict[str, Any]:
        self.items = list(session.items)
        self.at_import = set(self.coverage.lines)
        self.functions = loaded_functions(self.job.files)
        gc.freeze()  # children then share what is loaded instead of copying it when they collect
        finished = self._run_unchanged()
        trials = self._choose_trials()
        outcomes = [outcome for trial in trials if (outcome := self._try_out(trial))]
        return {
            "tests": len(self.items),
            "usable": sum(self.usable),
            "finished": finished,
            "mutants": outcomes,
            "possible": len(trials),
            "seconds": round(monotonic() - _STARTED, 3),
        }

    def _run_unchanged(self) -> bool:
        """Run every test on the code as it is, in a child; tell whether there was time for all."""
        read_end, write_end = os.pipe()
        child = _fork()
        if not child:
            os.close(read_end)
            _detach_child()
            self._report_unchanged(write_end)
        os.close(write_end)
        end = _STARTED + self.job.seconds * _SHARE_OF_FIRST_RUN
        lines = _read_lines(read_end, end)
        _end_group(child)
        _waitpid(child, 0)
        for entry in lines:
            self._record_test(entry)
        return len(self.usable) == len(self.items)

    def _report_unchanged(self, write: int) -> None:
        for path, functions in self.functions.items():
            code = compile(Path(path).read_bytes(), path, "exec", dont_inherit=True)
            self.coverage.watch(code)
            exchange_code(functions, code)
        with os.fdopen(write, "w", encoding="utf-8") as stream:
            for number, item in enumerate(self.items):
                self.coverage.begin()
                started_at, self.failed_reports = monotonic(), 0
                _run_test(item, self.items[number + 1 : number + 2])
                entry = {
                    "seconds": monotonic() - started_at,
                    "passed": not self.failed_reports,
                    "lines": sorted(self.coverage.lines),
                }
                stream.write(json.dumps(entry) + "\n")
                stream.flush()
        _exit(0)

    def _record_test(self, entry: dict[str, Any]) -> None:
        number = len(self.seconds)
        self.seconds.append(entry["seconds"])
        self.usable.append(entry["passed"])
        if entry["passed"]:
            for path, line in entry["lines"]:
                self.reached.setdefault((path, line), []).append(number)

    def _choose_trials(self) -> list[Trial]:
        if self.job.mutants is not None:
            entries = [(entry.pop("path"), entry) for entry in self.job.mutants]
            placed_mutants = [
                (f"{self.job.root}/{path}", Mutant(**entry)) for path, entry in entries
            ]
        else:
            lines = {path: set(numbers) for path, numbers in self.job.touched.items()}
            first = _mutants_on(lines)
            other_mutants = _mutants_on(self._lines_of_changed_tests(lines))
            placed_mutants = [*stratify(first), *stratify(other_mutants)][: self.job.most]
        sources = {path: _read_source(path) for path in {path for path, _mutant in placed_mutants}}
        return [Trial(path, mutant, sources[path]) for path, mutant in placed_mutants]

    def _lines_of_changed_tests(self, known: dict[str, set[int]]) -> dict[str, set[int]]:
        """Give the lines that changed tests reach, and those that load the files they are in."""
        numbers = self._changed_tests()
        spots = {spot for spot, tests in self.reached.items() if not numbers.isdisjoint(tests)}
        files = {path for path, _line in spots}
        spots |= {spot for spot in self.at_import if spot[0] in files}
        lines: dict[str, set[int]] = {}
        for path, line in spots:
            if line not in known.get(path, ()):
                lines.setdefault(path, set()).add(line)
        return lines

    def _changed_tests(self) -> set[int]:
        """Find the tests that were changed; what is no test of its own concerns all beside it."""
        changed = self.job.tests
        if changed is None:
            return set(range(len(self.items)))
        numbers: set[int] = set()
        for path, lines in changed.items():
            beside = [n for n, item in enumerate(self.items) if _path_of(item, self.job) == path]
            if not beside:
                return set(range(len(self.items)))
            ranges = {number: _lines_of(self.items[number]) for number in beside}
            inside = {n for n in beside if not ranges[n].isdisjoint(lines)}
            covered = set[int]().union(*ranges.values())
            numbers |= inside if inside and set(lines) <= covered else set(beside)
        return numbers

    def _try_out(self, trial: Trial) -> dict[str, Any] | None:
        """Give the verdict on one fault; nothing where it cannot be had."""
        seconds_left = self.job.deadline - monotonic()
        if seconds_left < _LEAST_SECONDS:
            return None
        tests, is_cold = self._tests_for(trial)
        verdict = "not_reached"
        if tests:
            took = sum(self.seconds[number] for number in tests)
            limit = min(seconds_left, 5 * took + _PATIENCE)
            verdict = self._judge_trial(trial, tests, limit, is_cold=is_cold)
        if verdict in {"unknown", "not_applied"}:
            return None
        relative = trial.path.removeprefix(self.job.root + "/")
        return {"path": relative, **asdict(trial.mutant), "verdict": verdict}

    def _judge_trial(self, trial: Trial, tests: list[int], limit: float, *, is_cold: bool) -> str:
        verdict = "not_applied" if is_cold else self._exchange_and_run(trial, tests, limit)
        if verdict == "not_applied":
            names = [self.items[number].nodeid for number in tests]
            verdict = self.cold.try_out(trial, names, limit + _PATIENCE)
        return verdict

    def _tests_for(self, trial: Trial) -> tuple[list[int], bool]:
        """Give the tests that reach a fault, and whether it acts while the target is loaded."""
        mutant, path = trial.mutant, trial.path
        spots = [(path, line) for line in range(mutant.first, mutant.last + 1)]
        is_cold = not mutant.in_function or not self.at_import.isdisjoint(spots)
        if is_cold:
            in_file = {n for spot, tests in self.reached.items() if spot[0] == path for n in tests}
            tests = in_file or {n for n, has_passed in enumerate(self.usable) if has_passed}
        else:
            tests = {number for spot in spots for number in self.reached.get(spot, ())}
        return sorted(tests, key=lambda number: (self.seconds[number], number)), is_cold

    def _exchange_and_run(self, trial: Trial, tests: list[int], limit: float) -> str:
        child = _fork()
        if not child:
            _detach_child()
            self._run_faulty(trial, tests)
        return _name_verdict(_await_child(child, limit))

    def _run_faulty(self, trial: Trial, tests: list[int]) -> None:
        self.coverage.end()
        try:
            code = compile(trial.text, trial.path, "exec", dont_inherit=True)
        except (SyntaxError, ValueError):
            _exit(_NOT_APPLIED)
            return
        functions = self.functions.get(trial.path, [])
        if not functions or not exchange_code(functions, code):
            _exit(_NOT_APPLIED)
        self.failed_reports = 0
        for number in tests:
            _run_test(self.items[number], [])
            if self.failed_reports:
                _exit(_KILLED)
        _exit(_SURVIVED)


def _run_test(item: pytest.Item, following: list[pytest.Item]) -> None:
    item.ihook.pytest_runtest_protocol(item=item, nextitem=following[0] if following else None)


def _read_lines(read: int, end: float) -> list[dict[str, Any]]:
    """Read whole lines until the child ends or the time is up."""
    data = bytearray()
    while (seconds := end - monotonic()) > 0 and select.select([read], [], [], seconds)[0]:
        if not (chunk := os.read(read, 1 << 20)):
            break
        data += chunk
    os.close(read)
    complete_lines, _newline, _rest = bytes(data).rpartition(b"\n")
    return [json.loads(line) for line in complete_lines.splitlines()]


def _mutants_on(lines: dict[str, set[int]]) -> dict[str, list[Mutant]]:
    return {path: find_mutants(_read_source(path), numbers) for path, numbers in lines.items()}


def _read_source(path: str) -> str:
    try:
        return Path(path).read_bytes().decode("utf-8")
    except (OSError, UnicodeDecodeError):
        return ""


def _path_of(item: pytest.Item, job: Job) -> str:
    return str(item.path).removeprefix(job.root + "/")


def _lines_of(item: pytest.Item) -> set[int]:
    """Give the lines of a test's own function, its decorators among them."""
    code = getattr(getattr(item, "function", None), "__code__", None)
    if code is None:
        return set()
    last = max((line for _start, _end, line in code.co_lines() if line), default=0)
    return set(range(code.co_firstlineno, last + 1))


class _Faulty:
    """What a child of the cold process does: load the target with its fault, run its tests."""

    def __init__(self, task: dict[str, Any], job: Job) -> None:
        self.names = set(task["names"])
        self.root = job.root
        text = task["text"] if task["path"] in job.files else None
        compile_on_import(frozenset({task["path"]}), lambda _path: text, lambda _code: None)

    @pytest.hookimpl(hookwrapper=True)
    def pytest_cmdline_main(self, config: pytest.Config) -> Generator[None, Any, None]:
        _run_alone(config)
        config.args = sorted({name.partition("::")[0] for name in self.names})
        yield

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items[:] = [item for item in items if item.nodeid in self.names]

    @pytest.hookimpl(tryfirst=True)
    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            _exit(_KILLED)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            _exit(_KILLED)

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, exitstatus: int) -> None:
        _exit(_SURVIVED if exitstatus == 0 else _KILLED)


class _Whole:
    """What the process that loads the target once does."""

    def __init__(self, job: Job, cold: _Cold) -> None:
        self.job = job
        coverage = Coverage(job.files)
        compile_on_import(job.files, lambda _path: None, coverage.watch)
        coverage.begin()
        self.work = _InThisProcess(job, cold, coverage)

    @pytest.hookimpl(hookwrapper=True)
    def pytest_cmdline_main(self, config: pytest.Config) -> Generator[None, Any, None]:
        _run_alone(config)
        yield

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        result = self.work.measure(session)
        Path(self.job.result).write_text(json.dumps(result), encoding="utf-8")
        _exit(0)
        return True

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.work.failed_reports += report.failed


def _run_alone(config: pytest.Config) -> None:
    """Keep the tests in this process, whatever the settings ask of xdist."""
    quiet: dict[str, Any] = {"numprocesses": None, "dist": "no", "tx": []}
    for name, value in quiet.items():
        if hasattr(config.option, name):
            setattr(config.option, name, value)


def _register_plugin(register: Callable[[object], object]) -> None:
    job = Job(json.loads((_HERE / "job.json").read_text(encoding="utf-8")))
    cold = _Cold()
    register(_Faulty(cold.task, job) if cold.task is not None else _Whole(job, cold))


def pytest_addoption(pluginmanager: pytest.PytestPluginManager) -> None:
    """Begin as early as pytest lets a plugin: nothing of the target is loaded yet."""
    _register_plugin(lambda plugin: pluginmanager.register(plugin, "astra-mutation"))
