import errno
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from astra.trusted.files import open_beneath
from astra.trusted.files.guarded_files import (
    TEMPORARY_PREFIX,
    FileProblem,
    FileRefused,
    GuardedFolder,
)
from astra.trusted.kernel.errors import NotFound
from astra.trusted.policy.paths import RelativePath, parse_folder, parse_relative


@pytest.fixture(params=["openat2", "step by step"])
def folder(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[GuardedFolder]:
    """Both ways of opening are held to the same behaviour."""
    if request.param == "step by step":
        monkeypatch.setattr(open_beneath, "has_openat2", lambda: False)
    elif not open_beneath.has_openat2():
        pytest.skip("this kernel has no openat2")
    root = tmp_path / "root"
    root.mkdir()
    with GuardedFolder(root) as opened:
        yield opened


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "root"


def read(folder: GuardedFolder, path: str) -> bytes:
    return folder.read(parse_relative(path), most_bytes=1000)


def test_what_is_written_is_read_back_and_folders_are_made(folder: GuardedFolder) -> None:
    assert folder.write(parse_relative("a/b/c.txt"), b"one") is True
    assert folder.write(parse_relative("a/b/c.txt"), b"two") is False
    assert read(folder, "a/b/c.txt") == b"two"


def test_a_write_leaves_no_temporary_file_and_a_plain_mode(
    folder: GuardedFolder, root: Path
) -> None:
    folder.write(parse_relative("a.txt"), b"x")
    assert [path.name for path in root.iterdir()] == ["a.txt"]
    assert (root / "a.txt").stat().st_mode & 0o7777 & ~0o644 == 0


def test_a_reader_sees_the_old_or_the_new_file_and_never_half(
    folder: GuardedFolder, root: Path
) -> None:
    folder.write(parse_relative("a.txt"), b"old")
    with (root / "a.txt").open("rb") as already_open:
        folder.write(parse_relative("a.txt"), b"new")
        assert already_open.read() == b"old"


def test_a_failed_write_changes_nothing_and_cleans_up(
    folder: GuardedFolder, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder.write(parse_relative("a.txt"), b"old")

    def full_disk(_descriptor: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full_disk)
    with pytest.raises(FileRefused) as refused:
        folder.write(parse_relative("a.txt"), b"new")
    monkeypatch.undo()
    assert refused.value.problem is FileProblem.UNAVAILABLE
    assert [path.name for path in root.iterdir()] == ["a.txt"]
    assert (root / "a.txt").read_bytes() == b"old"


def test_delete_removes_a_file_and_refuses_a_folder(folder: GuardedFolder, root: Path) -> None:
    folder.write(parse_relative("a/b.txt"), b"x")
    with pytest.raises(FileRefused) as refused:
        folder.delete(parse_relative("a"))
    assert refused.value.problem is FileProblem.IS_FOLDER
    folder.delete(parse_relative("a/b.txt"))
    assert not (root / "a/b.txt").exists()
    for gone in ("a/b.txt", "nowhere/x"):
        with pytest.raises(NotFound):
            folder.delete(parse_relative(gone))


def test_delete_removes_a_symlink_and_leaves_what_it_points_to(
    folder: GuardedFolder, root: Path, tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    outside.write_text("kept")
    (root / "link").symlink_to(outside)
    folder.delete(parse_relative("link"))
    assert outside.read_text() == "kept"
    assert not (root / "link").is_symlink()


def test_a_missing_file_is_not_found(folder: GuardedFolder) -> None:
    for path in ("a", "a/b/c"):
        with pytest.raises(NotFound):
            read(folder, path)


def test_a_file_above_the_cap_is_refused(folder: GuardedFolder) -> None:
    folder.write(parse_relative("a"), b"x" * 1001)
    with pytest.raises(FileRefused) as refused:
        read(folder, "a")
    assert refused.value.problem is FileProblem.TOO_LARGE
    folder.write(parse_relative("a"), b"x" * 1000)
    assert len(read(folder, "a")) == 1000


def test_a_path_through_a_file_is_refused(folder: GuardedFolder) -> None:
    folder.write(parse_relative("a"), b"x")
    for attempt in (
        lambda: read(folder, "a/b"),
        lambda: folder.write(parse_relative("a/b"), b"y"),
        lambda: folder.list(parse_folder("a")),
    ):
        with pytest.raises(FileRefused):
            attempt()


def test_a_folder_is_not_read_or_overwritten(folder: GuardedFolder, root: Path) -> None:
    (root / "sub").mkdir()
    for attempt in (
        lambda: read(folder, "sub"),
        lambda: folder.write(parse_relative("sub"), b"y"),
    ):
        with pytest.raises(FileRefused) as refused:
            attempt()
        assert refused.value.problem is FileProblem.IS_FOLDER


def test_a_name_like_an_option_is_an_ordinary_file(folder: GuardedFolder) -> None:
    folder.write(parse_relative("-rf"), b"x")
    assert read(folder, "-rf") == b"x"
    folder.delete(parse_relative("-rf"))


def test_lists_come_in_pages_with_kinds_and_sizes(folder: GuardedFolder, root: Path) -> None:
    for number in range(5):
        (root / f"f{number}").write_bytes(b"x" * number)
    (root / "sub").mkdir()
    (root / "link").symlink_to("/etc/passwd")
    os.mkfifo(root / "pipe")
    (root / f"{TEMPORARY_PREFIX}x").write_text("hidden")
    (root / "trailing ").write_text("unclean")
    found, after = [], ""
    while True:
        page = folder.list(RelativePath(""), after=after, count=2)
        found += [(item.name, item.kind, item.size) for item in page.items]
        assert page.unaddressable == 1
        if page.next is None:
            break
        after = page.next
    assert found == [
        *((f"f{number}", "file", number) for number in range(5)),
        ("link", "symlink", None),
        ("pipe", "other", None),
        ("sub", "folder", None),
    ]


def test_the_folder_stays_the_same_when_its_name_is_given_away(
    folder: GuardedFolder, root: Path, tmp_path: Path
) -> None:
    folder.write(parse_relative("a"), b"mine")
    root.rename(tmp_path / "moved")
    root.mkdir()
    (root / "a").write_text("planted")
    assert read(folder, "a") == b"mine"


def test_a_root_that_is_a_symlink_is_refused(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("/etc")
    with pytest.raises(FileRefused):
        GuardedFolder(tmp_path / "link")


def test_no_descriptor_is_left_open(folder: GuardedFolder, root: Path) -> None:
    (root / "link").symlink_to("/etc")
    before = len(list(Path("/proc/self/fd").iterdir()))
    for _ in range(50):
        folder.write(parse_relative("a/b"), b"x")
        read(folder, "a/b")
        folder.list(RelativePath("a"))
        for attempt in (
            lambda: read(folder, "link/passwd"),
            lambda: folder.write(parse_relative("link/x"), b"x"),
            lambda: folder.list(parse_folder("link")),
        ):
            with pytest.raises(FileRefused):
                attempt()
    assert len(list(Path("/proc/self/fd").iterdir())) == before
