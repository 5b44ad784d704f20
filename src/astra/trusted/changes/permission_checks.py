"""Whether a standing permission covers a change, decided at the moment of merging.

Paths, modes and sizes are read from the two commits, never from what was said about them; verdicts
and findings are those that the server recorded about this very commit. Whatever is unclear is an
objection, and then a person is asked as ever.

Never covered, whatever the paths of a permission: tests, files that name dependencies,
configuration, protected paths, the trusted core, and anything but plain text files.
"""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from astra.trusted.changes import quarantine, verdicts
from astra.trusted.changes.admission import PROTECTED_CORE, PROTECTED_NAMES, Admitted, NotAdmitted
from astra.trusted.changes.evidence import Severity, TestVerdict
from astra.trusted.changes.files import REGULAR, ChangedFile
from astra.trusted.changes.merge_permissions import MergePermission
from astra.trusted.changes.model import Change
from astra.trusted.changes.patterns import Patterns
from astra.trusted.changes.workbench import Workbench, count_lines
from astra.trusted.policy import paths
from astra.trusted.policy.paths import quote

LONGEST_LINE = 200
"""A line of more bytes counts as several, so that a limit on lines is a limit on text."""
_CORE = Patterns(PROTECTED_CORE, loose=True)
_CONFIGURATION_NAMES = frozenset(
    {"containerfile", "dockerfile", "gnumakefile", "justfile", "makefile", "procfile"}
)
_CONFIGURATION_ENDINGS = (
    *(".cfg", ".conf", ".config", ".env", ".ini", ".json", ".json5", ".jsonc", ".lock", ".mk"),
    *(".plist", ".properties", ".pth", ".service", ".toml", ".xml", ".yaml", ".yml"),
)


def find_objection(bench: Workbench, change: Change, permission: MergePermission) -> str:
    """Say why a permission does not cover a change, or nothing."""
    files = bench.repo.differences(change.base, change.commit)
    objections = (
        lambda: _find_plan_objection(change, permission),
        lambda: _find_path_objection(bench, change, files, permission),
        lambda: _find_size_objection(bench, change, files, permission),
        lambda: _find_test_objection(bench, change),
        lambda: _find_mutant_objection(change, permission),
        lambda: _find_finding_objection(bench, change),
        lambda: bench.find_deploy_objection() if permission.deploy else "",
    )
    return next((objection for find in objections if (objection := find())), "")


def is_configuration(path: str) -> bool:
    """Tell whether a path is or may be read as settings of something: when in doubt, it is.

    >>> is_configuration("app/Settings.TOML"), is_configuration("app/.hidden/a.py")
    (True, True)
    >>> is_configuration("app/settings.py")
    False
    """
    names = paths.fold(path).split("/")
    return (
        any(name.startswith(".") for name in names)
        or names[-1] in _CONFIGURATION_NAMES
        or names[-1].endswith(_CONFIGURATION_ENDINGS)
    )


def _find_plan_objection(change: Change, permission: MergePermission) -> str:
    """Ask who proposed it; the server writes that down, and no agent chooses it."""
    if permission.plan and change.actor != f"agent:{permission.plan}":
        return f"it is no change of {permission.plan}"
    return ""


def _find_path_objection(
    bench: Workbench, change: Change, files: tuple[ChangedFile, ...], permission: MergePermission
) -> str:
    for file in files:
        if not _is_below(file.path, permission.paths):
            return f"{quote(file.path)} is outside its paths"
        if reason := name_untouchable(file):
            return f"{quote(file.path)} is {reason}"
    try:
        admitted = bench.admit_files(files, change.base)
    except NotAdmitted as error:
        return error.detail
    return _find_touched(admitted)


def _is_below(path: str, patterns: Sequence[str]) -> bool:
    """Tell whether a path is covered; a folder covers what is in it, never a file of its name."""
    return any(
        Patterns((pattern,)).find_first(path) and f"{path}/" != pattern for pattern in patterns
    )


