import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from astra.trusted.policy import paths
from astra.trusted.policy.paths import AbsolutePath, PathProblem, PathRefused, RelativePath

REFUSED = [
    ("", PathProblem.EMPTY),
    (".", PathProblem.EMPTY),
    ("./", PathProblem.EMPTY),
    ("a\0b", PathProblem.NUL),
    ("..", PathProblem.PARENT),
    ("../a", PathProblem.PARENT),
    ("src/services/../../config", PathProblem.PARENT),
    ("a/..", PathProblem.PARENT),
    ("/etc/passwd", PathProblem.ABSOLUTE),
    ("//etc/passwd", PathProblem.ABSOLUTE),
    ("a\nb", PathProblem.CONTROL),
    ("a\x1b[31mb", PathProblem.CONTROL),
    ("a\u200bb", PathProblem.CONTROL),
    (".g\u200cit/config", PathProblem.CONTROL),
    ("invoice\u202efdp.exe", PathProblem.CONTROL),
    ("\ufeffa", PathProblem.CONTROL),
    ("a\u2028b", PathProblem.CONTROL),
    ("\ud800", PathProblem.NOT_UNICODE),
    ("x" * 256, PathProblem.NAME_TOO_LONG),
    ("é" * 128, PathProblem.NAME_TOO_LONG),
    ("x/" * 2049, PathProblem.TOO_LONG),
    ("..\uff0f..\uff0fetc", PathProblem.LOOK_ALIKE),
    ("a\u2215b", PathProblem.LOOK_ALIKE),
    ("a\u2044b", PathProblem.LOOK_ALIKE),
    ("\uff0e\uff0e/etc", PathProblem.LOOK_ALIKE),
    ("\u2024\u2024/etc", PathProblem.LOOK_ALIKE),
    ("\u2025/etc", PathProblem.LOOK_ALIKE),
    ("\u2026", PathProblem.LOOK_ALIKE),
    ("a\uff3cb", PathProblem.LOOK_ALIKE),
    ("\uff5e/x", PathProblem.LOOK_ALIKE),
    ("a\u00a0b", PathProblem.LOOK_ALIKE),
    ("a\u3000b", PathProblem.LOOK_ALIKE),
    ("a\u3164", PathProblem.LOOK_ALIKE),
    ("cafe\u0301.md", PathProblem.NOT_NORMALISED),
    ("\u212b.md", PathProblem.NOT_NORMALISED),
    ("a.", PathProblem.TRAILING),
    ("a /b", PathProblem.TRAILING),
    (".env.", PathProblem.TRAILING),
    ("...", PathProblem.TRAILING),
    ("a\\b", PathProblem.BACKSLASH),
    ("..\\..\\etc", PathProblem.BACKSLASH),
    ("C:/windows", PathProblem.DRIVE),
    ("c:secret", PathProblem.DRIVE),
    ("~", PathProblem.HOME),
    ("~/x", PathProblem.HOME),
    ("~root/x", PathProblem.HOME),
    (".git/config", PathProblem.GIT),
    ("sub/.GIT/hooks/post-checkout", PathProblem.GIT),
    (".Git", PathProblem.GIT),
    (" .git/config", PathProblem.GIT),
    ("GIT~1/config", PathProblem.GIT),
    (".\uff47it/config", PathProblem.GIT),
]


@pytest.mark.parametrize(("text", "problem"), REFUSED)
def test_a_dirty_path_is_refused_with_its_reason_and_a_next_step(
    text: str, problem: PathProblem
) -> None:
    with pytest.raises(PathRefused) as refused:
        paths.parse_relative(text)
    assert refused.value.problem is problem
    assert refused.value.reason == problem.value
    assert refused.value.next_step


@pytest.mark.parametrize("text", [text for text, _ in REFUSED])
def test_no_constructor_lets_a_dirty_path_exist(text: str) -> None:
    for kind, dirty in ((RelativePath, text or "."), (AbsolutePath, f"/{text}")):
        with pytest.raises(PathRefused):
            kind(dirty)


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("a", "a"),
        ("./a//b/./c/", "a/b/c"),
        ("-rf", "-rf"),
        ("--output=x", "--output=x"),
        (".env.example", ".env.example"),
        (".gitignore", ".gitignore"),
        ("a..b/c", "a..b/c"),
        ("file~", "file~"),
        ("with space/x", "with space/x"),
        ("[id].tsx", "[id].tsx"),
        ("café/naïve.md", "café/naïve.md"),
        ("文書/読む.txt", "文書/読む.txt"),
        ("col·lecció.md", "col·lecció.md"),
        ("time 12:30.log", "time 12:30.log"),
    ],
)
def test_an_honest_path_has_one_spelling(text: str, clean: str) -> None:
    assert paths.parse_relative(text).text == clean


def test_a_name_like_an_option_never_starts_an_argument_with_a_dash() -> None:
    assert paths.parse_relative("-rf").argument == "./-rf"


def test_the_folder_itself_is_a_folder_and_not_a_file() -> None:
    assert paths.parse_folder("").parts == ()
    assert paths.parse_folder("./").text == ""


def test_an_absolute_path_is_cleaned_too_and_is_never_the_root() -> None:
    path = paths.parse_absolute("//data///x")
    assert (path.text, path.parts, path.below_root.text) == ("/data/x", ("data", "x"), "data/x")
    for text, problem in (
        ("/", PathProblem.EMPTY),
        ("data", PathProblem.NOT_ABSOLUTE),
        ("/a/../b", PathProblem.PARENT),
        ("/srv/.git/config", PathProblem.GIT),
    ):
        with pytest.raises(PathRefused) as refused:
            paths.parse_absolute(text)
        assert refused.value.problem is problem


def test_a_refusal_never_repeats_raw_control_or_bidirectional_characters() -> None:
    with pytest.raises(PathRefused) as refused:
        paths.parse_relative("a\x1b]0;x\u202e" + "y" * 5000)
    assert refused.value.detail.isascii()
    assert refused.value.detail.isprintable()
    assert len(refused.value.detail) < 400


@given(st.text(max_size=60) | st.text(alphabet="./\\~ a:\u2024\uff0f\0-", max_size=20))
def test_what_is_accepted_is_clean_and_parses_to_itself(text: str) -> None:
    try:
        path = paths.parse_relative(text)
    except PathRefused:
        return
    assert paths.parse_relative(path.text) == path
    assert not path.text.startswith("/")
    for name in path.parts:
        assert name not in {"", ".", ".."}
        assert name[-1] not in ". "
        assert unicodedata.is_normalized("NFC", name)
        assert not set(name) & {"\0", "\\", "\n"}


@given(st.text(max_size=60))
def test_compatibility_forms_of_an_accepted_path_add_no_syntax(text: str) -> None:
    """A reader that applies NFKC later must not see another path structure."""
    try:
        path = paths.parse_relative(text)
    except PathRefused:
        return
    assert unicodedata.normalize("NFKC", path.text).count("/") == path.text.count("/")
    assert ".." not in unicodedata.normalize("NFKC", path.text).split("/")


@given(st.text(max_size=40))
def test_folding_is_stable(text: str) -> None:
    assert paths.fold(paths.fold(text)) == paths.fold(text)
