"""Research sessions: bounded, resumed after a crash, with findings whose quotes were found."""

from collections.abc import Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import pytest

from astra.goals.ports import Done, TaskRun, Waiting
from astra.plans.ports import ModelUnavailable
from astra.research import events, running
from astra.research.for_goals import ResearchTask
from astra.research.model import MOST_TASKS, check_request
from astra.research.running import MOST_RESUMED
from astra.trusted.kernel.errors import BadInput, Conflict, NotFound
from astra.trusted.ledger.ports import Ledger
from astra.trusted.ledger.record import Event, Record
from plans_at_work import ScriptedModel
from research_world import STORY, ResearchWorld, cite

QUOTE = "return min(2.0**attempt, 60.0)  # never longer than a minute"


class Killed(BaseException):
    """The process ends here."""


class DyingLedger:
    """A ledger whose process is killed right after so many appends."""

    def __init__(self, ledger: Ledger, appends: int) -> None:
        self._ledger = ledger
        self._left = appends

    def append(self, happened: Sequence[Event], **more: Any) -> list[Record]:
        if self._left == 0:
            raise Killed
        self._left -= 1
        return self._ledger.append(happened, **more)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._ledger, name)


def places(session: dict[str, Any]) -> list[str]:
    return [c["place"] for f in session["findings"] for c in f["citations"]]


def test_without_a_model_it_gives_ranked_passages_with_places(here: ResearchWorld) -> None:
    session = here.ask("What does RetryPolicy do?")
    assert session["state"] == "finished"
    first = session["findings"][0]
    assert "defines RetryPolicy (class" in first["claim"]
    assert first["citations"][0]["path"] == "store/retry_policy.py"
    assert first["citations"][0]["start"] == 1
    assert all(c["found"] for f in session["findings"] for c in f["citations"])
    assert "No model read them" in session["narrative"]


def test_sources_are_searched_in_order_and_only_those_asked_for(here: ResearchWorld) -> None:
    session = here.ask(sources=["documents", "source"], max_depth=0)
    assert [task["sources"] for task in session["tasks"]] == [["source"], ["documents"]]
    assert "docs/retries.md" in " ".join(places(session))


def test_the_ledger_and_the_notes_are_sources_too(here: ResearchWorld) -> None:
    here.note("backoff.md", "I saw that the backoff of uploads was too long yesterday.\n")
    desire = {"text": "shorten the backoff of uploads", "strength": 1.0, "tags": []}
    event = Event(type="desire_recorded", actor="agent", data={**desire, "context": None})
    here.ledger.append([event])
    session = here.ask("backoff uploads", sources=["ledger", "notes"])
    kinds = {c["kind"] for f in session["findings"] for c in f["citations"]}
    assert kinds == {"ledger", "notes"}


def test_a_model_finds_claims_and_only_supported_ones_are_in_the_summary(
    here: ResearchWorld,
) -> None:
    answers = {
        "claims": [
            cite(1, "The wait never exceeds a minute.", QUOTE),
            cite(1, "It waits for an hour.", "return min(3600.0, attempt * 900.0) # an hour"),
            cite(99, "There is a passage 99.", QUOTE),
        ],
        "questions": [],
    }
    here.models.model = ScriptedModel(answers)
    session = here.ask("retry backoff seconds", sources=["source"], max_depth=0)
    assert [finding["claim"] for finding in session["findings"]] == [
        "The wait never exceeds a minute."
    ]
    assert session["unsupported"] == 2
    assert session["narrative"] == "The wait never exceeds a minute [1]."
    citation = session["findings"][0]["citations"][0]
    assert (citation["start"], citation["end"]) == (3, 3)


def test_a_model_arranges_claims_and_names_contested_ones(here: ResearchWorld) -> None:
    here.models.model = ScriptedModel(
        {
            "claims": [
                cite(1, "A minute is the longest.", QUOTE),
                cite(1, "It doubles.", "return min(2.0**attempt, 60.0)"),
                cite(1, "It takes an attempt.", "def backoff_seconds(self, attempt: int)"),
            ]
        },
        {"order": [3], "contested": [[1, 2], [1, 7]], "open_questions": ["Why a minute?"]},
    )
    session = here.ask("retry backoff seconds", sources=["source"], max_depth=0)
    assert session["narrative"] == "It takes an attempt [1]."
    assert session["contested"] == [{"claims": ["A minute is the longest.", "It doubles."]}]
    assert session["open_questions"] == ["Why a minute?"]


