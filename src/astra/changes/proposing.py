"""Proposing a change: edits become a commit on a branch of its own, and nothing else moves.

The commit is made first (objects that nothing names), then the change and its task are recorded,
then its branch is placed. A crash before the record leaves nothing but unused objects; a crash
after it leaves a branch that the next step places.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from astra.changes import edits, reverting
from astra.changes.edits import Edit, Patch
from astra.goals.book import Goals
from astra.operations.caps import OPEN_CHANGES
from astra.research.book import ResearchBook
from astra.trusted.changes import events, model, rebase, tasks
from astra.trusted.changes.files import ChangedFile, FileState, Result
from astra.trusted.changes.model import Change
from astra.trusted.changes.ports import Imported
from astra.trusted.changes.workbench import Workbench, commit_message, describe_commit
from astra.trusted.kernel.errors import BadInput, Conflict
from astra.trusted.kernel.ids import random_id
from astra.trusted.kernel.text import printable
from astra.trusted.ledger.record import Event
from astra.trusted.policy import flags

_LONGEST_REASON = 4000
_RESEARCH = re.compile(r"[A-Za-z0-9_.:-]{1,100}")
MOST_OPEN = OPEN_CHANGES.most
WORK_TREE = "(work tree)"


@dataclass(frozen=True, kw_only=True)
class Proposal:
    """What somebody wants changed, and why; edits, or what was read from the agent's clone."""

    reason: str
    edits: Sequence[Edit] = ()
    from_branch: str = ""
    loose: Imported | None = None
    """Edits that lie in the clone's work tree and are in no commit."""
    goal: str = ""
    research: str = ""
    supersedes: str = ""
    reverts: str = ""
    """A merged change whose inverse is wanted."""


@dataclass(frozen=True)
class Proposals:
    bench: Workbench

    def propose(self, proposal: Proposal, *, actor: str, correlation: str) -> Change:
        """Admit a change, commit it on its own branch and record it; or refuse, and do nothing."""
        bench = self.bench
        _check_proposal(proposal)
        if proposal.research:
            ResearchBook(bench.ledger).get_finished(proposal.research)
        self._refuse_flood()
        replaced = self._find_replaced_change(proposal)
        story = self._choose_correlation(proposal, replaced, correlation)
        for look in bench.before_proposals:
            look()
        flags_version = flags.version(bench.ledger)
        bench.require_open()
        base = bench.repo.head()
        result, source = self._compute_result(proposal, base, actor=actor, correlation=story)
        identifier = random_id("chg")
        files = _list_changed_files(result, bench.repo.files(base, list(result)))
        admitted = bench.admit_files(files, base)
        commit = bench.repo.commit(
            base=base,
            result=result,
            message=commit_message(proposal.reason, identifier),
            when=bench.clock.now(),
        )
        change_facts = describe_commit(
            bench, identifier=identifier, base=base, commit=commit, files=files, admitted=admitted
        )
        task = random_id("tsk")
        data = {"facts": change_facts, "about": _describe_proposal(proposal, source), "task": task}
        happened = [
            events.scheduled(identifier, data, actor=actor, story=story),
            tasks.make_created_event(task, subject_id=identifier, actor=actor, correlation=story),
        ]
        expect = {flags.SUBJECT: flags_version, identifier: 0}
        if replaced is not None:
            happened += _make_superseded_events(replaced, identifier)
            expect[replaced.id] = bench.book.version(replaced.id)
        bench.ledger.append(happened, expect=expect)
        bench.repo.set_change_branch(identifier, commit.id)
        if replaced is not None and replaced.approval:
            bench.desk.go_stale(replaced.approval, f"{replaced.id} was replaced by {identifier}")
        bench.show_waiting()
        return bench.book.get(identifier)

    def loose_edits(self, *, actor: str, correlation: str) -> Imported | None:
        """Read the uncommitted edits of the clone, unless the target's branch has them already."""
        repo = self.bench.repo
        most = self.bench.configuration().target.max_files
        clone_edits = self.bench.imports.read_edits(
            most_files=most, actor=actor, correlation=correlation
        )
        if clone_edits is None:
            return None
        head = repo.head()
        rebase_result = rebase.carry_over(
            repo, change=clone_edits.files, old=clone_edits.base, new=head
        )
        differs = _list_changed_files(
            rebase_result.result, repo.files(head, list(rebase_result.result))
        )
        return clone_edits if rebase_result.conflicts or differs else None

    def _compute_result(
        self, proposal: Proposal, base: str, *, actor: str, correlation: str
    ) -> tuple[Result, dict[str, Any]]:
        if proposal.reverts:
            change = self.bench.book.get(proposal.reverts)
            return reverting.compute_inverse(self.bench.repo, change, base), {}
        if not proposal.from_branch and proposal.loose is None:
            base_files = self.bench.repo.files(base, _list_edited_paths(proposal.edits))
            return edits.apply(proposal.edits, base_files.get), {}
        imported = proposal.loose or self.bench.imports.read(
            proposal.from_branch,
            most_files=self.bench.configuration().target.max_files,
            actor=actor,
            correlation=correlation,
        )
        branch = proposal.from_branch or WORK_TREE
        source = {"branch": branch, "tip": imported.tip, "base": imported.base}
        return self._rebase_import(imported, base), source

    def _rebase_import(self, imported: Imported, base: str) -> Result:
        rebase_result = rebase.carry_over(
            self.bench.repo, change=imported.files, old=imported.base, new=base
        )
        if rebase_result.conflicts:
            raise Conflict(
                f"what is in your clone conflicts with {self.bench.repo.branch} in"
                f" {', '.join(ascii(path) for path in rebase_result.conflicts[:10])}",
                code="merge_conflict",
                next_step=f"bring it onto {base} in your clone, then propose it again",
                paths=[ascii(path) for path in rebase_result.conflicts],
                base=base,
            )
        return rebase_result.result

    def _refuse_flood(self) -> None:
        """Keep a reviewer's list readable, whoever proposes."""
        if self.bench.book.open_count() >= MOST_OPEN:
            raise OPEN_CHANGES.build_error()

    def _find_replaced_change(self, proposal: Proposal) -> Change | None:
        if not proposal.supersedes:
            return None
        change = self.bench.book.get(proposal.supersedes)
        model.require(change, model.SUPERSEDED)
        return change

    def _choose_correlation(
        self, proposal: Proposal, replaced: Change | None, correlation: str
    ) -> str:
        """Tell the change in the story it comes from: its goal's, or that of what it replaces."""
        if proposal.goal:
            return Goals(self.bench.ledger).get(proposal.goal).correlation
        return replaced.correlation if replaced else correlation


