"""One release of the app as the holder keeps it running: started, restarted, drained, ended."""

import contextlib
import signal
import threading
import time
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from astra.adapters.release_tree import tree_digest
from astra.adapters.supervisor import open_requests, reload_request
from astra.adapters.supervisor.app_box import AppBox, Ended
from astra.adapters.supervisor.app_log import STARTING, AppLog
from astra.adapters.supervisor.fronts import NoPlace, Place, RelayedPlace, SteeredPlace
from astra.adapters.supervisor.probing import Probe
from astra.deployments.ports import AppSpec, Checked
from astra.trusted.kernel.errors import AstraError, Refused
from astra.trusted.sandbox import boxes

FIRST_PAUSE, LONGEST_PAUSE, CALM_SECONDS = 0.2, 30.0, 60.0
QUIET_SECONDS, DEATH_SECONDS = 0.3, 30.0
RELOAD_SECONDS = 5.0
_BAD_STATES = frozenset({"crashed", "ended", "refused"})


@dataclass(eq=False, kw_only=True)
class Instance:
    name: str
    spec: AppSpec
    place: Place
    data_root: Path
    log: AppLog
    state: str = "starting"
    reason: str = ""
    crashes: int = 0
    serves: bool = False
    parts: list["Instance"] = field(default_factory=list["Instance"], init=False)
    _box: AppBox | None = field(default=None, init=False)
    _ending: threading.Event = field(default_factory=threading.Event, init=False)
    _over: threading.Event = field(default_factory=threading.Event, init=False)

    def __post_init__(self) -> None:
        """Have an instance below this one for each part: a process without a port."""
        for name, command in self.spec.parts:
            spec = replace(self.spec, command=command, parts=(), listens=False)
            self.parts.append(
                Instance(
                    name=f"{self.name}-{name}",
                    spec=spec,
                    place=NoPlace(),
                    data_root=self.data_root,
                    log=self.log,
                )
            )

    def start(self) -> None:
        for part in self.parts:
            part.start()
        threading.Thread(target=self._keep_running, name=self.name, daemon=True).start()

    def check(self, path: str, *, seconds: float) -> Checked:
        if self.state != "running":
            return Checked(ok=False, detail=f"it is {self.state}: {self.reason}")
        return self._make_probe(self.spec.release).check(path, seconds=seconds)

    def _make_probe(self, release: str, *, has_to_say_so: bool = False) -> Probe:
        """Ask this very instance; in a network of its own there is nobody else."""
        return Probe(
            connect=lambda limit: self.place.connect(seconds=limit),
            release=release,
            host=self.spec.health_host,
            pids=self._list_pids if self.spec.network == "host" else None,
            has_to_say_so=has_to_say_so,
        )

    def _list_pids(self) -> list[int]:
        return self._box.pids() if self._box else []

    def reload(self, spec: AppSpec, changed: list[str]) -> Checked:
        """Ask the app to take another release over; its health has to name that release."""
        box, began, crashes = self._box, time.monotonic(), self.crashes
        if box is None or self.state != "running" or not self.spec.reload:
            return Checked(ok=False, detail="it is not running, or cannot be reloaded")
        _require_intact(spec)
        reload_request.write_request(Path(self.spec.state), spec, changed)
        box.signal(signal.SIGHUP)
        checked = Checked(ok=False, detail="it said nothing")
        while (
            not checked.ok and time.monotonic() - began < RELOAD_SECONDS and self.crashes == crashes
        ):
            time.sleep(0.02)
            probe = self._make_probe(spec.release, has_to_say_so=True)
            checked = probe.check(spec.health_path or "/", seconds=RELOAD_SECONDS)
        if checked.ok:
            self.spec = spec
        return checked

    def retire(self) -> dict[str, Any]:
        """Drain, then end: what was given to this release is taken up before it hears of it."""
        began = time.monotonic()
        quiet = began
        limit = self.spec.drain_seconds
        while time.monotonic() - quiet < QUIET_SECONDS and time.monotonic() - began < limit:
            if self._count_waiting():
                quiet = time.monotonic()
            time.sleep(0.02)
        self._terminate()
        deadline = time.monotonic() + limit
        drained = all(process.wait_over(deadline) for process in (self, *self.parts))
        lost_connections = self._count_waiting()
        unfinished = open_requests.Count() if drained else self._count_open_requests()
        self.end()
        return {
            "drained": drained,
            "killed": not drained,
            "lost": lost_connections,
            "cut": unfinished.unanswered,
            "open": unfinished.connections,
            "seconds": round(time.monotonic() - began, 3),
        }

    def end(self) -> bool:
        """End it at once; tells whether it is proven to be gone."""
        for process in (self, *self.parts):
            process.kill()
        deadline = time.monotonic() + DEATH_SECONDS
        return all(process.wait_over(deadline) for process in (self, *self.parts))

    def kill(self) -> None:
        self._ending.set()
        if self._box is not None:
            self._box.kill()

    def wait_over(self, deadline: float) -> bool:
        return self._over.wait(max(0.0, deadline - time.monotonic()))

    def begin_serving(self) -> None:
        """Have it started again when it crashes, with its parts."""
        for process in (self, *self.parts):
            process.serves = True

    def _terminate(self) -> None:
        for process in (self, *self.parts):
            process.ask_to_end()

    def ask_to_end(self) -> None:
        self._ending.set()
        if self._box is not None:
            self._box.terminate()

    def as_dict(self) -> dict[str, Any]:
        worst = next((part for part in self.parts if part.state in _BAD_STATES), self)
        part_label = "" if worst is self else f"part {worst.name.rpartition('-')[2]}: "
        return {
            "instance": self.name,
            "release": self.spec.release,
            "state": worst.state if self.state == "running" else self.state,
            "crashes": sum(process.crashes for process in (self, *self.parts)),
            "reason": f"{part_label}{worst.reason}" if self.state == "running" else self.reason,
            "probe": self.place.slot.probe if isinstance(self.place, SteeredPlace) else "",
        }

    def _count_open_requests(self) -> open_requests.Count:
        port = self.place.served_port
        return open_requests.count_open_requests(self._list_pids(), port)

    def _count_waiting(self) -> int:
        with contextlib.suppress(OSError):
            return self.place.count_waiting()
        return 0

    def _keep_running(self) -> None:
        """Start it, and start it again when it crashes while it serves."""
        pause = FIRST_PAUSE
        try:
            while not self._ending.is_set():
                began = time.monotonic()
                ended = self._run_once()
                self._refuse_unstartable(ended)
                if self._ending.is_set():
                    break
                self._record_crash(ended)
                pause = FIRST_PAUSE if time.monotonic() - began > CALM_SECONDS else pause
                if self._ending.wait(pause) or not self.serves:
                    break
                pause = min(pause * 2, LONGEST_PAUSE)
            self.state = "ended"
        except AstraError as error:
            self.state, self.reason = "refused", error.detail
            self.log.write(f"astra: {self.spec.release} {error.detail}\n".encode())
        finally:
            self._over.set()

    def _refuse_unstartable(self, ended: Ended) -> None:
        """Blame no release for a command that cannot be executed.

        The words come from the shell at the gate, and an app could print them itself; so they are
        not believed of one that serves.
        """
        if ended.never_ran and not self.serves:
            raise Refused(
                ended.never_ran,
                code="app_not_executable",
                next_step="mend [app] command in astra.toml, then astra config sign and deploy",
            )

    def _run_once(self) -> Ended:
        self.state = "starting"
        _require_intact(self.spec)
        self._box = AppBox(
            spec=self.spec,
            data_root=self.data_root,
            log=self.log.write,
            listener=self.place.listener,
            port=self.place.port,
        )
        if isinstance(self.place, RelayedPlace) and self.spec.network != "host":
            self.place.dial = self._dial_box
        self.log.write(f"{STARTING}{self.spec.release}\n".encode())
        return self._box.run(self._mark_running)

    def _dial_box(self) -> Any:
        box = self._box
        if box is None or box.dialler is None:
            raise ConnectionRefusedError("the app is not up")
        return box.dialler.connect()

    def _mark_running(self) -> None:
        self.state = "running"

    def _record_crash(self, ended: Ended) -> None:
        self.crashes += 1
        self.state, self.reason = "crashed", ended.reason
        self.log.write(f"astra: {self.spec.release} ended: {ended.reason}\n".encode())
        if boxes.is_stopped(self.data_root):
            raise Refused("an operator stopped all work", code="stopped", next_step="astra start")


def _require_intact(spec: AppSpec) -> None:
    if tree_digest(Path(spec.folder)) != spec.digest:
        raise Refused(
            f"the release {spec.release} is not what was built and approved",
            code="release_tampered",
            next_step="find out who wrote to it; roll back to another release",
        )
