"""A goal from its proposal to its end, in a terminal: planned, signed, run, mended, given up."""

from typing import Any

from driver import Astra
from model_server import ModelServer

METHODS = """
[[methods]]
name = "look_twice"
task = "look_twice"
subtasks = [
  { id = "files", task = "RUN_TOOL", tool = "list_source_files" },
  { id = "read", task = "RUN_TOOL", tool = "read_source_code", after = ["files"],
    arguments = { path = "${text}" } },
  { id = "tell", task = "ASK_OPERATOR", after = ["read"], arguments = { question = "Enough?" } },
]
""".replace(",\n    arguments", ", arguments")
SUBTASKS = [
    {"id": "files", "task": "RUN_TOOL", "tool": "list_source_files"},
    {
        "id": "read",
        "task": "RUN_TOOL",
        "tool": "read_source_code",
        "after": ["files"],
        "arguments": {"path": "agent.py"},
    },
]


def sign_methods(astra: Astra, text: str, code: int = 0) -> Any:
    path = astra.root / "astra.toml"
    before = path.read_text()
    path.write_text(f"{before}\n{text}")
    answer = astra.json("config", "sign", code=code)
    if code:
        path.write_text(before)
    return answer


def test_a_model_decomposes_what_no_method_fits_and_the_operator_signs_it(
    night: Astra, server: ModelServer
) -> None:
    def say(request: dict[str, Any]) -> Any:
        rules = str(request["messages"][0]["content"])
        assert rules.startswith("You decompose a goal into subtasks.")
        return {"subtasks": SUBTASKS}

    server.say = say
    words = ("--task", "paint_the_house", "--file", "agent.py")
    goal = night.json("goals", "create", "make it blue", *words)
    assert (goal["asks_model"], goal["tasks"]) == (True, [])
    night.follow("goal_planned")
    text = night.run("goals", "show", goal["id"]).stdout
    assert "proposed by a model, by proposed_by_model" in text
    assert "○ read (read_source_code): agent.py  pending  waits for files" in text
    night.json("goals", "adopt", goal["id"])
    night.follow("goal_satisfied")
    document = night.json("goals", "show", goal["id"])
    assert (document["state"], document["usage"]["model_calls"]) == ("satisfied", 1)
    assert document["graph"]["proposed_by"] == "model"
    assert len(server.calls) == 1
    _, _, digest = str(server.calls[0]["messages"][1]["content"]).partition(
        "<<<UNTRUSTED what happened lately"
    )
    assert f"{goal['id']} could not be planned" in digest


def test_a_bad_answer_of_a_model_is_said_and_leaves_the_goal_proposed(
    night: Astra, server: ModelServer
) -> None:
    server.say = lambda _request: {"subtasks": [{"id": "x", "task": "RUN_TOOL", "tool": "rm"}]}
    goal = night.json("goals", "create", "make it blue", "--task", "paint_the_house")["id"]
    night.follow("goal_decomposition_asked")
    while (document := night.json("goals", "show", goal))["asks_model"]:
        pass
    assert "there is no such tool" in document["why"]
    assert (document["state"], document["tasks"]) == ("proposed", [])
    assert night.json("approvals")["items"] == []


def test_a_failure_is_drawn_in_the_tree_and_retried_from_a_task(astra: Astra) -> None:
    sign_methods(astra, METHODS)
    words = ("goals", "create", "nowhere.py", "--task", "look_twice")
    assert astra.json(*words, "--unsigned")["source"] == "agent"
    created = astra.json(*words, "--budget", "money=0.5")
    goal = created["id"]
    assert (created["source"], created["budget"]["money"]) == ("operator", "0.5 USD")
    astra.json("goals", "adopt", goal)
    astra.follow("goal_held")
    text = astra.run("goals", "show", goal).stdout
    assert "proposed by the operator; used 0 of 20 model calls" in text
    assert "0 of 0.5 USD" in text
    assert "✔ files (list_source_files)  succeeded" in text
    assert "✘ read (read_source_code): nowhere.py  failed" in text
    assert "○ tell (ASK_OPERATOR): Enough?  pending" in text
    assert f"next: astra goals retry {goal}" in text
    assert astra.json("goals", "run", goal, code=1)["code"] == "task_failed"
    node = astra.json("goals", "show", goal)["graph"]["nodes"][0]["id"]
    astra.json("goals", "retry", goal, "--node", node)
    astra.json("goals", "abandon", goal, "--reason", "not there")
    assert astra.json("goals", "show", goal)["state"] == "abandoned"


