"""What matters before somebody signs for a change, said once for page, terminal and API.

A fact is red (`bad`) where a reader should stop. A red fact that the signature has to name carries
the term for it; the doors ask for a tick or a typed word for each of the others. Nothing of this
decides: the desk checks the terms (`trusted.changes.review`), whatever a door showed.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from astra.changes.service import Changes
from astra.deployments import views
from astra.deployments.live_difference import MOST_COMMITS, LiveDifference
from astra.trusted.changes import model, quarantine, verdicts
from astra.trusted.changes.evidence import Severity, TestVerdict
from astra.trusted.changes.model import Change
from astra.trusted.changes.review import list_withheld
from astra.trusted.kernel.text import one_line, quote_text
from astra.trusted.ledger.ports import Ledger

Tone = Literal["good", "plain", "warn", "bad"]
CONSENT = "consent"
_SHORT = 12
_NAMED = 2
_SEVERITIES = (Severity.DANGER, Severity.WARNING, Severity.INFO)
_ROUND_BEGINS = frozenset({model.SCHEDULED, model.REBASED, model.RENEWED})


@dataclass(frozen=True, kw_only=True)
class Fact:
    name: str
    text: str
    tone: Tone = "plain"
    term: str | None = None
    """The term of the signature that names this fact, where there is one."""
    value: str | None = None
    """What the term says: a path, a verdict, a commit."""
    with_deploy: bool = False
    """Counts only where the approval includes the deploy."""

    def as_dict(self) -> dict[str, Any]:
        return {**self.__dict__, "red": self.tone == "bad"}


@dataclass(frozen=True, kw_only=True)
class DecisionFacts:
    changes: Changes
    ledger: Ledger
    waves: Sequence[Sequence[str]] = ()
    """The waves of the fleet that a deployment would go out in; none on one machine."""

    def describe(self, identifier: str) -> dict[str, Any]:
        """Give every fact about a change that a signature would stand under."""
        change = self.changes.book.get(identifier)
        live, behind = views.live_release(self.ledger), self._count_behind(change)
        release = {"release": live.id, "commit": live.commit_id} if live else None
        undeployed = LiveDifference(changes=self.changes, ledger=self.ledger).list_commits(
            live.commit_id if live else "", change.base
        )
        facts = [
            *_describe_tests(change, self.changes.bench.test_failure(change)),
            *_describe_findings(change, self.changes.review.find_blocking_rules(change)),
            *_describe_paths(change),
            *_describe_base(change, behind),
            *self._describe_quarantine(change),
            self._describe_deploy(release, undeployed["commits"]),
            *_describe_waves(self.waves),
        ]
        return {
            "id": change.id,
            "commit": change.commit,
            "base": change.base,
            "target_branch": change.facts["target_branch"],
            "behind": behind,
            "blocked": bool(self.changes.review.find_blocking_rules(change)),
            "facts": [fact.as_dict() for fact in facts],
            "live": release,
            "waiting": undeployed["commits"],
            "carried_over": self._find_carry_over(change),
        }

    def _count_behind(self, change: Change) -> int:
        """Count the commits that the target's branch has on top of the base; at most fifty."""
        repo = self.changes.bench.repo
        if not change.is_open:
            return 0
        current: str | None = repo.head()
        for count in range(MOST_COMMITS):
            if current is None or current == change.base:
                return count
            current = repo.parent(current)
        return MOST_COMMITS

    def _describe_quarantine(self, change: Change) -> Iterator[Fact]:
        for commit in self.changes.review.find_quarantined(change):
            reason = one_line(views.quarantine_reason(self.ledger, commit), 200)
            yield Fact(
                name="quarantine",
                text=f"contains {commit[:_SHORT]}, which failed in service: {reason}",
                tone="bad",
                term=quarantine.TERM,
                value=commit,
                with_deploy=True,
            )

    def _describe_deploy(self, live: dict[str, str] | None, waiting: list[dict[str, Any]]) -> Fact:
        """Say what would be deployed, what goes with it, and what it replaces; ids come last."""
        if live is None:
            return Fact(name="deploy", text="nothing is live; this would be the first release")
        replaced = self.changes.book.find_by_commit(live["commit"])
        title = quote_text(replaced.purpose) if replaced else "the target as it came"
        company = f", together with {_name_waiting(waiting)}," if waiting else ""
        text = f"this{company} would replace {title} ({live['release']})"
        return Fact(name="deploy", text=text, tone="warn" if waiting else "plain", with_deploy=True)

    def _find_carry_over(self, change: Change) -> dict[str, Any] | None:
        """Tell whether this round began because the base moved, and whether somebody had signed."""
        rows = self.ledger.query(
            "SELECT type, sequence FROM change_record JOIN record USING (sequence)"
            " WHERE change = ? ORDER BY sequence",
            [change.id],
        )
        begins = [at for at, (type_, _) in enumerate(rows) if type_ in _ROUND_BEGINS]
        if not begins or rows[begins[-1]][0] != model.REBASED:
            return None
        record = self.ledger.record(rows[begins[-1]][1])
        if record is None:
            return None
        round_before = rows[begins[-2] : begins[-1]] if len(begins) > 1 else []
        return {
            "at": record.time,
            "previous_base": str(record.data["from"]["base"]),
            "onto": str(record.data["facts"]["base"]),
            "signed_before": any(type_ == "approval_granted" for type_, _ in round_before),
        }


