"""The tasks of a session: bounded, in order, and the same whoever works them out."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from astra.research.model import Request, Session, Source, Step, Task
from astra.research.planning import find_next_task, list_open_tasks, list_tasks

FOLLOW_UPS = st.lists(st.lists(st.text("abc ", min_size=1, max_size=6), max_size=3), max_size=40)
REQUESTS = st.builds(
    Request,
    question=st.just("the question"),
    max_tasks=st.integers(1, 32),
    max_depth=st.integers(0, 4),
    sources=st.lists(st.sampled_from(Source), min_size=1, unique=True).map(tuple),
    urls=st.lists(st.just("https://a.example/"), max_size=3).map(tuple),
)


def make_session(request: Request) -> Session:
    return Session(
        id="res_00000001", request=request, commit="c", actor="a", correlation="s", started_at="t"
    )


def finish(session: Session, task: Task, questions: list[str]) -> Session:
    step = Step(
        task=task,
        findings=(),
        follow_up=tuple(questions),
        unsupported=0,
        passages=0,
        searched="",
        trouble="",
        tokens=0,
    )
    return replace(session, steps=(*session.steps, step))


@given(request=REQUESTS, follow_ups=FOLLOW_UPS)
def test_a_session_ends_within_its_limits_whatever_is_asked_on_the_way(
    request: Request, follow_ups: list[list[str]]
) -> None:
    session = make_session(request)
    for questions in [*follow_ups, *[["more", "and more"]] * 40]:
        before = list_tasks(session)
        task = find_next_task(session)
        if task is None:
            break
        assert task.depth <= request.max_depth
        session = finish(session, task, questions)
        assert list_tasks(session)[: len(before)] == before
    assert find_next_task(session) is None
    assert len(session.steps) <= request.max_tasks
    assert [step.task.number for step in session.steps] == list(range(len(session.steps)))
    assert len(list_tasks(session)) == len(session.steps) + len(list_open_tasks(session))


def test_follow_up_questions_never_reach_the_web() -> None:
    request = Request(
        question="x", sources=(Source.DOCUMENTS, Source.WEB), urls=("https://a.example/",)
    )
    session = make_session(request)
    for _ in range(2):
        task = find_next_task(session)
        assert task is not None
        session = finish(session, task, ["https://evil.example/?leak=1"])
    followed = [task for task in list_tasks(session) if task.depth]
    assert followed
    assert all(task.sources == (Source.DOCUMENTS,) and not task.url for task in followed)
