"""An agent with an OS user of its own reaches nothing of the data root but what it is given."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from driver import Astra, make_repository

NOBODY = 65534

PROBE = """
import os, pathlib, socket, sys
root, key = map(pathlib.Path, sys.argv[1:])
def attempt(name, action):
    try:
        action()
    except OSError:
        return
    print(name)
for path in (root / "var", root / "var/ledger", root / "var/keys/ledger.key", key,
             root / "astra.toml", root / "logs/daemon.log"):
    attempt(f"list {path.name}", lambda: os.listdir(path))
    attempt(f"read {path.name}", lambda: path.read_bytes())
for path in (root / "astra.toml", root / ".env", root / "var/stop", key):
    attempt(f"write {path.name}", lambda: path.open("a").close())
def connect():
    socket.socket(socket.AF_UNIX).connect(str(root / "var/run/astra.sock"))
attempt("connect", connect)
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_another_user_reaches_nothing(tmp_path: Path) -> None:
    for folder in (tmp_path, *tmp_path.parents):
        if folder.stat().st_uid == os.geteuid() and str(folder).startswith("/tmp/"):
            folder.chmod(0o755)
    astra = Astra(tmp_path)
    made = astra.json("init", make_repository(tmp_path / "target"), "--throwaway")
    astra.json("status")
    probe = subprocess.run(
        ["/usr/bin/python3", "-c", PROBE, str(astra.root), made["operator_key"]],
        user=NOBODY,
        group=NOBODY,
        extra_groups=[],
        capture_output=True,
        text=True,
        check=False,
    )
    control = subprocess.run(
        [sys.executable, "-c", PROBE, str(astra.root), made["operator_key"]],
        capture_output=True,
        text=True,
        check=False,
    )
    astra.run("down")
    assert probe.returncode == 0, probe.stderr
    assert probe.stdout == ""
    assert "read ledger.key" in control.stdout, "the probe itself works"
