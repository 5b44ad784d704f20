import threading
from typing import Any

import pytest

from astra.adapters.source_view.reading import IsFolder
from astra.adapters.source_view.text_lines import RangeOutsideFile
from astra.adapters.source_view.view import FileTooLarge, NotText, SourceLimits
from astra.trusted.kernel.errors import NotFound
from astra.trusted.policy.reads import ReadProblem, ReadRefused


def test_a_file_is_read_whole_and_says_what_it_is(repository: Any) -> None:
    commit = repository.commit({"src/app.py": "import os\n\nprint(os)\n"})
    file = repository.view().read("src/app.py")
    assert file.text == "import os\n\nprint(os)\n"
    assert (file.commit, file.path, file.language, file.total_lines) == (
        commit,
        "src/app.py",
        "Python",
        3,
    )
    assert (file.encoding, file.encoding_certain, file.line_endings) == ("utf-8", True, "lf")
    assert (file.more, file.cut, file.masked) == (False, False, False)


def test_a_range_with_line_numbers(repository: Any) -> None:
    repository.commit({"a.txt": "one\ntwo\nthree\nfour\n"})
    file = repository.view().read("a.txt", start=2, end=3, numbered=True)
    assert file.text == "     2\ttwo\n     3\tthree"
    assert (file.start, file.end, file.total_lines, file.more) == (2, 3, 4, True)


def test_a_range_past_the_end_stops_at_the_end(repository: Any) -> None:
    repository.commit({"a.txt": "one\ntwo\n"})
    file = repository.view().read("a.txt", start=2, end=99)
    assert (file.text, file.end, file.more) == ("two\n", 2, False)


@pytest.mark.parametrize(("start", "end"), [(0, 1), (3, 2), (9, None), (-1, None)])
def test_a_range_that_is_none_is_refused(repository: Any, start: int, end: int | None) -> None:
    repository.commit({"a.txt": "one\ntwo\n"})
    with pytest.raises(RangeOutsideFile):
        repository.view().read("a.txt", start=start, end=end)


@pytest.mark.parametrize(
    ("asked", "resolved"),
    [("src/app.py", "src/app.py"), ("app.py", "src/app.py"), ("src/top.txt", "top.txt")],
)
def test_a_leading_src_is_optional_and_the_answer_says_which_path_it_was(
    repository: Any, asked: str, resolved: str
) -> None:
    repository.commit({"src/app.py": "1", "top.txt": "2"})
    file = repository.view().read(asked)
    assert (file.asked, file.path) == (asked, resolved)


def test_the_path_as_asked_wins_over_the_other_spelling(repository: Any) -> None:
    repository.commit({"src/app.py": "inner", "app.py": "outer"})
    view = repository.view()
    assert (view.read("app.py").text, view.read("src/app.py").text) == ("outer", "inner")


@pytest.mark.parametrize(
    ("asked", "first"),
    [
        ("src/servces/chat.py", "src/services/chat.py"),
        ("chat.py", "src/services/chat.py"),
        ("src/services/Chat.py", "src/services/chat.py"),
        ("src/services/chta.py", "src/services/chat.py"),
        ("READEM.md", "README.md"),
    ],
)
def test_a_near_miss_names_the_closest_paths(repository: Any, asked: str, first: str) -> None:
    repository.commit(
        {"src/services/chat.py": "1", "src/other/talk.py": "2", "README.md": "3", ".env": "4"}
    )
    with pytest.raises(NotFound) as missed:
        repository.view().read(asked)
    assert missed.value.facts["closest"][0] == first
    assert first in missed.value.next_step
    assert ".env" not in missed.value.facts["closest"]


def test_nothing_close_is_said_plainly(repository: Any) -> None:
    repository.commit({"a": "1"})
    with pytest.raises(NotFound) as missed:
        repository.view().read("zzzzzzzz.qqq")
    assert missed.value.facts["closest"] == []


def test_a_folder_is_not_a_file(repository: Any) -> None:
    repository.commit({"src/app/main.py": "1"})
    for path in ("src/app", "src", "app"):
        with pytest.raises(IsFolder):
            repository.view().read(path)


@pytest.mark.parametrize(
    ("raw", "text", "encoding", "certain"),
    [
        ("naïve 文\n".encode(), "naïve 文\n", "utf-8", True),
        (b"\xef\xbb\xbfmark\n", "mark\n", "utf-8-sig", True),
        ("wide\n".encode("utf-16"), "wide\n", "utf-16", True),
        (b"\xfe\xff" + "big\n".encode("utf-16-be"), "big\n", "utf-16", True),
        ("wider\n".encode("utf-32"), "wider\n", "utf-32", True),
        ("naïve\n".encode("latin-1"), "naïve\n", "latin-1", False),
        (
            "# coding: cp1251\n\u0434\u043e\u043c\n".encode("cp1251"),
            "# coding: cp1251\n\u0434\u043e\u043c\n",
            "cp1251",
            True,
        ),
        ("# coding: zlib\n\xe9\n".encode("latin-1"), "# coding: zlib\né\n", "latin-1", False),
        ("# coding: shift_jis\n日本\n".encode("shift_jis"), None, "shift-jis", True),
        (b"", "", "utf-8", True),
        (b"no newline", "no newline", "utf-8", True),
        (b"\n\n", "\n\n", "utf-8", True),
    ],
)
def test_encodings_are_detected_and_a_guess_is_called_one(
    repository: Any, raw: bytes, text: str | None, encoding: str, *, certain: bool
) -> None:
    repository.commit({"file.py": raw})
    file = repository.view().read("file.py")
    assert (file.encoding, file.encoding_certain) == (encoding, certain)
    assert text is None or file.text == text


