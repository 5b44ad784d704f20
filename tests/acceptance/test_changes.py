"""Changing code from the command line: propose, look, decide; with code writing on, and off."""

import hashlib
import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from driver import Astra

FLAG = "ASTRA_CODE_WRITE_ENABLED"


@pytest.fixture(scope="module")
def prepared(initialised: Astra, tmp_path_factory: pytest.TempPathFactory) -> Astra:
    """A data root where code may be written."""
    made = initialised.copied_to(Astra(tmp_path_factory.mktemp("writing")))
    made.json("flags", "set", FLAG, "on")
    made.run("down")
    return made


@pytest.fixture
def writing(empty: Astra, prepared: Astra) -> Astra:
    return prepared.copied_to(empty)


def head(astra: Astra, ref: str = "trunk") -> str:
    words = ["git", "--git-dir", str(astra.root / "var/git"), "rev-parse", f"refs/heads/{ref}"]
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout.strip()


def propose(astra: Astra, text: str = "def answer() -> int:\n    return 43\n") -> Any:
    edited = astra.folder / "edited.py"
    edited.write_text(text)
    return astra.json(
        "changes", "propose", "--edit", f"agent.py={edited}", "--reason", "one more is better"
    )


def fingerprint(folder: Path) -> str:
    """Digest every file below a folder, names and bytes."""
    total = hashlib.sha256()
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        total.update(str(path.relative_to(folder)).encode() + b"\0" + path.read_bytes() + b"\0")
    return total.hexdigest()


def test_from_a_proposal_to_the_branch(writing: Astra) -> None:
    before = head(writing)
    made = propose(writing)
    assert {"id", "state", "branch", "commit"} <= made.keys()
    assert (made["state"], made["branch"]) == ("awaiting_approval", f"astra/{made['id']}")
    assert head(writing) == before
    assert head(writing, made["branch"]) == made["commit"]

    shown = writing.json("changes", "show", made["id"])
    assert {"findings", "evidence", "approval_id"} <= shown.keys()
    (waiting,) = writing.json("approvals")["items"]
    assert (waiting["id"], waiting["kind"]) == (shown["approval_id"], "change")
    assert waiting["subject_id"] == made["id"]

    done = writing.json("changes", "approve", made["id"])
    assert done["state"] == "executed"
    assert head(writing) == made["commit"]
    (task,) = writing.json("tasks", "list")["items"]
    assert (task["enabled"], task["outcome"]) == (True, "executed")
    told = [record["type"] for record in writing.json("ledger", "story", made["id"])["items"]]
    wanted = ["scheduled", "approved", "executed"]
    assert [name for name in told if name.startswith("code_modification_")] == [
        f"code_modification_{word}" for word in wanted
    ]
    assert writing.json("status")["changes"]["executed_modifications"] == 1
    assert writing.json("status")["changes"]["alerts"] == []
    assert writing.json("ledger", "verify")["ok"]


def test_the_review_fits_one_screen_and_escapes_what_the_agent_wrote(writing: Astra) -> None:
    edited = writing.folder / "edited.py"
    edited.write_text("print('\x1b[2J')\n")
    made = writing.json(
        "changes", "propose", "--edit", f"agent.py={edited}", "--reason", "look \x1b[31mhere"
    )
    for words in (("changes", "show"), ("changes", "diff")):
        done = writing.run(*words, made["id"])
        assert done.returncode == 0
        assert "\x1b" not in done.stdout
    shown = writing.run("changes", "show", made["id"]).stdout
    assert "agent says" in shown
    assert "evidence" in shown
    assert f"astra changes approve {made['id']}" in shown
    assert len(shown.splitlines()) < 50


def test_reject_comment_and_send_back(writing: Astra) -> None:
    first, second = propose(writing), propose(writing, "def answer() -> int:\n    return 44\n")
    writing.json("changes", "comment", first["id"], "why?")
    done = writing.json("changes", "request-changes", first["id"], "add a test")
    assert done["state"] == "changes_requested"
    assert [said["text"] for said in done["comments"]] == ["why?", "add a test"]
    done = writing.json("changes", "reject", second["id"], "--reason", "no")
    assert (done["state"], done["decision"]["reason"]) == ("rejected", "no")
    assert writing.json("approvals")["items"] == []
    refused = writing.json("changes", "approve", second["id"], code=1)
    assert refused["code"] == "nothing_waits"


