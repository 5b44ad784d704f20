"""A day of ordinary work raises no alarm; what waits is counted alike everywhere; going back."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from deploying import EXAMPLE, PYTHON, fetch, until
from driver import Astra, make_repository
from http_driver import served
from model_server import ModelServer, Use
from plans_by_night import plan_for, sh, started, wait_for

FLAG = "ASTRA_CODE_WRITE_ENABLED"
CONFIGURATION = f"""
[target]
branch = "trunk"
test_command = "{sys.executable} -m pytest -q --disable-plugin-autoload -p no:cacheprovider checks"

[app]
command = "{PYTHON} -m agent_server"
health_path = "/healthz"
watch_seconds = 1

[app.permissions]
network = "host"
"""
TESTS = """
import sys
sys.path.insert(0, ".")
from agent_server import api

def test_the_api_is_there():
    assert api
"""
GREETING = (EXAMPLE / "agent_server" / "api.py").read_text()
ALARM_WORDS = (" alert: ", "was recorded while code writing was off", "failed", "cannot", "refused")


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Astra]:
    """A server with a test, which is in service, and an agent that may write code."""
    made = Astra(tmp_path_factory.mktemp("day"))
    target = make_repository(made.folder / "target")
    subprocess.run(["cp", "-r", f"{EXAMPLE}/.", target], check=True)
    (target / "checks").mkdir()
    (target / "checks" / "test_greeting.py").write_text(TESTS)
    identity = ["-c", "user.name=Someone", "-c", "user.email=someone@localhost"]
    for words in (["add", "-A"], ["commit", "-qm", "two"]):
        subprocess.run(["git", *identity, *words], cwd=target, check=True)
    made.json("init", target, "--throwaway")
    (made.root / "astra.toml").write_text(CONFIGURATION)
    made.json("config", "sign")
    made.json("flags", "set", FLAG, "on")
    yield made
    made.end()


@pytest.fixture
def day(empty: Astra, prepared: Astra, server: ModelServer) -> Astra:
    prepared.run("down")
    astra = prepared.copied_to(empty)
    astra.extra |= {"ASTRA_MODEL": "scripted", "ASTRA_MODEL_BASE_URL": server.url}
    return astra


def propose(astra: Astra, greeting: str, reason: str, **fields: str) -> Any:
    edited = astra.folder / "edited.py"
    edited.write_text(GREETING.replace("Hello from", greeting))
    options = [word for name, value in fields.items() for word in (f"--{name}", value)]
    words = ["--edit", f"agent_server/api.py={edited}", "--reason", reason, *options]
    return astra.json("changes", "propose", *words)


def read_greeting(astra: Astra) -> str:
    return fetch(astra.json("status")["app"]["port"], "/api/greeting")["greeting"]


def read_alerts(astra: Astra) -> list[str]:
    notes = astra.json("tools", "call", "astra_awareness_read", '{"kind": "alert"}')["items"]
    return [note["text"] for note in notes]


def read_context(astra: Astra, server: ModelServer) -> str:
    """Give everything that the persona's model is told when a person says something."""
    server.say = lambda _request: "a quiet day"
    server.calls.clear()
    astra.json("chat", "how was the day?")
    return json.dumps(server.calls[0]["messages"])


def work_on_changes(astra: Astra) -> None:
    """Have a change sent back, revised, approved and deployed; another one rejected."""
    astra.json("deploy")
    first = propose(astra, "Welcome from", "greet people")
    assert first["state"] == "awaiting_approval", first
    astra.json("changes", "request-changes", first["id"], "a little warmer, please")
    second = propose(astra, "A warm welcome from", "warmer", supersedes=first["id"])
    astra.json("changes", "approve", second["id"], "--deploy")
    assert read_greeting(astra).startswith("A warm welcome from")
    third = propose(astra, "Goodbye from", "say goodbye")
    astra.json("changes", "reject", third["id"], "--reason", "not today")
    last = propose(astra, "Good evening from", "for the evening")
    astra.json("changes", "approve", last["id"])


def work_on_schedules(astra: Astra) -> None:
    """Have a schedule fire by itself after a pause of the daemon, and once by hand."""
    words = ["--cron", "* * * * *", "--tool", "astra.desires.list", "--payload", "{}"]
    schedule = astra.json("schedules", "create", "--name", "Survey", *words, "--budget", "20")
    ran = astra.json("schedules", "run", schedule["id"])
    firings = ("schedules", "history", schedule["id"])
    until(lambda: any(run["outcome"] == "succeeded" for run in astra.json(*firings)["items"]))
    assert ran
    astra.json("schedules", "pause", schedule["id"])


def work_on_a_plan(astra: Astra, server: ModelServer) -> None:
    plan = plan_for(astra)
    notes = Path(plan["manifest"]["write_paths"][0])
    server.say = lambda request: (
        {"kind": "done", "output": "written"}
        if "exit_code" in json.dumps(request["messages"])
        else sh(f"echo one >> {notes}/one.md")
    )
    assert wait_for(astra, started(astra, plan), "completed", "aborted")["state"] == "completed"