@pytest.mark.parametrize(
    ("raw", "endings"), [(b"a\r\nb\r\n", "crlf"), (b"a\nb\n", "lf"), (b"a\r\nb\n", "mixed")]
)
def test_line_endings_are_kept_and_named(repository: Any, raw: bytes, endings: str) -> None:
    repository.commit({"a.txt": raw})
    file = repository.view().read("a.txt")
    assert (file.text, file.line_endings) == (raw.decode(), endings)
    assert "\r" not in repository.view().read("a.txt", numbered=True).text


def test_odd_separators_do_not_shift_line_numbers(repository: Any) -> None:
    repository.commit({"a.txt": "one\u2028still one\x0cstill\rone\ntwo\n"})
    assert repository.view().read("a.txt").total_lines == 2


def test_binary_content_is_named_and_not_shown(repository: Any) -> None:
    repository.commit({"logo.png": b"\x89PNG\r\n\x1a\n\0\0\0"})
    with pytest.raises(NotText) as refused:
        repository.view().read("logo.png")
    assert refused.value.facts["size"] == 11


def test_a_large_file_asks_for_a_range_and_then_answers_it(repository: Any) -> None:
    repository.commit({"big.txt": "".join(f"line {n}\n" for n in range(1, 1001))})
    view = repository.view(limits=SourceLimits(text_characters=500))
    with pytest.raises(FileTooLarge) as refused:
        view.read("big.txt")
    assert "ask for a range" in refused.value.detail
    assert refused.value.facts["total_lines"] == 1000
    part = view.read("big.txt", start=10, end=400)
    assert part.text.startswith("line 10\n")
    assert part.more
    assert part.end < 400
    assert view.read("big.txt", start=part.end + 1, end=part.end + 1).start == part.end + 1


def test_one_endless_line_is_cut_and_says_so(repository: Any) -> None:
    repository.commit({"min.js": "x" * 5000})
    file = repository.view(limits=SourceLimits(text_characters=500)).read("min.js", start=1)
    assert (len(file.text), file.cut, file.more) == (500, True, True)


def test_a_file_beyond_every_limit_is_not_loaded(repository: Any) -> None:
    repository.commit({"huge.txt": "x" * 5000})
    with pytest.raises(FileTooLarge):
        repository.view(limits=SourceLimits(file_bytes=1000)).read("huge.txt", start=1, end=1)


def test_a_symlink_shows_its_own_text_and_never_its_target(repository: Any) -> None:
    repository.commit(
        {"real.txt": "content"},
        links={"inside": "real.txt", "outside": "/etc/passwd", "up": "../../etc/passwd"},
    )
    view = repository.view()
    for path, target in (("inside", "real.txt"), ("outside", "/etc/passwd")):
        file = view.read(path)
        assert (file.kind, file.text) == ("symlink", target)
    with pytest.raises(NotFound):
        view.read("inside/real.txt")


def test_a_symlinked_folder_is_not_walked(repository: Any) -> None:
    repository.commit({"real/a.txt": "1"}, links={"alias": "real"})
    with pytest.raises(NotFound):
        repository.view().read("alias/a.txt")


def test_a_submodule_shows_its_commit(repository: Any) -> None:
    commit = repository.commit({"a": "1"})
    repository.commit({"a": "1"}, submodules={"vendor/lib": commit})
    file = repository.view().read("vendor/lib")
    assert file.kind == "submodule"
    assert commit in file.text


@pytest.mark.parametrize("path", [".env", "a/.ENV", "id_rsa", "src/.env", "nowhere/.env.local"])
def test_a_secret_is_refused_the_same_way_whether_or_not_it_exists(
    repository: Any, path: str
) -> None:
    repository.commit({".env": "KEY=1", "id_rsa": "x", "src/.env": "K=2"})
    with pytest.raises(ReadRefused) as refused:
        repository.view().read(path)
    assert refused.value.problem is ReadProblem.SECRET


def test_a_path_without_src_does_not_reach_a_secret_below_src(repository: Any) -> None:
    repository.commit({"src/credentials": "x", "x": "1"})
    for path in ("credentials", "src/credentials"):
        with pytest.raises(ReadRefused):
            repository.view().read(path)


def test_secret_values_are_masked_and_lines_keep_their_numbers(repository: Any) -> None:
    dashes = "-" * 5
    body = f"{'A' * 64}\n{'B' * 64}"
    key = f"{dashes}BEGIN PRIVATE KEY{dashes}\n{body}\n{dashes}END PRIVATE KEY{dashes}"
    repository.commit({"notes.md": f"one\n{key}\nlast\nDB_PASSWORD=hunter2\n"})
    view = repository.view()
    whole = view.read("notes.md")
    assert whole.masked
    assert "A" * 20 not in whole.text
    assert "hunter2" not in whole.text
    assert whole.text.split("\n")[5] == "last"
    for line in range(2, 6):
        assert "BBBB" not in view.read("notes.md", start=line, end=line).text


def test_many_threads_read_without_mixing_answers(repository: Any) -> None:
    files = {f"f{n}.txt": f"{n}\n" * (n + 1) for n in range(40)}
    repository.commit(files)
    view = repository.view(limits=SourceLimits(kept_characters=0))
    wrong: list[str] = []

    def read_all() -> None:
        wrong.extend(name for name, text in files.items() if view.read(name).text != text)

    threads = [threading.Thread(target=read_all) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_the_view_survives_the_death_of_its_git_process(repository: Any) -> None:
    repository.commit({"a.txt": "1", "b.txt": "2"})
    view = repository.view()
    assert view.read("a.txt").text == "1"
    process = view._objects._process
    process.kill()
    process.wait()
    assert view.read("b.txt").text == "2"