def test_follow_up_questions_become_tasks_within_the_limits(here: ResearchWorld) -> None:
    asking = {"claims": [], "questions": ["upload_file attempts", "RetryPolicy callers"]}
    here.models.model = ScriptedModel(*[asking] * 10)
    session = here.ask(sources=["source"], max_tasks=2, max_depth=1)
    assert [task["state"] for task in session["tasks"]] == ["finished", "finished", "not_done"]
    assert session["open_questions"] == ["RetryPolicy callers"]
    assert session["tasks"][1]["parent"] == 0


def test_a_model_that_does_not_answer_leaves_ranked_passages(here: ResearchWorld) -> None:
    down = ModelUnavailable("the model did not answer", next_step="look at it")
    here.models.model = ScriptedModel(*[down] * 10)
    session = here.ask(sources=["source"], max_depth=0)
    assert session["findings"]
    assert "did not answer" in session["coverage"]["sources"][0]["trouble"]


@pytest.mark.parametrize("appends", range(1, 6))
def test_a_session_goes_on_after_a_crash_between_any_two_records(
    here: ResearchWorld, appends: int
) -> None:
    dying = here.open(DyingLedger(here.ledger, appends))  # type: ignore[arg-type]
    request = check_request("How long is the retry backoff?", max_depth=0)
    with pytest.raises(Killed):
        dying.ask(request, actor="agent:test", correlation=STORY)
    (session,) = here.researcher.list_due()
    here.researcher.resume(session)
    shown = here.research.show(session)
    assert shown["state"] == "finished"
    assert here.types().count(events.STARTED) == 1
    assert here.types().count(events.TASK_FINISHED) == len(shown["tasks"])
    assert here.types().count(events.FINISHED) == 1
    assert here.researcher.list_due() == []


def test_asking_again_in_the_same_story_goes_on_with_the_open_session(
    here: ResearchWorld,
) -> None:
    dying = here.open(DyingLedger(here.ledger, 2))  # type: ignore[arg-type]
    request = check_request("How long is the retry backoff?")
    with pytest.raises(Killed):
        dying.ask(request, actor="agent:test", correlation=STORY)
    session = here.ask("How long is the retry backoff?")
    assert session["state"] == "finished"
    assert here.types().count(events.STARTED) == 1


def test_a_session_that_never_gets_past_a_task_ends_with_what_it_has(here: ResearchWorld) -> None:
    dying = here.open(DyingLedger(here.ledger, 2))  # type: ignore[arg-type]
    with pytest.raises(Killed):
        dying.ask(check_request("retry backoff"), actor="agent:test", correlation=STORY)
    (session,) = here.researcher.list_due()
    for _ in range(MOST_RESUMED):
        with pytest.raises(Killed):
            here.open(DyingLedger(here.ledger, 1)).researcher.resume(session)  # type: ignore[arg-type]
    here.researcher.resume(session)
    shown = here.research.show(session)
    assert shown["state"] == "finished"
    assert "interrupted" in shown["note"]
    assert shown["findings"]


def test_nothing_is_searched_while_work_is_stopped(here: ResearchWorld) -> None:
    here.closed = "stopped"
    with pytest.raises(Conflict, match="not finished: stopped"):
        here.ask()
    assert events.TASK_FINISHED not in here.types()
    assert here.researcher.list_due() == []
    here.closed = ""
    assert len(here.researcher.list_due()) == 1


def test_a_page_of_a_granted_host_is_cited_by_its_body(here: ResearchWorld) -> None:
    url = "https://docs.example.org/backoff"
    here.grants = ["docs.example.org"]
    page = b"<html><p>Exponential backoff should be <b>capped at one minute</b>.</p></html>"
    here.boxes.pages[url] = page
    session = here.ask("exponential backoff capped", sources=["web"], urls=[url])
    (finding,) = session["findings"]
    assert finding["citations"][0]["url"] == url
    assert "capped at one minute" in finding["citations"][0]["quote"]
    assert here.researcher.citations.bodies.read(finding["citations"][0]["sha256"]) == page
    (request,) = here.boxes.asked
    assert request.manifest.network_domains == ("docs.example.org",)


def test_a_host_that_is_not_granted_is_named_and_left_out(here: ResearchWorld) -> None:
    here.grants = ["docs.example.org"]
    session = here.ask(sources=["web"], urls=["https://evil.example.net/x"])
    (left_out,) = session["coverage"]["left_out"]
    assert left_out["url"] == "https://evil.example.net/x"
    assert "not granted" in left_out["why"]
    assert here.boxes.asked == []


