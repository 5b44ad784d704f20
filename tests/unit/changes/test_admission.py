"""What a change may touch: each refusal names its rule, and the line an operator can move."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from astra.trusted.changes import admission
from astra.trusted.changes.admission import Admitted, NotAdmitted, Rules
from astra.trusted.changes.files import EXECUTABLE, LINK, REGULAR, SUBMODULE, ChangedFile
from astra.trusted.settings.configuration import Target


def added(path: str, content: bytes = b"x\n", mode: str = REGULAR) -> ChangedFile:
    return ChangedFile(path=path, new_mode=mode, new=content)


def admit(
    *files: ChangedFile,
    base: tuple[str, ...] = ("src/app.py",),
    itself: bool = False,
    **target: object,
) -> Admitted:
    rules = Rules(target=Target(**target), manages_itself=itself)  # pyright: ignore[reportArgumentType]
    return admission.admit(files, rules=rules, base_paths=base)


def refusals(*files: ChangedFile, **more: object) -> list[tuple[str, str]]:
    with pytest.raises(NotAdmitted) as refused:
        admit(*files, **more)  # pyright: ignore[reportArgumentType]
    return [(each["rule"], each["key"]) for each in refused.value.facts["refusals"]]


def test_a_plain_file_is_admitted() -> None:
    assert admit(added("src/new.py"), added("bin/run", mode=EXECUTABLE)) == Admitted()


@pytest.mark.parametrize(
    ("file", "rule"),
    [
        (added(".git/config"), "path_git_internals"),
        (added("sub/.GIT/hooks/x"), "path_git_internals"),
        (added("git~1/config"), "path_git_internals"),
        (added("GIT~1/config"), "path_git_internals"),
        (added("git~2/config"), "path_git_internals"),
        (added(".git::$INDEX_ALLOCATION/config"), "path_git_internals"),
        (added(".g\u200cit/config"), "path_control_character"),
        (added("..\\up"), "path_backslash"),
        (added("a/../../up"), "path_parent_reference"),
        (added("/etc/passwd"), "path_absolute"),
        (added("a\u2215b"), "path_look_alike"),
        (added("a\x1b[2J"), "path_control_character"),
        (added("\udcff"), "path_not_unicode"),
        (added("./a"), "path_not_normalised"),
        (added("cafe\u0301"), "path_not_normalised"),
        (added("link", b"/etc/passwd", LINK), "symlink"),
        (added("lib", mode=SUBMODULE), "submodule"),
        (added("odd", mode="100666"), "mode"),
        (added("odd", mode="040000"), "mode"),
        (added("blob", b"a\0b"), "binary"),
        (added("SRC/app2.py"), "case_collision"),
        (added("src/App.py"), "case_collision"),
        (added("src/app.py/below"), "below_a_file"),
        (added("src"), "is_a_folder"),
    ],
)
def test_tricks_are_refused_by_name(file: ChangedFile, rule: str) -> None:
    assert rule in {name for name, _ in refusals(file)}


def test_what_an_operator_can_move_names_the_line_of_configuration() -> None:
    big = added("big", b"x" * 2049)
    assert refusals(big, max_file_kb=2) == [("too_large", "target.max_file_kb")]
    assert admit(added("big", b"x" * 2048), max_file_kb=2)
    many = [added(f"f{number}") for number in range(3)]
    assert refusals(*many, max_files=2) == [("too_many_files", "target.max_files")]
    assert refusals(added("docs/a"), allowed_paths=("src/",)) == [
        ("not_an_allowed_path", "target.allowed_paths")
    ]
    assert refusals(added("src/Secret/a"), forbidden_paths=("src/secret/",)) == [
        ("forbidden_path", "target.forbidden_paths")
    ]


def test_the_size_that_counts_is_what_the_change_adds() -> None:
    large = b"".join(b"line %d\n" % number for number in range(1000))
    touched = ChangedFile(
        path="src/app.py", old_mode=REGULAR, new_mode=REGULAR, old=large, new=large + b"one\n"
    )
    assert admit(touched, max_file_kb=1)
    doubled = replace(touched, new=large + large)
    assert refusals(doubled, max_file_kb=1) == [("too_large", "target.max_file_kb")]


def test_binary_files_are_admitted_where_the_operator_allows_them() -> None:
    picture = added("assets/logo.png", b"\x89PNG\0")
    assert refusals(picture) == [("binary", "target.binary_paths")]
    assert admit(picture, binary_paths=("assets/",))
    assert refusals(added("src/x.py", b"\0"), binary_paths=("assets/",)) == [
        ("binary", "target.binary_paths")
    ]
    assert refusals(
        added("assets/big", b"\0" * 1025), binary_paths=("assets/",), max_file_kb=1
    ) == [("too_large", "target.max_file_kb")]


def test_every_refusal_is_listed_at_once() -> None:
    found = refusals(added("link", b"x", LINK), added(".git/x"), added("b", b"\0"))
    assert [rule for rule, _ in found] == ["symlink", "path_git_internals", "binary"]


def test_a_change_that_changes_nothing_is_refused() -> None:
    assert refusals() == [("nothing_changed", "")]


def test_a_deletion_has_no_content_to_refuse_and_frees_its_name() -> None:
    gone = ChangedFile(path="src/app.py", old_mode=LINK, old=b"x" * 999_999)
    assert admit(gone, added("src/App.py"), max_file_kb=1)


@pytest.mark.parametrize(
    "path",
    [
        ".github/workflows/ci.yml",
        "sub/.GitHub/x",
        ".pre-commit-config.yaml",
        ".mcp.json",
        ".claude/settings.json",
        "AGENTS.md",
        ".envrc",
        ".gitattributes",
        ".gitmodules",
        "Jenkinsfile",
        ".ci/run",
        ".woodpecker.yml",
        "GEMINI.md",
        ".cursor/rules",
    ],
)
def test_ci_hooks_and_agent_settings_are_protected_by_default(path: str) -> None:
    assert admit(added(path)).protected == (path,)


def test_protected_paths_of_the_operator_take_the_place_of_the_default() -> None:
    found = admit(added("core/a.py"), added("AGENTS.md"), protected_paths=("core/",))
    assert found.protected == ("core/a.py",)


def test_tests_and_dependencies_are_named() -> None:
    found = admit(
        added("Tests/unit/a.py"), added("requirements/dev.txt"), added("web/package.json", b"{}")
    )
    assert found.tests == ("Tests/unit/a.py",)
    assert found.dependencies == ("requirements/dev.txt", "web/package.json")


NAMES = st.text(st.sampled_from("aAbB.~:g iIt1é\u0130\u017f\u200d/\\-"), min_size=1, max_size=12)


@given(NAMES)
def test_whatever_is_admitted_is_a_clean_path_that_no_file_system_takes_for_git(path: str) -> None:
    try:
        admit(added(path), base=())
    except NotAdmitted:
        return
    names = path.casefold().split("/")
    assert not {".git", "git~1", "..", ".", ""} & {name.rstrip(" .") or name for name in names}
