"""Changes as the doors see them: the verbs in one place, and one document for each change."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from astra.changes.gathering import Gathering, plan_runs
from astra.changes.lines import Lines, Side
from astra.changes.proposing import Proposals
from astra.changes.reviewing import Remarks
from astra.goals.book import Goals
from astra.plans.register import Register
from astra.research.book import ResearchBook
from astra.research.citations import DescribeCitation, describe_unchecked
from astra.research.service import cite_session
from astra.trusted.changes.evidence import TestVerdict
from astra.trusted.changes.merging import Merges
from astra.trusted.changes.model import Change, State
from astra.trusted.changes.review import Review
from astra.trusted.changes.views import Book
from astra.trusted.changes.workbench import Workbench
from astra.trusted.kernel.errors import NotFound

_NEXT = {
    State.GATHERING: "evidence is gathered on its branch; look again in a moment",
    State.AWAITING: "an operator decides: astra changes approve {id}",
    State.GRANTED: "the operator approved it; it is being merged",
    State.APPROVED: "the operator approved it; it is being merged",
    State.REVISE: "read the comments and propose a revision with supersedes={id}",
    State.TESTS_FAILED: "read the failures and propose a revision with supersedes={id}",
    State.CONFLICT: "read what stands in its way, then propose it again with supersedes={id}",
    State.REJECTED: "read the reason; propose something else, or leave it",
}

_MORE_TIME = (
    "its tests took too long: set AGENT_DEPLOY_TEST_TIMEOUT to more seconds (in .env of the data"
    " root, then astra down), or have test_command run fewer, and propose again with"
    " supersedes={id}"
)


@dataclass(frozen=True)
class Changes:
    bench: Workbench
    gathering: Gathering
    describe_citation: DescribeCitation = describe_unchecked
    """Reads the object of a citation again, so that a review shows what stands there now."""

    @property
    def book(self) -> Book:
        return self.bench.book

    @property
    def proposals(self) -> Proposals:
        return Proposals(self.bench)

    @property
    def review(self) -> Review:
        return Review(self.bench)

    @property
    def remarks(self) -> Remarks:
        return Remarks(self.bench)

    @property
    def merges(self) -> Merges:
        return Merges(self.bench)

    def diff(self, identifier: str) -> bytes:
        """Give the diff of a change's newest round, every byte of it, as text."""
        change = self.book.get(identifier)
        return self.bench.repo.diff(change.base, change.commit)

    def read_lines(
        self, identifier: str, *, path: str, side: Side, start: int, end: int
    ) -> dict[str, Any]:
        """Give lines of a file of a change that its diff leaves out."""
        change = self.book.get(identifier)
        return Lines(self.bench.repo).read_page(change, path=path, side=side, start=start, end=end)

    def describe_change(self, identifier: str) -> dict[str, Any]:
        """Give everything there is to know about a change, in one document."""
        change = self.book.get(identifier)
        blocked = self.bench.closed() if change.is_open else ""
        return {
            **change_document(change),
            **self._describe_origin(change),
            "contains_quarantined": list(self.review.find_quarantined(change)),
            "blocked": blocked or None,
        }

    def _describe_origin(self, change: Change) -> dict[str, Any]:
        """Say where a change comes from: its goal, and the desire behind that."""
        goal = change.about["goal"]
        try:
            goal_record = Goals(self.bench.ledger).get(goal) if goal else None
        except NotFound:
            goal_record = None
        return {
            "goal": goal,
            "goal_text": goal_record.text if goal_record else None,
            "desire": goal_record.desire_id if goal_record else None,
            "plan": self._describe_plan(change.actor.removeprefix("agent:")),
            "research_session": self._cite_research(change.about["research"]),
        }

    def _cite_research(self, session: str | None) -> Mapping[str, Any] | None:
        """Give the findings of the research that a change names, each citation checked again."""
        if not session:
            return None
        try:
            return cite_session(
                ResearchBook(self.bench.ledger).get(session), self.describe_citation
            )
        except NotFound:
            return None  # named before sessions were checked

    def _describe_plan(self, name: str) -> dict[str, Any] | None:
        """Show the plan that proposed a change, and what it was granted."""
        try:
            plan = Register(self.bench.ledger, self.bench.clock).get(name)
        except NotFound:
            return None
        granted = plan.grants.in_force(lambda _kind, _value: True) if plan.grants else None
        return {
            "id": plan.id,
            "state": str(plan.state),
            "goals": list(plan.plan.goals) if plan.plan else [],
            "grants": {k: v for k, v in granted.as_dict().items() if v} if granted else {},
        }


def summarize_change(change: Change) -> dict[str, Any]:
    """Give a change as lists show it."""
    return {
        "id": change.id,
        "state": str(change.state),
        "branch": change.facts["branch"],
        "commit": change.commit,
        "reason": change.purpose,
        "created_at": change.created_at,
        "proposed_by": change.actor,
        "files": len(change.facts["files"]),
        "tests": change.tests["verdict"] if change.tests else None,
        "approval_id": change.approval,
    }


def change_document(change: Change) -> dict[str, Any]:
    about, facts = change.about, change.facts
    return {
        **summarize_change(change),
        "round": change.round,
        "base": change.base,
        "target_branch": facts["target_branch"],
        "tree": facts["tree"],
        "files": facts["files"],
        "diff": facts["diff"],
        "protected": facts["protected"],
        "tests_touched": facts["tests"],
        "dependencies": facts["dependencies"],
        "research": about["research"],
        "supersedes": about["supersedes"],
        "reverts": about.get("reverts"),
        "source": about["source"],
        "superseded_by": change.superseded_by,
        "task_id": change.task,
        "correlation": change.correlation,
        "findings": None if change.findings is None else list(change.findings),
        "evidence": evidence_document(change),
        "comments": list(change.comments),
        "decision": {"reason": change.reason, "terms": change.terms},
        "conflict": change.conflict,
        "next": _tell_next_step(change).format(id=change.id),
    }


def _tell_next_step(change: Change) -> str:
    tests = change.tests or {}
    if change.state is State.TESTS_FAILED and tests.get("verdict") == TestVerdict.TIMED_OUT:
        return _MORE_TIME
    return _NEXT.get(change.state, "nothing: it is over")


def evidence_document(change: Change) -> dict[str, Any]:
    test_result = change.tests or {"verdict": None, "words": "not complete yet"}
    return {
        **test_result,
        "complete": change.tests is not None,
        "runs": [
            {
                **planned_run,
                "attempts": recorded_run.attempts if recorded_run else 0,
                "report": recorded_run and recorded_run.report,
            }
            for planned_run in plan_runs(change)
            for recorded_run in [change.runs.get(planned_run["label"])]
        ],
    }
