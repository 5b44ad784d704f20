"""On whose account a model is called: the plan, the goal, and the actor who wanted it.

Everything comes from records of the server's own: the first record about a plan or a goal says who
wanted it, and a plan that a goal asked for counts for that goal. Where nothing else does, the story
names the goal: its first one, as a goal that repairs a release is told in the story of the other.
An agent's call that runs for a plan counts for the plan.
"""

from dataclasses import replace

from astra.goals import events as goals
from astra.plans import events as plans
from astra.spend.model import Account
from astra.trusted.ledger.ports import Ledger

_DAEMON = "daemon"


def complete_account(ledger: Ledger, account: Account) -> Account:
    """Fill in what an account leaves out."""
    runner = account.actor.removeprefix("agent:")
    plan = account.plan or (runner if runner.startswith("plan_") else "")
    goal = account.goal or _read_goal(account.actor) or _read_goal(_find_first_actor(ledger, plan))
    goal = goal or _find_goal(ledger, account.correlation)
    is_own_name = runner in {plan, goal}
    actor = "" if is_own_name else account.actor
    actor = actor or _find_first_actor(ledger, plan, goal) or _DAEMON
    return replace(account, actor=actor, plan=plan, goal=goal)


def _read_goal(actor: str) -> str:
    """Name the goal that an actor works for, or nothing."""
    runner = actor.removeprefix("agent:")
    return runner if runner.startswith("goal_") else ""


def _find_goal(ledger: Ledger, story: str) -> str:
    """Name the goal that a story is about, or nothing."""
    if not story:
        return ""
    records = ledger.find_mentions(story, goals.CREATED, limit=1)
    is_own = bool(records) and records[0].correlation == story
    return str(records[0].subject) if is_own else ""


def _find_first_actor(ledger: Ledger, plan: str, goal: str = "") -> str:
    """Say who wanted a plan; for one that a goal made, who wanted the goal."""
    if goal:
        records = ledger.records_of(goal, goals.CREATED)
    elif plan:
        records = ledger.records_of(plan, plans.REQUESTED, plans.DRAFTED)
    else:
        return ""
    return records[0].actor if records else ""
