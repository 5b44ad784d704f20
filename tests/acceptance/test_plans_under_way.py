"""A plan under way in the real daemon: what people say and take back, and what goes wrong."""

import threading
import time
from pathlib import Path
from typing import Any

import pytest

from deploying import until
from driver import Astra, past
from model_server import ModelServer, as_json
from plans_by_night import folder_for, notes_of, plan_for, sh, started, told, wait_for

DONE = {"kind": "done", "output": "done"}
REACHES = (
    'echo ran >> {notes}/runs; python3 -c "import urllib.request as u; '
    "u.urlopen('http://packages.example.com:{port}/')\"; true"
)


class Gate:
    """Holds a model's answer back until the test has done its part."""

    def __init__(self) -> None:
        self._reached, self._open = threading.Event(), threading.Event()

    def hold(self) -> None:
        self._reached.set()
        self._open.wait(300)

    def wait(self) -> None:
        assert self._reached.wait(300)

    def open(self) -> None:
        self._open.set()


def lines(path: Path) -> list[str]:
    return path.read_text().splitlines()


def records(astra: Astra, plan: str, kind: str) -> list[dict[str, Any]]:
    story = astra.json("ledger", "story", plan)["items"]
    return [record for record in story if record["type"] == kind]


def asking_for_a_host(night: Astra, server: ModelServer) -> tuple[str, Path]:
    """Start a plan without any network whose first command wants some."""
    plan = plan_for(night)
    notes = notes_of(plan)
    command = REACHES.format(notes=notes, port=8080)
    server.say = lambda request: DONE if "exit_code" in told(request) else sh(command)
    identifier = started(night, plan)
    waiting = wait_for(night, identifier, "blocked_on_permission", "completed", "aborted")
    assert waiting["state"] == "blocked_on_permission", waiting
    assert waiting["block"]["items"] == [["network_domains", "packages.example.com:8080"]]
    assert lines(notes / "runs") == ["ran"]
    return identifier, notes


@pytest.mark.parametrize("once", [True, False], ids=["once", "to the plan"])
def test_a_host_refused_in_the_box_is_asked_for_and_granted_after_a_kill(
    night: Astra, server: ModelServer, once: bool
) -> None:
    identifier, notes = asking_for_a_host(night, server)
    night.kill_daemon()
    night.json("plans", "grant", identifier, *(["--once"] if once else []))
    shown = wait_for(night, identifier, "completed", "blocked_on_permission", "aborted")
    if once:
        assert shown["state"] == "blocked_on_permission", "the second checkpoint asks anew"
        assert lines(notes / "runs") == ["ran"] * 3
    else:
        assert shown["state"] == "completed"
        assert shown["grants"]["added"] == [["network_domains", "packages.example.com:8080"]]
        assert lines(notes / "runs") == ["ran"] * 3
    assert night.json("ledger", "verify")["ok"]


def test_a_host_that_is_skipped_stays_refused_and_is_not_asked_for_again(
    night: Astra, server: ModelServer
) -> None:
    identifier, notes = asking_for_a_host(night, server)
    night.json("plans", "skip", identifier, "--reason", "no downloads")
    shown = wait_for(night, identifier, "completed", "blocked_on_permission", "aborted")
    assert shown["state"] == "completed", shown
    assert lines(notes / "runs") == ["ran"] * 2, "once in each checkpoint"
    assert any("no downloads" in told(call) for call in server.calls)
    assert not records(night, identifier, "egress_opened"), "nothing ever left"


def test_what_the_operator_says_is_heard_once_even_when_the_daemon_is_killed(
    night: Astra, server: ModelServer
) -> None:
    plan = plan_for(night)
    first, second = Gate(), Gate()

    def say(request: dict[str, Any]) -> Any:
        if len(server.calls) == 1:
            first.hold()
            return sh("true")
        if len(server.calls) == 2:
            second.hold()
        return DONE

    server.say = say
    identifier = started(night, plan)
    first.wait()
    night.json("plans", "message", identifier, "use red ink")
    first.open()
    second.wait()
    night.kill_daemon()
    second.open()
    assert wait_for(night, identifier, "completed", "aborted")["state"] == "completed"
    heard = [told(call).count("use red ink") for call in server.calls]
    assert heard[:3] == [0, 1, 1], "in the next step, and in the one that took its place"
    assert max(heard) == 1
    steps = records(night, identifier, "agent_step_started")
    assert sum(len(step["data"]["messages"]) for step in steps) == 1


