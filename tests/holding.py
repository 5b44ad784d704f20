"""A holder, release folders and time in memory, for tests of the rules of deployments."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from astra.adapters.supervisor.channel import HolderRefused
from astra.deployments.fleet.own_state import StateNote
from astra.deployments.plan import Plan
from astra.deployments.ports import AppSpec, Built, Checked, HolderState, Running
from astra.trusted.kernel.errors import AstraError
from astra.trusted.kernel.ids import is_id

HEALTHY, CRASHES, SILENT, REFUSED = "healthy", "crashes", "silent", "refused"
IMPERSONATED = "impersonated"


@dataclass
class FakeInstance:
    name: str
    spec: AppSpec
    behaviour: str
    looks: int = 0
    crashes: int = 0

    def shown(self) -> Running:
        state, reason = "running", ""
        if self.behaviour == REFUSED:
            state, reason = "refused", "its secret is not there"
        elif self.crashes:
            state, reason = "ended", "exit code 1"
        return Running(
            instance=self.name,
            release=self.spec.release,
            state=state,
            crashes=self.crashes,
            reason=reason,
        )


@dataclass
class FakeHolder:
    """`behaviours` says by release how it behaves; a number n makes it crash after n good looks."""

    behaviours: dict[str, str | int] = field(default_factory=dict[str, str | int])
    there: bool = False
    mute: bool = False
    """It hangs: it answers nobody, and what it started runs on."""
    instances: dict[str, FakeInstance] = field(default_factory=dict[str, FakeInstance])
    live: str | None = None
    reloadable: bool = True
    reloads: list[tuple[str, list[str]]] = field(default_factory=list[tuple[str, list[str]]])
    retired: list[str] = field(default_factory=list[str])
    stopped: list[str] = field(default_factory=list[str])
    _count: int = 0

    def state(self) -> HolderState | None:
        if not self.there or self.mute:
            return None
        return HolderState(
            pid=1,
            port=8800 if self.instances else None,
            live=self.live,
            instances=tuple(found.shown() for found in self.instances.values()),
        )

    def launch(self, spec: AppSpec) -> str:
        self.there = True
        if any(name != self.live for name in self.instances):
            raise HolderRefused("busy", next_step="wait", code="deploying")
        self._count += 1
        name = f"inst_{self._count:08x}"
        behaviour = str(self.behaviours.get(spec.release, HEALTHY))
        crashes = int(behaviour == CRASHES)
        self.instances[name] = FakeInstance(name, spec, behaviour, crashes=crashes)
        return name

    def check(self, instance: str, path: str, *, seconds: float) -> Checked:
        del path, seconds
        found = self.instances.get(instance)
        if found is None or found.shown().state != "running" or found.behaviour == SILENT:
            return Checked(ok=False, detail="nobody answers")
        if found.behaviour == IMPERSONATED:
            return Checked(ok=False, detail="another process took the probe", foreign=True)
        found.looks += 1
        if found.behaviour.isdigit() and found.looks > int(found.behaviour):
            found.crashes += 1
            return Checked(ok=False, detail="nobody answers")
        return Checked(ok=True, detail="status 200")

    def switch(self, instance: str) -> str | None:
        if instance not in self.instances:
            raise HolderRefused("there is no such instance", next_step="look", code="not_found")
        before, self.live = self.live, instance
        return before if before != instance else None

    def reload(self, instance: str, spec: AppSpec, changed: Sequence[str]) -> Checked:
        self.reloads.append((spec.release, list(changed)))
        if not self.reloadable:
            return Checked(ok=False, detail="it said no")
        self.instances[instance].spec = spec
        return Checked(ok=True, detail="status 200")

    def retire(self, instance: str) -> Mapping[str, Any]:
        if instance == self.live:
            raise HolderRefused("this release is live", next_step="switch first", code="conflict")
        self.retired.append(self.instances.pop(instance).spec.release)
        return {"drained": True, "killed": False, "lost": 0, "seconds": 0.0}

    def stop(self, instance: str) -> Mapping[str, Any]:
        self.stopped.append(self.instances[instance].spec.release)
        self.end(instance)
        return {"drained": True, "killed": False, "lost": 0, "cut": 0, "seconds": 0.0}

    def end(self, instance: str) -> None:
        self.instances.pop(instance, None)
        if self.live == instance:
            self.live = None

    def is_expected(self) -> bool:
        return self.there

    def read_output(self) -> str:
        return "what the app said"

    def close(self) -> None:
        self.die()

    def die(self) -> None:
        self.instances.clear()
        self.live, self.there, self.mute = None, False, False

    @property
    def serves(self) -> str | None:
        return self.instances[self.live].spec.release if self.live else None


@dataclass
class FakeReleases:
    folders: dict[str, str] = field(default_factory=dict[str, str])
    settings: dict[str, bytes] = field(default_factory=dict[str, bytes])
    backups: set[str] = field(default_factory=set[str])
    changes: dict[str, tuple[bytes | None, bytes | None]] = field(
        default_factory=dict[str, tuple[bytes | None, bytes | None]]
    )
    current: str = ""
    status: dict[str, Any] = field(default_factory=dict[str, Any])
    trouble: AstraError | None = None

    def build(self, release: str, commit: str, *, correlation: str, settings: bytes = b"") -> Built:
        assert is_id(correlation), "what a build runs is recorded under it"
        if self.trouble:
            raise self.trouble
        sealed = self.settings.setdefault(release, settings)
        self.folders.setdefault(release, f"digest of {commit} {sealed!r}")
        return Built(
            folder=self.folder(release),
            digest=self.folders[release],
            files=3,
            size=30,
            settings=f"digest of {sealed!r}",
        )

    def read_settings(self, release: str, digest: str) -> bytes:
        assert f"digest of {self.settings[release]!r}" == digest
        return self.settings[release]

    def is_intact(self, release: str, digest: str) -> bool:
        return self.folders.get(release) == digest

    def folder(self, release: str) -> str:
        return f"/releases/{release}"

    def differences(self, old: str, new: str) -> Mapping[str, tuple[bytes | None, bytes | None]]:
        assert {old, new} <= set(self.folders)
        return self.changes

    def back_up(self, release: str, name: str) -> str:
        assert release in self.folders
        self.backups.add(name)
        return f"/backups/{name}"

    def point_to(self, release: str) -> None:
        self.current = release

    def remove(self, release: str) -> None:
        self.folders.pop(release, None)

    def write_status(self, document: Mapping[str, Any]) -> None:
        self.status = dict(document)


@dataclass
class FakeSnapshots:
    """The app's state as a list of what was done to it."""

    state: list[str] = field(default_factory=list[str])
    saved: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    aside: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    size: int = 0
    note: StateNote | None = None

    def list_saved(self) -> list[str]:
        return list(self.saved)

    def read_note(self) -> StateNote | None:
        return self.note

    def write_note(self, note: StateNote) -> None:
        self.note = note

    def measure(self, folder: str) -> int:
        del folder
        return self.size

    def take(self, release: str, folder: str) -> int:
        del folder
        self.saved[release] = list(self.state)
        self.aside.pop(release, None)
        return self.size

    def restore(self, release: str, folder: str) -> None:
        del folder
        if release not in self.saved:
            raise AstraError("its snapshot is gone", next_step="astra rollback --keep-state")
        self.aside.setdefault(release, self.state)
        self.state = list(self.saved[release])

    def undo_restore(self, release: str, folder: str) -> None:
        del folder
        self.state = self.aside.pop(release, self.state)

    def drop_set_aside(self, release: str) -> None:
        self.aside.pop(release, None)

    def remove(self, release: str) -> None:
        self.saved.pop(release, None)


@dataclass
class FakeMigration:
    """A command that does its work first and is killed, or fails, only afterwards."""

    snapshots: FakeSnapshots
    holder: FakeHolder
    outcome: Checked = field(default_factory=lambda: Checked(ok=True, detail="exit code 0"))

    def run(self, plan: Plan, folder: str, release: str, *, correlation: str) -> Checked:
        del folder, correlation
        assert plan.before_start
        assert not self.holder.instances, "nothing of the app may run meanwhile"
        self.snapshots.state.append(release)
        return self.outcome


@dataclass
class FakePace:
    """Time passes only when somebody waits for it."""

    now: float = 0.0
    leaving: bool = False

    def monotonic(self) -> float:
        return self.now

    def wait(self, seconds: float) -> bool:
        self.now += seconds
        return self.leaving