def test_a_remark_on_a_line_is_shown_with_its_place_and_given_to_the_agent(writing: Astra) -> None:
    made = propose(writing)
    said = ("--on", "agent.py:2", "why \x1b[2J this?", "--on", "agent.py:-2", "it was fine")
    writing.json("changes", "request-changes", made["id"], *said)
    shown = writing.run("changes", "show", made["id"]).stdout
    assert "2 remarks on lines" in shown
    assert "agent.py:2  why \\x1b[2J this?" in shown
    assert "agent.py:2 (before)  it was fine" in shown
    agent = writing.json("tools", "call", "astra.changes.get", f'{{"id": "{made["id"]}"}}')
    (comment,) = agent["change"]["comments"]
    assert [(each["path"], each["line"], each["side"]) for each in comment["remarks"]] == [
        ("agent.py", 2, "new"),
        ("agent.py", 2, "old"),
    ]
    refused = writing.json("changes", "comment", made["id"], "--on", "agent.py", "x", code=2)
    assert refused["code"] == "bad_usage"
    missing = writing.json("changes", "comment", made["id"], "--on", "agent.py:99", "x", code=1)
    assert missing["code"] == "no_such_line"


def test_a_task_is_run_by_enabling_it(writing: Astra) -> None:
    made = propose(writing)
    refused = writing.json("tasks", "run", made["task_id"], code=3)
    assert (refused["code"], refused["approval_id"]) == ("needs_approval", made["approval_id"])
    done = writing.json("tasks", "enable", made["task_id"])
    assert done["state"] == "executed"
    assert writing.json("tasks", "show", made["task_id"])["enabled"] is True


def test_a_patch_is_a_proposal_too(writing: Astra) -> None:
    patch = writing.folder / "fix.diff"
    patch.write_text(
        "--- a/agent.py\n+++ b/agent.py\n@@ -1,2 +1,2 @@\n"
        " def answer() -> int:\n-    return 42\n+    return 43\n"
    )
    made = writing.json("changes", "propose", "--patch", patch, "--reason", "one more")
    assert "+    return 43" in writing.json("changes", "diff", made["id"])["diff"]


def test_what_is_not_admitted_names_the_rule_and_the_line_of_configuration(
    writing: Astra,
) -> None:
    big = writing.folder / "big.txt"
    big.write_bytes(b"x" * 200_000)
    words = ("changes", "propose", "--edit", f"big.txt={big}", "--reason", "more")
    refused = writing.json(*words, code=1)
    assert refused["code"] == "not_admitted"
    (refusal,) = refused["refusals"]
    assert (refusal["rule"], refusal["key"]) == ("too_large", "target.max_file_kb")
    assert writing.json("changes", "list")["items"] == []


def test_with_code_writing_off_nothing_is_reachable_and_no_byte_moves(astra: Astra) -> None:
    trusted = astra.root / "var/git"
    before = fingerprint(trusted)
    edited = astra.folder / "edited.py"
    edited.write_text("x = 1\n")
    words = ("changes", "propose", "--edit", f"agent.py={edited}", "--reason", "why not")
    refused = astra.json(*words, code=1)
    assert (refused["code"], FLAG in refused["next_step"]) == ("flag_off", True)
    arguments = json.dumps({"reason": "x", "edits": [{"path": "a", "content": "b"}]})
    refused = astra.json("tools", "call", "schedule_code_modification", arguments, code=1)
    assert refused["code"] == "flag_off"
    names = {tool["name"] for tool in astra.json("tools", "list")["items"]}
    assert "schedule_code_modification" not in names
    assert "astra_changes_list" in names
    assert fingerprint(trusted) == before
    types = [record["type"] for record in astra.json("ledger", "tail", "--count", "100")["items"]]
    assert not [name for name in types if name.startswith("code_modification_")]


def test_turning_code_writing_off_stops_what_is_queued(writing: Astra) -> None:
    made = propose(writing)
    writing.json("flags", "set", FLAG, "off")
    before = fingerprint(writing.root / "var/git")
    approved = writing.json("changes", "approve", made["id"], "--no-wait")
    assert approved["state"] == "approved"
    rests = writing.json("tasks", "run", made["task_id"], code=1)
    assert rests["code"] == "flag_off"
    assert fingerprint(writing.root / "var/git") == before
    assert writing.json("changes", "show", made["id"])["state"] == "granted"
    writing.json("flags", "set", FLAG, "on")
    assert writing.json("tasks", "run", made["task_id"])["state"] == "executed"


def test_rejecting_is_free_while_code_writing_is_off(writing: Astra) -> None:
    made = propose(writing)
    writing.json("flags", "set", FLAG, "off")
    done = writing.json("changes", "reject", made["id"], "--reason", "not now")
    assert done["state"] == "rejected"
    types = [record["type"] for record in writing.json("ledger", "tail", "--count", "50")["items"]]
    assert "code_modification_rejected" not in types
    assert writing.json("status")["changes"]["alerts"] == []
