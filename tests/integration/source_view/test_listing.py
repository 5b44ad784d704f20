from typing import Any

import pytest

from astra.adapters.source_view.listing import BadCursor
from astra.trusted.git.snapshot import BadRevision
from astra.trusted.kernel.errors import AstraError, NotFound
from astra.trusted.policy.globs import GlobRefused
from astra.trusted.policy.paths import PathRefused
from astra.trusted.policy.secrets import SecretRules

FILES = {
    "README.md": "# hello\n",
    "src/app/main.py": "print(1)\n",
    "src/app/util.py": "x = 1\n",
    "src/app.py": "a\n",
    "src/web/index.ts": "let a = 1\n",
    "docs/guide.md": "guide\n",
    "docs/sub/deep.md": "deep\n",
    "Makefile": "all:\n",
}


def paths_of(listing: Any) -> list[str]:
    return [item.path for item in listing.items]


def test_files_come_in_order_with_size_kind_and_language(repository: Any) -> None:
    commit = repository.commit(FILES, links={"link": "docs/guide.md"})
    listing = repository.view().list()
    assert paths_of(listing) == sorted([*FILES, "link"])
    assert (listing.commit, listing.total, listing.next) == (commit, len(FILES) + 1, None)
    by_path = {item.path: item for item in listing.items}
    assert (by_path["src/app/main.py"].size, by_path["src/app/main.py"].language) == (9, "Python")
    assert by_path["Makefile"].language == "Make"
    assert by_path["link"].kind == "symlink"


@pytest.mark.parametrize(
    ("folder", "glob", "expected"),
    [
        ("docs", None, ["docs/guide.md", "docs/sub/deep.md"]),
        ("docs/", "*.md", ["docs/guide.md", "docs/sub/deep.md"]),
        ("", "docs/*.md", ["docs/guide.md"]),
        ("docs", "sub/*", ["docs/sub/deep.md"]),
        ("", "*.py", ["src/app.py", "src/app/main.py", "src/app/util.py"]),
        ("src/app", None, ["src/app/main.py", "src/app/util.py"]),
        ("app", None, ["src/app/main.py", "src/app/util.py"]),
        ("src/docs", None, ["docs/guide.md", "docs/sub/deep.md"]),
        ("", "**/ma?n.py", ["src/app/main.py"]),
        ("", "*.rs", []),
    ],
)
def test_a_folder_and_a_glob_select(
    repository: Any, folder: str, glob: str | None, expected: list[str]
) -> None:
    repository.commit(FILES)
    assert paths_of(repository.view().list(folder=folder, glob=glob)) == expected


def test_pages_join_to_the_whole_list_and_stay_at_their_commit(repository: Any) -> None:
    first_commit = repository.commit(FILES)
    view = repository.view()
    page = view.list(limit=3)
    repository.commit({"only.txt": "moved on"})
    found = paths_of(page)
    while page.next:
        page = view.list(cursor=page.next, limit=3)
        assert page.commit == first_commit
        found += paths_of(page)
    assert found == sorted(FILES)
    assert paths_of(view.list()) == ["only.txt"]


def test_a_branch_a_commit_and_a_change_can_be_listed(repository: Any) -> None:
    commit = repository.commit({"a": "1"})
    repository.commit({"b": "2"}, branch="astra/chg_00c0ffee")
    repository.commit({"c": "3"}, branch="release/1.x")
    repository.commit({"d": "4"})
    view = repository.view()
    assert paths_of(view.list(at=commit)) == ["a"]
    assert paths_of(view.list(at=commit[:10])) == ["a"]
    assert paths_of(view.list(at="chg_00c0ffee")) == ["b"]
    assert paths_of(view.list(at="astra/chg_00c0ffee")) == ["b"]
    assert paths_of(view.list(at="release/1.x")) == ["c"]
    assert paths_of(view.list()) == ["d"]


