"""Units that a careful administrator would have written, and that systemd itself accepts."""

import shutil
import subprocess
from pathlib import Path

import pytest

from astra.interfaces.cli import service as command
from astra.operations import service_units
from astra.operations.service_units import Service, find_problems, write_units
from astra.trusted.kernel.errors import BadInput

UNITS = write_units(Service(program="/usr/bin/true", data_root="/opt/agent-data/root"))


def test_the_daemon_has_its_own_user_its_groups_and_writes_to_its_data_root_only() -> None:
    text = UNITS["astra.service"]
    assert find_problems(text) == []
    for line in (
        "User=astra",
        "ExecStart=/usr/bin/true up --data-root /opt/agent-data/root --port 8700",
        "ReadWritePaths=/opt/agent-data/root",
        "KillMode=mixed",
        "Restart=on-failure",
    ):
        assert line in text.splitlines()


def test_nothing_that_boxes_need_is_forbidden() -> None:
    """Bubblewrap makes namespaces and mounts /proc, which a place hidden in /proc forbids."""
    for name in (
        "RestrictNamespaces",
        "ProtectProc",
        "ProcSubset",
        "PrivateUsers",
        "ProtectControl",
        "ProtectKernelLogs",
        "ProtectKernelTunables",
    ):
        assert name not in UNITS["astra.service"]


def test_a_timer_runs_the_smoke_check() -> None:
    assert "OnUnitActiveSec=1h" in UNITS["astra-smoke.timer"]
    assert "smoke --data-root /opt/agent-data/root" in UNITS["astra-smoke.service"]


def test_systemd_accepts_them(tmp_path: Path) -> None:
    """`systemd-analyze` comes with systemd, which every Debian can have."""
    program = shutil.which("systemd-analyze")
    if program is None:
        pytest.fail("systemd-analyze is missing: apt-get install systemd")
    for name, text in UNITS.items():
        (tmp_path / name).write_text(text)
    done = subprocess.run(
        [program, "verify", "--man=no", *(tmp_path / name for name in UNITS)],
        capture_output=True,
        text=True,
        check=False,
    )
    ours = [line for line in done.stderr.splitlines() if str(tmp_path) in line or "astra" in line]
    assert ours == []


@pytest.mark.parametrize(
    "changes",
    [
        {"user": "root; rm"},
        {"user": "ROOT"},
        {"data_root": "relative"},
        {"data_root": "/opt/data\nExecStartPre=/bin/sh"},
        {"data_root": "/opt/with space"},
        {"data_root": "/opt/../etc"},
        {"data_root": "/opt/%h"},
        {"program": "/usr/bin/astra -c evil"},
        {"program": "/usr/bin/$HOME"},
    ],
    ids=["shell", "case", "relative", "line", "space", "dots", "percent", "words", "dollar"],
)
def test_a_name_that_would_be_read_as_more_than_a_name_is_refused(changes: dict[str, str]) -> None:
    with pytest.raises(BadInput):
        Service(**{"program": "/usr/bin/astra", "data_root": "/opt/agent-data", **changes})


def test_a_unit_that_was_weakened_is_noticed(tmp_path: Path) -> None:
    assert command.find_unit_problems(tmp_path) is None
    weakened = UNITS["astra.service"].replace("NoNewPrivileges=yes\n", "")
    (tmp_path / service_units.SERVICE).write_text(weakened)
    assert command.find_unit_problems(tmp_path) == (
        str(tmp_path / "astra.service"),
        ["NoNewPrivileges=yes"],
    )
