import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from astra.adapters.persona_space import (
    LARGEST_WRITE,
    BadText,
    PersonaProblem,
    PersonaRefused,
    PersonaSpace,
)
from astra.adapters.source_view.view import NotText, SourceView
from astra.trusted.kernel.errors import NotFound
from astra.trusted.policy.reads import ReadProblem, ReadRefused

STREAM = b"""commit refs/heads/main
committer T <t@localhost> 0 +0000
data 1
x
M 100644 inline src/app.py
data 9
print(1)

M 100644 inline README.md
data 8
# hello

M 100644 inline .env
data 3
K=1
"""


@pytest.fixture
def space(tmp_path: Path) -> Iterator[PersonaSpace]:
    repository, root = tmp_path / "git", tmp_path / "persona_space"
    root.mkdir()
    subprocess.run(["git", "init", "-q", "--bare", "-b", "main", repository], check=True)
    importing = ["git", f"--git-dir={repository}", "fast-import", "--quiet"]
    subprocess.run(importing, input=STREAM, check=True)
    with (
        SourceView(repository, branch="main") as source,
        PersonaSpace(root, source=source) as opened,
    ):
        yield opened


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "persona_space"


def test_notes_are_written_listed_read_and_deleted(space: PersonaSpace) -> None:
    written = space.write("notes/today.md", "one\ntwo\n")
    assert (written.path, written.size, written.created) == ("notes/today.md", 8, True)
    assert space.write("./notes//today.md", "one\ntwo\nthree\n").created is False
    file = space.read("notes/today.md", start=2, end=3, numbered=True)
    assert file.text == "     2\ttwo\n     3\tthree\n"
    assert (file.total_lines, file.more, file.commit) == (3, False, None)
    assert [item.path for item in space.list("notes").items] == ["notes/today.md"]
    space.delete("notes/today.md")
    with pytest.raises(NotFound):
        space.read("notes/today.md")


def test_the_top_shows_the_mirror_and_pages_join(space: PersonaSpace) -> None:
    for name in ("a", "b", "c"):
        space.write(name, name)
    page = space.list(limit=2)
    found = [item.path for item in page.items]
    while page.next:
        page = space.list(cursor=page.next, limit=2)
        found += [item.path for item in page.items]
    assert found == ["src", "a", "b", "c"]


def test_src_mirrors_the_target_and_every_listed_path_can_be_read(space: PersonaSpace) -> None:
    page = space.list("src")
    assert [item.path for item in page.items] == ["src/README.md", "src/app.py"]
    assert page.commit
    assert [space.read(item.path).text for item in page.items] == ["# hello\n", "print(1)\n"]
    assert space.read("src/README.md").path == "src/README.md"


def test_a_folder_on_disk_named_like_the_mirror_is_never_looked_at(
    space: PersonaSpace, root: Path
) -> None:
    for name in ("src", "SRC"):
        (root / name).mkdir()
        (root / name / "planted.py").write_text("planted")
    assert [item.path for item in space.list().items] == ["src"]
    with pytest.raises(NotFound):
        space.read("src/planted.py")
    for attempt in (lambda: space.read("SRC/planted.py"), lambda: space.list("Src")):
        with pytest.raises(PersonaRefused) as refused:
            attempt()
        assert refused.value.problem is PersonaProblem.SOURCE_MISSPELLED


@pytest.mark.parametrize("path", ["src/app.py", "src/new.py", "src", "./src//x", "SRC/x", "Src"])
def test_a_write_toward_src_is_refused_with_the_way_to_do_it(
    space: PersonaSpace, root: Path, path: str
) -> None:
    for attempt in (lambda: space.write(path, "x"), lambda: space.delete(path)):
        with pytest.raises(PersonaRefused) as refused:
            attempt()
        assert refused.value.problem is PersonaProblem.SOURCE_READ_ONLY
        assert "schedule_code_modification" in refused.value.next_step
    assert list(root.iterdir()) == []


def test_src_deeper_in_the_path_is_an_ordinary_folder(space: PersonaSpace) -> None:
    space.write("drafts/src/a.py", "x")
    assert space.read("drafts/src/a.py").text == "x"


@pytest.mark.parametrize("path", [".env", "a/.ENV", "id_rsa", "x.pem", "src/.env"])
def test_secrets_are_neither_read_nor_stored_nor_listed(
    space: PersonaSpace, root: Path, path: str
) -> None:
    (root / ".env").write_text("K=1")
    with pytest.raises(ReadRefused) as refused:
        space.read(path)
    assert refused.value.problem is ReadProblem.SECRET
    with pytest.raises((ReadRefused, PersonaRefused)):
        space.write(path, "x")
    assert [item.path for item in space.list().items] == ["src"]


def test_secret_values_are_masked_in_notes_too(space: PersonaSpace) -> None:
    space.write("notes.md", "before\nAPI_KEY=abcdef\nafter\n")
    file = space.read("notes.md")
    assert (file.text, file.masked) == ("before\nAPI_KEY=[masked]\nafter\n", True)


def test_a_large_note_asks_for_a_range_and_binary_is_named(space: PersonaSpace, root: Path) -> None:
    space.write("big.txt", "line\n" * 100_000)
    with pytest.raises(PersonaRefused) as refused:
        space.read("big.txt")
    assert "ask for a range" in refused.value.detail
    assert space.read("big.txt", start=99_999).text == "line\nline\n"
    (root / "x.bin").write_bytes(b"\0\1")
    with pytest.raises(NotText):
        space.read("x.bin")


def test_what_cannot_be_stored_is_refused_and_leaves_nothing(
    space: PersonaSpace, root: Path
) -> None:
    with pytest.raises(PersonaRefused):
        space.write("big.txt", "x" * (LARGEST_WRITE + 1))
    with pytest.raises(BadText):
        space.write("odd.txt", "\ud800")
    assert list(root.iterdir()) == []
