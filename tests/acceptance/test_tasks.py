"""What a task is, asked at every door: of a change, of a goal's graph, and a firing."""

import json
import re
from typing import Any

from driver import Astra

WRITE = "ASTRA_CODE_WRITE_ENABLED"


def call(astra: Astra, tool: str, **arguments: Any) -> Any:
    return astra.json("tools", "call", tool, json.dumps(arguments))


def make_one_of_each(astra: Astra) -> dict[str, str]:
    """Make a firing, a change and a goal that ran; gives what each is about."""
    words = ["--name", "test", "--cron", "@yearly", "--tool", "astra.health"]
    schedule = astra.json("schedules", "create", *words)["id"]
    astra.json("schedules", "run", schedule)
    goal = astra.json("goals", "create", "look around", "--category", "introspection")["id"]
    astra.json("goals", "adopt", goal)
    astra.follow("goal_task_finished")
    astra.json("flags", "set", WRITE, "on", "--yes")
    edit = astra.folder / "agent.py"
    edit.write_text("def answer() -> int:\n    return 43\n")
    options = ("--edit", f"agent.py={edit}", "--reason", "better")
    change = astra.json("changes", "propose", *options)["id"]
    return {"schedule": schedule, "goal": goal, "change": change}


def test_every_door_shows_the_same_tasks(astra: Astra) -> None:
    subjects = make_one_of_each(astra)
    tasks = astra.json("tasks", "list")["items"]
    assert {task["source"]: task["subject_id"] for task in tasks} == subjects
    assert call(astra, "tasks_list")["items"] == tasks
    for task in tasks:
        identifier, trace = task["id"], task["correlation"]
        assert astra.json("tasks", "show", identifier) == task
        assert call(astra, "tasks_by_trace", trace=trace)["items"] == [task]
        assert astra.json("tasks", "list", "--trace", trace)["items"] == [task]
        assert astra.json("tasks", "list", "--source", task["source"])["items"] == [task]
        assert task in call(astra, "tasks_list", state=task["state"])["items"]
    kinds = {task["source"]: (task["kind"], task["outcome"], task["enabled"]) for task in tasks}
    assert kinds["schedule"] == ("FIRING", "succeeded", True)
    assert kinds["change"] == ("CODE_MODIFY", "", False)
    assert kinds["goal"] == ("RESEARCH", "succeeded", True)
    titles = {task["source"]: task["title"] for task in tasks}
    assert titles["change"] == "Change the code: “better”"
    pages: list[dict[str, Any]] = []
    cursor: tuple[str, ...] = ()
    while True:
        page = astra.json("tasks", "list", "--limit", "1", *cursor)
        pages += page["items"]
        if page["next"] is None:
            break
        cursor = ("--cursor", str(page["next"]))
    assert pages == tasks


def test_a_list_that_its_options_leave_empty_says_so(astra: Astra) -> None:
    make_one_of_each(astra)
    astra.run("desires", "record", "learn to sail")
    for words, lines in (
        (("tasks", "list", "--outcome", "gone"), "no task fits these options"),
        (("changes", "list", "--state", "rejected"), "no change fits these options"),
        (("desires", "list", "--tag", "sea"), "no desire fits these options"),
        (("schedules", "list", "--tier", "2"), "no schedule fits these options"),
        (("plans", "list", "--state", "running"), "no plan fits these options"),
        (("plans", "list"), "there are no plans"),
        (("beliefs", "list", "--scope", "nowhere"), "no belief fits these options"),
        (("ledger", "tail", "--type", "restored"), "no record is of the type restored"),
    ):
        assert astra.run(*words).stdout.strip() == lines, words


def test_one_of_a_thing_is_shown_without_microseconds_and_escape_codes(astra: Astra) -> None:
    subjects = make_one_of_each(astra)
    desire = astra.json("desires", "record", "learn to \u202esail")["id"]
    tasks = [task["id"] for task in astra.json("tasks", "list")["items"]]
    shows = [("desires", desire), ("schedules", subjects["schedule"])]
    for command, identifier in (*shows, *(("tasks", task) for task in tasks)):
        text = astra.run(command, "show", identifier).stdout
        assert re.search(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ", text), text
        assert not re.search(r"\d{6}Z|\.\d{6}|None|\u202e", text), text


def test_a_task_that_failed_is_the_last_failed_at_every_door(astra: Astra) -> None:
    words = ["--name", "test", "--cron", "@yearly", "--tool", "read_source_code"]
    payload = ["--payload", '{"path": "no_such_file.py"}']
    schedule = astra.json("schedules", "create", *words, *payload)["id"]
    astra.run("schedules", "run", schedule)
    failed = call(astra, "tasks_last_failed")["items"]
    assert [(task["subject_id"], task["outcome"]) for task in failed] == [(schedule, "failed")]
    assert astra.json("tasks", "list", "--outcome", "failed")["items"] == failed
    assert call(astra, "tasks_list", outcome="failed")["items"] == failed
    refusal = astra.json("tasks", "enable", failed[0]["id"], code=1)
    assert (refusal["code"], refusal["next_step"]) == (
        "not_by_hand",
        f"astra schedules run {schedule}",
    )


def test_a_goals_tasks_are_drawn_as_a_tree(astra: Astra) -> None:
    goal = astra.json("goals", "create", "look around", "--file", "agent.py")["id"]
    astra.json("goals", "adopt", goal)
    astra.follow("goal_satisfied")
    document = astra.json("goals", "show", goal)
    assert document["graph"]["nodes"][0]["state"] == "succeeded"
    assert document["graph"]["edges"] == []
    text = astra.run("goals", "show", goal).stdout
    assert "planned by methods, by achieve_by_investigation" in text
    assert "✔ research (RESEARCH): look around  succeeded" in text
    assert "succeeds when file agent.py  ✔ held" in text
