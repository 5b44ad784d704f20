"""What edits make of bytes: exactly what they say, or a refusal that says why."""

import difflib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from astra.changes import edits, patches
from astra.changes.edits import Delete, Edit, EditRefused, Patch, Replace, WholeFile
from astra.changes.patches import PatchRefused
from astra.trusted.changes.files import FileState
from astra.trusted.policy.paths import PathRefused

BASE = {
    "a.py": FileState(content=b"one\ntwo\ntwo\nthree\n"),
    "crlf.txt": FileState(content=b"one\r\ntwo\r\n"),
    "run.sh": FileState(content=b"#!/bin/sh\n", mode="100755"),
    "latin.txt": FileState(content=b"caf\xe9\n"),
    "empty": FileState(content=b""),
    "bare.txt": FileState(content=b"no newline"),
}


def applied(*given: Edit) -> dict[str, FileState | None]:
    return edits.apply(given, BASE.get)


def patched(text: str | bytes) -> dict[str, FileState | None]:
    return applied(Patch(text=text.encode() if isinstance(text, str) else text))


def test_a_whole_file_keeps_the_mode_it_had_unless_told() -> None:
    assert applied(WholeFile(path="run.sh", content=b"x"))["run.sh"] == FileState(
        content=b"x", mode="100755"
    )
    plain = applied(WholeFile(path="run.sh", content=b"x", executable=False))["run.sh"]
    assert plain == FileState(content=b"x")


def test_a_search_has_to_match_exactly_once_unless_told() -> None:
    with pytest.raises(EditRefused, match="2 times"):
        applied(Replace(path="a.py", search=b"two", replace=b"2"))
    done = applied(Replace(path="a.py", search=b"two", replace=b"2", every=True))
    assert done["a.py"] == FileState(content=b"one\n2\n2\nthree\n")
    with pytest.raises(EditRefused, match="not in it"):
        applied(Replace(path="a.py", search=b"four", replace=b""))
    with pytest.raises(EditRefused, match="not in it"):
        applied(Replace(path="a.py", search=b"", replace=b"x"))


def test_line_ends_are_not_guessed_and_the_refusal_says_so() -> None:
    with pytest.raises(EditRefused, match="CRLF"):
        applied(Replace(path="crlf.txt", search=b"one\ntwo", replace=b""))
    done = applied(Replace(path="crlf.txt", search=b"one\r\n", replace=b"1\r\n"))
    assert done["crlf.txt"] == FileState(content=b"1\r\ntwo\r\n")


def test_searches_may_follow_each_other_and_nothing_else_may() -> None:
    done = applied(
        Replace(path="a.py", search=b"one", replace=b"1"),
        Replace(path="a.py", search=b"three", replace=b"3"),
    )
    assert done["a.py"] == FileState(content=b"1\ntwo\ntwo\n3\n")
    with pytest.raises(EditRefused, match="twice"):
        applied(Replace(path="a.py", search=b"one", replace=b""), Delete(path="a.py"))


def test_what_is_not_there_is_neither_deleted_nor_searched() -> None:
    for edit in (Delete(path="none"), Replace(path="none", search=b"x", replace=b"")):
        with pytest.raises(EditRefused, match="no such file"):
            applied(edit)
    with pytest.raises(PathRefused):
        applied(WholeFile(path="../up", content=b""))


def test_bytes_that_are_not_utf_8_are_edited_as_bytes() -> None:
    done = applied(Replace(path="latin.txt", search=b"\xe9", replace=b"e"))
    assert done["latin.txt"] == FileState(content=b"cafe\n")


def test_a_hunk_goes_where_it_says_or_to_the_only_place_it_fits() -> None:
    moved = "--- a/a.py\n+++ b/a.py\n@@ -9 +9 @@\n-three\n+3\n"
    assert patched(moved)["a.py"] == FileState(content=b"one\ntwo\ntwo\n3\n")
    exact = "--- a/a.py\n+++ b/a.py\n@@ -3 +3 @@\n-two\n+2\n"
    assert patched(exact)["a.py"] == FileState(content=b"one\ntwo\n2\nthree\n")
    with pytest.raises(PatchRefused, match="several places"):
        patched("--- a/a.py\n+++ b/a.py\n@@ -9 +9 @@\n-two\n+2\n")
    with pytest.raises(PatchRefused, match="nowhere"):
        patched("--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-onee\n+1\n")