def _check_proposal(proposal: Proposal) -> None:
    if not proposal.reason.strip() or len(proposal.reason) > _LONGEST_REASON:
        raise BadInput(
            f"a change needs a reason of at most {_LONGEST_REASON} characters",
            next_step="say in a few sentences why the code should change",
            field="reason",
        )
    if proposal.research and not _RESEARCH.fullmatch(proposal.research):
        raise BadInput(
            "research is the id of a research session, and no text",
            next_step="give the id as it was given to you, or leave it out",
            field="research",
        )
    ways = (
        bool(proposal.edits),
        bool(proposal.from_branch),
        proposal.loose is not None,
        bool(proposal.reverts),
    )
    if sum(ways) != 1:
        raise BadInput(
            "a change is edits, a branch of your clone, or the inverse of a merged change",
            next_step="give edits, a patch, from_branch or reverts, and one of them only",
        )


def _list_edited_paths(given: Sequence[Edit]) -> list[str]:
    from astra.changes import patches

    paths: list[str] = []
    for edit in given:
        if isinstance(edit, Patch):
            parts = patches.parse(edit.text)
            paths += [path for part in parts for path in (part.old_path, part.new_path) if path]
        else:
            paths.append(edit.path)
    return paths


def _list_changed_files(result: Result, base: Any) -> tuple[ChangedFile, ...]:
    """List what really differs, in order of the paths."""
    return tuple(
        changed
        for path in sorted(result)
        if (changed := _compare_file(path, base.get(path), result[path])) is not None
    )


def _compare_file(path: str, old: FileState | None, new: FileState | None) -> ChangedFile | None:
    if old == new:
        return None
    return ChangedFile(
        path=path,
        old_mode=old.mode if old else None,
        new_mode=new.mode if new else None,
        old=old.content if old else None,
        new=new.content if new else None,
    )


def _describe_proposal(proposal: Proposal, source: dict[str, Any]) -> dict[str, Any]:
    return {
        "reason": printable(proposal.reason),
        "goal": proposal.goal or None,
        "research": proposal.research or None,
        "supersedes": proposal.supersedes or None,
        "reverts": proposal.reverts or None,
        "source": source or None,
    }


def _make_superseded_events(replaced: Change, by: str) -> list[Event]:
    return [
        events.superseded(replaced, by),
        tasks.make_finished_event(
            replaced.task, outcome="superseded", correlation=replaced.correlation
        ),
    ]
