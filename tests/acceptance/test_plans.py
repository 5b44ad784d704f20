"""A plan is drafted, read, signed and written out, through the real command."""

import json
import stat
from pathlib import Path
from typing import Any

from driver import Astra

PLAN = {
    "goals": ["Tidy the notes"],
    "checkpoints": [
        {"title": "Read", "description": "Read the notes", "skills_needed": ["read_file"]}
    ],
    "manifest": {"skills": ["files"], "read_paths": ["docs"], "network_domains": ["example.com"]},
    "estimated_duration_minutes": 20,
    "colour": "blue",
}


def draft(astra: Astra, **changes: Any) -> str:
    file = astra.folder / "plan.json"
    file.write_text(json.dumps({**PLAN, **changes}))
    return astra.json("plans", "draft", "--file", file)["id"]


def test_a_plan_from_a_file_is_signed_and_written_out(astra: Astra) -> None:
    plan = draft(astra)
    waiting = astra.json("plans", "show", plan)
    assert waiting["state"] == "awaiting_approval"
    assert [item["value"] for item in waiting["manifest"]["items"] if item["new"]] == [
        "example.com",
        "docs",
        "files",
    ]
    astra.json("flags", "set", "AGENT_RUNNER_ENABLED", "off")
    approved = astra.json("plans", "approve", plan)
    assert approved["state"] == "approved"
    folder = astra.root / "agents" / plan
    granted = json.loads((folder / "grants.json").read_text())
    assert granted["plan_hash"] == approved["plan_hash"]
    for name in ("plan.json", "grants.json"):
        assert stat.S_IMODE((folder / name).stat().st_mode) == 0o600
    assert [item["id"] for item in astra.json("plans", "list")["items"]] == [plan]
    story = [record["type"] for record in astra.json("ledger", "story", plan)["items"]]
    assert {"agent_plan_drafted", "agent_plan_approved", "agent_files_exported"} <= set(story)


def test_approve_takes_a_plans_id_like_any_other(astra: Astra) -> None:
    plan = draft(astra)
    astra.json("flags", "set", "AGENT_RUNNER_ENABLED", "off")
    assert astra.json("approve", plan)["state"] == "used"
    assert astra.json("plans", "show", plan)["state"] == "approved"
    other = draft(astra, goals=["Another"])
    astra.json("reject", other, "--reason", "not now")
    shown = astra.json("plans", "show", other)
    assert shown["state"] in {"awaiting_approval", "rejected"}, "the step follows at once"


def test_a_refused_approval_says_so_before_anything_else(astra: Astra) -> None:
    approval = astra.json("plans", "show", draft(astra))["approval_id"]
    nobody_can_type = astra.run("approve", approval, ASTRA_OPERATOR_PASSPHRASE="")
    astra.json("reject", approval, "--reason", "not now")
    decided = astra.run("approve", approval)
    for refused, reason in ((nobody_can_type, "no terminal"), (decided, "rejected already")):
        assert refused.returncode == 1
        assert refused.stderr.startswith("error:"), refused.stderr[:500]
        assert reason in refused.stderr.splitlines()[0]
        assert "all of it" not in refused.stderr


def test_a_plan_names_no_channel_that_tells_nobody(astra: Astra) -> None:
    file = astra.folder / "plan.json"
    file.write_text(json.dumps(PLAN))
    words = ["plans", "draft", "--file", file, "--channel", "NOPE"]
    refused = astra.json(*words, code=2)
    assert "there is no notification channel 'NOPE'" in refused["detail"]
    assert "[notify]" in refused["next_step"]


def test_revising_makes_an_older_approval_stale(astra: Astra) -> None:
    plan = draft(astra)
    before = astra.json("plans", "show", plan)
    edit = "manifest.network_domains=example.com"
    revised = astra.json("plans", "revise", plan, "--remove", edit)
    assert revised["plan_hash"] != before["plan_hash"]
    assert astra.json("approve", before["approval_id"], code=1)["code"] == "already_decided"
    assert astra.json("plans", "revise", plan, "--add", "manifest.read_paths=/", code=1)[
        "code"
    ] == ("grant_too_broad")


def test_rejecting_says_why(astra: Astra) -> None:
    plan = draft(astra)
    rejected = astra.json("plans", "reject", plan, "--reason", "too much network")
    assert (rejected["state"], rejected["reason"]) == ("rejected", "too much network")
    again = astra.json("plans", "approve", plan, code=1)
    assert again["code"] == "illegal_transition"
    assert (again["state"], again["wanted"]) == ("rejected", "approved")


def test_without_a_model_a_description_is_told_how_to_set_one(astra: Astra) -> None:
    refused = astra.json("plans", "draft", "tidy my notes", code=1)
    assert refused["code"] == "no_model"
    assert refused["detail"].endswith("so nothing can be drafted from a description")
    assert "[model]" in refused["next_step"]
    assert "--file" in refused["next_step"]


