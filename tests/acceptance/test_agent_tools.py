"""An agent sees its own source again, keeps notes, and is refused politely at every boundary."""

import json
from typing import Any

import pytest

from driver import Astra

WRITE = "ASTRA_CODE_WRITE_ENABLED"


def call(astra: Astra, name: str, /, code: int = 0, **arguments: Any) -> Any:
    return astra.json("tools", "call", name, json.dumps(arguments), code=code)


def test_an_agent_lists_reads_and_searches_its_own_source(astra: Astra) -> None:
    listed = call(astra, "list_source_files")
    assert [item["path"] for item in listed["items"]] == ["agent.py"]
    read = call(astra, "read_source_code", path="src/agent.py")
    assert read["path"] == "agent.py"
    assert "return 42" in read["text"]
    found = call(astra, "search_source", pattern="return 4")
    assert [(match["path"], match["line"]) for match in found["items"]] == [("agent.py", 2)]


def test_a_near_miss_names_what_is_there(astra: Astra) -> None:
    refused = call(astra, "read_source_code", code=1, path="src/agnet.py")
    assert "agent.py" in json.dumps(refused)


@pytest.mark.parametrize(
    "path", ["../var/keys/ledger.key", "/etc/passwd", ".env", "src/../../astra.toml", "a\x00b"]
)
def test_nothing_outside_the_boundary_is_read_or_written(astra: Astra, path: str) -> None:
    for name in ("read_source_code", "read_file"):
        refused = call(astra, name, code=1, path=path)
        assert refused["next_step"]
    before = astra.json("status")["ledger"]["records"]
    call(astra, "write_file", code=1, path=path, content="x")
    types = [r["type"] for r in astra.json("ledger", "tail")["items"] if r["sequence"] > before]
    assert "tool_started" not in types, "a refusal costs no budget"


def test_the_agent_keeps_notes_in_its_own_space(astra: Astra) -> None:
    assert call(astra, "write_file", path="notes/today.md", content="sail")["created"] is True
    assert call(astra, "read_file", path="notes/today.md")["text"] == "sail"
    assert (astra.root / "persona_space" / "notes" / "today.md").read_text() == "sail"
    assert call(astra, "delete_file", path="notes/today.md")["deleted"] is True
    refused = call(astra, "write_file", code=1, path="src/agent.py", content="evil")
    assert "schedule_code_modification" in refused["next_step"]


def test_write_tools_are_hidden_and_kind_while_the_flag_is_off(astra: Astra) -> None:
    def names() -> set[str]:
        return {tool["name"] for tool in astra.json("tools", "list")["items"]}

    hidden = {"schedule_code_modification", "execute_goal", "deploy_agent_code"}
    assert not hidden & names()
    refused = call(astra, "deploy_agent_code", code=1, commit_message="x")
    assert refused["code"] == "flag_off"
    assert f"astra flags set {WRITE} on" in refused["next_step"]
    astra.json("flags", "set", WRITE, "on")
    assert hidden <= names()
    assert call(astra, "deploy_agent_code", code=1)["code"] == "not_available"


def test_with_persona_mode_off_the_source_view_is_gone(astra: Astra) -> None:
    astra.json("flags", "set", "PERSONA_MODE_ENABLED", "off")
    names = {tool["name"] for tool in astra.json("tools", "list")["items"]}
    assert "read_source_code" not in names
    assert call(astra, "read_source_code", code=1, path="agent.py")["code"] == "flag_off"
    assert call(astra, "astra.health")["code_access"] == "off"


def test_operator_tools_are_not_for_agents(astra: Astra) -> None:
    assert call(astra, "astra.approvals.approve", code=1, id="apr_1")["code"] == "operator_only"
    assert call(astra, "astra.flags.set", code=1, name=WRITE, on=True)["code"] == "operator_only"


def test_the_story_of_a_call_shows_its_decision(astra: Astra) -> None:
    call(astra, "write_file", path="a.md", content="x")
    started = next(
        record
        for record in astra.json("ledger", "tail")["items"]
        if record["type"] == "tool_started"
    )
    story = astra.json("ledger", "story", started["correlation"])["items"]
    assert [record["type"] for record in story] == [
        "tool_started",
        "budget_spent",
        "budget_spent",
        "tool_finished",
    ]
    assert story[0]["data"]["decision"]["verdict"] == "allow"


def test_the_source_commands_show_the_target(astra: Astra) -> None:
    assert "agent.py" in astra.run("source", "list").stdout
    assert "return 42" in astra.run("source", "read", "agent.py").stdout
    assert "agent.py:2:" in astra.run("source", "search", "return").stdout
    assert astra.run("source", "search", "nowhere to be found").stdout == "no match\n"


def test_nothing_waits_and_an_unknown_approval_is_not_found(astra: Astra) -> None:
    assert astra.json("approvals") == {"items": [], "next": None}
    assert astra.json("approve", "apr_00000000", code=1)["code"] == "not_found"
    assert astra.json("reject", "apr_00000000", "--reason", "x", code=1)["code"] == "not_found"
