"""How the app is run and watched, as the operator signed it, and what of that a release seals.

A release keeps the settings it was proven with in a file of its own folder, below its own digest.
Going back to it goes back to those: old code never meets a command that was written for new code.
What limits the machine or describes the work of deploying stays as it is signed now.
"""

import dataclasses
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from astra.deployments.ports import STATE_BYTES, AppSpec

_NEVER_SEALED = frozenset(
    {
        *("root", "keep", "ignored", "staging", "push", "push_remote", "commit_checks"),
        *("state_bytes", "secret_patterns", "snapshot_bytes"),
    }
)


@dataclass(frozen=True, kw_only=True)
class Plan:
    """`state` is a folder below `root`, the data root."""

    command: tuple[str, ...]
    port: int
    network: str | tuple[str, ...]
    state: str
    root: str = "/"
    secrets: tuple[str, ...] = ()
    health_path: str = "/healthz"
    health_command: tuple[str, ...] = ()
    health_host: str = "localhost"
    health_seconds: float = 5.0
    drain_seconds: float = 30.0
    before_start: tuple[str, ...] = ()
    before_start_seconds: int = 300
    snapshot_bytes: int = 1 << 30
    stop_first: bool = False
    """Only one release may run at a time: the old one ends before the new one starts."""
    parts: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """Name and command of every other process of the app."""
    listens: bool = True
    """It has a port; False for a worker, which only its health command protects."""
    start_seconds: float = 30.0
    watch_seconds: float = 60.0
    keep: int = 5
    reload: bool = False
    ignored: tuple[str, ...] = ()
    staging: bool = False
    push: str = "fast-forward"
    push_remote: str = ""
    commit_checks: tuple[str, ...] = ()
    secret_files: tuple[str, ...] = ()
    secret_patterns: tuple[str, ...] = ()
    state_bytes: int = STATE_BYTES
    listen_ports: tuple[int, ...] = ()
    programs: tuple[str, ...] = ()
    env: tuple[tuple[str, str], ...] = ()

    @property
    def state_folder(self) -> str:
        return str(Path(self.root, self.state))

    def runs_beside(self, other: "Plan") -> bool:
        """Tell whether a release of this plan can be started while one of the other serves."""
        return not self.stop_first and self.front == other.front

    @property
    def front(self) -> tuple[bool, bool, bool, int]:
        """Say what kind of port it needs; two kinds cannot be held at once."""
        binds = any("{port}" in word for word in self.command)
        return self.listens, self.network == "host", binds, self.port

    @property
    def protection(self) -> str:
        """Say in words what is asked about its health."""
        kind = "an HTTP server" if self.listens else "a worker without a port"
        checks = [f"GET {self.health_path}"] if self.health_path else []
        checks += [f"the command {self.health_command[0]}"] if self.health_command else []
        kind += f" with {', '.join(name for name, _command in self.parts)}" if self.parts else ""
        return f"{kind}; health: {' and '.join(checks) or 'nothing but that it runs'}"

    def seal(self) -> bytes:
        """Write the settings that a release keeps; the same settings are the same bytes."""
        fields = dataclasses.asdict(self)
        sealed_fields = {name: fields[name] for name in sorted({*fields} - _NEVER_SEALED)}
        return json.dumps(sealed_fields, indent=1).encode() + b"\n"

    def restore(self, sealed: bytes) -> "Plan":
        """Give this plan with the settings that a release was sealed with."""
        fields: dict[str, Any] = json.loads(sealed)
        known_names = {field.name for field in dataclasses.fields(self)} - _NEVER_SEALED
        return dataclasses.replace(
            self, **{name: _freeze(value) for name, value in fields.items() if name in known_names}
        )

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
            state=self.state_folder,
            secrets=self.secrets,
            health_path=self.health_path,
            health_host=self.health_host,
            drain_seconds=self.drain_seconds,
            listens=self.listens,
            parts=self.parts,
            reload=self.reload,
            state_bytes=self.state_bytes,
            listen_ports=self.listen_ports,
            programs=self.programs,
            env=self.env,
        )


def _freeze(value: Any) -> Any:
    return tuple(map(_freeze, value)) if isinstance(value, list) else value  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