def test_a_grant_that_is_taken_back_is_gone_at_the_next_step(
    night: Astra, server: ModelServer
) -> None:
    shared = folder_for(night, "shared")
    night.json("grants", "add", "write_paths", shared)
    plan = plan_for(night, write_paths=[str(shared), str(folder_for(night, "notes"))])
    gate = Gate()

    def say(request: dict[str, Any]) -> Any:
        steps = told(request).count("exit_code")
        if steps == 1:
            gate.hold()
        return DONE if steps == 2 else sh(f"echo x >> {shared}/log")

    server.say = say
    identifier = started(night, plan)
    gate.wait()
    assert lines(shared / "log") == ["x"]
    night.json("grants", "remove", "write_paths", shared)
    gate.open()
    assert wait_for(night, identifier, "completed", "aborted")["state"] == "completed"
    assert lines(shared / "log") == ["x"], "nothing was written after it was taken back"


@pytest.mark.parametrize("name", ["plan.json", "grants.json"])
def test_tampering_while_the_model_thinks_ends_the_plan_before_it_acts(
    night: Astra, server: ModelServer, name: str
) -> None:
    plan = plan_for(night)
    notes = notes_of(plan)

    def say(_request: dict[str, Any]) -> Any:
        (folder,) = (night.root / "agents").iterdir()
        (folder / name).write_text((folder / name).read_text().replace("notes", "all"))
        return sh(f"touch {notes}/acted")

    server.say = say
    identifier = started(night, plan)
    shown = wait_for(night, identifier, "aborted", "completed")
    assert shown["reason"] == name.replace(".json", "_tampered")
    assert not (notes / "acted").exists()
    assert len(server.calls) == 1


def test_tampering_while_a_command_runs_ends_the_command(night: Astra, server: ModelServer) -> None:
    plan = plan_for(night)
    notes = notes_of(plan)
    server.say = lambda _request: sh(f"touch {notes}/begun; sleep 500; touch {notes}/ended")
    identifier = started(night, plan)
    deadline = time.monotonic() + 180
    while not (notes / "begun").exists():
        assert time.monotonic() < deadline
        time.sleep(0.1)
    granted = night.root / "agents" / identifier / "grants.json"
    granted.write_text(granted.read_text() + " ")
    assert wait_for(night, identifier, "aborted")["reason"] == "grants_tampered"
    while list((night.root / "var" / "run" / "boxes").glob("box_*")):
        assert time.monotonic() < deadline
        time.sleep(0.1)
    assert not (notes / "ended").exists()


def test_a_plan_that_takes_twice_its_estimate_says_so_once(
    night: Astra, server: ModelServer
) -> None:
    """The daemon is killed, and what follows happens an hour later."""
    plan = plan_for(night)
    gate = Gate()

    def say(_request: dict[str, Any]) -> Any:
        if len(server.calls) == 1:
            gate.hold()
        return DONE

    server.say = say
    identifier = started(night, plan)
    gate.wait()
    night.kill_daemon()
    gate.open()
    with past(night, hours=-1) as later:
        later.running.runner.step(identifier)
    shown = wait_for(night, identifier, "completed", "aborted")
    said = [each["text"] for each in shown["messages"] if each["kind"] == "agent_update"]
    assert len(said) == 1
    assert "twice its estimate of 10" in said[0]
    assert len(records(night, identifier, "agent_overran")) == 1


