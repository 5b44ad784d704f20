"""Admission: what a change may touch at all, decided from its paths, modes and bytes.

Every refusal names the rule and, where an operator can move it, the line of `astra.toml`. All of
them are listed at once, so that an agent mends its change in one go. What is admitted still says
which of its paths are protected (each needs the operator's consent), which are tests and which name
dependencies.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from astra.trusted.changes.files import EXECUTABLE, LINK, REGULAR, SUBMODULE, ChangedFile
from astra.trusted.changes.named_files import list_named_files
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
    "src/astra/adapters/backups/",
    "src/astra/adapters/boxes/",
    "src/astra/adapters/bubblewrap/",
    "src/astra/adapters/chains.py",
    "src/astra/adapters/environments.py",
    "src/astra/adapters/git_objects.py",
    "src/astra/adapters/installed_version.py",
    "src/astra/adapters/offered_tests.py",
    "src/astra/adapters/postgres_ledger/",
    "src/astra/adapters/quarantine.py",
    "src/astra/adapters/release_folders.py",
    "src/astra/adapters/release_tree.py",
    "src/astra/adapters/servers/",
    "src/astra/adapters/supervisor/",
    "src/astra/adapters/travelling_repo.py",
    "src/astra/adapters/unconfined/",
    "src/astra/adapters/witnesses/",
    "src/astra/bootstrap/",
    "src/astra/deployments/",
    "src/astra/interfaces/cli/client.py",
    "src/astra/interfaces/cli/daemon.py",
    "src/astra/interfaces/cli/operator.py",
    "src/astra/interfaces/cli/operators.py",
    "src/astra/interfaces/cli/signing.py",
    "src/astra/interfaces/cli/stopping.py",
    "src/astra/interfaces/cli/workers.py",
    "src/astra/interfaces/worker.py",
    "src/astra/workers/",
    "scripts/hooks/",
    "hatch_build.py",
    "Makefile",
)
"""Whatever decides, signs, records, merges, launches or stops, when Astra manages itself: the
trusted core, what hands it to the world, and what puts them together."""
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
        setting_hint = f" (astra.toml: {self.key})" if self.key else ""
        return f"{quote(self.path)}: {self.why} [{self.rule}]{setting_hint}"


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
    _binaries: Patterns = field(init=False)

    def __post_init__(self) -> None:
        protected = self.target.protected_paths
        if not protected and self.manages_itself:
            protected = PROTECTED_CORE
        for name, value in (
            ("_allowed", Patterns(self.target.allowed_paths)),
            ("_forbidden", Patterns(self.target.forbidden_paths, loose=True)),
            ("_protected", Patterns(protected, loose=True)),
            ("_binaries", Patterns(self.target.binary_paths)),
            ("_tests", Patterns(list_test_places(self.target), loose=True)),
        ):
            object.__setattr__(self, name, value)

    def is_allowed(self, path: str) -> bool:
        return not self.target.allowed_paths or self._allowed.find_first(path) is not None

    def find_forbidding_pattern(self, path: str) -> str | None:
        return self._forbidden.find_first(path)

    def allows_binary(self, path: str) -> bool:
        return self._binaries.find_first(path) is not None

    def is_protected(self, path: str) -> bool:
        if self._protected.find_first(path) is not None:
            return True
        if self.target.protected_paths:
            return False
        return any(name in PROTECTED_NAMES for name in paths.fold(path).split("/"))

    def is_test(self, path: str) -> bool:
        """Tell whether a path is in the tests, by the operator's list or by its own name."""
        return self._tests.find_first(path) is not None or belongs_to_tests(path, ())


