"""Looking at a running release: until it is healthy, and for a while after the switch."""

from collections.abc import Callable
from dataclasses import dataclass

from astra.deployments.ports import STATE_BYTES, AppHolder, AppSpec, Checked, Pace, Running

CHECK_SECONDS = 5.0
MOST_IN_A_ROW = 3
MOST_CRASHES = 2
REHEARSAL_SECONDS = 10.0
MOST_FAILING = 0.2
COMMAND_EVERY = 5
_FIRST_PAUSE, _LONGEST_PAUSE = 0.02, 1.0


@dataclass(frozen=True, kw_only=True)
class Plan:
    """How the app is run and watched, as the operator signed it."""

    command: tuple[str, ...]
    port: int
    network: str | tuple[str, ...]
    state: str
    secrets: tuple[str, ...] = ()
    health_path: str = "/healthz"
    health_command: tuple[str, ...] = ()
    start_seconds: float = 30.0
    watch_seconds: float = 60.0
    keep: int = 5
    reload: bool = False
    ignored: tuple[str, ...] = ()
    staging: bool = False
    push_remote: str = ""
    commit_checks: tuple[str, ...] = ()
    secret_files: tuple[str, ...] = ()
    secret_patterns: tuple[str, ...] = ()
    state_bytes: int = STATE_BYTES
    listen_ports: tuple[int, ...] = ()

    def spec(self, *, release: str, digest: str, folder: str) -> AppSpec:
        return AppSpec(
            release=release,
            folder=folder,
            digest=digest,
            command=self.command,
            port=self.port,
            network=self.network,
            secret_files=self.secret_files,
            secret_patterns=self.secret_patterns,
            state=self.state,
            secrets=self.secrets,
            health_path=self.health_path,
            reload=self.reload,
            state_bytes=self.state_bytes,
            listen_ports=self.listen_ports,
        )


class BrokenOff(Exception):
    """The daemon leaves, or an operator stopped all work: the step is done again later."""


class HolderGone(Exception):
    """The holder ended, and the app with it; that says nothing about the release."""


@dataclass(frozen=True, kw_only=True)
class Trouble:
    """What is wrong with a release; `blamed` says that it is the release's own doing."""

    reason: str
    blamed: bool = True


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
            if trouble := self._gone(instance, most_crashes=1):
                return trouble
            checked = self._look(instance)
            if checked.ok:
                return None
            self._wait(pause)
            pause = min(pause * 2, _LONGEST_PAUSE / 2)
        reason = f"not healthy after {limit:g} s: {checked.detail}"
        return Trouble(reason=reason, blamed=not checked.foreign)

    def for_window(self, instance: str) -> Trouble | None:
        """Look until the window is over, and a moment longer while the last look was bad."""
        window = self.plan.watch_seconds
        began, looks, bad, row = self.pace.monotonic(), 0, 0, 0
        while row or not looks or self.pace.monotonic() - began < window:
            if looks:
                self._wait(min(_LONGEST_PAUSE, max(0.05, window / 10)))
            if trouble := self._gone(instance, most_crashes=MOST_CRASHES):
                return trouble
            checked = self._look(instance, looks)
            looks, bad, row = looks + 1, bad + (not checked.ok), 0 if checked.ok else row + 1
            if row >= MOST_IN_A_ROW:
                reason = f"its health failed {row} times in a row: {checked.detail}"
                return Trouble(reason=reason, blamed=not checked.foreign)
        if bad > looks * MOST_FAILING:
            return Trouble(reason=f"its health failed {bad} of {looks} times")
        return None

    def _look(self, instance: str, number: int = 0) -> Checked:
        """Ask over HTTP each time, and the command now and then; both have to be well."""
        checked = Checked(ok=True, detail="it runs")
        if self.plan.health_path:
            checked = self.holder.check(instance, self.plan.health_path, seconds=CHECK_SECONDS)
        state = self.holder.state()
        running = state.of(instance) if state else None
        if checked.ok and running and self.command and number % COMMAND_EVERY == 0:
            return self.command(running)
        return checked

    def _wait(self, seconds: float) -> None:
        if self.pace.wait(seconds):
            raise BrokenOff

    def _gone(self, instance: str, *, most_crashes: int) -> Trouble | None:
        state = self.holder.state()
        if self.stopped():
            raise BrokenOff
        running = state.of(instance) if state else None
        if running is None:
            raise HolderGone
        if running.crashes >= most_crashes or running.state == "ended":
            return Trouble(reason=f"it crashed {_times(running.crashes)}: {running.reason}")
        if running.over:
            return Trouble(reason=f"it was not started: {running.reason}", blamed=False)
        return None


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"
