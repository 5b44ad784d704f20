"""Whatever tree git can hold is read as git says: names, modes, links, submodules, folders."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from astra.adapters.source_view.view import SourceLimits, SourceView
from astra.adapters.workspaces import Workspaces
from astra.trusted.git.change_repo import GitChangeRepo, Identity
from astra.trusted.git.git_command import GitFailed
from astra.trusted.git.tree_reader import TreeFile, TreeReader, clean_path, encode_path
from raw_repository import File, RawRepository

ODD_NAMES = (
    b"a",
    b"caf\xc3\xa9",  # NFC
    b"cafe\xcc\x81",  # the same name in NFD
    b"caf\xe9",  # Latin-1
    b"two\nlines",
    b"tab\tname",
    b" space ",
    b"-rf",
    b"--",
    b":(glob)*",
    b"\xff\xfe",
    b"\xed\xa0\x80",  # a surrogate, spelled in bytes
    b"a\\b",
    b'"quoted"',
    b".env",
    "😀".encode(),
    b"x" * 255,
)
names = st.one_of(
    st.sampled_from(ODD_NAMES),
    st.binary(min_size=1, max_size=12).filter(lambda name: not {0, ord("/")} & set(name)),
)
contents = st.sampled_from([b"", b"text\n", b"\0binary", b"../target"])
files = st.tuples(st.sampled_from(["100644", "100755", "120000", "160000"]), contents)
folders: st.SearchStrategy[dict[bytes, Any]] = st.recursive(
    st.dictionaries(names, files, max_size=5),
    lambda inner: st.dictionaries(names, st.one_of(files, inner), max_size=4),
    max_leaves=8,
)
SUBMODULE_AT = "1234567890" * 4


def make(repository: RawRepository, folder: Mapping[bytes, Any]) -> str:
    return repository.make_tree(
        {name: _entry(repository, inner) for name, inner in folder.items() if inner != {}}
    )


def _entry(repository: RawRepository, inner: Any) -> File:
    if isinstance(inner, dict):
        return "040000", make(repository, inner)
    mode, content = inner
    return mode, SUBMODULE_AT if mode == "160000" else repository.write("blob", content)


def as_facts(file: TreeFile | None) -> File | None:
    return (file.mode, file.oid) if file else None


@given(folders)
@settings(max_examples=40)
def test_any_tree_is_listed_as_git_holds_it(
    repository: RawRepository, folder: dict[bytes, Any]
) -> None:
    tree = make(repository, folder)
    reader = TreeReader(repository=repository.path)
    for sizes in (False, True):
        listed = reader.list_files(tree, sizes=sizes)
        assert {file.raw_path: as_facts(file) for file in listed} == repository.walk(tree)
    lines = repository.git("ls-tree", "-r", "-l", "-z", tree).split(b"\0")[:-1]
    assert [_as_git_prints(file) for file in listed] == lines


@given(folders, folders)
@settings(max_examples=30)
def test_any_two_trees_differ_as_their_objects_do(
    repository: RawRepository, one: dict[bytes, Any], other: dict[bytes, Any]
) -> None:
    old, new = make(repository, one), make(repository, other)
    before, after = repository.walk(old), repository.walk(new)
    changes = TreeReader(repository=repository.path).list_changes(old, new)
    assert {c.raw_path: (as_facts(c.old), as_facts(c.new)) for c in changes} == {
        path: (before.get(path), after.get(path))
        for path in before.keys() | after.keys()
        if before.get(path) != after.get(path)
    }
    assert len({change.path for change in changes}) == len(changes)


@given(folders)
@settings(max_examples=15)
def test_every_reader_sees_the_same_files(
    repository: RawRepository, folder: dict[bytes, Any]
) -> None:
    tree = make(repository, folder)
    commit, paths = repository.commit(tree), set(repository.walk(tree))
    assert _paths_of_changes(repository.path, commit) == paths
    assert _paths_of_workspaces(repository.path, commit) == paths
    with SourceView(repository.path, branch="main", limits=SourceLimits(page=10_000)) as view:
        listing = view.list(at=commit)
    shown = {item.path for item in listing.items}
    assert shown <= {clean_path(file.path) for file in _files(repository.path, tree)}
    secret = {path for path in paths if path.endswith(b".env")}
    assert len(shown) + listing.unaddressable + len(secret) >= len(paths)
    assert len(shown) + listing.unaddressable <= len(paths)


def _files(repository: Path, tree: str) -> list[TreeFile]:
    return TreeReader(repository=repository).list_files(tree)


def _paths_of_changes(repository: Path, commit: str) -> set[bytes]:
    identity = Identity(name="T", email="t@localhost")
    repo = GitChangeRepo(repository=repository, branch="main", identity=identity)
    try:
        return {encode_path(path) for path in repo.tree(commit)}
    finally:
        repo.close()


def _paths_of_workspaces(repository: Path, commit: str) -> frozenset[bytes]:
    workspaces = Workspaces(repository, repository.parent / "workspaces")
    try:
        return workspaces.paths(commit)
    finally:
        workspaces.close()


def _as_git_prints(file: TreeFile) -> bytes:
    kind = "commit" if file.mode == "160000" else "blob"
    size = "-" if file.size is None else str(file.size)
    return f"{file.mode} {kind} {file.oid} {size:>7}\t".encode() + file.raw_path


def test_an_object_that_is_gone_is_named_with_its_path(repository: RawRepository) -> None:
    oid = repository.write("blob", b"words of this test alone\n")
    tree = repository.make_tree({b"words.md": ("100644", oid)})
    (repository.path / "objects" / oid[:2] / oid[2:]).unlink()
    with pytest.raises(GitFailed, match=f"the object {oid} of 'words.md' is missing or damaged"):
        TreeReader(repository=repository.path).list_files(tree, sizes=True)
