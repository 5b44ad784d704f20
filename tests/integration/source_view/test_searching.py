import re
from typing import Any

import pytest

from astra.adapters.source_view.search import (
    BadPattern,
    Document,
    Pattern,
    SearchTimedOut,
    worker_command,
)
from astra.adapters.source_view.view import SourceLimits

FILES = {
    "src/a.py": "import os\n\ndef alpha():\n    return os\n",
    "src/b.py": "def beta():\n    return 'Alpha'\n",
    "docs/c.md": "alpha and omega\r\nalpha\r\n",
}


def places(found: Any) -> list[tuple[str, int]]:
    return [(match.path, match.line) for match in found.items]


@pytest.mark.parametrize("regex", [False, True])
def test_text_and_regex_find_lines_in_order(repository: Any, *, regex: bool) -> None:
    repository.commit(FILES)
    found = repository.view().search(Pattern(text="alpha", regex=regex))
    assert places(found) == [("docs/c.md", 1), ("docs/c.md", 2), ("src/a.py", 3)]
    assert (found.complete, found.searched_files, found.skipped_files) == (True, 3, 0)


@pytest.mark.parametrize("regex", [False, True])
def test_case_can_be_ignored(repository: Any, *, regex: bool) -> None:
    repository.commit(FILES)
    found = repository.view().search(Pattern(text="ALPHA", regex=regex, ignore_case=True))
    assert len(found.items) == 4


def test_context_column_and_text(repository: Any) -> None:
    repository.commit(FILES)
    (match,) = repository.view().search(Pattern(text="return os"), context=2).items
    assert (match.line, match.column, match.text) == (4, 5, "    return os")
    assert match.before == ("", "def alpha():")
    assert match.after == ("",)


def test_a_regex_works_line_by_line(repository: Any) -> None:
    repository.commit(FILES)
    view = repository.view()
    assert places(view.search(Pattern(text=r"^def \w+\(\):$", regex=True))) == [
        ("src/a.py", 3),
        ("src/b.py", 1),
    ]
    assert view.search(Pattern(text=r"os[\s\S]*def", regex=True)).items == ()


def test_plain_text_is_not_a_regex(repository: Any) -> None:
    repository.commit({"a.txt": "a.c\nabc\n(\n"})
    view = repository.view()
    assert places(view.search(Pattern(text="a.c"))) == [("a.txt", 1)]
    assert places(view.search(Pattern(text="("))) == [("a.txt", 3)]


@pytest.mark.parametrize("text", ["-e", "--pre=touch x", "-f/etc/passwd", "$(touch x)", "; touch"])
@pytest.mark.parametrize("regex", [False, True])
def test_a_pattern_like_an_option_or_a_command_is_only_text(
    repository: Any, text: str, *, regex: bool
) -> None:
    repository.commit({"a.txt": f"before {text} after\n"})
    pattern = Pattern(text=re.escape(text) if regex else text, regex=regex)
    assert places(repository.view().search(pattern)) == [("a.txt", 1)]


def test_no_part_of_a_pattern_or_document_is_on_the_command_line() -> None:
    command = worker_command(
        Pattern(text="--evil", regex=True),
        [Document(path="--path", text="--text")],
        limit=1,
        seconds=1,
    )
    assert not [word for word in command.arguments if "evil" in word or "text" in word]
    assert command.environment == {}


def test_folder_and_glob_narrow_the_search(repository: Any) -> None:
    repository.commit(FILES)
    view = repository.view()
    assert places(view.search(Pattern(text="alpha"), folder="src")) == [("src/a.py", 3)]
    assert places(view.search(Pattern(text="alpha"), glob="*.md", limit=1)) == [("docs/c.md", 1)]


def test_a_capped_search_says_it_is_not_complete(repository: Any) -> None:
    repository.commit({"a.txt": "x\n" * 100})
    view = repository.view()
    for regex in (False, True):
        found = view.search(Pattern(text="x", regex=regex), limit=10)
        assert (len(found.items), found.complete) == (10, False)


def test_a_text_too_large_to_be_searched_is_counted_and_makes_it_incomplete(
    repository: Any,
) -> None:
    repository.commit(
        {"a.txt": "needle", "b.bin": b"needle\0", "c.txt": "needle" * 1000},
        links={"d": "needle"},
    )
    found = repository.view(limits=SourceLimits(searched_file_bytes=1000)).search(
        Pattern(text="needle")
    )
    assert places(found) == [("a.txt", 1)]
    assert (found.searched_files, found.skipped_files, found.complete) == (1, 1, False)


def test_images_links_and_binaries_leave_a_search_complete(repository: Any) -> None:
    repository.commit(
        {"a.txt": "needle", "b.bin": b"needle\0", "logo.png": b"\x89PNG\0" * 1000},
        links={"d": "needle"},
    )
    found = repository.view(limits=SourceLimits(searched_file_bytes=1000)).search(
        Pattern(text="needle")
    )
    assert (found.searched_files, found.skipped_files, found.complete) == (1, 0, True)


def test_a_long_line_is_shown_around_its_match(repository: Any) -> None:
    repository.commit({"min.js": "x" * 9000 + "needle" + "y" * 9000})
    (match,) = repository.view().search(Pattern(text="needle")).items
    assert "needle" in match.text
    assert len(match.text) < 500


@pytest.mark.parametrize(
    "text", ["(", "[", "*a", "(?P<a", "a{99999999999}", "", "a\nb", "x" * 2000]
)
def test_a_bad_pattern_is_explained(repository: Any, text: str) -> None:
    repository.commit(FILES)
    with pytest.raises(BadPattern) as refused:
        repository.view().search(Pattern(text=text, regex=True))
    assert refused.value.next_step


@pytest.mark.parametrize("text", ["(a+)+$", "(a|a)*$", "(.*a){30}$", r"(a*)*\1b"])
def test_a_pattern_that_never_ends_is_ended(repository: Any, text: str) -> None:
    repository.commit({"a.txt": "a" * 3000 + "!\n"})
    view = repository.view(limits=SourceLimits(regex_seconds=0.5))
    with pytest.raises(SearchTimedOut):
        view.search(Pattern(text=text, regex=True))
    assert repository.view().search(Pattern(text="aaa", regex=True)).items


def test_secret_files_are_not_searched(repository: Any) -> None:
    repository.commit({".env": "needle=1", "id_rsa": "needle", "a.txt": "no"})
    view = repository.view()
    for regex in (False, True):
        found = view.search(Pattern(text="needle", regex=regex))
        assert (found.items, found.searched_files) == ((), 1)


@pytest.mark.parametrize("regex", [False, True])
def test_a_masked_value_can_be_neither_seen_nor_guessed_by_searching(
    repository: Any, *, regex: bool
) -> None:
    token = "ghp_" + "Q1w2" * 9
    repository.commit({"a.py": f"x = 1\ntoken = '{token}'\ny = 2\nDB_PASSWORD=hunter2\n"})
    view = repository.view()
    for guess in ("ghp_Q", "Q1w2Q1w2", "hunter", "DB_PASSWORD=h"):
        assert view.search(Pattern(text=guess, regex=regex)).items == ()
    (match,) = view.search(Pattern(text="y = 2", regex=regex)).items
    assert token not in str(match)
    assert "hunter2" not in str(match)
