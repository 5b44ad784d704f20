"""The table that `astra doctor --attack` prints, as root and as another user, and its control."""

import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

import astra
from astra.adapters.bubblewrap.attacks import referee, run_app_attacks, run_attacks, run_bombs
from astra.adapters.bubblewrap.attacks.cases import ATTACKS, WORKS
from astra.trusted.sandbox import landlock, machine

NOBODY = 65534
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")
TABLE = """
import json
from astra.adapters.bubblewrap.attacks import run_app_attacks, run_attacks, run_bombs
from astra.adapters.bubblewrap.attacks.cases import ATTACKS, WORKS
table = [*run_attacks((*WORKS, *ATTACKS)), *run_app_attacks(), *run_bombs()]
print(json.dumps([[r.name, r.outcome, r.is_expected] for r in table]))
"""
SWAP = """
import json, os, subprocess, sys, tempfile
from pathlib import Path
from astra.trusted.sandbox.launch import Box, run
from astra.trusted.policy.manifest import Manifest
base = Path(tempfile.mkdtemp())
for name in ("private", "granted"):
    (base / name).mkdir()
(base / "private/key").write_text("secret")
(base / "link").symlink_to(base / "private")
swap = '''
import os, sys
os.chdir(sys.argv[1])
print(flush=True)
while True:
    os.rename("granted", "kept"); os.rename("link", "granted")
    os.rename("granted", "link"); os.rename("kept", "granted")
'''
with subprocess.Popen([sys.executable, "-c", swap, str(base)], stdout=subprocess.PIPE) as swapper:
    swapper.stdout.readline()
    manifest = Manifest(read_paths=(str(base / "granted"),))
    box = Box(command=("cat", f"{base}/granted/key"), manifest=manifest)
    try:
        outcomes = [run(box, data_root=base / "data") for _ in range(60)]
    finally:
        swapper.kill()
print(json.dumps({
    "verdicts": sorted({o.verdict.value for o in outcomes}),
    "secret": sum(b"secret" in o.stdout for o in outcomes),
}))
"""


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """Make a folder that other users can reach, which pytest's own are not."""
    with tempfile.TemporaryDirectory(prefix="astra-test-") as name:
        Path(name).chmod(0o755)
        yield Path(name)


def test_there_are_many_attempts_of_every_kind_and_no_two_share_a_name() -> None:
    names = [attack.name for attack in ATTACKS]
    assert len(names) == len(set(names))
    assert len(names) >= 150
    assert {attack.category for attack in ATTACKS} == {
        *("files", "proc", "ptrace", "mounts", "namespaces", "kernel", "sockets", "network"),
        *("inherited", "privileges", "limits", "memory"),
    }


def test_no_attempt_gets_out_and_what_has_to_work_works() -> None:
    table = run_attacks((*WORKS, *ATTACKS))
    assert [(r.name, r.outcome) for r in table if not r.is_expected] == []
    assert len(table) >= len(ATTACKS) + len(WORKS)


def test_an_app_on_the_hosts_network_gets_no_other_port() -> None:
    table = run_app_attacks()
    assert [(r.name, r.outcome) for r in table if not r.is_expected] == []
    assert len(table) == (5 if landlock.has_port_rules() else 2)


def test_every_bomb_is_ended_and_named_for_its_limit() -> None:
    assert [(r.name, r.outcome) for r in run_bombs() if not r.is_expected] == []


@as_root
def test_no_attempt_gets_out_of_a_box_of_an_ordinary_user(open_folder: Path) -> None:
    """Runs on the system's interpreter: the one of these tests may be closed to other users."""
    shutil.copytree(Path(astra.__file__).parent, open_folder / "astra")
    table = json.loads(_as_nobody(["/usr/bin/python3", "-B", "-c", TABLE], open_folder))
    assert [(name, outcome) for name, outcome, held in table if not held] == []
    assert len(table) >= len(ATTACKS)


@as_root
def test_the_attempts_are_real_because_a_naive_box_lets_many_through(open_folder: Path) -> None:
    """The same scripts as the same uid in `bwrap --ro-bind / /`, with what could harm left out."""
    harmless = {"files", "proc", "sockets", "network", "inherited", "privileges"}
    attacks = [
        {"name": attack.name, "script": attack.script}
        for attack in ATTACKS
        if attack.category in harmless
    ]
    place = open_folder
    (place / "secret.txt").write_text("canary")
    arena = {
        "secret": f"{place}/secret.txt",
        "work": f"{place}/work",
        "library": f"{place}/library",
        "var": str(place),
        "install": str(place),
        "root_names": [],
        "pid": os.getpid(),
        "port": 1,
        "abstract": "none",
        "socket": "/none",
        "canary": "canary",
        "job": "none",
    }
    for name in ("work/.git/hooks", "library"):
        (place / name).mkdir(parents=True)
    for name in ("work/.env", "work/.git/config", "library/id_ed25519", "library/page.txt"):
        (place / name).write_text("canary")
    (place / "library/link").symlink_to(place / "secret.txt")
    for path in [place / "work", *(place / "work").rglob("*")]:
        os.chown(path, NOBODY, NOBODY)
    (place / "job.json").write_text(json.dumps({"attacks": attacks, "arena": arena}))
    (place / "referee.py").write_text(Path(referee.__file__).read_text())
    words = [
        machine.inspect_machine().bwrap,
        "--ro-bind",
        "/",
        "/",
        "--bind",
        f"{place}/work",
        f"{place}/work",
    ]
    words += ["--dev", "/dev", "--proc", "/proc", "--unshare-pid", "--die-with-parent"]
    words += ["/usr/bin/python3", "-I", f"{place}/referee.py", f"{place}/job.json"]
    lines = _as_nobody(words, place).splitlines()
    out = [d["name"] for d in map(json.loads, lines) if d["outcome"].startswith("out:")]
    broken = [d for d in map(json.loads, lines) if d["outcome"].startswith("broken")]
    assert broken == []
    assert len(out) >= 35, out


@as_root
def test_a_swapped_link_never_shows_another_folder_to_an_ordinary_users_box(
    open_folder: Path,
) -> None:
    shutil.copytree(Path(astra.__file__).parent, open_folder / "astra")
    said = json.loads(_as_nobody(["/usr/bin/python3", "-B", "-c", SWAP], open_folder))
    assert said["secret"] == 0
    assert set(said["verdicts"]) <= {"never_ran", "failed"}


def _as_nobody(words: list[str], home: Path) -> str:
    done = subprocess.run(
        words,
        user=NOBODY,
        group=NOBODY,
        extra_groups=[],
        env={"PATH": "/usr/bin:/bin", "HOME": "/nonexistent", "PYTHONPATH": str(home)},
        cwd="/",
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout
