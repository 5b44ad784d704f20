"""A checkpoint hands its instructions to a coder; its diff becomes a change that waits."""

import json
import time
from pathlib import Path
from typing import Any

import pytest

from driver import Astra
from model_server import ModelServer, report_honestly
from plans_by_night import wait_for


@pytest.fixture
def writing(night: Astra) -> Astra:
    night.json("flags", "set", "ASTRA_CODE_WRITE_ENABLED", "on")
    return night


PLAN: dict[str, Any] = {
    "goals": ["Answer better"],
    "checkpoints": [{"title": "Change", "description": "Change the answer"}],
    "manifest": {"skills": ["coder"], "read_paths": ["agent.py"], "write_paths": ["agent.py"]},
    "estimated_duration_minutes": 10,
}


FOR_CODER = {**PLAN, "checkpoints": [{**PLAN["checkpoints"][0], "skills_needed": ["coder"]}]}


def start(astra: Astra, document: dict[str, Any]) -> str:
    asked = json.dumps({"plan": document})
    plan = astra.json("tools", "call", "astra.plans.draft", asked)["id"]
    astra.json("plans", "approve", plan)
    return plan


def run(astra: Astra, document: dict[str, Any] = PLAN) -> dict[str, Any]:
    plan = start(astra, document)
    deadline = time.monotonic() + 180
    while (shown := astra.json("plans", "show", plan))["state"] not in {"completed", "aborted"}:
        assert time.monotonic() < deadline, shown
        time.sleep(0.2)
    return shown


def test_the_built_in_coders_files_become_a_change(writing: Astra, server: ModelServer) -> None:
    def say(request: dict[str, Any]) -> Any:
        rules, told = (str(each["content"]) for each in request["messages"])
        if rules.startswith("You choose where source code"):
            assert "agent.py::answer" in told, "the coder chooses from what the plan may write"
            return {"places": ["agent.py::answer"]}
        if rules.startswith("You rewrite one piece"):
            assert "return 42" in told
            return "```python\ndef answer() -> int:\n    return 43\n```"
        if "was proposed" in told:
            return {"kind": "done", "output": "proposed"}
        return {"kind": "code", "text": "return 43"}

    server.say = say
    shown = run(writing)
    assert shown["state"] == "completed", shown
    (change,) = writing.json("changes", "list")["items"]
    assert change["proposed_by"] == f"agent:{shown['id']}"
    assert "+    return 43" in writing.run("changes", "diff", change["id"]).stdout
    plan = writing.json("changes", "show", change["id"])["plan"]
    assert (plan["id"], plan["goals"]) == (shown["id"], ["Answer better"])
    assert plan["grants"]["write_paths"] == ["agent.py"]
    assert "granted" in writing.run("changes", "show", change["id"]).stdout
    story = writing.json("ledger", "story", shown["id"])["items"]
    assert change["id"] in json.dumps(story)


def test_a_configured_coding_agent_works_in_the_plans_box(
    writing: Astra, server: ModelServer
) -> None:
    """Its work happens on a copy; the diff it leaves is what is proposed."""
    configuration = writing.root / "astra.toml"
    script = "sed -i s/42/44/ agent.py; test -e /etc/shadow && cp /etc/shadow agent.py; true"
    configuration.write_text(
        configuration.read_text() + f"\n[coder]\ncommand = \"sh -c '{script}'\"\n"
    )
    writing.json("config", "sign")

    def say(request: dict[str, Any]) -> Any:
        told = str(request["messages"][1]["content"])
        if "was proposed" in told:
            return {"kind": "done", "output": "proposed"}
        return {"kind": "code", "text": "return 44"}

    server.say = say
    shown = run(writing)
    assert shown["state"] == "completed", shown
    (change,) = writing.json("changes", "list")["items"]
    diff = writing.run("changes", "diff", change["id"]).stdout
    assert "+    return 44" in diff
    assert "root:" not in diff


CALLER = """
import json, os, urllib.request
url = os.environ["OPENAI_BASE_URL"] + "/chat/completions"
asked = {"model": "another", "max_tokens": 10**6, "messages": [
    {"role": "user", "content": open(os.environ["CODER_INSTRUCTIONS"]).read()}]}
call = urllib.request.Request(url, json.dumps(asked).encode())
with urllib.request.urlopen(call) as answer:
    said = json.load(answer)["choices"][0]["message"]["content"]
open("agent.py", "w").write(said)
"""


def offer_model(astra: Astra, folder: Path, *, settings: str = "") -> None:
    """Configure a coding agent that asks the model once and writes down what it says."""
    program = folder / "caller"
    program.write_text(f"#!/usr/bin/python3\n{CALLER}")
    program.chmod(0o755)
    configuration = astra.root / "astra.toml"
    coder = f'\n[coder]\ncommand = "{program}"\noffer_model = true\n{settings}'
    configuration.write_text(configuration.read_text() + coder)
    astra.json("config", "sign")


def test_a_coding_agent_calls_the_model_that_astra_lends_it(
    writing: Astra, server: ModelServer, tmp_path: Path
) -> None:
    """It chooses neither the model nor how much that may say, and what it uses is the plan's."""
    offer_model(writing, tmp_path)

    def say(_request: dict[str, Any]) -> str:
        return "def answer() -> int:\n    return 45\n"

    server.say = say
    server.usage = report_honestly
    shown = run(writing, FOR_CODER)
    assert shown["state"] == "completed", shown
    (call,) = server.calls
    assert call["model"] == "scripted"
    assert call["max_tokens"] < 10**6
    assert "Change the answer" in call["messages"][0]["content"]
    (change,) = writing.json("changes", "list")["items"]
    assert "+    return 45" in writing.run("changes", "diff", change["id"]).stdout
    assert shown["usage"]["tokens"] > 50
    ways_out = writing.json("ledger", "tail", "--count", "1000")["items"]
    hosts = [item["data"]["host"] for item in ways_out if item["type"] == "egress_attempted"]
    assert hosts == ["model.astra.internal"]


def test_a_cap_holds_for_the_model_that_is_lent_and_the_plan_asks_for_room(
    writing: Astra, server: ModelServer, tmp_path: Path
) -> None:
    offer_model(writing, tmp_path, settings="[spend]\ntokens_per_plan = 100\n")
    plan = start(writing, FOR_CODER)
    shown = wait_for(writing, plan, "blocked_on_budget", "completed", "aborted")
    assert shown["state"] == "blocked_on_budget", shown
    assert shown["block"]["over_cap"] == "tokens_per_plan"
    assert server.calls == [], "it was refused before the model was asked"