def _find_touched(admitted: Admitted) -> str:
    for label in ("tests", "dependencies", "protected"):
        if touched := getattr(admitted, label):
            return f"it touches {label}: {quote(touched[0])}"
    return ""


def name_untouchable(file: ChangedFile) -> str:
    """Say what a file is that no permission covers, or nothing."""
    if {file.old_mode, file.new_mode} - {None, REGULAR}:
        return "no plain file, or is executable"
    if b"\0" in (file.old or b"") or b"\0" in (file.new or b""):
        return "binary"
    if _CORE.find_first(file.path):
        return "in the trusted core"
    if any(name in PROTECTED_NAMES for name in paths.fold(file.path).split("/")):
        return "a protected path"
    return "configuration" if is_configuration(file.path) else ""


def _find_size_objection(
    bench: Workbench, change: Change, files: Sequence[ChangedFile], permission: MergePermission
) -> str:
    if not 1 <= len(files) <= permission.most_files:
        return f"it touches {len(files)} files, and {permission.most_files} are permitted"
    diff_lines = sum(count_lines(bench.repo.diff(change.base, change.commit)))
    lines = max(diff_lines, sum(_count_touched_lines(file) for file in files))
    if lines > permission.most_lines:
        return f"it touches {lines} lines, and {permission.most_lines} are permitted"
    return ""


def _count_touched_lines(file: ChangedFile) -> int:
    """Count the lines that came and went, long ones as several."""
    old = Counter((file.old or b"").splitlines())
    new = Counter((file.new or b"").splitlines())
    return sum(
        count * max(1, math.ceil(len(line) / LONGEST_LINE))
        for difference in (new - old, old - new)
        for line, count in difference.items()
    )


def _find_test_objection(bench: Workbench, change: Change) -> str:
    """Ask for tests that passed, on exactly this commit, with nothing to remark."""
    tests, own_run = change.tests, change.runs.get(verdicts.OWN_RUN)
    report = (own_run.report if own_run else None) or {}
    if tests is None or own_run is None:
        return "its tests did not run"
    commits = {own_run.code, own_run.tests, report.get("code_commit"), report.get("tests_commit")}
    if commits != {change.commit}:
        return "its tests ran on another commit"
    if {tests["verdict"], report.get("verdict")} != {TestVerdict.PASSED}:
        return f"its tests did not pass ({tests['verdict']})"
    if failure := bench.test_failure(change):
        return f"its tests did not pass ({failure})"
    return "its tests gave rise to a warning" if tests.get("warnings") else ""


def _find_mutant_objection(change: Change, permission: MergePermission) -> str:
    if not permission.mutants:
        return ""
    mutation: Mapping[str, Any] = (change.tests or {}).get("mutation") or {}
    if not mutation.get("measured") or not mutation.get("mutants"):
        return "no mutants were measured"
    if mutation.get("other_languages") or mutation.get("lost"):
        return "mutants were not measured in all of it, or tests notice fewer than before"
    noticed = mutation["mutants"] - mutation["survived"]
    if noticed * 100 < permission.mutants * mutation["mutants"]:
        return f"tests notice {noticed} of {mutation['mutants']} mutants"
    return ""


def _find_finding_objection(bench: Workbench, change: Change) -> str:
    if change.findings is None:
        return "it was not scanned"
    blocking_rules = set(bench.configuration().target.blocking_findings)
    if rule := next(_list_bad_rules(change, blocking_rules), ""):
        return f"there is a finding: {rule}"
    if inside := quarantine.find_contained(bench.repo, change.commit, bench.quarantined()):
        return f"it contains {inside[0][:12]}, which failed in service"
    return ""


def _list_bad_rules(change: Change, blocking_rules: set[str]) -> Iterator[str]:
    for item in change.findings or ():
        if item["severity"] == Severity.DANGER or item["rule"] in blocking_rules:
            yield str(item["rule"])
