"""What a session comes to: a narrative made of supported claims only, and what was not covered.

The server writes the narrative out of claims whose quotes were found; a model at most arranges
them. So nothing unsupported can be in it, whatever a model or a document says.
"""

from typing import Any

from astra.research.model import SEARCH, Finding, Session
from astra.research.planning import list_open_tasks
from astra.research.reading import Ordering

MOST_FINDINGS, MOST_OPEN = 24, 12


def compose_result(session: Session, ordering: Ordering, *, note: str = "") -> dict[str, Any]:
    """Put the result of a session together from its records and the order of its claims."""
    findings = session.findings
    order = _choose_order(findings, ordering)
    disputed = {number for pair in ordering.contested for number in pair}
    answers = ordering.order or order
    narrated_numbers = [number for number in order if number in answers and number not in disputed]
    return {
        "narrative": _write_narrative(session, order, narrated_numbers),
        "order": order,
        "contested": [list(pair) for pair in ordering.contested],
        "open_questions": _list_open_questions(session, ordering),
        "coverage": _describe_coverage(session),
        "unsupported": session.unsupported,
        "tokens": ordering.tokens,
        "model": ordering.model,
        "note": note,
    }


def _choose_order(findings: tuple[Finding, ...], ordering: Ordering) -> list[int]:
    """Put what a model named first, then claims that it wrote, then passages that were found."""
    first_numbers = [*ordering.order, *(number for pair in ordering.contested for number in pair)]
    order = dict.fromkeys([*first_numbers, *_put_claims_first(findings)])
    return [number for number in order if number < len(findings)][:MOST_FINDINGS]


def _put_claims_first(findings: tuple[Finding, ...]) -> list[int]:
    """Put claims of a model before passages that were only found."""
    return sorted(range(len(findings)), key=lambda number: findings[number].by == SEARCH)


def _write_narrative(session: Session, order: list[int], narrated_numbers: list[int]) -> str:
    """Write down supported claims; the number in brackets is the finding's place in the order."""
    findings = session.findings
    if not findings:
        unsupported = f"; {session.unsupported} claims had no quote that was found"
        return f"Nothing was found{unsupported if session.unsupported else ''}."
    marks = {number: f"[{place}]" for place, number in enumerate(order, 1)}
    claims = [number for number in narrated_numbers if findings[number].by != SEARCH]
    if not claims:
        places = [f"{findings[number].citations[0].place} {marks[number]}" for number in order]
        return f"No model read them; the passages that match best: {'; '.join(places[:8])}."
    return " ".join(f"{findings[number].claim.rstrip('.')} {marks[number]}." for number in claims)


def _list_open_questions(session: Session, ordering: Ordering) -> list[str]:
    questions = [
        *ordering.open_questions,
        *(task.query for task in list_open_tasks(session) if task.depth),
        *(f"not looked at: {task.url}" for task in list_open_tasks(session) if task.url),
    ]
    return list(dict.fromkeys(questions))[:MOST_OPEN]


def _describe_coverage(session: Session) -> dict[str, Any]:
    """Say what was searched, what was left out, and which limits were reached."""
    request = session.request
    open_tasks = list_open_tasks(session)
    return {
        "sources": [
            {
                "source": "+".join(step.task.sources),
                "query": step.task.query,
                "searched": step.searched,
                "passages": step.passages,
                "trouble": step.trouble,
            }
            for step in session.steps
        ],
        "left_out": [dict(item) for item in request.left_out],
        "tasks": len(session.steps),
        "max_tasks": request.max_tasks,
        "max_depth": request.max_depth,
        "not_done": len(open_tasks),
        "passages": sum(step.passages for step in session.steps),
    }
