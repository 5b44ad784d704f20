"""Releases on disk: made from git's own bytes, sealed, and noticed when somebody wrote to one."""

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from astra.adapters import release_tree
from astra.adapters.release_folders import SETTINGS_FILE, BuildFailed
from astra.adapters.release_tree import BadTree
from astra.trusted.kernel.errors import Refused
from astra.trusted.sandbox.ports import Outcome, Verdict
from deploying import Stage

RELEASE = "20260301T120000Z-000000000000"


def build(stage: Stage, commit: str, release: str = RELEASE) -> Path:
    return Path(stage.releases.build(release, commit, correlation="cor_00000000").folder)


def raw_commit(stage: Stage, *entries: tuple[str, str, bytes]) -> str:
    """Commit a tree as git itself would not make it: (mode, name, content)."""
    tree = b""
    for mode, name, content in entries:
        blob = _hash(stage, "blob", content)
        tree += f"{mode} {name}\0".encode() + bytes.fromhex(blob)
    identity = "Someone <someone@localhost> 0 +0000"
    text = f"tree {_hash(stage, 'tree', tree)}\nauthor {identity}\ncommitter {identity}\n\nx\n"
    return _hash(stage, "commit", text.encode())


def _hash(stage: Stage, kind: str, data: bytes) -> str:
    command = ["git", "hash-object", "-t", kind, "-w", "--literally", "--stdin"]
    done = subprocess.run(
        command, cwd=stage.repository, input=data, capture_output=True, check=True
    )
    return done.stdout.decode().strip()


def test_a_release_is_the_commits_own_bytes_whatever_the_repository_configures(
    stage: Stage,
) -> None:
    attributes = "*.txt text eol=crlf ident filter=evil export-ignore\n"
    stage.commit({".gitattributes": attributes, "a.txt": "$Id$\nline\n", "run": "#!x\n"})
    stage.git("config", "filter.evil.smudge", "sed s/line/pwned/")
    (stage.repository / "run").chmod(0o755)
    commit = stage.commit({})
    folder = build(stage, commit)
    assert (folder / "a.txt").read_bytes() == b"$Id$\nline\n"
    assert os.access(folder / "run", os.X_OK)


def test_a_release_is_sealed(stage: Stage) -> None:
    folder = build(stage, stage.commit({"pkg/a.py": "x = 1\n"}))
    modes = {path.stat().st_mode & 0o222 for path in (folder, *folder.rglob("*"))}
    assert modes == {0}


@pytest.mark.parametrize(
    "tamper",
    [
        lambda folder: (folder / "a.py").write_text("x = 2\n"),
        lambda folder: (folder / "b.py").write_text(""),
        lambda folder: (folder / "a.py").unlink(),
        lambda folder: (folder / "a.py").chmod(0o755),
        lambda folder: ((folder / "a.py").rename(folder / "c"), (folder / "a.py").symlink_to("c")),
    ],
    ids=["edited", "added", "removed", "made to run", "replaced by a link"],
)
def test_a_tampered_release_is_not_intact(stage: Stage, tamper: object) -> None:
    built = stage.releases.build(
        RELEASE, stage.commit({"a.py": "x = 1\n"}), correlation="cor_00000000"
    )
    folder = Path(built.folder)
    assert stage.releases.is_intact(RELEASE, built.digest)
    folder.chmod(0o755)
    (folder / "a.py").chmod(0o644)
    tamper(folder)  # type: ignore[operator]
    assert not stage.releases.is_intact(RELEASE, built.digest)


def test_the_same_commit_has_the_same_digest(stage: Stage) -> None:
    commit = stage.commit({"a.py": "x = 1\n", "b/c.py": ""})
    digests = {
        release_tree.tree_digest(build(stage, commit, f"2026030{day}T120000Z-0")) for day in (1, 2)
    }
    assert len(digests) == 1


def test_a_half_made_release_is_made_again(stage: Stage) -> None:
    partial = stage.root / "deployments" / "releases" / f".{RELEASE}.partial"
    partial.mkdir(parents=True)
    (partial / "rubbish").write_text("left by a crash")
    folder = build(stage, stage.commit({"a.py": ""}))
    assert [path.name for path in folder.iterdir()] == ["a.py"]
    assert not partial.exists()


@pytest.mark.parametrize(
    "entries",
    [
        [("100644", "..", b"out")],
        [("100644", ".git", b"hook")],
        [("100644", "a", b"1"), ("100644", "a", b"2")],
        [("120000", "a", b"/etc"), ("100644", "a", b"2")],
        [("160000", "module", b"")],
    ],
    ids=["up", "git folder", "twice", "through a link", "submodule"],
)
def test_a_hostile_tree_is_refused_and_leaves_nothing(
    stage: Stage, entries: list[tuple[str, str, bytes]]
) -> None:
    with pytest.raises(BadTree):
        build(stage, raw_commit(stage, *entries))
    assert list((stage.root / "deployments" / "releases").iterdir()) == []


def test_a_link_in_a_release_is_kept_and_never_followed(stage: Stage) -> None:
    (stage.folder / "outside").write_text("1")
    folder = build(
        stage, raw_commit(stage, ("120000", "a", str(stage.folder / "outside").encode()))
    )
    before = release_tree.tree_digest(folder)
    (stage.folder / "outside").write_text("2")
    assert release_tree.tree_digest(folder) == before


