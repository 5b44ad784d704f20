"""Admission: what a change may touch at all, decided from its paths, modes and bytes.

Every refusal names the rule and, where an operator can move it, the line of `astra.toml`. All of
them are listed at once, so that an agent mends its change in one go. What is admitted still says
which of its paths are protected (each needs the operator's consent), which are tests and which name
dependencies.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from astra.trusted.changes import commands
from astra.trusted.changes.files import EXECUTABLE, LINK, REGULAR, SUBMODULE, ChangedFile
from astra.trusted.changes.patterns import Patterns
from astra.trusted.changes.places import belongs_to_tests
from astra.trusted.changes.runner_parts import configures_tests
from astra.trusted.kernel.errors import Refused
from astra.trusted.policy import paths
from astra.trusted.policy.paths import PathRefused, quote
from astra.trusted.policy.protected import WATCHED_NAMES
from astra.trusted.settings.configuration import Target

MOST_SHOWN = 20
_KIB = 1024
_GIT_NAME = re.compile(r"\.git|git~\d+")
_HOOK_NAMES = frozenset(
    {
        ".buildkite",
        ".ci",
        ".cursor",
        ".cursorrules",
        ".devcontainer",
        ".drone.yml",
        ".forgejo",
        ".gitattributes",
        ".gitea",
        ".gitlab-ci.yaml",
        ".travis.yml",
        ".woodpecker",
        ".woodpecker.yml",
        "appveyor.yml",
        "azure-pipelines.yaml",
        "azure-pipelines.yml",
        "bitbucket-pipelines.yml",
        "gemini.md",
        "jenkinsfile",
        "lefthook.yaml",
        "lefthook.yml",
    }
)
PROTECTED_NAMES = WATCHED_NAMES | _HOOK_NAMES
"""Protected wherever they stand in the tree, unless `target.protected_paths` says otherwise."""
ASTRA_ITSELF = "src/astra/trusted/policy/gate.py"
PROTECTED_CORE = (
    "src/astra/trusted/",
    "src/astra/adapters/boxes/",
    "src/astra/adapters/supervisor/",
    "src/astra/adapters/witnesses/",
    "src/astra/adapters/backups/",
    "src/astra/bootstrap/",
    "scripts/hooks/",
    "Makefile",
)
"""The trusted core, what compiles manifests, the supervisor and what puts them together, when
Astra manages itself."""
DEPENDENCIES = re.compile(
    r"(?:requirements[^/]*\.(?:txt|in)|constraints[^/]*\.txt|pyproject\.toml|setup\.(?:py|cfg)"
    r"|pipfile(?:\.lock)?|(?:poetry|uv|pdm|cargo|composer|gemfile|yarn)\.lock|pylock[^/]*\.toml"
    r"|package(?:-lock)?\.json|npm-shrinkwrap\.json|pnpm-lock\.yaml|bun\.lockb?|cargo\.toml"
    r"|go\.(?:mod|sum)|gemfile|composer\.json|build\.gradle(?:\.kts)?|pom\.xml"
    r"|environment\.ya?ml|flake\.(?:nix|lock))"
)


@dataclass(frozen=True, kw_only=True)
class Refusal:
    rule: str
    path: str
    why: str
    key: str = ""

    def as_dict(self) -> dict[str, Any]:
        return {"rule": self.rule, "path": quote(self.path), "why": self.why, "key": self.key}

    def __str__(self) -> str:
        where = f" (astra.toml: {self.key})" if self.key else ""
        return f"{quote(self.path)}: {self.why} [{self.rule}]{where}"


class NotAdmitted(Refused):
    code = "not_admitted"


@dataclass(frozen=True, kw_only=True)
class Admitted:
    protected: tuple[str, ...] = ()
    tests: tuple[str, ...] = ()
    dependencies: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Rules:
    """The operator's rules for paths; made from the signed configuration."""

    target: Target
    manages_itself: bool = False
    _allowed: Patterns = field(init=False)
    _forbidden: Patterns = field(init=False)
    _protected: Patterns = field(init=False)
    _tests: Patterns = field(init=False)

    def __post_init__(self) -> None:
        protected = self.target.protected_paths
        if not protected and self.manages_itself:
            protected = PROTECTED_CORE
        for name, value in (
            ("_allowed", Patterns(self.target.allowed_paths)),
            ("_forbidden", Patterns(self.target.forbidden_paths, loose=True)),
            ("_protected", Patterns(protected, loose=True)),
            ("_tests", Patterns(tests_of(self.target), loose=True)),
        ):
            object.__setattr__(self, name, value)

    def allowed(self, path: str) -> bool:
        return not self.target.allowed_paths or self._allowed.first(path) is not None

    def forbidden_by(self, path: str) -> str | None:
        return self._forbidden.first(path)

    def is_protected(self, path: str) -> bool:
        if self._protected.first(path) is not None:
            return True
        if self.target.protected_paths:
            return False
        return any(name in PROTECTED_NAMES for name in paths.fold(path).split("/"))

    def is_test(self, path: str) -> bool:
        """Tell whether a path is in the tests, by the operator's list or by its own name."""
        return self._tests.first(path) is not None or belongs_to_tests(path, ())


