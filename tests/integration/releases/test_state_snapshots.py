"""Snapshots of a state folder that its app wrote, and nobody else."""

import os
from pathlib import Path

import pytest

from astra.adapters.state_snapshots import StateSnapshots
from astra.trusted.kernel.errors import Refused

RELEASE = "20260301T120000Z-000000000000"


@pytest.fixture
def state(tmp_path: Path) -> Path:
    folder = tmp_path / "app-state"
    (folder / "inner").mkdir(parents=True)
    (folder / "inner" / "data.db").write_text("before")
    (folder / "inner" / "data.db").chmod(0o640)
    return folder


@pytest.fixture
def snapshots(tmp_path: Path) -> StateSnapshots:
    return StateSnapshots(tmp_path / "var" / "state-snapshots")


def test_a_state_is_put_back_as_it_was_and_what_it_replaced_is_kept(
    snapshots: StateSnapshots, state: Path
) -> None:
    assert snapshots.take(RELEASE, str(state)) == len("before")
    (state / "inner" / "data.db").write_text("after")
    (state / "new").touch()
    snapshots.restore(RELEASE, str(state))
    snapshots.restore(RELEASE, str(state))
    assert (state / "inner" / "data.db").read_text() == "before"
    assert (state / "inner" / "data.db").stat().st_mode & 0o777 == 0o640
    assert not (state / "new").exists()
    snapshots.undo_restore(RELEASE, str(state))
    snapshots.undo_restore(RELEASE, str(state))
    assert (state / "inner" / "data.db").read_text() == "after"
    assert [path.name for path in state.parent.iterdir() if path.name.startswith(".")] == []


def test_links_are_not_followed_and_pipes_are_left_out(
    snapshots: StateSnapshots, state: Path, tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret").write_text("canary")
    (state / "folder").symlink_to(outside)
    (state / "file").symlink_to(outside / "secret")
    os.mkfifo(state / "pipe")
    snapshots.take(RELEASE, str(state))
    (state / "inner" / "data.db").write_text("after")
    snapshots.restore(RELEASE, str(state))
    assert (state / "folder").is_symlink()
    assert (state / "file").is_symlink()
    assert not (state / "pipe").exists()
    snapshots.remove(RELEASE)
    assert (outside / "secret").read_text() == "canary"


def test_a_restore_that_was_cut_off_anywhere_is_finished_by_the_next(
    snapshots: StateSnapshots, state: Path
) -> None:
    snapshots.take(RELEASE, str(state))
    aside = snapshots.base / f"{RELEASE}.set-aside"
    (state / "inner" / "data.db").write_text("after")
    state.rename(aside)  # killed between the two renames
    snapshots.restore(RELEASE, str(state))
    assert (state / "inner" / "data.db").read_text() == "before"
    assert (aside / "inner" / "data.db").read_text() == "after"


def test_a_new_snapshot_forgets_what_an_old_one_set_aside(
    snapshots: StateSnapshots, state: Path
) -> None:
    snapshots.take(RELEASE, str(state))
    snapshots.restore(RELEASE, str(state))
    snapshots.take(RELEASE, str(state))
    (state / "weeks of work").touch()
    snapshots.restore(RELEASE, str(state))
    snapshots.undo_restore(RELEASE, str(state))
    assert (state / "weeks of work").exists()


def test_what_is_not_there_is_not_put_back(snapshots: StateSnapshots, state: Path) -> None:
    with pytest.raises(Refused, match="is not there") as refusal:
        snapshots.restore(RELEASE, str(state))
    assert "--keep-state" in refusal.value.next_step
    assert (state / "inner" / "data.db").exists()


def test_a_sparse_file_counts_with_its_whole_size(snapshots: StateSnapshots, state: Path) -> None:
    with (state / "sparse").open("wb") as file:
        file.truncate(1 << 40)
    assert snapshots.measure(str(state)) > 1 << 40