def test_a_build_that_leaves_a_pipe_is_refused(stage: Stage) -> None:
    def leave_a_pipe(_step: tuple[str, ...], folder: Path, _story: str) -> Outcome:
        os.mkfifo(folder / "pipe")
        return Outcome(verdict=Verdict.SUCCEEDED, reason="exit code 0")

    stage.releases = replace(stage.releases, steps=lambda: (("make",),), run=leave_a_pipe)
    with pytest.raises(BadTree):
        build(stage, stage.commit({"a": ""}))


def test_a_failed_build_says_what_it_said_and_leaves_nothing(stage: Stage) -> None:
    failed = Outcome(verdict=Verdict.FAILED, reason="exit code 2", stderr=b"no rule \x1b[31m")
    stage.releases = replace(stage.releases, steps=lambda: (("make",),), run=lambda *_: failed)
    with pytest.raises(BuildFailed, match=r"no rule \\x1b"):
        build(stage, stage.commit({"a": ""}))
    assert list((stage.root / "deployments" / "releases").iterdir()) == []


def test_what_was_replaced_is_kept_apart_from_the_release(stage: Stage) -> None:
    build(stage, stage.commit({"pkg/a.py": "x = 1\n"}))
    place = Path(stage.releases.back_up(RELEASE, RELEASE))
    assert stage.releases.back_up(RELEASE, RELEASE) == str(place)
    release_tree.remove_tree(Path(stage.releases.folder(RELEASE)))
    assert (place / "pkg" / "a.py").read_text() == "x = 1\n"


def test_the_pointer_is_replaced_in_one_step(stage: Stage) -> None:
    for day in (1, 2):
        release = f"2026030{day}T120000Z-0"
        build(stage, stage.commit({"a": str(day)}), release)
        stage.releases.point_to(release)
    current = stage.root / "deployments" / "current"
    assert current.readlink() == Path("releases/20260302T120000Z-0")
    assert (current / "a").read_text() == "2"


def test_a_removed_release_is_gone_with_its_backup(stage: Stage) -> None:
    folder = build(stage, stage.commit({"pkg/a.py": ""}))
    place = Path(stage.releases.back_up(RELEASE, RELEASE))
    stage.releases.remove(RELEASE)
    assert not folder.exists()
    assert not place.exists()
    stage.releases.remove(RELEASE)


def test_the_status_file_is_whole(stage: Stage) -> None:
    stage.releases.write_status({"sequence": 7})
    assert json.loads((stage.root / "deployments" / "status.json").read_text()) == {"sequence": 7}


FULL = """
import sys
from pathlib import Path
from astra.adapters.release_folders import DiskFull, ReleaseFolders
disk, repository, old, commit = sys.argv[1:]
releases = ReleaseFolders(base=Path(disk), repository=Path(repository), steps=lambda: (), run=None)
releases.build("old", old, correlation="c")
try:
    releases.build("new", commit, correlation="c")
except DiskFull as error:
    print("full:", sorted(path.name for path in Path(disk, "releases").iterdir()))
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount a small disk")
def test_a_full_disk_leaves_the_old_release_and_nothing_else(stage: Stage) -> None:
    old = stage.commit({"a": "small"})
    commit = stage.commit({"big": "x" * 3_000_000})
    (disk := stage.folder / "disk").mkdir()
    words = [sys.executable, "-c", FULL, str(disk), str(stage.repository / ".git")]
    script = 'mount -t tmpfs -o size=2m tmpfs "$4" && exec "$@"'
    command = ["unshare", "--mount", "sh", "-c", script, "sh", *words, old, commit]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "full: ['old']", done.stderr


@pytest.mark.parametrize("kind", ["file", "link", "folder"])
def test_the_settings_of_a_release_are_sealed_below_its_digest_whatever_the_commit_has(
    stage: Stage, kind: str
) -> None:
    """A commit that brings a file, a link or a folder of that name chooses no settings."""
    victim = stage.root / "victim"
    victim.write_text("untouched")
    name = SETTINGS_FILE + ("/inner" if kind == "folder" else "")
    content = str(victim) if kind == "link" else '{"command": ["evil"]}'
    commit = stage.commit({"app.py": ""} if kind == "link" else {"app.py": "", name: content})
    if kind == "link":
        (stage.repository / name).symlink_to(victim)
        commit = stage.commit({})
    built = stage.releases.build(
        RELEASE, commit, correlation="cor_00000000", settings=b'{"command": ["signed"]}'
    )
    assert stage.releases.read_settings(RELEASE, built.settings) == b'{"command": ["signed"]}'
    assert victim.read_text() == "untouched"
    file = Path(built.folder, SETTINGS_FILE)
    file.parent.chmod(0o755)
    file.chmod(0o644)
    file.write_text('{"command": ["evil"]}')
    assert not stage.releases.is_intact(RELEASE, built.digest)
    with pytest.raises(Refused, match="not those it was built with"):
        stage.releases.read_settings(RELEASE, built.settings)
