"""An agent sees its own source again, keeps notes, and is refused politely at every boundary."""

import json
from typing import Any

import pytest

from driver import Astra, stay_within_a_day

WRITE = "ASTRA_CODE_WRITE_ENABLED"


def call(astra: Astra, name: str, /, code: int = 0, **arguments: Any) -> Any:
    return astra.json("tools", "call", name, json.dumps(arguments), code=code)


def test_an_agent_lists_reads_and_searches_its_own_source(shared: Astra) -> None:
    listed = call(shared, "list_source_files")
    assert [item["path"] for item in listed["items"]] == ["agent.py"]
    read = call(shared, "read_source_code", path="src/agent.py")
    assert read["path"] == "agent.py"
    assert "return 42" in read["text"]
    found = call(shared, "search_source", pattern="return 4")
    assert [(match["path"], match["line"]) for match in found["items"]] == [("agent.py", 2)]


def test_a_near_miss_names_what_is_there(shared: Astra) -> None:
    refused = call(shared, "read_source_code", code=1, path="src/agnet.py")
    assert "agent.py" in json.dumps(refused)


@pytest.mark.parametrize(
    "path", ["../var/keys/ledger.key", "/etc/passwd", ".env", "src/../../astra.toml", "a\x00b"]
)
def test_nothing_outside_the_boundary_is_read_or_written(shared: Astra, path: str) -> None:
    for name in ("read_source_code", "read_file"):
        refused = call(shared, name, code=1, path=path)
        assert refused["next_step"]
    before = shared.json("status")["ledger"]["records"]
    call(shared, "write_file", code=1, path=path, content="x")
    types = [r["type"] for r in shared.json("ledger", "tail")["items"] if r["sequence"] > before]
    assert "tool_started" not in types, "a refusal costs no budget"


def test_the_agent_keeps_notes_in_its_own_space(shared: Astra) -> None:
    assert call(shared, "write_file", path="notes/today.md", content="sail")["created"] is True
    assert call(shared, "read_file", path="notes/today.md")["text"] == "sail"
    assert (shared.root / "persona_space" / "notes" / "today.md").read_text() == "sail"
    assert call(shared, "delete_file", path="notes/today.md")["deleted"] is True
    refused = call(shared, "write_file", code=1, path="src/agent.py", content="evil")
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
    assert call(astra, "execute_goal", code=1, goal="goal_00000000")["code"] == "not_found"
    assert call(astra, "deploy_agent_code", code=1)["code"] == "no_app"


def test_with_persona_mode_off_the_source_view_is_gone(astra: Astra) -> None:
    astra.json("flags", "set", "PERSONA_MODE_ENABLED", "off")
    names = {tool["name"] for tool in astra.json("tools", "list")["items"]}
    assert "read_source_code" not in names
    assert call(astra, "read_source_code", code=1, path="agent.py")["code"] == "flag_off"
    assert call(astra, "astra.health")["code_access"] == "off"


def test_operator_tools_are_not_for_agents(shared: Astra) -> None:
    assert call(shared, "astra.approvals.approve", code=1, id="apr_1")["code"] == "operator_only"
    assert call(shared, "astra.flags.set", code=1, name=WRITE, on=True)["code"] == "operator_only"


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


def test_the_source_commands_show_the_target(shared: Astra) -> None:
    assert "agent.py" in shared.run("source", "list").stdout
    assert "return 42" in shared.run("source", "read", "agent.py").stdout
    assert "agent.py:2:" in shared.run("source", "search", "return").stdout
    assert shared.run("source", "search", "nowhere to be found").stdout == "no match\n"


def test_nothing_waits_and_an_unknown_approval_is_not_found(shared: Astra) -> None:
    assert shared.json("approvals") == {"items": [], "next": None}
    assert shared.json("approve", "apr_00000000", code=1)["code"] == "not_found"
    assert shared.json("reject", "apr_00000000", "--reason", "x", code=1)["code"] == "not_found"


def configure(astra: Astra, text: str) -> None:
    with (astra.root / "astra.toml").open("a") as file:
        file.write(text)
    astra.json("config", "sign")


def test_the_servers_own_folders_are_readable_and_no_more(shared: Astra) -> None:
    log = shared.root / "logs" / "daemon.log"
    assert "serving" in call(shared, "read_file", path=str(log))["text"]
    listed = call(shared, "list_files", folder=str(shared.root / "logs"))
    assert str(log) in [item["path"] for item in listed["items"]]
    for path in ("var/ledger", "astra.toml", "var/keys/ledger.key"):
        refused = call(shared, "read_file", code=1, path=str(shared.root / path))
        assert refused["code"] in {"read_protected", "read_secret", "read_outside_scope"}


def test_the_read_scope_is_widened_by_signature_and_narrowed_by_the_environment(
    astra: Astra,
) -> None:
    outside = astra.folder / "elsewhere.txt"
    outside.write_text("hello")
    assert call(astra, "read_file", code=1, path=str(outside))["code"] == "read_outside_scope"
    astra.run("down")
    astra.extra["AGENT_READ_SCOPE"] = "all"
    assert call(astra, "read_file", code=1, path=str(outside))["code"] == "read_outside_scope"
    configure(astra, '[agent]\nread_scope = "all"\n')
    assert call(astra, "read_file", path=str(outside))["text"] == "hello"
    key = astra.json("operator", "show")["operator_key"]
    assert call(astra, "read_file", code=1, path=key)["code"] in {"read_protected", "read_secret"}
    astra.run("down")
    astra.extra["AGENT_READ_SCOPE"] = "source"
    assert call(astra, "read_file", code=1, path=str(outside))["code"] == "read_outside_scope"


def test_a_secret_pattern_bites_as_soon_as_it_is_signed(astra: Astra) -> None:
    assert call(astra, "read_source_code", path="agent.py")["text"]
    configure(astra, '[agent]\nsecret_patterns = ["agent.py"]\n')
    assert call(astra, "read_source_code", code=1, path="agent.py")["code"] == "read_secret"
    assert call(astra, "list_source_files")["items"] == []


def test_what_was_spent_today_is_in_the_status(astra: Astra) -> None:
    stay_within_a_day()
    call(astra, "write_file", path="a.md", content="x")
    spent = {row["scope"]: row["used"] for row in astra.json("status")["budgets"]}
    assert spent == {"tool": 1, "actor": 1}
    assert "write_file: 1 of 500 today" in astra.run("status").stdout