def test_two_plans_at_once_stay_apart(night: Astra, server: ModelServer) -> None:
    """Each tries the other's folder, and ending one ends nothing of the other."""
    plans = {name: {**plan_for(night, name), "goals": [name]} for name in ("left", "right")}
    folders = {name: notes_of(plan) for name, plan in plans.items()}
    other = {"left": "right", "right": "left"}
    both = threading.Barrier(2, timeout=300)

    def say(request: dict[str, Any]) -> Any:
        mine = "left" if "\nleft\n" in told(request) else "right"
        if "exit_code" in told(request):
            return DONE
        both.wait()
        theirs = folders[other[mine]]
        own = f"{folders[mine]}/mine"
        waits = f"until grep -q on {own}; do sleep 0.1; done"
        return sh(f"echo x > {own}; ls {theirs}; echo x > {theirs}/stolen; {waits}")

    server.say = say
    ids = {name: started(night, plan) for name, plan in plans.items()}
    night.json("plans", "message", ids["left"], "only for the left one")
    deadline = time.monotonic() + 180
    while not all((folder / "mine").exists() for folder in folders.values()):
        assert time.monotonic() < deadline
        time.sleep(0.1)
    night.json("plans", "abort", ids["left"])
    both.abort()
    server.say = lambda _request: DONE
    with (folders["right"] / "mine").open("a") as file:
        file.write("go on\n")
    assert wait_for(night, ids["right"], "completed", "aborted")["state"] == "completed"
    for folder in folders.values():
        assert [path.name for path in folder.iterdir()] == ["mine"]
    heard = [told(call) for call in server.calls if "\nright\n" in told(call)]
    assert heard
    assert not any("only for the left one" in each for each in heard)
    steps = records(night, ids["right"], "agent_step_finished")
    assert [step["data"]["outcome"] for step in steps] == ["ok"] * 3


def test_a_plan_is_drafted_and_worked_on_in_anthropics_dialect(
    night: Astra, server: ModelServer
) -> None:
    """The server is busy once, and asks for a second of patience; then it answers."""
    night.extra |= {"ASTRA_MODEL": "anthropic:tiny", "ASTRA_MODEL_BASE_URL": server.origin}
    plan = plan_for(night)
    notes = notes_of(plan)

    def say(request: dict[str, Any]) -> Any:
        if len(server.calls) == 1:
            return as_json({"type": "error"}, status=529, Retry_After="1")
        if "You turn a person's description" in str(request["system"]):
            return {"plan": plan}
        return DONE if "exit_code" in told(request) else sh(f"echo x >> {notes}/log")

    server.say = say
    drafted = night.json("plans", "draft", "write two notes")
    assert drafted["state"] == "awaiting_approval", drafted
    night.json("plans", "approve", drafted["id"])
    shown = wait_for(night, drafted["id"], "completed", "aborted", "blocked_on_llm")
    assert shown["state"] == "completed"
    assert lines(notes / "log") == ["x", "x"]
    assert shown["usage"]["tokens"] == 120 * (len(server.calls) - 1)


def test_ending_a_plan_ends_the_call_of_its_model_that_is_under_way(
    night: Astra, server: ModelServer
) -> None:
    gate = Gate()

    def say(_request: dict[str, Any]) -> Any:
        gate.hold()
        return DONE

    server.say = say
    identifier = started(night, plan_for(night))
    gate.wait()
    night.json("plans", "abort", identifier)
    (counted,) = until(lambda: records(night, identifier, "agent_usage_counted"))
    assert counted["data"]["cancelled"] is True, "while the model still thinks"
    gate.open()
    assert night.json("plans", "show", identifier)["state"] == "aborted"
    assert len(server.calls) == 1


def test_rejecting_a_plan_that_is_being_drafted_ends_the_call_of_its_model(
    night: Astra, server: ModelServer
) -> None:
    gate = Gate()

    def say(_request: dict[str, Any]) -> Any:
        gate.hold()
        return {"goal": "never"}

    server.say = say
    identifier = night.json("plans", "draft", "tidy my notes", "--no-wait")["id"]
    gate.wait()
    night.json("plans", "reject", identifier, "--reason", "not now")
    (counted,) = until(lambda: records(night, identifier, "agent_usage_counted"))
    assert counted["data"]["cancelled"] is True, "while the model still thinks"
    gate.open()
    assert night.json("plans", "show", identifier)["state"] == "rejected"
