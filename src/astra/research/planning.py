"""Which task of a session comes next: pure, so that a session that was cut off goes on the same.

The tasks are a graph: one for each source and each granted address at depth 0, in the order of the
sources, and one for each question that a task left, a level deeper. They are done in that order,
never more than `max_tasks`, never deeper than `max_depth`; what is left are open questions.
"""

from collections.abc import Iterator

from astra.research.model import LOCAL, Request, Session, Source, Task
from astra.research.quotes import find_terms

_FOLLOWED = (Source.SOURCE, Source.DOCUMENTS)


def find_next_task(session: Session) -> Task | None:
    """Give the task to do now, or None where the session is at its end or its limit."""
    if len(session.steps) >= session.request.max_tasks:
        return None
    return next((task for task in list_tasks(session) if task.number == len(session.steps)), None)


def list_open_tasks(session: Session) -> list[Task]:
    """List the tasks that the limit on their number kept from being done."""
    return [task for task in list_tasks(session) if task.number >= len(session.steps)]


def list_tasks(session: Session) -> list[Task]:
    """List every task that is known so far; later steps only add to its end."""
    tasks = list(_list_first_tasks(session.request))
    queries = {_normalise(session.request.question)}
    sources = _choose_followed(session.request)
    for step in session.steps:
        depth = step.task.depth + 1
        if depth > session.request.max_depth or not sources:
            continue
        for question in step.follow_up:
            if _normalise(question) in queries:
                continue
            queries.add(_normalise(question))
            task = Task(
                number=len(tasks),
                sources=sources,
                query=question,
                depth=depth,
                parent=step.task.number,
            )
            tasks.append(task)
    return tasks


def _list_first_tasks(request: Request) -> Iterator[Task]:
    number = 0
    for source in request.sources:
        urls = request.urls if source is Source.WEB else ("",)
        for url in urls:
            yield Task(number=number, sources=(source,), query=request.question, url=url)
            number += 1


def _choose_followed(request: Request) -> tuple[Source, ...]:
    """Say where follow-up questions are looked up: never on the web."""
    followed = tuple(source for source in _FOLLOWED if source in request.sources)
    return followed or tuple(source for source in LOCAL if source in request.sources)


def _normalise(question: str) -> tuple[str, ...]:
    return tuple(sorted(term.lower() for term in find_terms(question)))