def _describe_tests(change: Change, failure: str) -> Iterator[Fact]:
    tests = change.tests
    if tests is None:
        yield Fact(name="tests", text="the evidence is not complete yet", tone="warn")
        return
    tone: Tone = "good" if tests["verdict"] == TestVerdict.PASSED else "warn"
    yield Fact(
        name="tests",
        text=one_line(tests["words"], 300),
        tone="bad" if failure else tone,
        term=verdicts.DESPITE_TESTS if failure else None,
        value=failure or None,
    )
    for warning in tests.get("warnings", ()):
        yield Fact(name="tests", text=one_line(warning, 300), tone="bad")
    if withheld := list_withheld(change):
        text = f"the tests saw no secret files: {one_line(', '.join(withheld), 200)}"
        yield Fact(name="tests", text=text, tone="warn")
    if mutation := tests.get("mutation"):
        text = one_line(mutation["words"].removeprefix("mutants: "), 300)
        yield Fact(name="mutants", text=text, tone="bad" if mutation["lost"] else "plain")


def _describe_findings(change: Change, blocking_rules: Iterable[str]) -> Iterator[Fact]:
    findings = change.findings
    if findings is None:
        yield Fact(name="findings", text="the scan is under way", tone="warn")
        return
    counts = Counter(finding["severity"] for finding in findings)
    tone: Tone = "good"
    if findings:
        tone = "bad" if counts[Severity.DANGER] else "warn" if counts[Severity.WARNING] else "plain"
    yield Fact(name="findings", text=count_findings(counts), tone=tone)
    for rule in blocking_rules:
        text = f"{rule} blocks it: the operator's signed configuration says so"
        yield Fact(name="blocked", text=text, tone="bad")


def count_findings(counts: Counter[str]) -> str:
    """Count findings as their title does.

    >>> count_findings(Counter({"danger": 6, "info": 8}))
    '14 findings: 6 danger, 8 info'
    >>> count_findings(Counter())
    'no findings'
    """
    total = counts.total()
    kinds = ", ".join(f"{counts[kind]} {kind}" for kind in _SEVERITIES if counts[kind])
    return f"{total} finding{'' if total == 1 else 's'}: {kinds}" if total else "no findings"


def _describe_paths(change: Change) -> Iterator[Fact]:
    for path in change.facts["protected"]:
        text = f"changes the protected path {one_line(path, 200)}"
        yield Fact(name="protected", text=text, tone="bad", term=CONSENT, value=path)
    for name, label in (("tests", "tests"), ("dependencies", "files that name dependencies")):
        if paths := change.facts[name]:
            text = f"changes {label}: {one_line(', '.join(paths), 200)}"
            yield Fact(name="touches", text=text, tone="warn")


def _describe_base(change: Change, behind: int) -> Iterator[Fact]:
    branch = one_line(str(change.facts["target_branch"]), 80)
    if not behind:
        yield Fact(name="base", text=f"built on {branch} as it is now", tone="good")
        return
    more = "at least " if behind == MOST_COMMITS else ""
    yield Fact(
        name="base",
        text=f"{more}{behind} commit{'' if behind == 1 else 's'} behind {branch}: a signature now"
        " is void; it is carried over, tested again, and you are asked again",
        tone="bad",
    )


def _name_waiting(commits: list[dict[str, Any]]) -> str:
    """Name what was merged before and is not live: the newest two, and how many more."""
    titles = [
        quote_text(commit["reason"]) if commit["reason"] else f"commit {commit['commit'][:_SHORT]}"
        for commit in commits[:_NAMED]
    ]
    least = "at least " if len(commits) == MOST_COMMITS else ""
    more = [f"{least}{len(commits) - _NAMED} more"] if len(commits) > _NAMED else []
    return f"{' and '.join([*titles, *more])}, merged before and not live now"


def _describe_waves(waves: Sequence[Sequence[str]]) -> Iterator[Fact]:
    """Say which instances get it and in which order, so that the signer knows."""
    for number, wave in enumerate(waves, start=1):
        text = f"wave {number} of {len(waves)}: {', '.join(wave)}"
        yield Fact(name="wave", text=text, with_deploy=True)
