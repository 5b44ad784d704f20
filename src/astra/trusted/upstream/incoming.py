"""What would come in: the commits of people, what they touch, and what was found in them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from astra.trusted.changes import admission
from astra.trusted.changes.admission import Rules
from astra.trusted.changes.evidence import Finding, Severity
from astra.trusted.changes.files import LINK, SUBMODULE, ChangedFile
from astra.trusted.kernel.masking import mask
from astra.trusted.kernel.text import one_line, printable
from astra.trusted.policy.paths import PathRefused, parse_relative, quote
from astra.trusted.policy.secrets import SecretRules
from astra.trusted.upstream.ports import IncomingCommit

FAST_FORWARD, MERGE = "fast-forward", "merge"
MOST_COMMITS = 200
"""How many commits one signature brings in: what is signed is read whole."""
LARGEST = 512 * 1024
"""How many bytes a request may have that a person reads before signing."""
_LONGEST = 300


@dataclass(frozen=True, kw_only=True)
class Incoming:
    """One possible move of the trusted branch, from `head` to `result`."""

    head: str
    tip: str
    result: str
    """What the branch would move to: the tip itself, or a merge of both."""
    how: str
    commits: tuple[IncomingCommit, ...]
    total: int
    later: int
    """How many commits the upstream has beyond these; they take signatures of their own."""
    files: tuple[ChangedFile, ...]
    findings: tuple[Finding, ...]
    protected: tuple[str, ...]
    tests: tuple[str, ...]
    dependencies: tuple[str, ...]

    def describe(self) -> dict[str, Any]:
        """Give what a person reads before signing."""
        return {
            "how": self.how,
            "incoming": [commit.as_dict() for commit in self.commits],
            "incoming_total": self.total,
            "incoming_later": self.later,
            "files": [printable(file.path) for file in self.files],
            "files_total": len(self.files),
            "protected": list(self.protected),
            "tests_touched": list(self.tests),
            "dependencies": list(self.dependencies),
            "findings": [_describe_finding(finding) for finding in self.findings],
            "findings_total": len(self.findings),
        }

    def summarize(self, branch: str) -> str:
        dangers = sum(finding.severity is Severity.DANGER for finding in self.findings)
        authors = ", ".join(dict.fromkeys(commit.author for commit in self.commits))
        count = f"{self.total} commit{'s' if self.total != 1 else ''}"
        move = "bring" if self.how == FAST_FORWARD else "merge"
        files = f"{len(self.files)} file{'s' if len(self.files) != 1 else ''}"
        phrases = [
            f"{move} {count} of the upstream into {branch}, by {one_line(authors, 120)}: {files}",
            *([f"{dangers} dangerous finding{'s' if dangers > 1 else ''}"] if dangers else []),
            *self._list_touched(),
        ]
        return "; ".join(phrases)

    def _list_touched(self) -> list[str]:
        touched = {"protected": self.protected, "tests": self.tests}
        touched["dependencies"] = self.dependencies
        return [
            f"touches {name}: {one_line(', '.join(paths), 120)}"
            for name, paths in touched.items()
            if paths
        ]


def classify_paths(files: Sequence[ChangedFile], rules: Rules) -> dict[str, tuple[str, ...]]:
    """Say which of the touched paths are protected, tests, or name dependencies."""
    paths = [file.path for file in files]
    return {
        "protected": tuple(path for path in paths if rules.is_protected(path)),
        "tests": tuple(path for path in paths if rules.is_test(path)),
        "dependencies": tuple(path for path in paths if admission.is_dependency(path)),
    }


def examine_names(files: Iterable[ChangedFile], rules: Rules) -> list[Finding]:
    """Look at the names and kinds of files that would be there."""
    present = (file for file in files if file.new_mode is not None)
    return [finding for file in present for finding in _examine_name(file, rules)]


def examine_secrets(
    files: Iterable[ChangedFile], secrets: SecretRules, *, commit: str = ""
) -> list[Finding]:
    """Look for secrets; with a commit, in what it added and later ones took away."""
    origin = f", added by {commit[:12]} and in the history for good" if commit else ""
    present = (file for file in files if file.new_mode is not None)
    return [finding for file in present for finding in _examine_secrets(file, secrets, origin)]


def _examine_name(file: ChangedFile, rules: Rules) -> list[Finding]:
    findings: list[Finding] = []
    if file.new_mode in {LINK, SUBMODULE}:
        kind = "a symbolic link" if file.new_mode == LINK else "a submodule"
        findings.append(_make_finding(file, "special-file", Severity.WARNING, f"is {kind}"))
    try:
        parse_relative(file.path)
    except PathRefused as error:
        findings.append(_make_finding(file, "odd-path", Severity.DANGER, error.detail))
    if pattern := rules.find_forbidding_pattern(file.path):
        message = f"is a path that {quote(pattern)} forbids to agents"
        findings.append(_make_finding(file, "forbidden-path", Severity.WARNING, message))
    return findings


def _examine_secrets(file: ChangedFile, secrets: SecretRules, where: str) -> list[Finding]:
    findings: list[Finding] = []
    if rule := secrets.rule_for(file.path):
        message = f"is a secret file ({rule}){where}"
        findings.append(_make_finding(file, "secret-file", Severity.DANGER, message))
    was_there = file.old is not None and _holds_secret(file.old)
    if not was_there and _holds_secret(file.new or b""):
        message = f"holds what looks like a password, a token or a key{where}"
        findings.append(_make_finding(file, "secret-in-text", Severity.DANGER, message))
    return findings


def _make_finding(file: ChangedFile, rule: str, severity: Severity, message: str) -> Finding:
    return Finding(rule=rule, severity=severity, path=printable(file.path), message=message)


def _describe_finding(finding: Finding) -> str:
    place = f"{finding.path}:{finding.line}" if finding.line else finding.path
    return one_line(f"{finding.severity}: {place} {finding.message}", _LONGEST)


def _holds_secret(content: bytes) -> bool:
    text = content.decode(errors="replace")
    return mask(text) != text
