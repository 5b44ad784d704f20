"""A folder of backups on its own: pieces by content, who may write, what is refused."""

import os
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from astra.adapters.backups import making
from astra.adapters.backups.folder import (
    PIECE_BYTES,
    BackupFolder,
    open_folder,
    open_to_write,
    refuse_foreign_folder,
)
from astra.adapters.backups.manifest import Entry, Manifest, read_manifest
from astra.adapters.backups.secrecy import NOT_ENCRYPTED
from astra.trusted.kernel.errors import BadInput, Conflict, NotFound

MANIFEST = Manifest(
    version="1",
    root_id="root_1",
    made_at="2026-11-17T10:00:00.000000Z",
    sequence=1,
    hash="h",
    entries=(Entry(path="a\udcff", kind="link", target="\udcfe"),),
)


def writing(path: Path, root_id: str = "root_1") -> AbstractContextManager[BackupFolder]:
    return open_to_write(path, root_id=root_id, secrecy=NOT_ENCRYPTED)


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[BackupFolder]:
    with writing(tmp_path / "backups") as opened:
        yield opened


def test_a_piece_is_kept_once(folder: BackupFolder) -> None:
    name, is_new = folder.write_piece(b"content")
    assert is_new
    assert folder.write_piece(b"content") == (name, False)
    assert folder.read_piece(name) == b"content"
    assert folder.count_bytes() == len(b"content")


@pytest.mark.parametrize("damage", [b"", b"conten", b"Content", b"content" * 9])
def test_a_piece_that_was_damaged_is_noticed_and_written_anew(
    folder: BackupFolder, damage: bytes
) -> None:
    name, _ = folder.write_piece(b"content")
    (folder.path / "pieces" / name).write_bytes(damage)
    with pytest.raises(BadInput, match="not as it was made"):
        folder.read_piece(name)
    assert folder.write_piece(b"content") == (name, True)
    assert folder.read_piece(name) == b"content"


def test_a_piece_larger_than_any_is_not_read(folder: BackupFolder) -> None:
    name, _ = folder.write_piece(b"content")
    os.truncate(folder.path / "pieces" / name, 1 << 40)
    with pytest.raises(BadInput, match="plain file of the size"):
        folder.read_piece(name)


def test_names_that_are_not_utf_8_stand_in_a_manifest(folder: BackupFolder) -> None:
    backup_id = folder.write_manifest(MANIFEST)
    assert folder.read_manifest(backup_id) == MANIFEST
    assert read_manifest(MANIFEST.encode()) == MANIFEST


def test_a_manifest_under_another_name_is_refused(folder: BackupFolder) -> None:
    backup_id = folder.write_manifest(MANIFEST)
    later = backup_id.replace("2026-11-17", "2027-01-01")
    place = folder.path / "backups"
    (place / f"{backup_id}.manifest").rename(place / f"{later}.manifest")
    assert folder.find_id() == later
    with pytest.raises(BadInput, match="other content than its name says"):
        folder.read_manifest(later)


def test_two_backups_are_not_made_in_one_folder_at_once(folder: BackupFolder) -> None:
    with pytest.raises(Conflict) as refused, writing(folder.path):
        pass
    assert refused.value.reason == "backup_in_progress"
    with open_folder(folder.path, NOT_ENCRYPTED.unlock) as other:
        assert other.list_ids() == []


def test_what_an_interrupted_backup_left_unfinished_is_removed_by_the_next(tmp_path: Path) -> None:
    path = tmp_path / "backups"
    with writing(path) as folder:
        name, _ = folder.write_piece(b"content")
        (path / "pieces" / ".partial-0123").write_bytes(b"cont")
        (path / "backups" / ".partial-0123").write_bytes(b"{")
    with writing(path) as folder:
        assert [entry.name for entry in (path / "pieces").iterdir()] == [name]
        assert list((path / "backups").iterdir()) == []
        assert folder.read_piece(name) == b"content"


def test_a_folder_that_was_begun_and_not_finished_counts_as_empty(tmp_path: Path) -> None:
    (tmp_path / ".partial-0123").write_bytes(b"{")
    with writing(tmp_path) as folder:
        assert folder.list_ids() == []


def test_a_folder_is_for_one_data_root(tmp_path: Path) -> None:
    with writing(tmp_path):
        pass
    with pytest.raises(BadInput, match="another data root"), writing(tmp_path, "root_2"):
        pass


def test_a_folder_that_holds_something_else_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "letters").write_text("mine")
    with pytest.raises(BadInput, match="no folder of backups"):
        refuse_foreign_folder(tmp_path)
    with pytest.raises(BadInput, match="no folder of backups"), writing(tmp_path):
        pass
    assert [path.name for path in tmp_path.iterdir()] == ["letters"]


@pytest.mark.parametrize(
    "header",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b'{"format":2}',
        b'{"format":2,"root_id":1,"folder":"","encryption":null}',
        b'{"format":2,"root_id":"r","folder":"f","encryption":"none"}',
    ],
)
def test_a_header_that_is_none_is_refused(tmp_path: Path, header: bytes) -> None:
    (tmp_path / "astra-backups.json").write_bytes(header)
    with pytest.raises(BadInput, match="not as it was made"), writing(tmp_path):
        pass
    assert (tmp_path / "astra-backups.json").read_bytes() == header


def test_a_folder_without_a_backup_says_so(folder: BackupFolder) -> None:
    with pytest.raises(NotFound, match="no complete backup"):
        folder.find_id()
    backup_id = folder.write_manifest(MANIFEST)
    assert folder.find_id() == folder.find_id(backup_id) == backup_id
    with pytest.raises(NotFound, match="no backup 'other'"):
        folder.find_id("other")


def test_lines_are_cut_at_the_same_places_whenever_more_follow() -> None:
    lines = [b"%d %s\n" % (number, b"x" * 1000) for number in range(10_000)]
    shorter = list(making._join_lines(lines[:9_000]))
    longer = list(making._join_lines(lines))
    assert b"".join(longer) == b"".join(lines)
    assert len(shorter) == len(longer) == 3
    assert shorter[:-1] == longer[:-1]
    assert {len(piece) for piece in longer[:-1]} == {PIECE_BYTES}
