"""What the API answers about changes, as types."""

from typing import Any

from astra.interfaces.daemon.models import Shape


class ChangeBrief(Shape):
    id: str
    state: str
    branch: str
    commit: str
    reason: str
    created_at: str
    proposed_by: str
    files: int
    tests: str | None
    approval_id: str | None


class ChangeFile(Shape):
    path: str
    how: str
    mode: str | None = None


class DiffSize(Shape):
    sha256: str
    files: int
    added: int
    removed: int


class DiffShown(DiffSize):
    id: str
    commit: str
    base: str
    diff: str


class FindingShown(Shape):
    rule: str
    severity: str
    path: str
    line: int
    message: str
    excerpt: str = ""


class TestRun(Shape):
    __test__ = False

    label: str
    code: str
    tests: str
    attempts: int
    report: dict[str, Any] | None


class EvidenceShown(Shape):
    verdict: str | None
    words: str
    complete: bool
    runs: list[TestRun]


class ChangeEvidence(Shape):
    id: str
    commit: str
    findings: list[FindingShown] | None
    evidence: EvidenceShown


class Comment(Shape):
    time: str
    by: str
    text: str


class ChangeDecision(Shape):
    reason: str
    terms: dict[str, Any]


class ChangeShown(Shape):
    id: str
    state: str
    branch: str
    commit: str
    reason: str
    created_at: str
    proposed_by: str
    files: list[ChangeFile]
    tests: str | None
    approval_id: str | None
    round: int
    base: str
    target_branch: str
    tree: str
    diff: DiffSize
    protected: list[str]
    tests_touched: list[str]
    dependencies: list[str]
    research: Any
    supersedes: str | None
    source: Any
    superseded_by: str | None
    task_id: str
    correlation: str
    findings: list[FindingShown] | None
    evidence: EvidenceShown
    comments: list[Comment]
    decision: ChangeDecision
    conflict: dict[str, Any] | None
    next: str
    goal: str | None
    goal_text: str | None
    desire: str | None
    blocked: str | None