def admit(files: Sequence[ChangedFile], *, rules: Rules, base_paths: Iterable[str]) -> Admitted:
    """Let a change in, or refuse it with every rule it breaks."""
    refusals = list(_refusals(files, rules, set(base_paths)))
    if refusals:
        shown = "; ".join(str(refusal) for refusal in refusals[:MOST_SHOWN])
        raise NotAdmitted(
            f"the change is not admitted: {shown}",
            next_step="mend what is named; an operator can move a line of astra.toml and sign it",
            refusals=[refusal.as_dict() for refusal in refusals[:MOST_SHOWN]],
        )
    touched = [file.path for file in files]
    return Admitted(
        protected=tuple(path for path in touched if rules.is_protected(path)),
        tests=tuple(file.path for file in files if _is_of_tests(file, rules)),
        dependencies=tuple(path for path in touched if is_dependency(path)),
    )


def _is_of_tests(file: ChangedFile, rules: Rules) -> bool:
    """Tell whether a file is a test, or says how tests run where the change touches it."""
    return rules.is_test(file.path) or configures_tests(file.path, file.old, file.new)


def tests_of(target: Target) -> tuple[str, ...]:
    """Give the operator's places of tests, and the files that the signed command goes by."""
    return (*target.test_paths, *commands.named_files(target.test_command))


def is_dependency(path: str) -> bool:
    folder, _, name = paths.fold(path).rpartition("/")
    in_requirements = folder.rpartition("/")[2] == "requirements" and name.endswith((".txt", ".in"))
    return in_requirements or DEPENDENCIES.fullmatch(name) is not None


def _refusals(files: Sequence[ChangedFile], rules: Rules, base: set[str]) -> Iterator[Refusal]:
    if not files:
        yield Refusal(rule="nothing_changed", path="", why="the files would stay as they are")
    if len(files) > rules.target.max_files:
        why = f"{len(files)} files, more than {rules.target.max_files}"
        yield Refusal(rule="too_many_files", path="", why=why, key="target.max_files")
    for file in files:
        if problem := _path_problem(file.path):
            yield problem
        else:
            yield from _of_path(file, rules)
            yield from _of_content(file, rules)
    yield from _of_tree(files, base)


def _path_problem(path: str) -> Refusal | None:
    try:
        clean = paths.parse_relative(path).text
    except PathRefused as error:
        return Refusal(rule=error.problem.value, path=path, why=error.detail)
    if clean != path:
        return Refusal(rule="path_not_normalised", path=path, why="it is not in its normal form")
    for name in paths.fold(path).split("/"):
        if _GIT_NAME.fullmatch(name.split(":")[0].rstrip(" .")):
            why = "it is a spelling of git's own folder"
            return Refusal(rule="path_git_internals", path=path, why=why)
    return None


def _of_path(file: ChangedFile, rules: Rules) -> Iterator[Refusal]:
    if pattern := rules.forbidden_by(file.path):
        why = f"{quote(pattern)} forbids it"
        yield Refusal(rule="forbidden_path", path=file.path, why=why, key="target.forbidden_paths")
    if not rules.allowed(file.path):
        why = "it is not among the allowed paths"
        yield Refusal(
            rule="not_an_allowed_path", path=file.path, why=why, key="target.allowed_paths"
        )


_SPECIAL = {LINK: ("symlink", "a symbolic link"), SUBMODULE: ("submodule", "a submodule")}


def _of_content(file: ChangedFile, rules: Rules) -> Iterator[Refusal]:
    if file.new_mode is None:
        return
    if file.new_mode in _SPECIAL:
        rule, words = _SPECIAL[file.new_mode]
        yield Refusal(rule=rule, path=file.path, why=f"it would be {words}")
        return
    if file.new_mode not in {REGULAR, EXECUTABLE}:
        why = f"it would have the mode {quote(file.new_mode)}"
        yield Refusal(rule="mode", path=file.path, why=why)
    content = file.new or b""
    if len(content) > rules.target.max_file_kb * _KIB:
        why = f"{len(content)} bytes, more than {rules.target.max_file_kb} KB"
        yield Refusal(rule="too_large", path=file.path, why=why, key="target.max_file_kb")
    if b"\0" in content:
        yield Refusal(rule="binary", path=file.path, why="it is binary: it holds a NUL byte")


def _of_tree(files: Sequence[ChangedFile], base: set[str]) -> Iterator[Refusal]:
    """Refuse names that some file system takes for one, and files where folders are."""
    gone = {file.path for file in files if file.new_mode is None}
    added = [file.path for file in files if file.new_mode is not None]
    whole = (base - gone) | set(added)
    spellings: dict[str, set[str]] = {}
    folders: set[str] = set()
    for path in whole:
        spellings.setdefault(paths.fold(path), set()).add(path)
        for folder in _folders(path):
            if folder in folders:
                break
            folders.add(folder)
            spellings.setdefault(paths.fold(folder), set()).add(folder)
    for path in added:
        if any(folder in whole for folder in _folders(path)):
            yield Refusal(rule="below_a_file", path=path, why="a file stands where its folder is")
        if path in folders:
            yield Refusal(rule="is_a_folder", path=path, why="a folder has that name")
        if any(len(spellings[paths.fold(place)]) > 1 for place in (path, *_folders(path))):
            why = "another path differs from it only in case or Unicode spelling"
            yield Refusal(rule="case_collision", path=path, why=why)


def _folders(path: str) -> Iterator[str]:
    while path := path.rpartition("/")[0]:
        yield path
