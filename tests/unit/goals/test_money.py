"""A goal's budget of money: a cap of its own, counted before each call, renewed by a signature."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import pytest

from astra.goals import control
from astra.goals.model import Goal
from astra.goals.money import find_money_limit
from astra.goals.ports import Done, TaskRun, Waiting
from astra.spend.book import Estimate, SpendBook
from astra.spend.model import Account, SpendRefused
from astra.spend.raising import SignedRaises
from astra.spend.usage import Report
from astra.trusted.kernel.errors import Conflict
from astra.trusted.policy import contract
from goals_in_memory import GoalsInMemory, Scripted

METHODS = """
[[methods]]
name = "two"
task = "top"
subtasks = [
  { id = "a", task = "CHECK", arguments = { command = "true" } },
  { id = "b", task = "CHECK", after = ["a"], arguments = { command = "true" } },
]
"""
PRICES = """
[[spend.prices]]
model = "openai:*"
input = 1000
output = 1000
"""
CENT = 10
"""So many tokens cost a hundredth, by these prices."""


@dataclass
class Spender(Scripted):
    """Calls a model for each task: reserves what it may take, settles what it took."""

    spend: Callable[[Account], None] = lambda _account: None

    def begin(self, run: TaskRun) -> Done | Waiting:
        self.spend(Account(goal=run.goal.id, correlation=run.goal.correlation))
        return super().begin(run)


class World(GoalsInMemory):
    def __init__(self, settings: str = PRICES) -> None:
        super().__init__(METHODS)
        self.book_of_spending = self.open_book()
        self.performer = Spender(spend=self.spend)
        self.runner = self.new_runner()
        self.runner.room = self.book_of_spending
        self.sign(settings)
        self.asked = 0

    def open_book(self) -> SpendBook:
        root = self.gate.root
        return SpendBook(
            ledger=root.ledger,
            clock=root.time,
            raises=SignedRaises(desk=self.gate.desk),
            complete=lambda account: account,
            find_goal_limit=partial(find_money_limit, root.ledger),
        )

    def sign(self, settings: str) -> None:
        root = self.gate.root
        signed = root.sign("config_signed", contract.content(settings))
        event = contract.sign(root.ledger, settings, signed, now=root.clock.now())
        root.ledger.append([event])

    def spend(self, account: Account, tokens: int = 4 * CENT) -> None:
        estimate = Estimate(
            model="openai:x", input_tokens=tokens, output_tokens=0, sent_bytes=tokens
        )
        reservation = self.book_of_spending.reserve(account, estimate)
        self.asked += 1
        if reservation:
            report = Report(input_tokens=tokens, output_tokens=0)
            self.book_of_spending.settle(reservation, report, received_bytes=0)

    def hold(self, goal: Goal) -> tuple[str, str]:
        shown = self.book.get(goal.id)
        return shown.held, shown.why


def test_money_is_counted_before_a_call_and_none_is_made_beyond_the_budget() -> None:
    world = World()
    goal = world.adopted(budget={"money": "0.05"})
    world.run_all()
    assert world.asked == 1
    assert world.states(goal) == {"a": "succeeded", "b": "pending"}
    held, why = world.hold(goal)
    assert held == control.BUDGET_SPENT
    assert "0.05 USD is reached: 0.04 USD are counted, and this call may take 0.04 USD" in why
    assert f"astra goals adopt {goal.id}" in why
    shown = world.book.get(goal.id).as_dict()
    assert (shown["usage"]["money"], shown["money_limit"]) == (0.04, 0.05)


def test_only_another_signature_renews_the_money_and_the_tasks_go_on() -> None:
    world = World()
    goal = world.adopted(budget={"money": 0.05})
    world.run_all()
    with pytest.raises(Conflict) as refusal:
        world.control.resume(goal.id, actor="operator")
    assert refusal.value.reason == "budget_spent"
    world.adopt(goal)
    world.run_all()
    assert world.states(goal) == {"a": "succeeded", "b": "succeeded"}
    shown = world.book.get(goal.id).as_dict()
    assert (shown["usage"]["money"], shown["money_limit"]) == (0.08, 0.1)


def test_a_goal_without_a_budget_of_money_is_not_counted() -> None:
    world = World()
    goal = world.adopted()
    world.run_all()
    assert world.states(goal) == {"a": "succeeded", "b": "succeeded"}
    assert world.events("spend_reserved") == []
    assert "money" not in world.book.get(goal.id).budget.as_dict()
    assert world.book.get(goal.id).money_limit is None


def test_a_plan_of_a_goal_that_has_no_money_left_holds_the_goal() -> None:
    """The plan waits by itself; the goal is held, so that its budget can be signed for again."""
    world = World()
    world.performer.answers["a"] = [Waiting(on="plan_00000001", why="a plan")]
    goal = world.adopted(budget={"money": "0.05"})
    world.run_all()
    account = Account(goal=goal.id, plan="plan_00000001", correlation=goal.correlation)
    with pytest.raises(SpendRefused) as refusal:
        world.spend(account)
    assert refusal.value.reason == "goal_budget_spent"
    assert world.book_of_spending.waits("plan_00000001")
    world.run_all()
    assert world.hold(goal)[0] == control.BUDGET_SPENT
    world.adopt(goal)
    assert not world.book_of_spending.waits("plan_00000001")
    world.spend(account)


def test_without_a_price_nothing_is_called_and_the_goal_goes_on_once_there_is_one() -> None:
    world = World("")
    goal = world.adopted(budget={"money": "0.2"})
    world.run_all()
    assert world.asked == 0
    assert world.hold(goal)[0] == control.OVER_CAP
    assert "[[spend.prices]]" in world.hold(goal)[1]
    world.sign(PRICES)
    world.run_all()
    assert world.states(goal) == {"a": "succeeded", "b": "succeeded"}


def test_a_budget_in_another_currency_than_is_counted_lets_nothing_be_spent() -> None:
    world = World()
    goal = world.adopted(budget={"money": "9"})
    world.sign(f'[spend]\ncurrency = "EUR"\n{PRICES}')
    world.run_all()
    assert world.asked == 0
    assert world.hold(goal)[0] == control.BUDGET_SPENT


def test_the_amount_is_signed_with_its_currency() -> None:
    world = World()
    goal = world.propose(budget={"money": 0.5})
    approval = world.service.adoption.ask(goal.id)
    assert world.gate.desk.details(approval)["details"]["budget"]["money"] == "0.5 USD"
