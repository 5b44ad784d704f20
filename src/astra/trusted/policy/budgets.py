"""Budgets: so many starts a UTC day, for each tool, each schedule, and each actor in all.

How many is the operator's to say, in the signed configuration (`[budgets]`).

A start is spent by an event of its own (`budget_spent`) in the same batch as the start, with the
version of its scope expected. So two callers can never both take the last one, a crash can neither
refund nor double-spend, and the day of a spend is the day in its record. A call that its tool
refused has done nothing, and what it spent is returned with the record of its end; at most as often
a day as the budget is large, so that refusals are bounded too.

>>> from datetime import UTC, datetime
>>> Scope("tool", "write_file", 500, datetime(2026, 5, 1, 23, 59, tzinfo=UTC)).day
'2026-05-01'
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from astra.trusted.kernel import ids
from astra.trusted.kernel.clock import format_time
from astra.trusted.ledger.ports import Ledger
from astra.trusted.ledger.projection import Projection, Statement
from astra.trusted.ledger.record import Event, Record
from astra.trusted.policy.call import Call, Tier
from astra.trusted.settings.configuration import Budgets

BUDGET_SPENT, BUDGET_RETURNED = "budget_spent", "budget_returned"


@dataclass(frozen=True)
class Scope:
    """One budget on one day."""

    kind: str
    name: str
    limit: int
    moment: datetime

    @property
    def day(self) -> str:
        return format_time(self.moment)[:10]

    @property
    def id(self) -> str:
        return ids.id_from_content("budget", f"{self.kind}\n{self.name}\n{self.day}", digits=16)

    @property
    def returns_id(self) -> str:
        """What was returned is counted by itself, so that each count only grows."""
        return ids.id_from_content("budget", f"{self.id}\nreturned", digits=16)

    def spend(self, call: Call) -> Event:
        return self._build_event(BUDGET_SPENT, call, self.id)

    def give_back(self, call: Call) -> Event:
        return self._build_event(BUDGET_RETURNED, call, self.returns_id)

    def _build_event(self, kind: str, call: Call, subject: str) -> Event:
        data = {"scope": self.kind, "name": self.name, "day": self.day, "limit": self.limit}
        return Event(
            type=kind,
            actor=str(call.actor),
            data={**data, "budget": self.id} if kind == BUDGET_RETURNED else data,
            correlation=call.correlation,
            subject=subject,
        )


@dataclass(frozen=True)
class Balance:
    scope: Scope
    used: int
    spends: int = 0
    """How often it was drawn on, returned or not: the version that a spend expects."""

    @property
    def left(self) -> int:
        return max(self.scope.limit - self.used, 0)


def scopes(
    call: Call, *, now: datetime, ceilings: Callable[[], Budgets] = Budgets
) -> tuple[Scope, ...]:
    """Name the budgets a call draws on. Reading is free; a plan spends its own step budget.

    Another server's budget counts every call of its tools, whoever makes it and whatever its tier.
    """
    server_scopes = (Scope("server", call.server, call.server_budget, now),) if call.server else ()
    if call.tier is Tier.READ or call.plan_id:
        return server_scopes
    schedule_scopes = (
        (Scope("schedule", call.schedule_id, call.schedule_budget, now),)
        if call.schedule_id
        else ()
    )
    in_force = ceilings()
    per_tool = Scope("tool", call.tool, in_force.tool_per_day, now)
    pool = Scope("actor", str(call.actor.role), in_force.actor_per_day, now)
    return *server_scopes, *schedule_scopes, per_tool, pool


def balances(ledger: Ledger, wanted: Sequence[Scope]) -> list[Balance]:
    return [_read_balance(ledger, scope) for scope in wanted]


def build_return_events(ledger: Ledger, spent: Sequence[Scope], call: Call) -> list[Event]:
    """Give the events that return what a refused call has spent."""
    return [
        scope.give_back(call) for scope in spent if ledger.version(scope.returns_id) < scope.limit
    ]


def _read_balance(ledger: Ledger, scope: Scope) -> Balance:
    spends = ledger.version(scope.id)
    return Balance(scope, max(spends - ledger.version(scope.returns_id), 0), spends)


def _apply_record(record: Record) -> Iterator[Statement]:
    data = record.data
    if record.type == BUDGET_RETURNED:
        yield "UPDATE budget SET used = max(used - 1, 0) WHERE id = ?", (data["budget"],)
        return
    yield _SPEND, (record.subject, data["day"], data["scope"], data["name"], data["limit"])


_SPEND = """
    INSERT INTO budget VALUES (?, ?, ?, ?, 1, ?)
    ON CONFLICT (id) DO UPDATE SET used = used + 1, allowed = excluded.allowed
"""

PROJECTION = Projection(
    "budgets",
    (
        """CREATE TABLE budget (
            id TEXT PRIMARY KEY, day TEXT, scope TEXT, name TEXT, used INTEGER, allowed INTEGER
        ) WITHOUT ROWID""",
        "CREATE INDEX budget_day ON budget (day, scope, name)",
        "CREATE INDEX budget_name ON budget (scope, name, day)",
    ),
    _apply_record,
    types=frozenset({BUDGET_SPENT, BUDGET_RETURNED}),
)