def talk(astra: Astra, server: ModelServer) -> None:
    answers = iter([Use(tool="astra_desires_list", arguments={}), "You want to greet people."])
    server.say = lambda _request: next(answers)
    astra.json("chat", "what do you want?")


def test_a_day_of_ordinary_work_raises_no_alarm(day: Astra, server: ModelServer) -> None:
    day.json("desires", "record", "Greet people warmly", "--strength", "0.8")
    work_on_changes(day)
    work_on_schedules(day)
    work_on_a_plan(day, server)
    talk(day, server)
    day.json("flags", "set", FLAG, "off")
    day.json("down", "--keep-app")
    assert read_alerts(day) == []
    assert day.json("inbox")["items"] == []
    context = read_context(day, server)
    assert "what happened lately" in context
    assert "was approved and merged into trunk" in context
    assert [word for word in ALARM_WORDS if word in context.split("what happened lately")[1]] == []
    status = day.json("status")
    assert status["changes"]["alerts"] == []
    assert status["held"] == []
    assert [line for line in day.run("status").stdout.splitlines() if "trouble" in line] == []


def test_a_change_that_was_rolled_back_is_taken_out_by_a_revert(day: Astra) -> None:
    """The rollback offers the revert; its inverse is proposed, signed and deployed by one command.

    Code writing was off while the operator went back: that is no alarm either.
    """
    day.json("deploy")
    first = propose(day, "Welcome from", "greet people")
    day.json("changes", "approve", first["id"], "--deploy")
    before = read_greeting(day)
    change = propose(day, "Farewell from", "say farewell")
    day.json("changes", "approve", change["id"], "--deploy")
    assert read_greeting(day).startswith("Farewell from")
    about = [(item["live"], item["about"]) for item in day.json("releases")["items"]]
    assert about == [(True, "say farewell"), (False, "greet people"), (False, "")]
    assert "say farewell" in day.run("releases").stdout
    day.json("flags", "set", FLAG, "off")
    offered = day.run("rollback").stdout
    assert f"astra changes revert {change['id']}" in offered
    assert read_greeting(day) == before
    forward = day.run("rollback").stdout
    assert "in place of" in forward
    assert "astra changes revert" not in forward, "going forward again takes nothing back"
    assert f"astra changes revert {change['id']}" in day.run("rollback").stdout
    assert read_greeting(day) == before
    assert day.json("status")["changes"]["alerts"] == []
    refused = day.json("changes", "revert", change["id"], code=1)
    assert FLAG in refused["detail"] + refused["next_step"]

    day.json("flags", "set", FLAG, "on")
    done = day.run("changes", "revert", change["id"], "--deploy")
    assert done.returncode == 0, done.stdout + done.stderr
    assert read_greeting(day) == before
    inverse = day.json("changes", "list")["items"][0]
    assert inverse["state"] == "executed"
    shown = day.run("changes", "show", inverse["id"]).stdout
    assert "take back “say farewell”" in shown
    again = day.json("changes", "revert", change["id"], code=1)
    assert "reverted already" in again["detail"]
    assert day.json("changes", "list", "--state", "rolled_back")["items"]
    assert not [text for text in read_alerts(day) if "code writing was off" in text]
    assert day.json("ledger", "verify")["ok"]


def test_every_door_counts_the_same_things(day: Astra, server: ModelServer) -> None:
    """A request, a change that waits, a plan that stands still: one list, the same everywhere."""
    day.json("tools", "call", "fetch_url", '{"url": "https://example.com/"}', code=3)
    change = propose(day, "Welcome from", "greet people")
    outside = Use(tool="fetch_url", arguments={"url": "https://example.org/"})
    server.say = lambda _request: {
        "kind": "tool",
        "tool": outside.tool,
        "arguments": outside.arguments,
    }
    plan = started(day, plan_for(day))
    wait_for(day, plan, "blocked_on_permission")
    listed = day.json("inbox")["items"]
    assert {item["subject_id"] for item in listed} >= {change["id"], plan}
    assert len(listed) == 3
    with served(day) as site, site.client(site.login()) as http:
        assert http.get("/api/inbox").json()["items"] == listed
    shown = day.run("inbox").stdout
    for item in listed:
        assert item["command"] in shown
        assert item["title"].split()[0] in shown
    assert all(len(line) <= 100 for line in shown.splitlines()), "no word is torn at the edge"
    assert "3 things wait for you" in day.run().stdout
    call = next(item["id"] for item in listed if item["kind"] == "tool_call")
    day.json("reject", call, "--reason", "not today")
    late = day.run("approve", call)
    assert late.returncode == 1
    assert f"{call} is rejected already" in late.stderr
    assert "digest" not in late.stderr, "what cannot be signed any more is not read out"
