"""Research from the command line, over tools and HTTP, with code writing off."""

import json
import subprocess
import threading
from typing import Any

from driver import COMMAND, Astra
from model_server import ModelServer

QUESTION = "What does answer return?"
QUOTE = "def answer() -> int:\n    return 42"


def test_a_question_is_answered_with_checked_citations_while_code_writing_is_off(
    astra: Astra,
) -> None:
    session = astra.json("research", "ask", QUESTION)
    assert session["id"].startswith("res_")
    assert len(session["id"]) == len("res_") + 8
    (citation,) = session["findings"][0]["citations"]
    assert (citation["path"], citation["found"]) == ("agent.py", True)
    assert citation["commit"]
    assert citation["blob"]
    (listed,) = astra.json("research", "list")["items"]
    assert (listed["id"], listed["state"]) == (session["id"], "finished")
    assert astra.json("research", "show", session["id"]) == session
    shown = astra.run("research", "show", session["id"]).stdout
    assert "proves existence, not support" in shown
    assert "| def answer() -> int:" in shown


def test_its_story_names_every_search(astra: Astra) -> None:
    session = astra.json("research", "ask", QUESTION, "--max-depth", "0")
    story = astra.json("ledger", "story", session["id"])["items"]
    types = [item["type"] for item in story if item["type"].startswith("research_")]
    assert types[0] == "research_started"
    assert types[-1] == "research_finished"
    assert types.count("research_task_finished") == len(session["tasks"])
    told = astra.run("ledger", "story", session["id"]).stdout
    assert "searched source for" in told
    assert "research ended with" in told


def test_the_tools_ask_and_find_earlier_research(astra: Astra) -> None:
    tools = {tool["name"]: tool["tier"] for tool in astra.json("tools", "list")["items"]}
    assert (tools["research_and_summarize"], tools["check_recent_research"]) == (1, 0)
    asked = json.dumps({"question": QUESTION, "sources": ["source"]})
    session = astra.json("tools", "call", "research_and_summarize", asked)
    recent = astra.json("tools", "call", "check_recent_research", '{"topic": "the answer"}')
    assert [item["id"] for item in recent["items"]] == [session["id"]]
    refused = astra.json(
        "tools", "call", "research_and_summarize", '{"question": "x", "max_tasks": 99}', code=2
    )
    assert refused["code"] == "bad_arguments"


def test_a_session_that_does_not_exist_is_refused_with_a_next_step(astra: Astra) -> None:
    refused = astra.json("research", "show", "res_00000000", code=1)
    assert refused["code"] == "unknown_research"
    assert refused["next_step"] == "astra research list"


def test_with_persona_mode_off_nothing_is_researched(astra: Astra) -> None:
    astra.json("flags", "set", "PERSONA_MODE_ENABLED", "off")
    assert astra.json("research", "ask", QUESTION, code=1)["code"] == "flag_off"
    assert astra.json("research", "list")["items"] == []


def test_a_host_that_nobody_granted_is_left_out_and_said(astra: Astra) -> None:
    session = astra.json("research", "ask", QUESTION, "--url", "https://docs.example.org/")
    (left_out,) = session["coverage"]["left_out"]
    assert "astra grants add network_domains docs.example.org" in left_out["why"]
    types = {item["type"] for item in astra.json("ledger", "tail", "--count", "100")["items"]}
    assert not types & {"egress_opened", "egress_attempted", "box_ended"}


def test_a_model_reads_and_the_server_checks(night: Astra, server: ModelServer) -> None:
    def say(request: dict[str, Any]) -> Any:
        if "You arrange them" in str(request["messages"][0]["content"]):
            return {"order": [1]}
        invented = {"passage": 1, "claim": "It returns 43.", "quote": "return 43  # as ordered"}
        true = {"passage": 1, "claim": "answer returns 42.", "quote": QUOTE}
        return {"claims": [true, invented]}

    server.say = say
    session = night.json("research", "ask", QUESTION, "--source", "source", "--max-depth", "0")
    assert session["narrative"] == "answer returns 42 [1]."
    assert session["unsupported"] == 1
    assert [finding["claim"] for finding in session["findings"]] == ["answer returns 42."]


def test_a_killed_daemon_goes_on_where_it_was(night: Astra, server: ModelServer) -> None:
    asked, go_on = threading.Event(), threading.Event()

    def say(_request: dict[str, Any]) -> Any:
        asked.set()
        assert go_on.wait(300)
        return {"claims": [{"passage": 1, "claim": "answer returns 42.", "quote": QUOTE}]}

    server.say = say
    words = ["research", "ask", QUESTION, "--source", "source", "--max-depth", "0", "--json"]
    with subprocess.Popen(
        night.start(COMMAND, *words),
        env=night.environment,
        cwd=night.folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as asking:
        assert asked.wait(300)
        night.kill_daemon()
        asking.wait()
    go_on.set()
    night.follow("research_finished")
    (listed,) = night.json("research", "list")["items"]
    session = night.json("research", "show", listed["id"])
    assert session["narrative"] == "answer returns 42 [1]."
    story = night.json("ledger", "story", session["id"])["items"]
    types = [item["type"] for item in story if item["type"].startswith("research_")]
    assert types == [
        "research_started",
        "research_resumed",
        "research_task_finished",
        "research_finished",
    ]
    assert night.json("ledger", "verify")["ok"]


def test_the_index_is_below_var_and_can_be_deleted(astra: Astra) -> None:
    first = astra.json("research", "ask", QUESTION, "--source", "source")
    astra.run("down")
    for file in (astra.root / "var" / "search").iterdir():
        file.unlink()
    again = astra.json("research", "ask", QUESTION, "--source", "source")
    assert [f["claim"] for f in first["findings"]] == [f["claim"] for f in again["findings"]]
