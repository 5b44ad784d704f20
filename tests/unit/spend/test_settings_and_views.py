"""Prices and caps as astra.toml says them, and what doors show of them."""

from dataclasses import replace
from itertools import pairwise

import pytest

from astra.spend.usage import Report
from astra.spend.views import SpendViews
from astra.trusted.kernel.errors import BadSetting
from astra.trusted.settings import configuration
from spend_in_memory import ACCOUNT, PRICES, SpendInMemory

PRICE = '[[spend.prices]]\nmodel = "m"\n'


def test_no_setting_means_no_cap() -> None:
    spend = configuration.parse("").spend
    assert spend.tokens_per_day is spend.money_per_plan is None


@pytest.mark.parametrize(
    "text",
    [
        "[spend]\ntokens_per_day = -1",
        "[spend]\ntokens_per_day = 1.5",
        "[spend]\ntokens_per_day = true",
        "[spend]\nmoney_per_day = -0.1",
        "[spend]\nmoney_per_day = nan",
        "[spend]\nmoney_per_day = inf",
        '[spend]\nmoney_per_day = "5"',
        '[spend]\ncurrency = "dollars"',
        "[spend]\ntokens_per_hour = 1",
        f"{PRICE}input = -1\noutput = 1",
        f"{PRICE}input = nan\noutput = 1",
        f"{PRICE}input = 0.0001\noutput = 1",
        f"{PRICE}input = 1",
        '[[spend.prices]]\nmodel = ""\ninput = 1\noutput = 1',
    ],
)
def test_a_setting_that_cannot_be_meant_is_refused(text: str) -> None:
    with pytest.raises(BadSetting):
        configuration.parse(text)


def test_the_first_price_that_matches_counts() -> None:
    text = "".join(
        f'[[spend.prices]]\nmodel = "{model}"\ninput = {price}\noutput = 1\n'
        for model, price in (("openai:small-*", 1), ("openai:*", 2), ("*", 3))
    )
    spend = configuration.parse(text).spend
    names = ("openai:small-1", "openai:big", "anthropic:x")
    assert [spend.find_price(name).input for name in names] == [1, 2, 3]


def test_the_view_shows_gauges_sums_and_calls_that_are_not_settled() -> None:
    world = SpendInMemory(f"tokens_per_day = 1000\nmoney_per_plan = 1\n{PRICES}")
    settled, under_way = world.reserve(100, output=50), world.reserve(200)
    report = Report(input_tokens=80, output_tokens=20)
    world.book.settle(settled, report, received_bytes=0)
    shown = SpendViews(book=world.book).describe()
    assert [cap["cap"] for cap in shown["caps"]] == ["tokens_per_day", "money_per_plan"]
    day = next(gauge for gauge in shown["gauges"] if gauge["cap"] == "tokens_per_day")
    assert (day["used"], day["reserved"], day["limit"]) == (300, 200, 1_000)
    assert day["in_words"] == "300 tokens of 1,000 tokens"
    plan = shown["plans"][0]
    assert (plan["name"], plan["calls"], plan["tokens"]) == (ACCOUNT.plan, 2, 300)
    assert plan["money"] == pytest.approx(0.00032)
    assert [call["call"] for call in shown["unsettled"]] == [under_way.call]
    assert shown["unsettled"][0]["under_way"]


def test_the_fullest_cap_comes_first_and_is_the_summary() -> None:
    world = SpendInMemory("tokens_per_day = 1000\ntokens_per_plan = 200")
    world.reserve(150)
    summary = SpendViews(book=world.book).summarise()
    shares = [gauge["share"] for gauge in summary["gauges"]]
    assert all(one >= other for one, other in pairwise(shares))
    assert summary["summary"] == "tokens_per_plan of plan_00000001: 150 tokens of 200 tokens"


def test_without_caps_there_is_nothing_to_show() -> None:
    world = SpendInMemory(PRICES)
    assert SpendViews(book=world.book).summarise() == {"summary": "", "gauges": []}


def test_a_goal_with_a_budget_of_money_has_a_gauge_without_any_cap() -> None:
    world = SpendInMemory(PRICES)
    world.book = replace(world.book, find_goal_limit=lambda _goal, _currency: 2_000_000_000)
    world.reserve(100)
    shown = SpendViews(book=world.book).describe()
    assert shown["caps"] == []
    (gauge,) = shown["gauges"]
    assert (gauge["cap"], gauge["name"]) == ("budget_of_money", "goal_00000001")
    assert gauge["limit"] == gauge["configured"] == 2
    assert gauge["in_words"].endswith(" of 2.00 USD")
