"""One release of the app as the holder keeps it running: started, restarted, drained, ended."""

import contextlib
import signal
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from astra.adapters.release_tree import tree_digest
from astra.adapters.supervisor import reload_request
from astra.adapters.supervisor.app_box import AppBox, Ended
from astra.adapters.supervisor.app_log import AppLog
from astra.adapters.supervisor.fronts import Place, RelayedPlace, SteeredPlace
from astra.adapters.supervisor.probing import Probe
from astra.deployments.ports import AppSpec, Checked
from astra.trusted.kernel.errors import AstraError, Refused
from astra.trusted.sandbox import boxes

FIRST_PAUSE, LONGEST_PAUSE, CALM_SECONDS = 0.2, 30.0, 60.0
QUIET_SECONDS, DRAIN_SECONDS = 0.3, 30.0
RELOAD_SECONDS = 5.0


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
    _box: AppBox | None = field(default=None, init=False)
    _ending: threading.Event = field(default_factory=threading.Event, init=False)
    _over: threading.Event = field(default_factory=threading.Event, init=False)

    def start(self) -> None:
        threading.Thread(target=self._keep, name=self.name, daemon=True).start()

    def check(self, path: str, *, seconds: float) -> Checked:
        if self.state != "running":
            return Checked(ok=False, detail=f"it is {self.state}: {self.reason}")
        return self._probe(self.spec.release).check(path, seconds=seconds)

    def _probe(self, release: str, *, has_to_say_so: bool = False) -> Probe:
        """Ask this very instance; in a network of its own there is nobody else."""
        return Probe(
            connect=lambda limit: self.place.connect(seconds=limit),
            release=release,
            pids=self._pids if self.spec.network == "host" else None,
            has_to_say_so=has_to_say_so,
        )

    def _pids(self) -> list[int]:
        return self._box.pids() if self._box else []

    def reload(self, spec: AppSpec, changed: list[str]) -> Checked:
        """Ask the app to take another release over; its health has to name that release."""
        box, began, crashes = self._box, time.monotonic(), self.crashes
        if box is None or self.state != "running" or not self.spec.reload:
            return Checked(ok=False, detail="it is not running, or cannot be reloaded")
        _require_intact(spec)
        reload_request.leave(Path(self.spec.state), spec, changed)
        box.signal(signal.SIGHUP)
        checked = Checked(ok=False, detail="it said nothing")
        while (
            not checked.ok and time.monotonic() - began < RELOAD_SECONDS and self.crashes == crashes
        ):
            time.sleep(0.02)
            probe = self._probe(spec.release, has_to_say_so=True)
            checked = probe.check(spec.health_path or "/", seconds=RELOAD_SECONDS)
        if checked.ok:
            self.spec = spec
        return checked

    def retire(self) -> dict[str, Any]:
        """Drain, then end: what was given to this release is taken up before it hears of it."""
        began = time.monotonic()
        quiet = began
        while time.monotonic() - quiet < QUIET_SECONDS and time.monotonic() - began < DRAIN_SECONDS:
            if self._waiting():
                quiet = time.monotonic()
            time.sleep(0.02)
        self._ending.set()
        if self._box is not None:
            self._box.terminate()
        drained = self._over.wait(DRAIN_SECONDS)
        left = self._waiting()
        self.end()
        return {
            "drained": drained,
            "killed": not drained,
            "lost": left,
            "seconds": round(time.monotonic() - began, 3),
        }

    def end(self) -> bool:
        """End it at once; tells whether it is proven to be gone."""
        self._ending.set()
        if self._box is not None:
            self._box.kill()
        return self._over.wait(DRAIN_SECONDS)

    def as_dict(self) -> dict[str, Any]:
        return {
            "instance": self.name,
            "release": self.spec.release,
            "state": self.state,
            "crashes": self.crashes,
            "reason": self.reason,
            "probe": self.place.slot.probe if isinstance(self.place, SteeredPlace) else "",
        }

    def _waiting(self) -> int:
        with contextlib.suppress(OSError):
            return self.place.waiting()
        return 0

    def _keep(self) -> None:
        """Start it, and start it again when it crashes while it serves."""
        pause = FIRST_PAUSE
        try:
            while not self._ending.is_set():
                began = time.monotonic()
                ended = self._once()
                if self._ending.is_set():
                    break
                self._crashed(ended)
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

    def _once(self) -> Ended:
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
            self.place.dial = self._dial
        self.log.write(f"astra: starting {self.spec.release}\n".encode())
        return self._box.run(self._running)

    def _dial(self) -> Any:
        box = self._box
        if box is None or box.dialler is None:
            raise ConnectionRefusedError("the app is not up")
        return box.dialler.connect()

    def _running(self) -> None:
        self.state = "running"

    def _crashed(self, ended: Ended) -> None:
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
