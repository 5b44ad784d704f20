"""A night: a described project becomes a plan, runs inside it, survives kill -9, and is told."""

import json
import threading
import time
from pathlib import Path
from typing import Any

from driver import Astra, kill_process
from model_server import ModelServer
from plans_by_night import plan_for, sh, wait_for


def connects_to(server: ModelServer) -> str:
    port = server.url.split(":")[2].split("/")[0]
    return f"python3 -c 'import socket; socket.create_connection((\"127.0.0.1\", {port}), 3)'"


def is_draft(request: dict[str, Any]) -> bool:
    return "You turn a person's description" in str(request["messages"][0]["content"])


def test_a_described_project_becomes_a_plan_and_its_work_survives_a_kill(
    night: Astra, server: ModelServer
) -> None:
    """The daemon is killed while the model thinks about the second note; nothing is done twice."""
    plan = plan_for(night)
    notes = Path(plan["manifest"]["write_paths"][0])
    thinking, killed = threading.Event(), threading.Event()

    def say(request: dict[str, Any]) -> Any:
        if is_draft(request):
            return {"plan": plan}
        told = "\n".join(str(each["content"]) for each in request["messages"])
        if "checkpoint 1 of 2" in told:
            return (
                {"kind": "done", "output": "one"}
                if "exit_code" in told
                else sh(f"echo one >> {notes}/one.md")
            )
        if "exit_code" not in told:
            return sh(f"echo two >> {notes}/two.md")
        if not killed.is_set():
            thinking.set()
            killed.wait(300)
        return {"kind": "done", "output": "two"}

    server.say = say
    drafted = night.json("plans", "draft", "write two notes")
    assert drafted["state"] == "awaiting_approval"
    looked = [
        record
        for record in night.json("ledger", "story", drafted["id"])["items"]
        if record["type"] == "tool_called" and record["data"]["tool"] == "astra.plans.get"
    ]
    assert len(looked) <= 4, "waiting does not fill the ledger"
    pid = night.daemon_pid()
    night.json("plans", "approve", drafted["id"])
    assert thinking.wait(300)
    kill_process(pid)
    killed.set()
    shown = wait_for(night, drafted["id"], "completed", "aborted", "blocked_on_llm")
    assert shown["state"] == "completed", shown
    assert night.daemon_pid() != pid
    assert (notes / "one.md").read_text() == "one\n"
    assert (notes / "two.md").read_text() == "two\n"
    assert shown["checkpoints_done"] == 2
    assert shown["usage"]["tokens"] > 0
    story = [record["type"] for record in night.json("ledger", "story", drafted["id"])["items"]]
    for wanted in ("agent_plan_drafted", "agent_plan_approved", "agent_started", "agent_completed"):
        assert story.count(wanted) == 1
    assert story.count("agent_checkpoint_completed") == 2
    assert night.json("ledger", "verify")["ok"]


def test_nothing_outside_the_manifest_is_there_even_when_the_model_tries(
    night: Astra, server: ModelServer
) -> None:
    """The kernel, not the model's good will, keeps a plan inside."""
    secret = night.root / "conversations" / "secret.txt"
    secret.write_text("the secret")
    plan = plan_for(night)
    notes = Path(plan["manifest"]["write_paths"][0])
    tries = [
        f"echo control > {notes}/control",
        f"cat {secret} > {notes}/stolen",
        f"cat {night.root}/var/ledger/* > {notes}/ledger",
        f"cat /etc/shadow > {notes}/shadow",
        f"echo x > {night.root}/sandbox/outside",
        f"echo x > {night.root}/persona_space/outside",
        connects_to(server) + f" && echo reached > {notes}/reached",
        f"ls {night.root} > {notes}/listing",
    ]
    script = iter(tries)

    def say(_request: dict[str, Any]) -> Any:
        command = next(script, None)
        return sh(command) if command else {"kind": "done", "output": "tried"}

    server.say = say
    drafted = night.json("tools", "call", "astra.plans.draft", json.dumps({"plan": plan}))
    night.json("plans", "approve", drafted["id"])
    shown = wait_for(night, drafted["id"], "completed", "aborted", "blocked_on_permission")
    assert shown["state"] == "completed", shown
    stolen = {path.name: path.read_text() for path in notes.iterdir()}
    assert stolen.pop("control") == "control\n", "writing inside works"
    assert all(not text or name == "listing" for name, text in stolen.items()), stolen
    assert "conversations" not in stolen.get("listing", "")
    assert "var" not in stolen.get("listing", "").split()
    assert not (night.root / "sandbox" / "outside").exists()
    assert not (night.root / "persona_space" / "outside").exists()


