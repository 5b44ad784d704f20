"""Looking at a running release: until it is healthy, and for a while after the switch."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from astra.deployments.plan import Plan
from astra.deployments.ports import AppHolder, Checked, Pace, Running

MOST_IN_A_ROW = 3
MOST_CRASHES = 2
REHEARSAL_SECONDS = 10.0
MOST_FAILING = 0.2
COMMAND_EVERY, ALONE_EVERY = 5, 2
_FIRST_PAUSE, _LONGEST_PAUSE = 0.02, 1.0
_WORKER_SECONDS = 1.0


class HealthCommand(Protocol):
    """The operator's own check, a program run in the app's profile."""

    def run(self, plan: Plan, folder: str, running: Running) -> Checked: ...


class BrokenOff(Exception):
    """The daemon leaves, or an operator stopped all work: the step is done again later."""


class HolderGone(Exception):
    """The holder ended, and the app with it; that says nothing about the release."""


@dataclass(frozen=True, kw_only=True)
class Trouble:
    """What is wrong with a release; `blamed` says that it is the release's own doing."""

    reason: str
    blamed: bool = True


@dataclass(kw_only=True)
class Tally:
    """The looks of one kind, counted by themselves: good ones of another kind hide no bad one."""

    name: str
    looks: int = 0
    bad: int = 0
    row: int = 0

    def count(self, checked: Checked) -> Trouble | None:
        """Count a look; gives trouble when too many in a row were bad."""
        self.looks += 1
        self.bad += not checked.ok
        self.row = 0 if checked.ok else self.row + 1
        if self.row < MOST_IN_A_ROW:
            return None
        reason = f"its {self.name} failed {self.row} times in a row: {checked.detail}"
        return Trouble(reason=reason, blamed=not checked.foreign)

    def judge(self) -> Trouble | None:
        if self.bad <= self.looks * MOST_FAILING:
            return None
        return Trouble(reason=f"its {self.name} failed {self.bad} of {self.looks} times")


@dataclass(frozen=True, kw_only=True)
class Watch:
    """Raises BrokenOff and HolderGone, which decide nothing."""

    holder: AppHolder
    pace: Pace
    plan: Plan
    stopped: Callable[[], bool]
    command: Callable[[Running], Checked] | None = None

    def until_healthy(self, instance: str) -> Trouble | None:
        """Wait for the first good answer; gives what went wrong instead."""
        limit, checked = self.plan.start_seconds, Checked(ok=False, detail="it never answered")
        began, pause = self.pace.monotonic(), _FIRST_PAUSE
        while self.pace.monotonic() - began < limit:
            if trouble := self._check_running(instance, most_crashes=1):
                return trouble
            checked = self._check_http(instance)
            if checked.ok and self.pace.monotonic() - began >= self._least_seconds:
                checked = self._run_command(instance)
                if checked.ok:
                    return None
            self._wait_or_break(pause)
            pause = min(pause * 2, _LONGEST_PAUSE / 2)
        reason = f"not healthy after {limit:g} s: {checked.detail}"
        return Trouble(reason=reason, blamed=not checked.foreign)

    def for_window(self, instance: str) -> Trouble | None:
        """Look until the window is over, and a moment longer while the last look was bad."""
        window, began, number = self.plan.watch_seconds, self.pace.monotonic(), 0
        http, command = Tally(name="health"), Tally(name="health command")
        while http.row or command.row or not number or self.pace.monotonic() - began < window:
            if number:
                self._wait_or_break(min(_LONGEST_PAUSE, max(0.05, window / 10)))
            if trouble := self._check_running(instance, most_crashes=MOST_CRASHES):
                return trouble
            if trouble := http.count(self._check_http(instance)):
                return trouble
            if self.command and (command.row or number % self._command_every == 0):
                trouble = command.count(self._run_command(instance))
            if trouble:
                return trouble
            number += 1
        return http.judge() or command.judge()

    @property
    def _least_seconds(self) -> float:
        """Say how long it has to run before a look counts: without a port, nothing answers."""
        return 0.0 if self.plan.health_path else min(_WORKER_SECONDS, self.plan.start_seconds / 2)

    @property
    def _command_every(self) -> int:
        """Say at how many looks the command is run: it costs a box each time."""
        return COMMAND_EVERY if self.plan.health_path else ALONE_EVERY

    def _check_http(self, instance: str) -> Checked:
        if not self.plan.health_path:
            return self._check_started(instance)
        return self.holder.check(instance, self.plan.health_path, seconds=self.plan.health_seconds)

    def _check_started(self, instance: str) -> Checked:
        state = self.holder.state()
        running = state.find_instance(instance) if state else None
        name = running.state if running else "gone"
        return Checked(ok=name == "running", detail=f"it is {name}")

    def _run_command(self, instance: str) -> Checked:
        state = self.holder.state()
        running = state.find_instance(instance) if state else None
        if self.command is None or running is None:
            return Checked(ok=True, detail="it runs")
        return self.command(running)

    def _wait_or_break(self, seconds: float) -> None:
        if self.pace.wait(seconds):
            raise BrokenOff

    def _check_running(self, instance: str, *, most_crashes: int) -> Trouble | None:
        state = self.holder.state()
        if self.stopped():
            raise BrokenOff
        running = state.find_instance(instance) if state else None
        if running is None:
            raise HolderGone
        if running.crashes >= most_crashes or running.state == "ended":
            return Trouble(reason=f"it crashed {_render_times(running.crashes)}: {running.reason}")
        if running.is_over:
            return Trouble(reason=f"it was not started: {running.reason}", blamed=False)
        return None


def _render_times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"
