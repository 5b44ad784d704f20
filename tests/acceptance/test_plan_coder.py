"""A checkpoint hands its instructions to a coder; its diff becomes a change that waits."""

import json
import time
from typing import Any

import pytest

from driver import Astra
from model_server import ModelServer


@pytest.fixture
def writing(night: Astra) -> Astra:
    night.json("flags", "set", "ASTRA_CODE_WRITE_ENABLED", "on")
    return night


PLAN = {
    "goals": ["Answer better"],
    "checkpoints": [{"title": "Change", "description": "Change the answer"}],
    "manifest": {"skills": ["coder"], "read_paths": ["agent.py"], "write_paths": ["agent.py"]},
    "estimated_duration_minutes": 10,
}


def run(astra: Astra) -> dict[str, Any]:
    asked = json.dumps({"plan": PLAN})
    plan = astra.json("tools", "call", "astra.plans.draft", asked)["id"]
    astra.json("plans", "approve", plan)
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
