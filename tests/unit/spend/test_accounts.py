"""On whose account a model is called is found in the server's own records."""

from astra.bootstrap.accounts import complete_account
from astra.spend.model import Account
from goals_in_memory import STORY, GoalsInMemory
from plans_at_work import PlansAtWork

METHOD = """
[[methods]]
name = "one"
task = "top"
subtasks = [{ id = "a", task = "CHECK", arguments = { command = "true" } }]
"""
OTHER_STORY = "cor_00000000000000cc"


def test_a_plan_counts_for_who_wanted_it() -> None:
    world = PlansAtWork()
    plan = world.approved()
    account = complete_account(world.ledger, Account(plan=plan.id, correlation=plan.correlation))
    assert (account.actor, account.plan, account.goal) == ("agent:test", plan.id, "")


def test_a_call_that_runs_for_a_plan_counts_for_the_plan() -> None:
    world = PlansAtWork()
    plan = world.approved()
    account = complete_account(world.ledger, Account(actor=f"agent:{plan.id}"))
    assert (account.actor, account.plan) == ("agent:test", plan.id)


def test_what_belongs_to_the_story_of_a_goal_counts_for_the_goal() -> None:
    world = GoalsInMemory(METHOD)
    goal, ledger = world.propose(), world.gate.root.ledger
    own = complete_account(ledger, Account(correlation=STORY))
    assert (own.actor, own.goal) == ("agent:test", goal.id)
    other = complete_account(ledger, Account(actor="agent:b", correlation=OTHER_STORY))
    assert (other.actor, other.goal) == ("agent:b", "")


def test_who_talks_pays_and_nobody_is_the_daemon() -> None:
    ledger = GoalsInMemory(METHOD).gate.root.ledger
    talk = complete_account(ledger, Account(actor="operator", correlation=OTHER_STORY))
    assert (talk.actor, talk.plan, talk.goal) == ("operator", "", "")
    assert complete_account(ledger, Account()).actor == "daemon"


def test_a_plan_that_a_goal_asked_for_counts_for_that_goal_whatever_the_story_is_about() -> None:
    world = PlansAtWork()
    plan = world.approved(actor="agent:goal_00000001")
    account = complete_account(world.ledger, Account(plan=plan.id, correlation=plan.correlation))
    assert (account.plan, account.goal) == (plan.id, "goal_00000001")
