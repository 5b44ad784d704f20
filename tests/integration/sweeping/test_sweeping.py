"""What killed processes left is taken away at the next start, and nothing else is."""

import os
import subprocess
from pathlib import Path

import pytest

from astra.bootstrap import PROJECTIONS
from astra.bootstrap.sweeping import sweep
from astra.trusted.file_ledger import sqlite_index
from astra.trusted.files.data_root import DataRoot
from astra.trusted.sandbox import boxes


@pytest.fixture
def root(tmp_path: Path) -> DataRoot:
    made = DataRoot(tmp_path / "data")
    made.make_folders()
    (made.git / "refs" / "heads").mkdir(parents=True)
    return made


def make(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()
    return path


def test_half_written_files_and_indexes_of_other_versions_go_and_the_rest_stays(
    root: DataRoot,
) -> None:
    current = sqlite_index.find_newest(root.var / "index", PROJECTIONS)[0]
    stays = [
        make(current),
        make(root.var / "stop-report.json"),
        make(root.path / "persona_space" / ".note.0123abcd"),
        make(root.path / ".env"),
        make(root.path / "deployments" / "releases" / "20260101T000000Z-0" / "app.py"),
    ]
    goes = [
        make(root.var / ".stop-report.json.0123abcd"),
        make(root.path / "deployments" / ".status.json.0123abcd"),
        make(root.path / "deployments" / "releases" / ".20260101T000000Z-1.partial" / "app.py"),
        make(root.var / "index" / "index-000000000000-1.sqlite3"),
        make(root.var / "index" / "index-000000000000-1.sqlite3-wal"),
        make(root.git / "packed-refs.lock"),
        make(root.git / "refs" / "heads" / "main.lock"),
    ]
    swept = sweep(root, PROJECTIONS)
    assert (swept.files, swept.indexes) == (3, 1)
    assert swept.locks == ("packed-refs.lock", "refs/heads/main.lock")
    assert "stale git locks (packed-refs.lock, refs/heads/main.lock)" in swept.describe()
    assert [path for path in goes if path.exists()] == []
    assert [path for path in stays if not path.exists()] == []
    assert sweep(root, PROJECTIONS).describe() == ""


def test_entries_of_dead_boxes_go_and_one_of_a_living_process_stays(root: DataRoot) -> None:
    ended = subprocess.Popen(["true"])
    dead = boxes.describe(ended.pid, pid_namespace=1, kind=boxes.APP, label="old")
    ended.wait()
    alive = boxes.describe(os.getpid(), pid_namespace=1, kind=boxes.APP, label="app")
    assert dead is not None
    assert alive is not None
    for box in (dead, alive):
        boxes.register(root.path, box)
    make(root.var / "run" / "boxes" / "box_gone.ended")
    make(root.var / "run" / "boxes" / ".box_never")
    assert sweep(root, PROJECTIONS).entries == 1
    assert [path.name for path in (root.var / "run" / "boxes").iterdir()] == [alive.id]


def test_a_lock_that_a_living_git_may_hold_is_left_alone(root: DataRoot) -> None:
    lock = make(root.git / "refs" / "heads" / "main.lock")
    with subprocess.Popen(["sh", "-c", "read _", str(root.git)], stdin=subprocess.PIPE) as working:
        assert sweep(root, PROJECTIONS).locks == ()
        working.communicate(b"\n")
    assert sweep(root, PROJECTIONS).locks == ("refs/heads/main.lock",)
    assert not lock.exists()
