"""systemd units for a daemon that runs for years: written as text, checked as text.

The daemon has a user of its own, writes to its data root only, and gets the control groups below
its own unit, so that boxes can be limited. What boxes need of the kernel stays allowed: bubblewrap
makes user and mount namespaces, so a unit that forbids these would forbid every box; hardening that
would break it is left out here and its place taken by the box's own profile.
"""

import re
from dataclasses import dataclass
from pathlib import Path

from astra.trusted.kernel.errors import BadInput

SERVICE, SMOKE, TIMER = "astra.service", "astra-smoke.service", "astra-smoke.timer"
WORKER = "astra-worker.service"
DRAIN_SECONDS = 600
_NAME = re.compile(r"[a-z_][a-z0-9_-]{0,31}")
_INSTANCE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}")
_PATH = re.compile(r"/[A-Za-z0-9._/@+-]{0,200}")
REQUIRED = (
    *("Delegate=cpu memory pids io", "NoNewPrivileges=yes", "ProtectSystem=strict"),
    *("ProtectHome=yes", "PrivateTmp=yes", "ProtectKernelModules=yes"),
    *("ProtectClock=yes", "RestrictSUIDSGID=yes", "LockPersonality=yes", "UMask=0077"),
    *("SystemCallArchitectures=native", "CapabilityBoundingSet=", "KeyringMode=private"),
)
"""What `astra doctor` looks for in an installed unit."""


@dataclass(frozen=True, kw_only=True)
class Service:
    program: str
    """The whole path of `astra`, which only root may write."""
    data_root: str
    user: str = "astra"
    port: int = 8700
    instance: str = ""
    """The app's instance that a worker holds."""
    jobs: int = 1
    """How many jobs a worker does at once."""

    def __post_init__(self) -> None:
        if self.instance and not _INSTANCE.fullmatch(self.instance):
            raise _build_refusal(f"{self.instance[:40]!r} is no name", "--instance web-1")
        if not _NAME.fullmatch(self.user):
            raise _build_refusal(f"{self.user[:40]!r} is no name of a user", "--user astra")
        for path in (self.program, self.data_root):
            if not _PATH.fullmatch(path) or ".." in Path(path).parts:
                raise _build_refusal(
                    f"{path[:100]!r} cannot stand in a unit",
                    "use a whole path of letters, digits and . _ - + @",
                )


def write_units(service: Service) -> dict[str, str]:
    """Give every unit by its file name."""
    return {
        SERVICE: _write_service(service),
        SMOKE: _write_smoke(service),
        TIMER: _TIMER,
    }


def write_worker_units(service: Service) -> dict[str, str]:
    """Give the unit of a worker: it has no door, so nothing asks it for a smoke run."""
    return {WORKER: _write_worker(service)}


def find_problems(text: str) -> list[str]:
    """Name the protections that a unit lacks."""
    lines = {line.strip() for line in text.splitlines()}
    return [line for line in REQUIRED if line not in lines]


def _write_service(service: Service) -> str:
    return f"""\
# Written by `astra service install`.
[Unit]
Description=Astra, an agent's code under a contract a human signed
Documentation=man:systemd.exec(5)
After=network.target
StartLimitIntervalSec=300
StartLimitBurst=5

[Service]
Type=exec
User={service.user}
Group={service.user}
ExecStart={service.program} up --data-root {service.data_root} --port {service.port}
KillMode=mixed
KillSignal=SIGTERM
TimeoutStopSec=60
Restart=on-failure
RestartSec=5
{_CONFINEMENT.format(data_root=service.data_root)}{_HARDENING}
[Install]
WantedBy=multi-user.target
"""


def _write_worker(service: Service) -> str:
    command = [service.program, "worker", "--data-root", service.data_root]
    command += ["--jobs", str(service.jobs), "--drain", str(DRAIN_SECONDS)]
    command += ["--instance", service.instance] if service.instance else []
    return f"""\
# Written by `astra service install --worker`.
[Unit]
Description=A worker of Astra: jobs of a shared chain on this machine
Documentation=man:systemd.exec(5)
After=network-online.target
Wants=network-online.target
StartLimitIntervalSec=300
StartLimitBurst=20

[Service]
Type=exec
User={service.user}
Group={service.user}
ExecStart={" ".join(command)}
# The first signal drains it; its jobs get as long as --drain says before they are cut off.
KillMode=mixed
KillSignal=SIGTERM
TimeoutStopSec={DRAIN_SECONDS + 60}
Restart=on-failure
RestartSec=5
{_CONFINEMENT.format(data_root=service.data_root)}{_HARDENING}
[Install]
WantedBy=multi-user.target
"""


def _write_smoke(service: Service) -> str:
    return f"""\
# Written by `astra service install`.
[Unit]
Description=A quick check of the running Astra
After={SERVICE}
Requisite={SERVICE}

[Service]
Type=oneshot
User={service.user}
Group={service.user}
ExecStart={service.program} smoke --data-root {service.data_root}
TimeoutStartSec=60
ProtectSystem=strict
ReadWritePaths={service.data_root}
ProtectHome=yes
PrivateTmp=yes
UMask=0077
{_HARDENING}"""


_CONFINEMENT = """\
# Boxes are limited by control groups below this unit.
Delegate=cpu memory pids io
TasksMax=4096
LimitNOFILE=65536
# Nothing but the data root can be written.
ProtectSystem=strict
ReadWritePaths={data_root}
ProtectHome=yes
PrivateTmp=yes
UMask=0077
"""
_HARDENING = """\
NoNewPrivileges=yes
CapabilityBoundingSet=
AmbientCapabilities=
ProtectKernelModules=yes
ProtectClock=yes
RestrictSUIDSGID=yes
RestrictRealtime=yes
LockPersonality=yes
SystemCallArchitectures=native
KeyringMode=private
RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK
"""
_TIMER = f"""\
# Written by `astra service install`.
[Unit]
Description=A quick check of Astra every hour

[Timer]
OnBootSec=10min
OnUnitActiveSec=1h
RandomizedDelaySec=5min
Unit={SMOKE}

[Install]
WantedBy=timers.target
"""


def _build_refusal(detail: str, next_step: str) -> BadInput:
    return BadInput(detail, next_step=next_step, code="bad_service")