def test_aborting_ends_what_runs_at_once(night: Astra, server: ModelServer) -> None:
    plan = plan_for(night)
    notes = Path(plan["manifest"]["write_paths"][0])
    server.say = lambda _request: sh(f"touch {notes}/begun; sleep 500; touch {notes}/ended")
    drafted = night.json("tools", "call", "astra.plans.draft", json.dumps({"plan": plan}))
    night.json("plans", "approve", drafted["id"])
    deadline = time.monotonic() + 180
    while not (notes / "begun").exists():
        assert time.monotonic() < deadline
        time.sleep(0.1)
    aborted = night.json("plans", "abort", drafted["id"], "--reason", "enough")
    assert (aborted["state"], aborted["reason"]) == ("aborted", "enough")
    while list((night.root / "var" / "run" / "boxes").glob("box_*")):
        assert time.monotonic() < deadline
        time.sleep(0.1)
    assert not (notes / "ended").exists()


def test_editing_grants_while_a_plan_runs_ends_it(night: Astra, server: ModelServer) -> None:
    plan = plan_for(night)
    server.say = lambda _request: {"kind": "message", "text": "Which?", "question": True}
    drafted = night.json("tools", "call", "astra.plans.draft", json.dumps({"plan": plan}))
    night.json("plans", "approve", drafted["id"])
    wait_for(night, drafted["id"], "paused")
    granted = night.root / "agents" / drafted["id"] / "grants.json"
    granted.write_text(granted.read_text().replace("notes", "all"))
    shown = wait_for(night, drafted["id"], "aborted")
    assert shown["reason"] == "grants_tampered"


def test_an_operator_steers_a_plan_from_the_command_line(night: Astra, server: ModelServer) -> None:
    plan = plan_for(night)
    notes = Path(plan["manifest"]["write_paths"][0])
    (notes / "old.md").write_text("old")

    def say(request: dict[str, Any]) -> Any:
        told = "\n".join(str(each["content"]) for each in request["messages"])
        if "keep going" not in told:
            return {"kind": "message", "text": "Shall I?", "question": True}
        if "exit_code" not in told and "skipped" not in told:
            return sh(f"rm {notes}/old.md")
        return {"kind": "done", "output": "cleaned"}

    server.say = say
    drafted = night.json("tools", "call", "astra.plans.draft", json.dumps({"plan": plan}))
    plan_id = drafted["id"]
    night.json("plans", "approve", plan_id)
    asked = wait_for(night, plan_id, "paused")
    assert [each["kind"] for each in asked["messages"]] == ["agent_question"]
    night.json("plans", "message", plan_id, "keep going")
    waiting = wait_for(night, plan_id, "blocked_on_destructive")
    assert "rm" in waiting["block"]["in_words"]
    assert (notes / "old.md").exists()
    granted = night.run("plans", "grant", plan_id)
    action, _, whole = granted.stderr.partition("all of it")
    assert "".join(action.split()) == f"actionrun_in_sandboxsh-c'rm{notes}/old.md'"
    assert f'- "rm {notes}/old.md"' in whole
    wait_for(night, plan_id, "paused")
    assert not (notes / "old.md").exists()
    refused = night.json("plans", "grant", plan_id, code=1)
    assert refused["code"] == "nothing_to_decide"
    night.json("plans", "resume", plan_id)
    assert night.json("plans", "abort", plan_id)["state"] == "aborted"
    assert night.json("plans", "resume", plan_id, code=1)["code"] == "illegal_transition"
