"""A goal's budget of money in the real daemon: counted before each call, renewed by a signature.

By these prices a call may take 1 USD at the most and takes 0.05 USD; what it is given is free.
"""

import threading
from collections.abc import Callable
from typing import Any

from deploying import until
from driver import Astra
from model_server import ModelServer, report_honestly

MODEL = "[model]\noutput_tokens = 1000\n"
PRICES = '[[spend.prices]]\nmodel = "openai:scripted"\ninput = 0\noutput = 1000\n'
METHODS = """
[[methods]]
name = "rewrite"
task = "rewrite"
subtasks = [{ id = "change", task = "CODE_MODIFY", arguments = { instruction = "${text}" } }]
"""
CALLS_OF_A_CHANGE = 2
"""One that chooses the place, one that writes it anew."""


def answer_model(request: dict[str, Any]) -> Any:
    rules = str(request["messages"][0]["content"])
    if rules.startswith("You choose where source code"):
        return {"places": ["agent.py::answer"]}
    assert rules.startswith("You rewrite one piece"), rules
    return "```python\ndef answer() -> int:\n    return 43\n```"


def adopt_goal(night: Astra, server: ModelServer, money: str, *settings: str) -> str:
    """Have a goal with a budget of money adopted, whose one task has a model write a change."""
    server.usage = report_honestly
    path = night.root / "astra.toml"
    path.write_text("\n".join([path.read_text(), MODEL, *settings, METHODS]))
    night.json("config", "sign")
    night.json("flags", "set", "ASTRA_CODE_WRITE_ENABLED", "on")
    words = ("--task", "rewrite", "--budget", f"money={money}")
    goal = night.json("goals", "create", "answer 43", *words)["id"]
    night.json("goals", "adopt", goal)
    return goal


def wait_until(
    night: Astra, goal: str, reached: Callable[[dict[str, Any]], bool]
) -> dict[str, Any]:
    def look() -> dict[str, Any] | None:
        shown = night.json("goals", "show", goal)
        return shown if reached(shown) else None

    return until(look, otherwise=lambda: night.json("goals", "show", goal))


def is_held(shown: dict[str, Any]) -> bool:
    return shown["held"] == "budget_spent"


def waits_for_decision(shown: dict[str, Any]) -> bool:
    return shown["tasks"][0]["state"] == "waiting"


def test_a_goal_stops_before_the_call_that_may_pass_its_money_and_goes_on_when_signed_again(
    night: Astra, server: ModelServer
) -> None:
    server.say = answer_model
    goal = adopt_goal(night, server, "1.02", PRICES)
    shown = wait_until(night, goal, is_held)
    assert "1.02 USD is reached: 0.05 USD are counted" in shown["why"]
    assert len(server.calls) == 1
    assert (shown["usage"]["money"], shown["money_limit"]) == (0.05, 1.02)
    assert night.json("goals", "run", goal, code=1)["code"] == "budget_spent"
    assert night.json("goals", "retry", goal, code=1)["code"] == "budget_spent"
    assert f"astra goals adopt {goal}" in night.run("inbox").stdout
    assert f"budget_of_money {goal}: 0.05 USD of 1.02 USD" in night.run("spend").stdout

    night.json("goals", "adopt", goal)
    shown = wait_until(night, goal, waits_for_decision)
    assert len(server.calls) == 1 + CALLS_OF_A_CHANGE
    assert (shown["usage"]["money"], shown["money_limit"]) == (0.15, 2.04)
    assert night.json("ledger", "verify")["ok"]


def test_a_call_that_kill_9_cut_off_counts_whole_and_none_goes_beyond_the_money(
    night: Astra, server: ModelServer
) -> None:
    reached, go_on = threading.Event(), threading.Event()

    def hold_first(request: dict[str, Any]) -> Any:
        if not reached.is_set():
            reached.set()
            go_on.wait(300)
        return answer_model(request)

    server.say = hold_first
    goal = adopt_goal(night, server, "1.02", PRICES)
    assert reached.wait(300)
    assert night.json("goals", "show", goal)["usage"]["money"] == 1.0
    night.kill_daemon()
    go_on.set()
    shown = wait_until(night, goal, lambda shown: bool(shown["held"]))
    assert len(server.calls) == 1
    assert (shown["usage"]["money"], shown["money_limit"]) == (1.0, 1.02)
    assert "what it took is not known" in night.run("spend").stdout
    assert night.json("ledger", "verify")["ok"]


def test_a_goal_with_money_calls_no_model_without_a_price_and_goes_on_once_there_is_one(
    night: Astra, server: ModelServer
) -> None:
    server.say = answer_model
    goal = adopt_goal(night, server, "5")
    shown = wait_until(night, goal, lambda shown: shown["held"] == "over_cap")
    assert "there is no price for the model openai:scripted" in shown["why"]
    assert server.calls == []
    path = night.root / "astra.toml"
    path.write_text(f"{path.read_text()}\n{PRICES}")
    night.json("config", "sign")
    shown = wait_until(night, goal, waits_for_decision)
    assert shown["usage"]["money"] == 0.1
