"""Changes on a repository with a past: what comes out is git's own, byte for byte."""

from collections.abc import Iterator
from pathlib import Path

import pytest

import long_history
from astra.changes.edits import Delete, Patch, Replace, WholeFile
from astra.trusted.changes.admission import NotAdmitted
from astra.trusted.changes.model import State
from changing import ChangesHere, git
from long_history import BINARY, COMMITS, CRLF, LATIN


@pytest.fixture
def here(tmp_path: Path) -> Iterator[ChangesHere]:
    long_history.make(tmp_path / "git")
    made = ChangesHere(tmp_path)
    yield made
    made.close()


def blob(here: ChangesHere, commit: str, path: str) -> bytes:
    return here.repo.files(commit, [path])[path].content


def test_the_past_is_as_long_and_as_mixed_as_it_says(here: ChangesHere) -> None:
    counted = git(here.git_dir, "rev-list", "--count", "main")
    merges = git(here.git_dir, "rev-list", "--count", "--merges", "main")
    renames = git(here.git_dir, "log", "-M", "--diff-filter=R", "--format=%h", "main")
    assert int(counted) > COMMITS
    assert int(merges) >= 5
    assert len(renames.split()) == 30


def test_bytes_of_every_kind_are_changed_and_nothing_else_moves(here: ChangesHere) -> None:
    base = here.repo.head()
    change = here.reviewed(
        Replace(path="notes/crlf.txt", search=b"second\r\n", replace=b"2nd\r\n"),
        WholeFile(path="notes/latin.py", content=LATIN + b"# \xe9\n"),
        WholeFile(path="empty.txt", content=b"no more\n"),
        Delete(path="pkg/m2.py"),
        WholeFile(path="pkg/moved/m2.py", content=b"NUMBER = 2\n"),
    )
    here.approve(change)
    assert here.repo.head() == change.commit
    assert git(here.git_dir, "rev-parse", "main^") == base
    assert blob(here, change.commit, "notes/crlf.txt") == CRLF.replace(b"second", b"2nd")
    assert blob(here, change.commit, "notes/latin.py") == LATIN + b"# \xe9\n"
    touched = git(here.git_dir, "diff-tree", "-r", "--name-only", "--no-renames", base, "main")
    assert touched.split() == [
        *("empty.txt", "notes/crlf.txt", "notes/latin.py", "pkg/m2.py", "pkg/moved/m2.py")
    ]
    untouched = {"run.sh": "100755", "latest": "120000"}
    tree = here.repo.tree(change.commit)
    assert {path: tree[path].mode for path in untouched} == untouched
    git(here.git_dir, "fsck", "--strict", "--no-dangling")


def test_a_diff_of_carriage_returns_and_other_encodings_is_whole(here: ChangesHere) -> None:
    change = here.propose(
        Replace(path="notes/crlf.txt", search=b"third", replace=b"3rd"),
        WholeFile(path="notes/latin.py", content=LATIN.replace(b"NAME", b"OTHER")),
    )
    diff = here.changes.diff(change.id)
    assert b"-third\r\n+3rd\r\n" in diff
    assert b"-NAME = 'caf\xe9'\n+OTHER = 'caf\xe9'\n" in diff


def test_a_patch_made_by_git_itself_applies(here: ChangesHere) -> None:
    """Git renames a file, and edits one with carriage returns; its own patch is the proposal."""
    work = here.folder / "elsewhere"
    git(here.folder, "clone", "-q", "git", work)
    git(work, "mv", "pkg/m2.py", "pkg/renamed.py")
    (work / "notes/crlf.txt").write_bytes(CRLF.replace(b"first", b"1st"))
    patch = git(work, "diff", "-M", "HEAD").encode(errors="surrogateescape") + b"\n"
    change = here.propose(Patch(text=patch))
    assert sorted((file["path"], file["how"]) for file in change.facts["files"]) == [
        ("notes/crlf.txt", "modified"),
        ("pkg/m2.py", "deleted"),
        ("pkg/renamed.py", "renamed"),
    ]
    assert blob(here, change.commit, "notes/crlf.txt") == CRLF.replace(b"first", b"1st")


def test_binary_files_are_refused_and_links_become_files(here: ChangesHere) -> None:
    with pytest.raises(NotAdmitted) as refused:
        here.propose(WholeFile(path="data/picture.bin", content=BINARY + b"\0"))
    assert [each["rule"] for each in refused.value.facts["refusals"]] == ["binary"]
    change = here.propose(WholeFile(path="latest", content=b"/etc/passwd"))
    (file,) = change.facts["files"]
    assert file == {"path": "latest", "how": "modified", "mode": "120000 → 100644"}


def test_a_base_that_moved_is_carried_over_and_asked_about_again(here: ChangesHere) -> None:
    change = here.reviewed(Replace(path="notes/crlf.txt", search=b"first", replace=b"1st"))
    moved = here.commit_elsewhere("notes/crlf.txt", CRLF + b"fourth\r\n")
    here.approve(change)
    again = here.get(change.id)
    assert (again.state, again.round, again.base) == (State.AWAITING, 2, moved)
    here.approve(again)
    assert blob(here, here.repo.head(), "notes/crlf.txt") == (
        b"1st\r\nsecond\r\nthird\r\nfourth\r\n"
    )
