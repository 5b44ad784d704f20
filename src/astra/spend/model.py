"""What is counted: on whose account, how much, and where a sum is kept.

A scope is one sum: of a day, of an actor on a day, of a goal, of a plan. `Amount` is what a call
takes or took; money is in billionths of the currency (see `spend_settings`).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from astra.trusted.kernel.errors import Refused

DAY, ACTOR, GOAL, PLAN, MODEL = "day", "actor", "goal", "plan", "model"
KINDS = (DAY, ACTOR, GOAL, PLAN)
"""What caps are for; sums of a model are only shown."""
BY_DAY = frozenset({DAY, ACTOR, MODEL})


class SpendRefused(Refused):
    """A model was not called, because a cap on tokens or money would be passed."""

    code = "spend_cap_reached"


@dataclass(frozen=True, kw_only=True)
class Account:
    """Who a model is called for. What is left out is found by the story and the first record."""

    actor: str = ""
    goal: str = ""
    plan: str = ""
    correlation: str = ""

    @property
    def waiter(self) -> str:
        """What waits when a cap is reached: the plan, else the goal; nothing for a talk."""
        return self.plan or self.goal

    def as_dict(self) -> dict[str, str]:
        return {"actor": self.actor, "goal": self.goal, "plan": self.plan}


NOBODY = Account()


@dataclass(frozen=True, kw_only=True)
class Amount:
    tokens: int = 0
    nano: int = 0

    def __add__(self, other: "Amount") -> "Amount":
        return Amount(tokens=self.tokens + other.tokens, nano=self.nano + other.nano)

    def as_dict(self) -> dict[str, int]:
        return {"tokens": self.tokens, "nano": self.nano}


NOTHING = Amount()


@dataclass(frozen=True, kw_only=True)
class Scope:
    kind: str
    name: str = ""
    day: str = ""

    @property
    def key(self) -> str:
        """Name one sum.

        >>> Scope(kind="actor", name="agent:a", day="2026-05-01").key
        'actor:2026-05-01:agent:a'
        """
        return ":".join(part for part in (self.kind, self.day, self.name) if part)


def list_scopes(account: Mapping[str, Any], *, day: str, model: str) -> list[Scope]:
    """Name every sum that a call counts in."""
    names = {DAY: day, ACTOR: account[ACTOR], GOAL: account[GOAL], PLAN: account[PLAN]}
    capped = [make_scope(kind, name, day) for kind, name in names.items() if name]
    return [*capped, make_scope(MODEL, model, day)]


def make_scope(kind: str, name: str, day: str) -> Scope:
    own_name = "" if kind == DAY else name
    return Scope(kind=kind, name=own_name, day=day if kind in BY_DAY else "")


@dataclass(frozen=True, kw_only=True)
class Total:
    """One sum: settled by what a server reported, uncertain, and reserved for calls not settled."""

    settled: Amount = NOTHING
    uncertain: Amount = NOTHING
    reserved: Amount = NOTHING

    @property
    def counted(self) -> Amount:
        return self.settled + self.uncertain + self.reserved


class SpendRoom(Protocol):
    """Room under the caps on spending, as those ask for it who wait."""

    def waits(self, waiter: str) -> bool:
        """Tell whether something was refused for want of room and would be refused now."""
        ...

    def lacks_money(self, goal: str) -> bool:
        """Tell whether that is because of a goal's own budget of money."""
        ...


class UnlimitedRoom:
    """There are no caps, so nothing waits."""

    def waits(self, waiter: str) -> bool:
        del waiter
        return False

    def lacks_money(self, goal: str) -> bool:
        del goal
        return False
