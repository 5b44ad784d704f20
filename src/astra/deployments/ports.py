"""What deployments need of the world: an approval, release folders, the app's holder, and time."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from astra.deployments.reloading import Changes
from astra.trusted.ledger.ports import Ledger

_MOST_DESCRIPTORS_USED = 0.8
STATE_BYTES = 10 * 2**30


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """What is known about a commit that somebody wants deployed.

    `digest` names exactly what the operator approved. `allowed` is False whenever a person or a
    test still has to speak; `reason` and `next_step` say which.
    """

    commit: str
    digest: str
    allowed: bool
    tests_passed: bool
    human_approval_required: bool = False
    stale: bool = False
    approval_id: str = ""
    change: str = ""
    code: str = ""
    reason: str = ""
    next_step: str = ""
    contains: tuple[str, ...] = ()
    """Commits below it that failed in service and that it does not undo."""
    despite: tuple[str, ...] = ()
    """Those of them that the approval of its change named and accepted."""


class Approved(Protocol):
    """The change path, as deployments see it."""

    def may_deploy(self, change: str | None) -> Verdict:
        """Judge a change, or without one the newest commit of the target's branch."""
        ...


def fill_state(variables: Iterable[tuple[str, str]], state: str) -> dict[str, str]:
    """Put the app's state folder in the place of `{state}` in the values of its variables.

    >>> fill_state([("DATABASE_URL", "sqlite:///{state}/app.db")], "/srv/state")
    {'DATABASE_URL': 'sqlite:////srv/state/app.db'}
    """
    return {name: value.replace("{state}", state) for name, value in variables}


@dataclass(frozen=True, kw_only=True)
class AppSpec:
    """Everything the holder has to know to run one release of the app."""

    release: str
    folder: str
    digest: str
    command: tuple[str, ...]
    port: int
    network: str | tuple[str, ...]
    state: str
    secrets: tuple[str, ...] = ()
    health_path: str = "/healthz"
    reload: bool = False
    secret_files: tuple[str, ...] = ()
    secret_patterns: tuple[str, ...] = ()
    state_bytes: int = STATE_BYTES
    listen_ports: tuple[int, ...] = ()
    health_host: str = "localhost"
    drain_seconds: float = 30.0
    listens: bool = True
    parts: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """Name and command of processes without a port, which run as long as the app does."""
    programs: tuple[str, ...] = ()
    """Interpreters of [target] toolchain, which the app may start as its tests did."""
    env: tuple[tuple[str, str], ...] = ()

    def as_dict(self) -> dict[str, Any]:
        return dict(self.__dict__)

    @staticmethod
    def read(fields: Mapping[str, Any]) -> "AppSpec":
        network = fields["network"]
        return AppSpec(
            release=str(fields["release"]),
            folder=str(fields["folder"]),
            digest=str(fields["digest"]),
            command=tuple(map(str, fields["command"])),
            port=int(fields["port"]),
            network=network if isinstance(network, str) else tuple(map(str, network)),
            state=str(fields["state"]),
            secrets=tuple(map(str, fields["secrets"])),
            health_path=str(fields["health_path"]),
            reload=bool(fields.get("reload", False)),
            secret_files=tuple(map(str, fields.get("secret_files", ()))),
            secret_patterns=tuple(map(str, fields.get("secret_patterns", ()))),
            state_bytes=int(fields.get("state_bytes", STATE_BYTES)),
            listen_ports=tuple(map(int, fields.get("listen_ports", ()))),
            health_host=str(fields.get("health_host", "localhost")),
            drain_seconds=float(fields.get("drain_seconds", 30.0)),
            listens=bool(fields.get("listens", True)),
            parts=tuple((str(n), tuple(map(str, c))) for n, c in fields.get("parts", ())),
            programs=tuple(map(str, fields.get("programs", ()))),
            env=tuple((str(name), str(value)) for name, value in fields.get("env", ())),
        )


@dataclass(frozen=True, kw_only=True)
class Built:
    """A release folder as it was sealed."""

    folder: str
    digest: str
    files: int
    size: int
    settings: str = ""
    """The digest of the settings that were sealed with it."""
    withheld: tuple[str, ...] = ()
    """Secret files of the commit that the release does not have."""


