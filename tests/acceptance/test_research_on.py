"""From research to code, with code writing on: a change carries the session that it comes from."""

import time
from typing import Any

import pytest

from driver import Astra
from model_server import ModelServer

FLAG = "ASTRA_CODE_WRITE_ENABLED"
QUESTION = "What does answer return?"
QUOTE = "def answer() -> int:\n    return 42"


@pytest.fixture
def writing(astra: Astra) -> Astra:
    astra.json("flags", "set", FLAG, "on")
    return astra


def propose(astra: Astra, research: str, code: int = 0) -> Any:
    edited = astra.folder / "edited.py"
    edited.write_text("def answer() -> int:\n    return 43\n")
    words = ("--edit", f"agent.py={edited}", "--reason", "one more", "--research", research)
    return astra.json("changes", "propose", *words, code=code)


def test_a_change_that_names_research_shows_its_citations_to_the_reviewer(
    writing: Astra,
) -> None:
    session = writing.json("research", "ask", QUESTION, "--source", "source")
    change = propose(writing, session["id"])
    shown = writing.json("changes", "show", change["id"])
    assert shown["research"] == session["id"]
    cited = shown["research_session"]
    assert cited["findings"][0]["citations"][0]["path"] == "agent.py"
    assert cited["remark"] == "a found quote proves existence, not support"
    screen = writing.run("changes", "show", change["id"]).stdout
    assert session["id"] in screen
    assert "quote" in screen
    assert "agent.py:1-2" in screen
    story = writing.json("ledger", "story", session["id"])["items"]
    assert "code_modification_scheduled" in {item["type"] for item in story}


def test_a_change_that_names_no_session_there_is_is_refused(writing: Astra) -> None:
    for research in ("res_00000000", "res_0123456789abcdef"):
        refused = propose(writing, research, code=1)
        assert refused["code"] == "unknown_research"
    assert writing.json("changes", "list")["items"] == []


def test_a_goal_researches_and_its_change_carries_the_session(
    night: Astra, server: ModelServer
) -> None:
    night.json("flags", "set", FLAG, "on")

    def say(request: dict[str, Any]) -> Any:
        rules = str(request["messages"][0]["content"])
        if rules.startswith("You choose where source code"):
            content = "def answer() -> int:\n    return 43\n"
            return {"files": [{"path": "agent.py", "content": content}]}
        return {"claims": [{"passage": 1, "claim": "answer returns 42.", "quote": QUOTE}]}

    server.say = say
    goal = night.json("goals", "create", "Make answer return 43")
    night.json("goals", "adopt", goal["id"])
    deadline = time.monotonic() + 180
    while not (changes := night.json("changes", "list")["items"]):
        assert time.monotonic() < deadline, night.json("goals", "show", goal["id"])
        time.sleep(0.1)
    (session,) = night.json("research", "list")["items"]
    assert session["actor"] == f"agent:{goal['id']}"
    shown = night.json("changes", "show", changes[0]["id"])
    assert shown["research"] == session["id"]
    assert shown["research_session"]["narrative"].startswith("answer returns 42")
    tasks = {task["kind"]: task for task in night.json("goals", "show", goal["id"])["tasks"]}
    assert tasks["RESEARCH"]["state"] == "succeeded"
    assert tasks["RESEARCH"]["outputs"]["session"] == session["id"]
    types = {item["type"] for item in night.json("ledger", "story", goal["id"])["items"]}
    assert {"research_started", "research_finished", "code_modification_scheduled"} <= types


def test_a_review_shows_that_what_a_citation_rests_on_is_gone(writing: Astra) -> None:
    note = writing.root / "persona_space" / "plan.md"
    note.write_text("The backoff of uploads doubles after every third failure.\n")
    session = writing.json("research", "ask", "backoff of uploads", "--source", "notes")
    change = propose(writing, session["id"])
    (citation,) = _show_citations(writing, change["id"])
    assert citation["found"]
    assert "NOT THERE" not in writing.run("changes", "show", change["id"]).stdout
    for body in (writing.root / "var" / "research").iterdir():
        body.unlink()
    (citation,) = _show_citations(writing, change["id"])
    assert not citation["found"]
    assert "is not kept any more" in citation["problem"]
    screen = writing.run("changes", "show", change["id"]).stdout
    assert "NOT THERE" in screen
    assert "is not kept any more" in screen


def _show_citations(astra: Astra, change: str) -> list[dict[str, Any]]:
    findings = astra.json("changes", "show", change)["research_session"]["findings"]
    return [citation for finding in findings for citation in finding["citations"]]
