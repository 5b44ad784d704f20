"""Research as doors ask for it: ask, list, show with every citation checked again, find earlier."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from astra.research.book import ResearchBook
from astra.research.citations import DescribeCitation
from astra.research.model import Finding, Request, Session, Source, Task
from astra.research.planning import list_tasks
from astra.research.running import Researcher

REMARK = "a found quote proves existence, not support"


@dataclass(frozen=True, kw_only=True)
class Research:
    researcher: Researcher

    @property
    def book(self) -> ResearchBook:
        return self.researcher.book

    def ask(self, request: Request, *, actor: str, correlation: str) -> dict[str, Any]:
        """Bring a session to its end, and give what came of it."""
        session = self.researcher.ask(
            self.leave_out_ungranted(request), actor=actor, correlation=correlation
        )
        return self.describe(session)

    def leave_out_ungranted(self, request: Request) -> Request:
        """Keep the addresses whose host is granted; the others are named with the reason."""
        pages = self.researcher.gathering.pages
        if Source.WEB not in request.sources:
            return replace(request, urls=())
        objections = {url: pages.find_objection(url) for url in request.urls}
        left_out = tuple({"url": url, "why": why} for url, why in objections.items() if why)
        urls = tuple(url for url, why in objections.items() if not why)
        return replace(request, urls=urls, left_out=left_out)

    def name_host(self, url: str) -> str:
        return self.researcher.gathering.pages.name_grant(url)

    def show(self, identifier: str) -> dict[str, Any]:
        return self.describe(self.book.get(identifier))

    def describe(self, session: Session) -> dict[str, Any]:
        """Give a session whole, with every citation as it stands now."""
        describe = self.researcher.citations.describe
        return {
            **summarize_session(session),
            "findings": [_describe_finding(item, describe) for item in list_findings(session)],
            "contested": describe_contested(session),
            "open_questions": list(session.result.get("open_questions", ())),
            "coverage": session.result.get("coverage"),
            "tasks": [_describe_task(task, session) for task in list_tasks(session)],
            "remark": REMARK,
        }


def summarize_session(session: Session) -> dict[str, Any]:
    request = session.request
    return {
        "id": session.id,
        "question": request.question,
        "state": session.state,
        "commit": session.commit,
        "actor": session.actor,
        "correlation": session.correlation,
        "started_at": session.started_at,
        "finished_at": session.finished_at or None,
        "sources": [str(source) for source in request.sources],
        "max_tasks": request.max_tasks,
        "max_depth": request.max_depth,
        "narrative": session.result.get("narrative", ""),
        "note": session.result.get("note", ""),
        "unsupported": session.unsupported,
        "tokens": session.tokens,
    }


def list_findings(session: Session) -> list[Finding]:
    """Give the findings in the order of the result; of an open session, those so far."""
    findings = session.findings
    order: list[int] = session.result.get("order", list(range(len(findings))))
    return [findings[number] for number in order]


def describe_contested(session: Session) -> list[dict[str, Any]]:
    findings = session.findings
    pairs: list[list[int]] = session.result.get("contested", [])
    return [{"claims": [findings[number].claim for number in pair]} for pair in pairs]


def cite_session(
    session: Session, describe: DescribeCitation, *, most: int = 12
) -> Mapping[str, Any]:
    """Give what a review shows of the research that a change names, each citation as it stands."""
    findings = list_findings(session)
    return {
        "id": session.id,
        "question": session.request.question,
        "narrative": session.result.get("narrative", ""),
        "findings": [_describe_finding(finding, describe) for finding in findings[:most]],
        "more": max(len(findings) - most, 0),
        "unsupported": session.unsupported,
        "remark": REMARK,
    }


def _describe_finding(finding: Finding, describe: DescribeCitation) -> dict[str, Any]:
    return {**finding.as_dict(), "citations": [describe(item) for item in finding.citations]}


def _describe_task(task: Task, session: Session) -> dict[str, Any]:
    steps = {step.task.number: step for step in session.steps}
    step = steps.get(task.number)
    return {
        **task.as_dict(),
        "state": "finished" if step else "not_done" if session.finished_at else "pending",
        "passages": step.passages if step else 0,
        "trouble": step.trouble if step else "",
    }
