"""One rule says which names never reach a disk; releases and workspaces both follow it."""

from pathlib import Path

import pytest

from astra.adapters import release_tree
from astra.adapters.release_tree import BadTree
from astra.adapters.workspaces import Workspaces
from astra.trusted.git.git_command import GitFailed
from astra.trusted.git.tree_reader import TooManyFiles, TreeReader
from astra.trusted.sandbox.workspace import UnsafeTree
from raw_repository import RawRepository

UNSAFE = [
    b"..",
    b".",
    b".git",
    b".GIT",
    b".git ",
    b".git.",
    b"git~1",
    b".git:stream",
    ".g\u200cit".encode(),  # HFS+ leaves the joiner out
    "\uff0egit".encode(),  # a full-width dot
    b"a/../../b",
    b"a//b",
    b"/etc/passwd",
]
ODD_BUT_SAFE = [
    b"caf\xe9",
    b"two\nlines",
    b"-rf",
    "👩\u200d💻.md".encode(),
    b"ends. ",
    b"a\\b",
    b"git",
]


def write_release(repository: RawRepository, commit: str, folder: Path) -> None:
    release_tree.write_tree(repository.path, commit, folder, is_withheld=lambda _path: False)


@pytest.mark.parametrize("name", UNSAFE)
def test_an_unsafe_name_is_listed_and_never_written(
    repository: RawRepository, tmp_path: Path, name: bytes
) -> None:
    tree = repository.write_tree(("100644", name, repository.write("blob", b"x")))
    (file,) = TreeReader(repository=repository.path).list_files(tree)
    assert file.raw_path == name
    commit = repository.commit(tree)
    with pytest.raises(BadTree):
        write_release(repository, commit, tmp_path / "release")
    workspaces = Workspaces(repository.path, tmp_path / "workspaces")
    with pytest.raises(UnsafeTree):
        workspaces.warm(commit)
    workspaces.close()
    assert not (tmp_path / "release").exists()


@pytest.mark.parametrize("name", ODD_BUT_SAFE)
def test_an_odd_name_is_written_byte_for_byte(
    repository: RawRepository, tmp_path: Path, name: bytes
) -> None:
    commit = repository.commit(
        repository.write_tree(("100644", name, repository.write("blob", b"x")))
    )
    write_release(repository, commit, tmp_path / "release")
    (written,) = (tmp_path / "release").iterdir()
    assert bytes(written).endswith(b"/" + name)
    assert written.read_bytes() == b"x"


def test_a_mode_that_git_made_long_ago_is_a_plain_file(repository: RawRepository) -> None:
    oid = repository.write("blob", b"x")
    tree = repository.write_tree(("100664", b"old", oid))
    (file,) = TreeReader(repository=repository.path).list_files(tree)
    (change,) = TreeReader(repository=repository.path).list_changes(repository.make_tree({}), tree)
    assert change.new == file
    assert file.mode == "100644"


def test_too_many_changes_are_counted_and_not_read(repository: RawRepository) -> None:
    oid = repository.write("blob", b"x")
    tree = repository.make_tree({str(number).encode(): ("100644", oid) for number in range(4)})
    reader = TreeReader(repository=repository.path)
    assert len(reader.list_changes(repository.make_tree({}), tree, most=4)) == 4
    with pytest.raises(TooManyFiles, match="4 files, more than 3"):
        reader.list_changes(repository.make_tree({}), tree, most=3)


def test_a_revision_cannot_be_an_option(repository: RawRepository) -> None:
    with pytest.raises(GitFailed):
        TreeReader(repository=repository.path).list_files("--help")