def test_before_a_plan_is_signed_it_says_what_it_would_meet(astra: Astra) -> None:
    plan = draft(astra)
    shown = " ".join(astra.run("plans", "show", plan).stdout.split())
    assert "NO MODEL no model is configured; set name" in shown
    assert "--file" not in shown
    other = draft(astra, goals=["Another"])
    for command in (["plans", "approve", plan], ["approve", other]):
        signed = " ".join(astra.run(*command).stderr.split())
        assert "NEW can send anything it reads to anyone at example.com" in signed, command
        assert "now: not looked up yet" in signed, command
        assert "NO MODEL no model is configured; set name" in signed, command


def test_with_planning_off_drafting_stops_and_plans_stay(astra: Astra) -> None:
    plan = draft(astra)
    astra.json("flags", "set", "AGENT_PLANNING_ENABLED", "off")
    file = astra.folder / "plan.json"
    assert astra.json("plans", "draft", "--file", file, code=1)["code"] == "flag_off"
    assert astra.json("plans", "show", plan)["state"] == "awaiting_approval"
    names = [tool["name"] for tool in astra.json("tools", "list")["items"]]
    assert "astra_plans_draft" not in names
    assert "astra_plans_get" in names


def test_the_global_allowlist_is_signed_for_and_taken_back_freely(astra: Astra) -> None:
    assert astra.json("grants", "add", "read_paths", "/", code=1)["code"] == "grant_too_broad"
    astra.json("grants", "add", "network_domains", "Example.com")
    listed = astra.json("grants", "list")["items"]
    assert [(item["kind"], item["value"]) for item in listed] == [
        ("network_domains", "example.com")
    ]
    exported = Path(astra.root / "agent_global_grants.json")
    assert json.loads(exported.read_text())["network_domains"] == ["example.com"]
    assert stat.S_IMODE(exported.stat().st_mode) == 0o600
    shown = astra.json("plans", "show", draft(astra))
    marks = {item["value"]: item["auto_approved"] for item in shown["manifest"]["items"]}
    assert marks["example.com"]
    assert not marks["docs"]
    astra.json("grants", "remove", "network_domains", "example.com")
    assert astra.json("grants", "list")["items"] == []


def test_an_agent_drafts_with_the_tool_and_cannot_decide(astra: Astra) -> None:
    drafted = astra.json("tools", "call", "astra.plans.draft", json.dumps({"plan": PLAN}))
    assert drafted["state"] == "awaiting_approval"
    names = [tool["name"] for tool in astra.json("tools", "list")["items"]]
    assert not [name for name in names if "plans" in name and "approve" in name]
    got = astra.json("tools", "call", "astra_plans_get", json.dumps({"id": drafted["id"]}))
    assert got["plan"]["goals"] == PLAN["goals"]
    bad = {"plan": {**PLAN, "manifest": {"skills": ["agent_start"]}}}
    refused = astra.json("tools", "call", "astra.plans.draft", json.dumps(bad), code=1)
    assert refused["code"] == "self_recursion"


def test_a_file_that_is_no_plan_is_told_what_is_wrong(astra: Astra) -> None:
    file = astra.folder / "plan.json"
    file.write_text("{")
    assert astra.json("plans", "draft", "--file", file, code=2)["code"] == "bad_input"
    file.write_text('{"schema_version": 9}')
    assert astra.json("plans", "draft", "--file", file, code=2)["code"] == "plan_too_new"


def test_a_hosted_model_without_its_key_says_where_the_key_goes(astra: Astra) -> None:
    astra.run("down")
    astra.extra |= {"ASTRA_MODEL": "anthropic:some-model"}
    refused = astra.json("plans", "draft", "do something", code=1)
    assert refused["code"] == "no_model_key"
    assert "ANTHROPIC_API_KEY" in refused["next_step"]
    assert astra.json("plans", "list")["items"] == []


def test_a_plans_signature_may_cover_its_changes_and_ends_with_the_plan(astra: Astra) -> None:
    plan = draft(astra)
    astra.json("flags", "set", "AGENT_RUNNER_ENABLED", "off")
    assert astra.json("plans", "approve", plan, "--deploy", code=2)["code"] == "bad_input"
    approved = astra.json("plans", "approve", plan, "--merge", "docs/", "--uses", "1")
    assert approved["state"] == "approved"
    (permission,) = astra.json("permissions", "list")["items"]
    assert (permission["id"], permission["plan"]) == (approved["permission"], plan)
    assert permission["words"].startswith(
        f"A change of the plan {plan} that touches nothing but docs/ is merged without asking me"
    )
    astra.json("plans", "abort", plan, "--reason", "not now")
    assert astra.json("permissions", "list")["items"] == []
    (ended,) = astra.json("permissions", "list", "--all")["items"]
    assert ended["state"] == "void"
