"""`astra init` of a repository that belongs to another user of the machine."""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from driver import PASSPHRASE, Astra, make_repository

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")

OWNER, OTHER = 54_321, 54_322
TESTS = Path(__file__).parents[2]
OWN_MOUNTS = ("unshare", "--mount", "--propagation", "private")
BECOME_AND_INIT = """
import os, sys
from pathlib import Path
uid, keep, tests = int(sys.argv.pop(1)), Path(sys.argv.pop(1)), Path(sys.argv.pop(1))
sys.path.append(str(tests))
from open_ways import open_ways
open_ways((tests.parent, Path(sys.base_prefix)), keep)
os.setgroups([])
os.setresgid(uid, uid, uid)
os.setresuid(uid, uid, uid)
from astra.interfaces.cli import main
sys.exit(main.main(sys.argv[1:]))
"""


@dataclass
class Machine:
    folder: Path

    def repository(self, *, owner: int) -> Path:
        target = make_repository(self.folder / "target")
        for path in (target, *target.rglob("*")):
            os.chown(path, owner, owner, follow_symlinks=False)
        return target

    def init_as(self, uid: int, target: Path) -> subprocess.CompletedProcess[str]:
        home = self.folder / "home"
        home.mkdir()
        os.chown(home, uid, uid)
        astra = Astra(home)
        keep = self.folder / "kept"
        keep.mkdir()
        words = (str(uid), keep, TESTS, "init", str(target), "--throwaway", "--json")
        return subprocess.run(
            [*OWN_MOUNTS, sys.executable, "-c", BECOME_AND_INIT, *words],
            env={**astra.environment, "ASTRA_OPERATOR_PASSPHRASE": PASSPHRASE},
            cwd="/",
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )


@pytest.fixture
def machine() -> Iterator[Machine]:
    """Give a folder that every user can reach, unlike those of pytest."""
    with tempfile.TemporaryDirectory(prefix="astra-test-") as name:
        Path(name).chmod(0o755)
        yield Machine(Path(name))


@pytest.mark.parametrize("uid", [0, OTHER], ids=["root", "an ordinary user"])
def test_a_readable_repository_of_another_user_is_taken(machine: Machine, uid: int) -> None:
    done = machine.init_as(uid, machine.repository(owner=OWNER))
    assert done.returncode == 0, done.stdout + done.stderr
    clone = Path(json.loads(done.stdout)["code_repo"])
    assert (clone / "agent.py").read_text().startswith("def answer")


def test_an_unreadable_repository_is_refused_with_a_next_step(machine: Machine) -> None:
    target = machine.repository(owner=OWNER)
    target.chmod(0o700)
    _refused(machine, target)


def test_a_repository_with_unreadable_objects_is_refused_the_same_way(machine: Machine) -> None:
    target = machine.repository(owner=OWNER)
    (target / ".git" / "objects").chmod(0o700)
    _refused(machine, target)


def _refused(machine: Machine, target: Path) -> None:
    done = machine.init_as(OTHER, target)
    assert done.returncode != 0
    problem = json.loads(done.stdout or done.stderr)
    assert problem["code"] == "unreadable_target"
    assert str(target) in problem["detail"]
    assert f"belongs to user {OWNER}" in problem["detail"]
    assert "dubious" not in problem["detail"]
    assert "setfacl" in problem["next_step"]


def test_nothing_that_the_other_user_configured_is_run(machine: Machine) -> None:
    target = machine.repository(owner=OWNER)
    proof = machine.folder / "proof"
    trap = machine.folder / "trap"
    trap.write_text(f"#!/bin/sh\necho ran >> {proof}\n")
    trap.chmod(0o755)
    for key in (
        "uploadpack.packObjectsHook",
        "core.fsmonitor",
        "core.sshCommand",
        "core.alternateRefsCommand",
        "core.pager",
        "credential.helper",
    ):
        subprocess.run(
            ["git", "config", "--file", str(target / ".git/config"), key, str(trap)], check=True
        )
    for hook in ("pre-receive", "post-checkout", "reference-transaction", "post-update"):
        (target / ".git/hooks" / hook).write_text(trap.read_text())
        (target / ".git/hooks" / hook).chmod(0o755)
    done = machine.init_as(0, target)
    assert done.returncode == 0, done.stdout + done.stderr
    assert not proof.exists()
