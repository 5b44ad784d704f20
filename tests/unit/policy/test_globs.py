import pytest
from hypothesis import given
from hypothesis import strategies as st

from astra.trusted.policy import globs
from astra.trusted.policy.globs import GlobRefused
from astra.trusted.policy.paths import PathRefused


def slow_match(pattern: list[str], names: list[str]) -> bool:
    """The definition, written for clarity and not for speed."""
    if not pattern:
        return not names
    if pattern[0] == "**":
        if len(pattern) == 1:
            return bool(names)
        return any(slow_match(pattern[1:], names[i:]) for i in range(len(names) + 1))
    return bool(names) and slow_name(pattern[0], names[0]) and slow_match(pattern[1:], names[1:])


def slow_name(pattern: str, name: str) -> bool:
    if not pattern:
        return not name
    if pattern[0] == "*":
        return any(slow_name(pattern[1:], name[i:]) for i in range(len(name) + 1))
    return bool(name) and pattern[0] in {"?", name[0]} and slow_name(pattern[1:], name[1:])


NAMES = st.text(alphabet="ab.", min_size=1, max_size=4).filter(lambda name: name[-1] != ".")
PATTERNS = st.text(alphabet="ab.*?", min_size=1, max_size=5).filter(
    lambda text: text[-1] != "." and "**" not in text
)


@given(
    st.lists(PATTERNS | st.just("**"), min_size=1, max_size=5).filter(
        lambda segments: segments.count("**") <= globs.MOST_FOLDER_WILDCARDS
    ),
    st.lists(NAMES, min_size=1, max_size=5),
)
def test_a_glob_matches_what_the_definition_says(pattern: list[str], names: list[str]) -> None:
    glob = globs.parse_glob("/".join(pattern))
    assert glob.matches("/".join(names)) == slow_match(list(glob.segments), names)


@given(st.lists(PATTERNS | st.just("**"), min_size=1, max_size=4), st.lists(NAMES, min_size=1))
def test_a_match_lies_in_the_globs_folder_and_reaches_all_its_ancestors(
    pattern: list[str], names: list[str]
) -> None:
    glob = globs.parse_glob("/".join(pattern))
    text = "/".join(names)
    if glob.matches(text):
        assert f"{text}/".startswith(f"{glob.folder}/" if glob.folder else "")
        assert glob.extension is None or text.endswith(f".{glob.extension}")
        assert all(glob.reaches("/".join(names[:n])) for n in range(1, len(names) + 1))


@pytest.mark.parametrize(
    ("glob", "path", "matches"),
    [
        ("docs/*.md", "docs/a.md", True),
        ("docs/*.md", "docs/secrets.key", False),
        ("docs/*.md", "docs/sub/a.md", False),
        ("docs/*.md", "docs", False),
        ("docs/*.md", "docs/a.mdx", False),
        ("docs/*.md", "xdocs/a.md", False),
        ("docs/**", "docs", False),
        ("docs/**", "docs/a/b/c", True),
        ("docs/**/*.md", "docs/a.md", True),
        ("docs/**/*.md", "docs/a/b.md", True),
        ("**/test_*.py", "a/b/test_x.py", True),
        ("/data/*.csv", "/data/a.csv", True),
        ("/data/*.csv", "data/a.csv", False),
        ("[ab]*", "a1", False),
        ("[ab]*", "[ab]1", True),
        ("a?c", "abc", True),
        ("a?c", "a/c", False),
    ],
)
def test_examples(glob: str, path: str, *, matches: bool) -> None:
    assert globs.parse_glob(glob).matches(path) is matches


@pytest.mark.parametrize("text", ["a**", "docs/**x/y", "**/a/**/b/**/c/**/d/**", "***"])
def test_an_unclear_glob_is_refused(text: str) -> None:
    with pytest.raises(GlobRefused):
        globs.parse_glob(text)


@pytest.mark.parametrize("text", ["../*.md", "docs/*/../x", ".git/*", "a\0*", "~/*", "*\\x"])
def test_a_glob_is_held_to_the_rules_of_paths(text: str) -> None:
    with pytest.raises(PathRefused):
        globs.parse_glob(text)


def test_a_hostile_glob_takes_no_time_on_a_hostile_path() -> None:
    """Forty wildcards over a name that almost matches: a backtracking matcher never ends."""
    glob = globs.parse_glob("/".join(["*a" * 40 + "b"] * 3) + "/**/" + "*a" * 40)
    assert not glob.matches("/".join(["a" * 255] * 15))