def test_a_bad_method_is_refused_with_its_line_and_field_and_nothing_is_lost(astra: Astra) -> None:
    sign_methods(astra, METHODS)
    signed = astra.json("config", "show")
    for text, words in (
        (METHODS.replace("look_twice", "other").replace('["files"]', '["tell"]'), "wait for each"),
        (METHODS.replace("look_twice", "other").replace("${text}", "${tell.notes}"), "before it"),
        ('[[methods]]\nname = "x"\ntask = "x"\nsubtasks = [{id = "y", task = "z"}]', "decomposes"),
        ('[[methods]]\nname = "x"\ntask = "x"\ncolour = 3\nsubtasks = []', "no such field"),
    ):
        refusal = sign_methods(astra, text, code=2)
        assert refusal["code"] == "bad_method"
        assert words in refusal["detail"]
        assert "methods[1] (line " in refusal["detail"]
    assert astra.json("config", "show") == signed
    goal = astra.json("goals", "create", "agent.py", "--task", "look_twice")
    assert len(goal["tasks"]) == 3


def test_a_goal_that_no_method_fits_says_what_to_do_and_is_adopted_once_one_does(
    astra: Astra,
) -> None:
    goal = astra.json("goals", "create", "agent.py", "--task", "look_twice")["id"]
    text = astra.run("goals", "show", goal).stdout
    assert "not planned: no method decomposes 'look_twice'" in text
    assert f"then astra goals adopt {goal}" in text
    sign_methods(astra, METHODS)
    astra.json("goals", "adopt", goal)
    assert len(astra.json("goals", "show", goal)["tasks"]) == 3
    refusal = astra.json("goals", "adopt", "nonsense", code=1)
    assert (refusal["code"], refusal["next_step"]) == ("not_found", "astra goals list")


def test_conditions_of_methods_see_the_files_languages_and_flags_that_are_there(
    astra: Astra,
) -> None:
    conditions = {
        "has_it": ("file = agent.py", "language = Python", "not flag = ASTRA_CODE_WRITE_ENABLED"),
        "lacks_it": ("file = nowhere.py",),
        "other_language": ("language = rust",),
    }
    sign_methods(
        astra,
        "\n".join(
            METHODS.replace("look_twice", name).replace(
                "subtasks", f"when = {list(when)}\nsubtasks"
            )
            for name, when in conditions.items()
        ),
    )
    planned = {
        name: len(astra.json("goals", "create", "agent.py", "--task", name)["tasks"])
        for name in conditions
    }
    assert planned == {"has_it": 3, "lacks_it": 0, "other_language": 0}


def test_a_goal_that_was_given_up_or_reopened_is_shown_without_a_plan_of_before(
    astra: Astra,
) -> None:
    original = (astra.root / "astra.toml").read_text()
    sign_methods(astra, METHODS)
    goal = astra.json("goals", "create", "agent.py", "--task", "look_twice")["id"]
    astra.json("goals", "abandon", goal, "--reason", "not now")
    assert "  because: not now\n" in astra.run("goals", "show", goal).stdout
    (astra.root / "astra.toml").write_text(original)
    astra.json("config", "sign")
    astra.json("goals", "reopen", goal)
    astra.follow("goal_planning_failed")
    text = astra.run("goals", "show", goal).stdout
    assert "not planned: no method decomposes 'look_twice'" in text
    assert "planned by" not in text
