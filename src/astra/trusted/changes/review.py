"""What exactly is decided on: the digest a signature binds, and asking for the signature.

The digest of an approval covers the whole tree by path, mode and blob, the files that name
dependencies, the evidence and the signed configuration. Whatever moves makes the approval stale,
and the record says what moved.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from astra.trusted.approvals.desk import Approval
from astra.trusted.changes import admission, events, model, quarantine, verdicts
from astra.trusted.changes.evidence import Severity
from astra.trusted.changes.model import Change, State
from astra.trusted.changes.ports import Tree
from astra.trusted.changes.workbench import Workbench
from astra.trusted.kernel import canonical
from astra.trusted.kernel.errors import BadInput, Conflict, Refused
from astra.trusted.kernel.text import one_line, printable, quote_text
from astra.trusted.policy.paths import quote

_SHORT = 12
_IN_WORDS = {
    "base": "the base",
    "commit": "the commit",
    "tree": "the files",
    "lock": "the files that name dependencies",
    "evidence": "the evidence",
    "configuration": "the signed configuration",
}


@dataclass(frozen=True)
class Review:
    bench: Workbench

    def ask(self, identifier: str, *, actor: str = events.DAEMON) -> str:
        """Ask the operator to decide; gives the approval that waits for exactly this content."""
        change = self.bench.book.get(identifier)
        if change.tests is None:
            raise Refused(
                f"the evidence for {change.id} is not complete yet",
                code="evidence_missing",
                next_step=f"astra changes show {change.id}",
            )
        model.require(change, "approval_requested")
        parts, failure = self.collect_parts(change), self.bench.test_failure(change)
        title = title_change(change, failure)
        evidence = [*list_evidence(change), *self._quarantine_words(change)]
        self.bench.require_open()
        return self.bench.desk.ask(
            kind=model.KIND,
            subject_id=change.id,
            digest=digest_parts(parts),
            summary=f"{title}: {'; '.join(evidence)}",
            details={
                "title": title,
                "facts": evidence,
                "parts": parts,
                "despite_tests": failure or None,
                **describe_decision(change),
                "contains_quarantined": list(self.find_quarantined(change)),
            },
            actor=actor,
            correlation=change.correlation,
        )

    def collect_parts(self, change: Change) -> dict[str, str]:
        """Name everything an approval of this change binds, each by its own digest."""
        tree = self.bench.repo.tree(change.commit)
        evidence = {
            "findings": list(change.findings or ()),
            "tests": change.tests,
            "runs": {label: test_run.report for label, test_run in change.runs.items()},
        }
        locks = {path: entry for path, entry in tree.items() if admission.is_dependency(path)}
        return {
            "change": change.id,
            "base": change.base,
            "commit": change.commit,
            "tree": tree_digest(tree),
            "lock": tree_digest(locks),
            "evidence": hashlib.sha256(canonical.encode(evidence)).hexdigest(),
            "configuration": hashlib.sha256(self.bench.configuration_text().encode()).hexdigest(),
        }

    def describe_difference(self, change: Change, approval: Approval) -> str:
        """Say what is not the same any more as when the approval was asked for, or nothing."""
        now = self.collect_parts(change)
        if digest_parts(now) == approval.digest:
            return ""
        requested_parts: Mapping[str, str] = self.bench.desk.details(approval.id)["details"][
            "parts"
        ]
        changed_parts = [
            part_label
            for name, part_label in _IN_WORDS.items()
            if now[name] != requested_parts.get(name)
        ]
        return f"{', '.join(changed_parts) or 'its content'} changed since it was asked for"

    def check_terms(self, approval: Approval, terms: Mapping[str, Any]) -> None:
        """Refuse a grant that lacks the consent to a protected path, or names one in vain."""
        change = self.bench.book.get_by_approval(approval.id)
        if blocked := self.find_blocking_rules(change):
            raise Refused(
                f"{change.id} cannot be approved while {', '.join(blocked)} is found in it",
                code="blocked_by_findings",
                next_step="send it back; or take the rule out of target.blocking_findings in"
                " astra.toml and sign that",
                rules=blocked,
            )
        self._check_deploy(change, approval, terms)
        self._check_tests(change, approval, terms)
        consent = [str(path) for path in terms.get("consent", ())]
        protected = [str(path) for path in change.facts["protected"]]
        if unknown := sorted(set(consent) - set(protected)):
            raise BadInput(
                f"{quote(unknown[0])} is not a protected path of {change.id}",
                next_step=f"astra changes show {change.id}",
            )
        if unconsented_paths := [path for path in protected if path not in consent]:
            options = " ".join(f"--consent {path}" for path in protected)
            raise Refused(
                f"{change.id} touches protected paths:"
                f" {', '.join(quote(path) for path in unconsented_paths)}",
                code="consent_missing",
                next_step=f"look at them, then: astra approve {approval.id} {printable(options)}",
                paths=unconsented_paths,
            )

    def find_quarantined(self, change: Change) -> tuple[str, ...]:
        """Name the commits that failed in service and that this change still contains."""
        return quarantine.find_contained(self.bench.repo, change.commit, self.bench.quarantined())

    def _quarantine_words(self, change: Change) -> list[str]:
        return [
            f"contains {commit[:_SHORT]}, which failed in service and is in quarantine"
            for commit in self.find_quarantined(change)
        ]

    def _check_deploy(self, change: Change, approval: Approval, terms: Mapping[str, Any]) -> None:
        """Refuse a yes that includes the deploy of a quarantined commit without naming it."""
        inside, accepted = self.find_quarantined(change), quarantine.read_accepted(terms)
        if unknown := sorted(set(accepted) - set(inside)):
            raise BadInput(
                f"{change.id} contains no quarantined commit {one_line(unknown[0], 80)}",
                next_step=f"astra changes show {change.id}",
            )
        if terms.get("deploy"):
            command = f"astra approve {approval.id} --deploy"
            quarantine.refuse_unnamed(change.id, inside, accepted, command=command)

    def _check_tests(self, change: Change, approval: Approval, terms: Mapping[str, Any]) -> None:
        """Refuse to take a change despite its tests unless exactly that is signed."""
        failure, signed_verdict = (
            self.bench.test_failure(change),
            terms.get(verdicts.DESPITE_TESTS, ""),
        )
        if failure == signed_verdict:
            return
        if not failure:
            raise BadInput(
                f"the tests of {change.id} stand in no way",
                next_step=f"astra approve {approval.id}, without --despite-tests",
            )
        raise Refused(
            f"the tests of {change.id} did not pass: {failure}",
            code="tests_failed",
            next_step=f"look at the failures; to take it anyway: astra approve {approval.id}"
            " --despite-tests",
        )

    def find_blocking_rules(self, change: Change) -> list[str]:
        """Name the findings that the operator chose to block on."""
        blocking_rules = set(self.bench.configuration().target.blocking_findings)
        return sorted({item["rule"] for item in change.findings or ()} & blocking_rules)


def digest_parts(parts: Mapping[str, str]) -> str:
    return hashlib.sha256(canonical.encode({"kind": model.KIND, **parts})).hexdigest()


def tree_digest(tree: Tree) -> str:
    """Digest (path, mode, blob) of every file, in order of the paths."""
    total = hashlib.sha256()
    for path in sorted(tree):
        entry = tree[path]
        raw_path = path.encode(errors="surrogateescape")
        total.update(
            b"%d:%b %b %b\n" % (len(raw_path), raw_path, entry.mode.encode(), entry.blob.encode())
        )
    return total.hexdigest()


def title_change(change: Change, failure: str = "") -> str:
    """Say what would be merged, in the words of who proposed it."""
    reason = quote_text(change.purpose)
    merge = f"merge {reason} into {change.facts['target_branch']}"
    return f"DESPITE ITS TESTS ({failure}), {merge}" if failure else merge


def list_evidence(change: Change) -> list[str]:
    """Give what a decision rests on, a phrase each, in the server's own words."""
    diff = change.facts["diff"]
    count = diff["files"]
    phrases = [
        f"{count} file{'s' if count != 1 else ''}, +{diff['added']} -{diff['removed']}",
        change.tests["words"] if change.tests else "no evidence",
    ]
    phrases += change.tests.get("warnings", []) if change.tests else []
    if files := list_withheld(change):
        phrases.append(f"its tests saw no secret files: {one_line(', '.join(files), 120)}")
    if mutation := (change.tests or {}).get("mutation"):
        phrases.append(mutation["words"])
    dangers = sum(item["severity"] == Severity.DANGER for item in change.findings or ())
    if dangers:
        phrases.append(f"{dangers} dangerous finding{'s' if dangers > 1 else ''}")
    phrases += [
        f"touches {name}: {one_line(', '.join(change.facts[name]), 120)}"
        for name in ("protected", "tests", "dependencies")
        if change.facts[name]
    ]
    return phrases