def admit(files: Sequence[ChangedFile], *, rules: Rules, base_paths: Iterable[str]) -> Admitted:
    """Let a change in, or refuse it with every rule it breaks."""
    refusals = list(_find_refusals(files, rules, set(base_paths)))
    if refusals:
        refusal_text = "; ".join(str(refusal) for refusal in refusals[:MOST_SHOWN])
        raise NotAdmitted(
            f"the change is not admitted: {refusal_text}",
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


def list_test_places(target: Target) -> tuple[str, ...]:
    """Give the operator's places of tests, and the files that the signed command goes by."""
    return (*target.test_paths, *list_named_files(target.test_command))


def is_dependency(path: str) -> bool:
    folder, _, name = paths.fold(path).rpartition("/")
    in_requirements = folder.rpartition("/")[2] == "requirements" and name.endswith((".txt", ".in"))
    return in_requirements or DEPENDENCIES.fullmatch(name) is not None


def _find_refusals(files: Sequence[ChangedFile], rules: Rules, base: set[str]) -> Iterator[Refusal]:
    if not files:
        yield Refusal(rule="nothing_changed", path="", why="the files would stay as they are")
    if len(files) > rules.target.max_files:
        why = f"{len(files)} files, more than {rules.target.max_files}"
        yield Refusal(rule="too_many_files", path="", why=why, key="target.max_files")
    for file in files:
        if problem := _path_problem(file.path):
            yield problem
        else:
            yield from _check_path(file, rules)
            yield from _check_content(file, rules)
    yield from _check_tree(files, base)


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


def _check_path(file: ChangedFile, rules: Rules) -> Iterator[Refusal]:
    if pattern := rules.find_forbidding_pattern(file.path):
        why = f"{quote(pattern)} forbids it"
        yield Refusal(rule="forbidden_path", path=file.path, why=why, key="target.forbidden_paths")
    if not rules.is_allowed(file.path):
        why = "it is not among the allowed paths"
        yield Refusal(
            rule="not_an_allowed_path", path=file.path, why=why, key="target.allowed_paths"
        )


_SPECIAL = {LINK: ("symlink", "a symbolic link"), SUBMODULE: ("submodule", "a submodule")}


def _check_content(file: ChangedFile, rules: Rules) -> Iterator[Refusal]:
    if file.new_mode is None:
        return
    if file.new_mode in _SPECIAL:
        rule, kind_name = _SPECIAL[file.new_mode]
        yield Refusal(rule=rule, path=file.path, why=f"it would be {kind_name}")
        return
    if file.new_mode not in {REGULAR, EXECUTABLE}:
        why = f"it would have the mode {quote(file.new_mode)}"
        yield Refusal(rule="mode", path=file.path, why=why)
    content = file.new or b""
    added = count_added_bytes(file)
    if added > rules.target.max_file_kb * _KIB:
        why = f"it adds {added} bytes, more than {rules.target.max_file_kb} KB"
        yield Refusal(rule="too_large", path=file.path, why=why, key="target.max_file_kb")
    if b"\0" in content and not rules.allows_binary(file.path):
        why = "it is binary: it holds a NUL byte, and no pattern allows that here"
        yield Refusal(rule="binary", path=file.path, why=why, key="target.binary_paths")


def count_added_bytes(file: ChangedFile) -> int:
    r"""Count the bytes of lines that the file did not have; of a binary file, all of them.

    Lines are counted, not aligned: one that only moved adds nothing.

    >>> count_added_bytes(ChangedFile(path="a", old=b"one\ntwo\n", new=b"two\none\nsix\n"))
    4
    """
    content = file.new or b""
    if b"\0" in content:
        return 0 if content == file.old else len(content)
    new_lines = Counter(content.splitlines(keepends=True))
    new_lines.subtract(Counter((file.old or b"").splitlines(keepends=True)))
    return sum(len(line) * count for line, count in new_lines.items() if count > 0)


def _check_tree(files: Sequence[ChangedFile], base: set[str]) -> Iterator[Refusal]:
    """Refuse names that some file system takes for one, and files where folders are."""
    removed_paths = {file.path for file in files if file.new_mode is None}
    added = [file.path for file in files if file.new_mode is not None]
    all_paths = (base - removed_paths) | set(added)
    spellings: dict[str, set[str]] = {}
    folders: set[str] = set()
    for path in all_paths:
        spellings.setdefault(paths.fold(path), set()).add(path)
        for folder in _list_parents(path):
            if folder in folders:
                break
            folders.add(folder)
            spellings.setdefault(paths.fold(folder), set()).add(folder)
    for path in added:
        if any(folder in all_paths for folder in _list_parents(path)):
            yield Refusal(rule="below_a_file", path=path, why="a file stands where its folder is")
        if path in folders:
            yield Refusal(rule="is_a_folder", path=path, why="a folder has that name")
        if any(len(spellings[paths.fold(place)]) > 1 for place in (path, *_list_parents(path))):
            why = "another path differs from it only in case or Unicode spelling"
            yield Refusal(rule="case_collision", path=path, why=why)


def _list_parents(path: str) -> Iterator[str]:
    while path := path.rpartition("/")[0]:
        yield path
