"""Looking at what would come in: its files, its history, and whether the upstream was rewritten."""

from collections.abc import Sequence
from dataclasses import dataclass

from astra.trusted.changes import admission
from astra.trusted.changes.evidence import Finding, Severity
from astra.trusted.changes.files import ChangedFile
from astra.trusted.changes.workbench import Workbench
from astra.trusted.kernel import canonical
from astra.trusted.kernel.errors import AstraError, Refused
from astra.trusted.kernel.ids import random_id
from astra.trusted.policy.secrets import SecretRules
from astra.trusted.upstream import incoming as looking
from astra.trusted.upstream.incoming import FAST_FORWARD, MERGE, Incoming
from astra.trusted.upstream.ports import IncomingCommit, UpstreamRepo

PARTS = (looking.MOST_COMMITS, 20, 1)
"""How many commits are asked for at once, fewer where they cannot be shown whole."""
_ACTOR = "upstream"


@dataclass(frozen=True, kw_only=True)
class Examination:
    bench: Workbench
    upstream: UpstreamRepo
    secrets: SecretRules
    last_tip: str
    """The upstream's commit that was brought in last, or nothing."""

    def examine_part(self, *, head: str, tip: str) -> tuple[Incoming | None, tuple[str, ...]]:
        """Look at as much of what is new as a person can read whole; or give what conflicts."""
        for most in PARTS:
            part = self.upstream.choose_part(behind=head, tip=tip, most=most)
            base = self.upstream.merge_base(head, part)
            result, conflicts = self._plan_move(head, part, base)
            if not result:
                return None, conflicts
            incoming = self.examine(head=head, tip=part, result=result, base=base or head, of=tip)
            if len(canonical.encode(incoming.describe())) <= looking.LARGEST:
                return incoming, ()
        raise Refused(
            f"a commit of the upstream on the way to {tip[:12]} brings more than a person can read"
            " before signing",
            code="cannot_be_shown",
            next_step="have it split upstream, or make a data root of that state with astra init",
        )

    def _plan_move(self, head: str, tip: str, base: str | None) -> tuple[str, tuple[str, ...]]:
        if base == head:
            return tip, ()
        if base is None:
            return "", ()
        return self.upstream.make_merge(ours=head, theirs=tip, base=base)

    def examine(self, *, head: str, tip: str, result: str, base: str, of: str) -> Incoming:
        """Look at one possible move of the trusted branch, towards all `of` the upstream."""
        repo, target = self.upstream.repo, self.bench.configuration().target
        files = repo.differences(head, result)
        rules = self.bench.rules(repo.tree(head))
        total = self.upstream.count_commits(behind=head, tip=tip)
        commits = self.upstream.list_commits(behind=head, tip=tip, most=total)
        findings = [
            *self._find_rewriting(of),
            *looking.examine_names(files, rules),
            *looking.examine_secrets(files, self.secrets),
            *self._examine_history(commits, files),
            *self._scan(files, admission.list_test_places(target)),
        ]
        return Incoming(
            head=head,
            tip=tip,
            result=result,
            how=FAST_FORWARD if base == head and result == tip else MERGE,
            commits=tuple(commits),
            total=total,
            later=self.upstream.count_commits(behind=tip, tip=of),
            files=files,
            findings=tuple(findings),
            **looking.classify_paths(files, rules),
        )

    def _examine_history(
        self, commits: Sequence[IncomingCommit], in_the_end: Sequence[ChangedFile]
    ) -> list[Finding]:
        """Look for secrets that a commit added and a later one removed: the history keeps them."""
        repo, findings = self.upstream.repo, list[Finding]()
        final = {(file.path, file.new) for file in in_the_end}
        for commit in commits:
            if len(commit.parents) != 1:
                continue
            files = repo.differences(commit.parents[0], commit.id)
            removed_later = [file for file in files if (file.path, file.new) not in final]
            findings += looking.examine_secrets(removed_later, self.secrets, commit=commit.id)
        return findings

    def _find_rewriting(self, tip: str) -> list[Finding]:
        """Say that the upstream dropped commits which were brought in from it before."""
        before = self.last_tip
        if not before or self.upstream.repo.is_ancestor(before, tip):
            return []
        message = f"the upstream's history was rewritten: it no longer contains {before[:12]}"
        return [
            Finding(rule="history-rewritten", severity=Severity.DANGER, path="", message=message)
        ]

    def _scan(self, files: Sequence[ChangedFile], test_paths: Sequence[str]) -> tuple[Finding, ...]:
        try:
            return self.bench.scanner.scan(
                files, test_paths=test_paths, actor=_ACTOR, correlation=random_id("cor")
            )
        except AstraError as error:
            message = f"it was not scanned: {error.detail}"
            return (
                Finding(rule="not-scanned", severity=Severity.DANGER, path="", message=message),
            )
