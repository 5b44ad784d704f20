"""Caps on tokens and money in the real daemon, with a model on loopback."""

import threading
from typing import Any

from deploying import until
from driver import Astra
from model_server import ModelServer, report_honestly
from plans_by_night import plan_for, started, wait_for

DONE = {"kind": "done", "output": "done"}
PRICE = '[[spend.prices]]\nmodel = "openai:scripted"\ninput = 3\noutput = 15\n'


def cap(astra: Astra, *settings: str) -> None:
    """Sign caps on spending, beside what the configuration says already."""
    path = astra.root / "astra.toml"
    before = path.read_text().partition("[spend]")[0]
    path.write_text("\n".join([before, "[spend]", *settings, ""]))
    astra.json("config", "sign")


def find_row(spend: dict[str, Any], group: str, name: str) -> dict[str, Any]:
    return next(row for row in spend[group] if row["name"] == name)


def test_a_plan_stops_at_its_cap_asks_and_goes_on_after_one_signature(
    night: Astra, server: ModelServer
) -> None:
    server.say, server.usage = (lambda _request: DONE), report_honestly
    cap(night, "tokens_per_plan = 5000", "money_per_day = 100", PRICE)
    identifier = started(night, plan_for(night))
    shown = wait_for(night, identifier, "blocked_on_budget", "completed", "aborted")
    assert shown["state"] == "blocked_on_budget", shown
    assert shown["block"]["over_cap"] == "tokens_per_plan"
    assert server.calls == [], "the cap is smaller than the first call may take"
    approval = night.json("approvals")["items"][0]
    assert approval["kind"] == "spend_cap"
    assert f"raise tokens_per_plan of plan:{identifier} from 5,000 tokens" in approval["summary"]
    assert approval["id"] in shown["reason"]

    while shown["state"] == "blocked_on_budget":
        night.json("approve", shown["block"]["approval_id"])
        shown = wait_past(night, identifier, shown)
    assert shown["state"] == "completed", shown
    spend = night.json("spend")
    plan = find_row(spend, "plans", identifier)
    assert plan["calls"] == len(server.calls) == 2
    assert plan["reserved_tokens"] == plan["uncertain_tokens"] == 0
    assert 0 < plan["tokens"] == find_row(spend, "models", "openai:scripted")["tokens"]
    gauge = next(item for item in spend["gauges"] if item["cap"] == "tokens_per_plan")
    assert gauge["limit"] > gauge["configured"] == 5_000
    assert "spend        " in night.run("status").stdout
    assert "(raised)" in night.run("spend").stdout
    assert night.json("ledger", "verify")["ok"]


def wait_past(night: Astra, plan: str, before: dict[str, Any]) -> dict[str, Any]:
    """Wait until a plan is completed, or blocked by another request than before."""
    approval = before["block"]["approval_id"]

    def look() -> dict[str, Any] | None:
        shown = night.json("plans", "show", plan)
        waits = shown["state"] == "blocked_on_budget"
        if shown["state"] in {"completed", "aborted"}:
            return shown
        return shown if waits and shown["block"]["approval_id"] != approval else None

    return until(look)


def test_a_call_that_kill_9_cut_off_stays_reserved_and_says_so(
    night: Astra, server: ModelServer
) -> None:
    reached, go_on = threading.Event(), threading.Event()

    def hold_first(_request: dict[str, Any]) -> Any:
        if not reached.is_set():
            reached.set()
            go_on.wait(300)
        return DONE

    server.say, server.usage = hold_first, report_honestly
    cap(night, "tokens_per_day = 1000000", "money_per_day = 10", PRICE)
    identifier = started(night, plan_for(night))
    assert reached.wait(300)
    before = night.json("spend")
    assert [call["under_way"] for call in before["unsettled"]] == [True]
    reserved = before["unsettled"][0]["tokens"]
    assert find_row(before, "plans", identifier)["reserved_tokens"] == reserved > 8_000

    night.kill_daemon()
    go_on.set()
    wait_for(night, identifier, "completed", "aborted")
    after = night.json("spend")
    (lost,) = after["unsettled"]
    assert lost["call"] == before["unsettled"][0]["call"]
    assert not lost["under_way"]
    plan = find_row(after, "plans", identifier)
    assert plan["reserved_tokens"] == reserved
    assert plan["tokens"] > reserved
    assert plan["calls"] == 3
    assert "what it took is not known" in night.run("spend").stdout
    assert night.json("ledger", "verify")["ok"]


def test_a_talk_is_refused_at_a_cap_and_says_how_to_go_on(
    night: Astra, server: ModelServer
) -> None:
    server.say = lambda _request: "hello"
    cap(night, "tokens_per_day = 100")
    answer = night.run("chat", "hello")
    assert server.calls == []
    assert "tokens_per_day of 100 tokens is reached" in answer.stdout + answer.stderr


def test_a_model_without_a_price_waits_for_one_under_a_cap_on_money(
    night: Astra, server: ModelServer
) -> None:
    server.say, server.usage = (lambda _request: DONE), report_honestly
    cap(night, "money_per_day = 10")
    identifier = started(night, plan_for(night))
    shown = wait_for(night, identifier, "blocked_on_budget", "completed", "aborted")
    assert "there is no price for the model openai:scripted" in shown["reason"]
    cap(night, "money_per_day = 10", PRICE)
    assert wait_for(night, identifier, "completed", "aborted")["state"] == "completed"


def test_without_caps_nothing_is_counted_or_recorded(night: Astra, server: ModelServer) -> None:
    server.say = lambda _request: DONE
    identifier = started(night, plan_for(night))
    wait_for(night, identifier, "completed", "aborted")
    assert night.json("spend")["caps"] == []
    assert "no caps are set" in night.run("spend").stdout
    assert "spend        " not in night.run("status").stdout
    chain = (night.root / "var" / "ledger").glob("*.ndjson")
    assert not [path for path in chain if '"spend_' in path.read_text()]
