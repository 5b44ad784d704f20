"""Workspaces when Astra is an ordinary user: copies instead of overlays."""

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

import astra

NOBODY = 65534
SCRIPT = """
import subprocess, sys
from pathlib import Path
from astra.trusted.sandbox.launch import Box, run
from astra.trusted.sandbox.ports import Workspace
from astra.adapters.workspaces import Workspaces

top = Path(sys.argv[1])
work, git = top / "work", top / "var" / "git"
(top / "var").mkdir()
def call(*words):
    command = ["git", "-C", str(work), "-c", "user.name=a", "-c", "user.email=a@b", *words]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()
subprocess.run(["git", "init", "-q", "-b", "main", str(work)], check=True)
(work / "a").write_text("base")
call("add", "--all"); call("commit", "-q", "-m", "one")
first = call("rev-parse", "HEAD")
(work / "b").write_text("change")
call("add", "--all"); call("commit", "-q", "-m", "two")
second = call("rev-parse", "HEAD")
subprocess.run(["git", "clone", "-q", "--bare", str(work), str(git)], check=True)

spaces = Workspaces(git, top / "var" / "workspaces")
spaces.warm(first)
with spaces.open(second) as files:
    script = "cat a b; echo owned > a; mkdir -p d/e; chmod 0 d; ls"
    box = Box(command=("sh", "-c", script), workspace=files)
    outcome = run(box, data_root=top)
    print(outcome.verdict, *outcome.stdout.decode().split(), (files.base / "a").read_text())
left = [p.name for p in files.base.parent.iterdir() if p.name.startswith(".run")]
print(outcome.reason, left)
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")
def test_an_ordinary_user_has_workspaces_too_and_keeps_the_base() -> None:
    with tempfile.TemporaryDirectory(prefix="astra-test-") as name:
        Path(name).chmod(0o755)
        shutil.copytree(Path(astra.__file__).parent, Path(name) / "astra")
        data = Path(name) / "data"
        data.mkdir()
        os.chown(data, NOBODY, NOBODY)
        done = subprocess.run(
            ["/usr/bin/python3", "-B", "-c", SCRIPT, str(data)],
            user=NOBODY,
            group=NOBODY,
            extra_groups=[],
            env={"PATH": "/usr/bin:/bin", "PYTHONPATH": name, "HOME": str(data)},
            cwd=name,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
    assert done.stdout.splitlines() == [
        "succeeded basechangea b d base",
        "exit code 0 []",
    ], done.stderr