def test_a_grant_that_was_taken_back_counts_at_once(here: ResearchWorld) -> None:
    url = "https://docs.example.org/x"
    here.grants = ["docs.example.org"]
    dying = here.open(DyingLedger(here.ledger, 1))  # type: ignore[arg-type]
    request = dying.leave_out_ungranted(check_request("x y", sources=["web"], urls=[url]))
    with pytest.raises(Killed):
        dying.researcher.ask(request, actor="agent:test", correlation=STORY)
    here.boxes.asked.clear()
    here.grants = []
    (session,) = here.researcher.list_due()
    here.researcher.resume(session)
    assert here.boxes.asked == []
    assert "not granted" in here.research.show(session)["coverage"]["sources"][0]["trouble"]


def test_earlier_research_is_found_by_topic(here: ResearchWorld) -> None:
    first = here.ask("How long is the retry backoff?", max_depth=0)
    here.ask("What are uploads?", max_depth=0)
    (earlier,) = here.research.book.find_recent("backoff of retries", limit=5)
    assert earlier["id"] == first["id"]
    assert here.research.book.find_recent("penguins", limit=5) == []


def test_an_unknown_session_is_not_found(here: ResearchWorld) -> None:
    with pytest.raises(NotFound):
        here.research.show("res_00000000")


@pytest.mark.parametrize(
    "limits",
    [
        {"max_tasks": MOST_TASKS + 1},
        {"max_tasks": 0},
        {"max_depth": 9},
        {"sources": ["internet"]},
        {"urls": ["https://a.example/"] * 9},
        {"urls": ["https://a.example/\x1b[2J"]},
    ],
)
def test_a_graph_over_its_limits_is_refused_and_nothing_is_recorded(
    here: ResearchWorld, limits: dict[str, Any]
) -> None:
    with pytest.raises(BadInput):
        here.ask(**limits)
    assert events.STARTED not in here.types()


def test_a_days_calls_of_a_model_are_capped_for_all_together(
    here: ResearchWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running, "READINGS_A_DAY", 1)
    here.models.model = ScriptedModel(*[{"claims": []}] * 10)
    here.ask("retry backoff seconds", sources=["source"], max_depth=0)
    session = here.ask("retry policy and uploads", sources=["source"], max_depth=0)
    assert len(here.models.model.prompts) == 1
    assert "calls today already" in session["coverage"]["sources"][0]["trouble"]
    assert session["findings"]
    here.memory.clock.advance(days=1)
    here.ask("backoff of uploads", sources=["source"], max_depth=0)
    assert len(here.models.model.prompts) == 2


def test_research_of_a_plan_leaves_reading_to_the_plans_own_model(here: ResearchWorld) -> None:
    here.models.model = ScriptedModel()
    request = replace(check_request("retry backoff"), with_model=False)
    session = here.research.ask(request, actor="agent:plan_1", correlation=STORY)
    assert here.models.model.prompts == []
    assert all(finding["by"] == "search" for finding in session["findings"])


def make_run(correlation: str = STORY) -> TaskRun:
    goal = cast("Any", SimpleNamespace(id="goal_00000001", correlation=correlation))
    arguments = {"question": "How long is the retry backoff?", "max_tasks": 99}
    return TaskRun(goal=goal, node=cast("Any", None), arguments=arguments)


class ResearchDoor:
    """A door whose only tool is research."""

    def __init__(self, world: ResearchWorld) -> None:
        self._world = world

    def call(self, run: TaskRun, _tool: str, arguments: Any) -> Any:
        request = check_request(**arguments)
        return self._world.research.ask(
            request, actor="agent:goal_00000001", correlation=run.goal.correlation
        )


def test_a_task_of_a_goal_gives_the_session_and_finds_it_again_after_a_crash(
    here: ResearchWorld,
) -> None:
    task = ResearchTask(
        door=ResearchDoor(here), book=here.research.book, reader=here.researcher.reader
    )
    assert task.recover(make_run()) is None
    dying = here.open(DyingLedger(here.ledger, 2))  # type: ignore[arg-type]
    question = check_request("How long is the retry backoff?", max_tasks=6)
    with pytest.raises(Killed):
        dying.ask(question, actor="agent:goal_00000001", correlation=STORY)
    waiting = task.recover(make_run())
    assert isinstance(waiting, Waiting)
    assert task.look(make_run(), waiting.on) is None
    here.researcher.resume(waiting.on)
    done = task.look(make_run(), waiting.on)
    assert isinstance(done, Done)
    assert done.outputs["session"] == waiting.on
    assert "store/retry_policy.py" in done.outputs["notes"]
    again = task.recover(make_run())
    assert isinstance(again, Done)
    assert here.types().count(events.STARTED) == 1