@pytest.mark.parametrize(
    "at",
    ["", "-x", "--all", "main^", "main~1", "HEAD@{0}", "a..b", ":/x", "main:README.md", "a b"],
)
def test_what_is_no_revision_is_refused_before_git_sees_it(repository: Any, at: str) -> None:
    repository.commit(FILES)
    with pytest.raises(BadRevision):
        repository.view().list(at=at)


def test_a_branch_named_like_a_commit_id_is_not_mistaken_for_one(repository: Any) -> None:
    repository.commit(FILES)
    repository.commit({"a": "1"}, branch="deadbeef")
    with pytest.raises(NotFound):
        repository.view().list(at="deadbeef")


def test_an_empty_repository_says_so(repository: Any) -> None:
    with pytest.raises(NotFound) as empty:
        repository.view().list()
    assert empty.value.reason == "no_commit_yet"


def test_an_empty_tree_is_an_empty_list(repository: Any) -> None:
    repository.commit({})
    assert repository.view().list().items == ()


@pytest.mark.parametrize("cursor", ["", "x", "////", "W10=", "bnVsbA==", "é", "WzEsMl0="])
def test_a_made_up_cursor_is_refused(repository: Any, cursor: str) -> None:
    repository.commit(FILES)
    with pytest.raises(BadCursor):
        repository.view().list(cursor=cursor)


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"folder": "../x"}, PathRefused),
        ({"folder": "/etc"}, PathRefused),
        ({"folder": "nowhere"}, NotFound),
        ({"glob": "../*"}, PathRefused),
        ({"glob": "a**b"}, GlobRefused),
        ({"limit": 0}, AstraError),
        ({"at": "gone"}, NotFound),
        ({"at": "0" * 40}, NotFound),
    ],
)
def test_bad_input_gets_a_clear_error(
    repository: Any, options: dict[str, Any], error: type[AstraError]
) -> None:
    repository.commit(FILES)
    with pytest.raises(error) as refused:
        repository.view().list(**options)
    assert refused.value.next_step


def test_secrets_are_not_listed_not_counted_and_not_suggested(repository: Any) -> None:
    repository.commit(
        {**FILES, ".env": "A=1", "keys/id_rsa": "x", "deploy/.Env.prod": "y", "own.vault": "z"}
    )
    listing = repository.view(secrets=SecretRules(patterns=("*.vault",))).list()
    assert paths_of(listing) == sorted(FILES)
    assert listing.total == len(FILES)


def test_names_that_are_no_clean_paths_are_counted_and_not_shown(repository: Any) -> None:
    repository.commit(
        {
            "fine.txt": "1",
            b"latin\xe9.txt": "2",
            "back\\slash": "3",
            "new\nline": "4",
            "bidi\u202etxt": "5",
            "trailing ": "6",
        }
    )
    listing = repository.view().list()
    assert paths_of(listing) == ["fine.txt"]
    assert listing.unaddressable == 5


def test_a_decomposed_name_is_known_by_its_composed_spelling(repository: Any) -> None:
    repository.commit({"cafe\u0301.md": "decomposed\n"})
    view = repository.view()
    assert paths_of(view.list()) == ["caf\u00e9.md"]
    assert view.read("caf\u00e9.md").text == "decomposed\n"


def test_two_spellings_of_one_name_are_both_out_of_reach(repository: Any) -> None:
    repository.commit({"cafe\u0301.md": "one", "caf\u00e9.md": "two", "x": "3"})
    listing = repository.view().list()
    assert (paths_of(listing), listing.unaddressable) == (["x"], 2)


def test_packed_and_loose_objects_read_the_same(repository: Any) -> None:
    repository.commit(FILES)
    view = repository.view()
    before = paths_of(view.list())
    repository.git("repack", "-a", "-d", "-q")
    repository.git("pack-refs", "--all")
    repository.git("prune-packed")
    repository.commit({**FILES, "new.txt": "later"})
    assert view.read("new.txt").text == "later"
    assert paths_of(view.list()) == sorted([*before, "new.txt"])
