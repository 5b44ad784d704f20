"""`[app]` of `astra.toml`: how the app is started, proven and replaced, and what it may touch.

>>> App(health_command="true").probe_path
''
"""

import re
from dataclasses import dataclass, field
from typing import Literal

from astra.trusted.kernel.errors import BadSetting
from astra.trusted.settings.typed_tables import Variables

Texts = tuple[str, ...]
Numbers = tuple[int, ...]
_SECONDS = {
    "start_seconds": 3600,
    "health_seconds": 60,
    "drain_seconds": 3600,
    "before_start_seconds": 86_400,
}
_LARGEST_STATE = 1 << 20
_LAST_PORT = 65_535
_HEADER = re.compile(r"[A-Za-z0-9.:\[\]_-]{1,253}")
_PART = re.compile(r"[a-z][a-z0-9-]{0,30}")


@dataclass(frozen=True, kw_only=True)
class AppPermissions:
    network: str | Texts = ()
    state_path: str = ""
    secrets: Texts = ()
    secret_files: Texts = ()
    """Files of the repository that are secrets and that the app gets all the same."""
    state_mb: int = 10_240
    """How much the app's state folder may hold; an app that passes it is ended."""
    listen_ports: Numbers = ()
    """TCP ports the app may bind besides its own, with network = "host"."""

    def __post_init__(self) -> None:
        if not 1 <= self.state_mb <= _LARGEST_STATE:
            raise BadSetting(
                f"the app's state cannot be limited to {self.state_mb} MiB",
                next_step=f"set app.permissions.state_mb to 1 to {_LARGEST_STATE:,}",
                key="app.permissions.state_mb",
            )
        for port in self.listen_ports:
            if not 1 <= port <= _LAST_PORT:
                raise BadSetting(
                    f"{port} is no TCP port",
                    next_step=f"name ports from 1 to {_LAST_PORT}",
                    key="app.permissions.listen_ports",
                )


@dataclass(frozen=True, kw_only=True)
class AppPart:
    """Another process of the app, without a port: started, switched and ended with it."""

    command: str = ""


@dataclass(frozen=True, kw_only=True)
class App:
    command: str = ""
    port: int = 0
    health_path: str = "auto"
    """What is asked over HTTP; `auto` is /healthz, or nothing for a program without a port."""
    health_command: str = ""
    client_build: str = ""
    env: Variables = ()
    """Its variables, besides those of [target] env; `{state}` in a value is its state folder."""
    reload: bool = False
    start_seconds: int = 30
    """How long a new release may take to its first good answer."""
    watch_seconds: int = 60
    health_host: str = "localhost"
    """The Host header of health probes, for servers that answer known hosts only."""
    health_seconds: int = 5
    """How long one health probe may take."""
    drain_seconds: int = 30
    """How long a replaced release may finish what it has accepted."""
    replace: Literal["beside", "stop-first"] = "beside"
    """Start a new release beside the old one, or end the old one first: one that runs alone."""
    before_start: str = ""
    """A command that runs once for each release before it starts: a migration."""
    before_start_seconds: int = 300
    snapshot_mb: int = 1024
    """How large the state folder may be that is saved before `before_start` runs."""
    parts: dict[str, AppPart] = field(default_factory=dict[str, AppPart])
    permissions: AppPermissions = field(default_factory=AppPermissions)

    def __post_init__(self) -> None:
        for name, part in self.parts.items():
            if not (_PART.fullmatch(name) and part.command):
                raise BadSetting(
                    f"app.parts.{name[:50]!r} is no part of an app",
                    next_step='write [app.parts.worker] (a to z, 0 to 9, -) with command = "…"',
                    key="app.parts",
                )
        for name, longest in _SECONDS.items():
            _refuse_seconds(name, getattr(self, name), longest)
        if not _HEADER.fullmatch(self.health_host):
            raise BadSetting(
                f"app.health_host is {self.health_host[:100]!r}, which is no host",
                next_step='name a host as servers know it: health_host = "www.example.org"',
                key="app.health_host",
            )

    @property
    def listens(self) -> bool:
        """Tell whether it has a port; a command alone protects a worker, which names neither."""
        return bool(self.port or self.health_path not in {"", "auto"} or not self.health_command)

    @property
    def probe_path(self) -> str:
        if self.health_path != "auto":
            return self.health_path
        return "/healthz" if self.listens else ""


def _refuse_seconds(name: str, seconds: int, longest: int) -> None:
    if not 1 <= seconds <= longest:
        raise BadSetting(
            f"app.{name} cannot be {seconds} seconds",
            next_step=f"set app.{name} to 1 to {longest}",
            key=f"app.{name}",
        )