def describe_decision(change: Change) -> dict[str, Any]:
    """Give what a person reads before signing; the agent's own words are marked as such."""
    return {
        "change": change.id,
        "agent_says": change.about["reason"],
        "goal": change.about["goal"],
        "research": change.about["research"],
        "files": change.facts["files"],
        "protected": change.facts["protected"],
        "tests_touched": change.facts["tests"],
        "dependencies": change.facts["dependencies"],
        "withheld": list_withheld(change),
        "findings": [
            f"{item['severity']}: {item['path']}:{item['line']} {item['message']}"
            for item in change.findings or ()
        ][:50],
        "findings_total": len(change.findings or ()),
        "tests": change.tests,
    }


def list_withheld(change: Change) -> list[str]:
    """List the secret files that runs of its tests found empty."""
    reports = (test_run.report or {} for test_run in change.runs.values())
    return sorted({str(path) for report in reports for path in report.get("withheld", ())})


def require_approval(change: Change) -> str:
    """Name the approval that waits for a decision on a change, or say that none does."""
    if change.state is State.TESTS_FAILED:
        raise Refused(
            f"{change.id} went back to the agent: {change.reason}",
            code="tests_failed",
            next_step=f"look at the failures with `astra changes show {change.id}`; to take it"
            f" anyway: astra approve {change.id} --despite-tests",
        )
    if change.approval is None or change.state is not State.AWAITING:
        raise Conflict(
            f"nothing of {change.id} waits for a decision: it is {change.state}",
            code="nothing_waits",
            next_step=f"astra changes show {change.id}",
            state=str(change.state),
        )
    return change.approval