@dataclass(frozen=True, kw_only=True)
class Checked:
    """One look at an instance's health."""

    ok: bool
    detail: str
    foreign: bool = False
    """Somebody else took the place of the instance, which says nothing about it."""


@dataclass(frozen=True, kw_only=True)
class Running:
    """One instance of the app, as the holder knows it.

    `probe` is the address from which connections to the app's port reach this one and no other.
    """

    instance: str
    release: str
    state: str
    crashes: int
    reason: str = ""
    probe: str = ""

    @property
    def is_over(self) -> bool:
        """Tell that it will not come back by itself."""
        return self.state in {"ended", "refused"}


@dataclass(frozen=True, kw_only=True)
class HolderState:
    pid: int
    port: int | None
    live: str | None
    instances: tuple[Running, ...] = ()
    descriptors: int = 0
    most_descriptors: int = 0
    rules_ports: bool = False
    """An app on the host's network can bind the ports it was granted, and no other."""

    @property
    def trouble(self) -> str:
        """Say that it is about to run out of descriptors, or nothing."""
        if self.descriptors <= self.most_descriptors * _MOST_DESCRIPTORS_USED:
            return ""
        return f"the holder has {self.descriptors} of {self.most_descriptors} descriptors open"

    def find_instance(self, instance: str | None) -> Running | None:
        return next((running for running in self.instances if running.instance == instance), None)

    @property
    def serving(self) -> Running | None:
        return self.find_instance(self.live)


class Releases(Protocol):
    """Release folders on disk; each is sealed once and never written again."""

    def build(self, release: str, commit: str, *, correlation: str, settings: bytes = b"") -> Built:
        """Make the folder from the commit's own blobs, the build steps and the settings.

        Again after a crash; a folder that is whole keeps the settings it was sealed with.
        """
        ...

    def read_settings(self, release: str, digest: str) -> bytes:
        """Give the settings that a release was sealed with; refuses any but those."""
        ...

    def is_intact(self, release: str, digest: str) -> bool: ...

    def folder(self, release: str) -> str: ...

    def differences(self, old: str, new: str) -> Changes:
        """Give the content of every file that differs between two releases."""
        ...

    def back_up(self, release: str, name: str) -> str:
        """Keep what is about to be replaced; give its place. Twice is as good as once."""
        ...

    def point_to(self, release: str) -> None: ...

    def remove(self, release: str) -> None: ...

    def write_status(self, document: Mapping[str, Any]) -> None: ...


class AppHolder(Protocol):
    """The process that owns the app's port and its children."""

    def state(self) -> HolderState | None:
        """Say what runs; None when there is no holder, or none that answers."""
        ...

    def is_expected(self) -> bool:
        """Tell whether a holder runs, or was killed and did not leave by itself."""
        ...

    def launch(self, spec: AppSpec) -> str:
        """Start an instance beside whatever serves; give its name."""
        ...

    def check(self, instance: str, path: str, *, seconds: float) -> Checked:
        """Ask exactly this instance for its health."""
        ...

    def switch(self, instance: str) -> str | None:
        """Send every new connection to this instance; name the one that served before."""
        ...

    def reload(self, instance: str, spec: AppSpec, changed: Sequence[str]) -> Checked:
        """Have a running instance take another release's code over; ok when it says so itself."""
        ...

    def stop(self, instance: str) -> Mapping[str, Any]:
        """Retire an instance although it serves: nothing serves from then on."""
        ...

    def retire(self, instance: str) -> Mapping[str, Any]:
        """Let an instance finish what it has accepted, then end it."""
        ...

    def end(self, instance: str) -> None: ...

    def read_output(self) -> str:
        """Give the end of what the app printed, escaped: it is hostile text."""
        ...

    def close(self) -> None:
        """End the app and the holder."""
        ...


class Egress(Protocol):
    """What the app connected to, as its holder put it down."""

    def record_batches(self, ledger: Ledger) -> int:
        """Record whatever waits; gives how many records that made."""
        ...


class Pace(Protocol):
    """Time that only goes forward, and a way to wait for it."""

    def monotonic(self) -> float: ...

    def wait(self, seconds: float) -> bool:
        """Wait; True when the waiting was cut short because the daemon leaves."""
        ...