def test_context_is_exact_spaces_and_line_ends_included() -> None:
    with pytest.raises(PatchRefused, match="nowhere"):
        patched("--- a/crlf.txt\n+++ b/crlf.txt\n@@ -1 +1 @@\n-one\n+1\n")
    done = patched("--- a/crlf.txt\n+++ b/crlf.txt\n@@ -1 +1 @@\n-one\r\n+1\r\n")
    assert done["crlf.txt"] == FileState(content=b"1\r\ntwo\r\n")


def test_a_missing_last_newline_is_kept_made_and_removed() -> None:
    head = "--- a/bare.txt\n+++ b/bare.txt\n@@ -1 +1 @@\n-no newline\n"
    mark = "\\ No newline at end of file\n"
    assert patched(f"{head}{mark}+with\n")["bare.txt"] == FileState(content=b"with\n")
    assert patched(f"{head}{mark}+without\n{mark}")["bare.txt"] == FileState(content=b"without")
    with pytest.raises(PatchRefused):
        patched(f"{head}+with\n")


def test_files_are_made_deleted_renamed_and_made_executable() -> None:
    done = patched(
        "diff --git a/new.py b/new.py\nnew file mode 100755\n--- /dev/null\n+++ b/new.py\n"
        "@@ -0,0 +1 @@\n+x\n"
        "diff --git a/empty b/empty\ndeleted file mode 100644\n"
        "diff --git a/run.sh b/run.bash\nrename from run.sh\nrename to run.bash\n"
        "diff --git a/a.py b/a.py\nold mode 100644\nnew mode 100755\n"
        "diff --git a/none b/none\nnew file mode 100644\n"
    )
    assert done == {
        "new.py": FileState(content=b"x\n", mode="100755"),
        "empty": None,
        "run.sh": None,
        "run.bash": FileState(content=b"#!/bin/sh\n", mode="100755"),
        "a.py": FileState(content=BASE["a.py"].content, mode="100755"),
        "none": FileState(content=b""),
    }


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("nothing", "no file"),
        ("@@ -1 +1 @@\n-a\n+b\n", "before any file"),
        ("--- a/a.py\n@@ -1 +1 @@\n", "not followed"),
        ("--- a/a.py\n+++ b/a.py\n@@ -1,5 +1 @@\n-one\n", "middle of a hunk"),
        ("--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n*one\n", "no hunk line"),
        ("--- /dev/null\n+++ b/a.py\n@@ -0,0 +1 @@\n+x\n", "there already"),
        ("diff --git a/x b/x\nGIT binary patch\n", "binary"),
        ("--- a/a.py\n+++ /dev/null\n@@ -1 +0,0 @@\n-one\n", "would be left"),
        ("--- /dev/null\n+++ /dev/null\n", "both sides"),
        ('--- "a/\\303"\n+++ b/x\n', "quoted"),
    ],
)
def test_a_diff_that_does_not_apply_says_why(text: str, why: str) -> None:
    with pytest.raises((PatchRefused, EditRefused), match=why):
        patched(text)


LINES = st.lists(st.sampled_from(["a", "b", "", "  c", "d\r"]), max_size=12)


@given(LINES, LINES)
def test_applying_the_diff_of_two_texts_gives_the_second(old: list[str], new: list[str]) -> None:
    before, after = ("".join(f"{line}\n" for line in lines) for lines in (old, new))
    lines = difflib.unified_diff(
        before.split("\n")[:-1], after.split("\n")[:-1], "a/f", "b/f", lineterm=""
    )
    text = "\n".join(lines)
    if text:
        (part,) = patches.parse(text.encode())
        assert patches.apply(part, before.encode()) == after.encode()
