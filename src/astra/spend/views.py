"""What doors show of spending: today's sums, each with its cap, what is reserved and uncertain."""

from dataclasses import dataclass
from typing import Any

from astra.spend.book import SpendBook, make_total
from astra.spend.caps import MONEY, Cap, describe_limit, list_caps
from astra.spend.model import ACTOR, DAY, GOAL, MODEL, PLAN, Amount, Scope, Total, make_scope
from astra.trusted.kernel.text import one_line

_MOST_ROWS, _MOST_GAUGES = 50, 12
_BUDGET = "budget_of_money"
"""What the gauge of a goal's own budget is called, beside the settings that are caps."""
_COLUMNS = (
    "tokens, nano, uncertain_tokens, uncertain_nano, reserved_tokens, reserved_nano, name, calls"
)


@dataclass(frozen=True, kw_only=True)
class SpendViews:
    book: SpendBook

    def describe(self) -> dict[str, Any]:
        """Give today's spending: of the day, by actor, goal, plan and model."""
        settings, day = self.book.read_settings(), self.book.today()
        caps = list_caps(settings)
        return {
            "day": day,
            "currency": settings.currency,
            "caps": [_describe_cap(cap, settings.currency) for cap in caps],
            "gauges": self.list_gauges(),
            "actors": self._list_rows(ACTOR, day),
            "goals": self._list_rows(GOAL, day),
            "plans": self._list_rows(PLAN, day),
            "models": self._list_rows(MODEL, day),
            "unsettled": self._list_unsettled(),
        }

    def list_gauges(self) -> list[dict[str, Any]]:
        """Give how full each cap is, for whatever counts in it today; the fullest first."""
        settings, day = self.book.read_settings(), self.book.today()
        gauges = [
            self._make_gauge(cap, make_scope(cap.kind, name, day))
            for cap in list_caps(settings)
            for name in self._list_names(cap.kind, day)
        ]
        gauges += self._list_budget_gauges(settings.currency, day)
        return sorted(gauges, key=lambda gauge: -gauge["share"])[:_MOST_ROWS]

    def summarise(self) -> dict[str, Any]:
        """Give the fullest caps, and the first of them in one line; nothing where none is set."""
        gauges = self.list_gauges()[:_MOST_GAUGES]
        return {"summary": _summarise_gauge(gauges[0]) if gauges else "", "gauges": gauges}

    def _list_budget_gauges(self, currency: str, day: str) -> list[dict[str, Any]]:
        """Give the gauges of goals that called today and have a budget of money of their own."""
        names = self._list_names(GOAL, day)
        limits = ((name, self.book.find_goal_limit(name, currency)) for name in names)
        return [
            self._make_gauge(
                Cap(kind=GOAL, measure=MONEY, limit=limit, budget=name),
                make_scope(GOAL, name, day),
            )
            for name, limit in limits
            if limit is not None
        ]

    def _make_gauge(self, cap: Cap, scope: Scope) -> dict[str, Any]:
        currency = self.book.read_settings().currency
        total = self.book.read_total(scope)
        limit = cap.limit if cap.budget else self.book.raises.find_limit(scope, cap)
        used = cap.read(total.counted)
        share_text = " of ".join(describe_limit(cap.measure, n, currency) for n in (used, limit))
        return {
            "cap": _BUDGET if cap.budget else cap.setting,
            "name": scope.name,
            "used": _to_unit(cap, used),
            "reserved": _to_unit(cap, cap.read(total.reserved)),
            "uncertain": _to_unit(cap, cap.read(total.uncertain)),
            "limit": _to_unit(cap, limit),
            "configured": _to_unit(cap, cap.limit),
            "share": used / limit if limit else 1.0,
            "in_words": share_text,
        }

    def _list_names(self, kind: str, day: str) -> list[str]:
        if kind == DAY:
            return [""]
        rows = self.book.ledger.query(
            "SELECT name FROM spend_total WHERE day = ? AND kind = ?"
            " ORDER BY tokens + uncertain_tokens + reserved_tokens DESC LIMIT ?",
            [day, kind, _MOST_ROWS],
        )
        return [name for (name,) in rows]

    def _list_rows(self, kind: str, day: str) -> list[dict[str, Any]]:
        """Give the sums of one kind that something was counted in on a day, the largest first."""
        rows = self.book.ledger.query(
            f"SELECT {_COLUMNS} FROM spend_total WHERE day = ? AND kind = ?"  # noqa: S608 - fixed text
            " ORDER BY tokens + uncertain_tokens + reserved_tokens DESC LIMIT ?",
            [day, kind, _MOST_ROWS],
        )
        return [
            {"name": row[6], "calls": row[7], **_describe_total(make_total(row[:6]))}
            for row in rows
        ]

    def _list_unsettled(self) -> list[dict[str, Any]]:
        """Give calls that are under way, or that a crash cut off, the newest first."""
        rows = self.book.ledger.query(
            "SELECT call, since, model, tokens, nano FROM spend_open WHERE since > ''"
            " ORDER BY since DESC LIMIT ?",
            [_MOST_ROWS],
        )
        return [
            {
                "call": call,
                "since": since,
                "model": model,
                **_describe_amount(Amount(tokens=tokens, nano=nano)),
                "under_way": self.book.is_under_way(call),
            }
            for call, since, model, tokens, nano in rows
        ]


def _summarise_gauge(gauge: dict[str, Any]) -> str:
    name = f" of {one_line(gauge['name'], 60)}" if gauge["name"] else ""
    return f"{gauge['cap']}{name}: {gauge['in_words']}"


def _describe_cap(cap: Cap, currency: str) -> dict[str, Any]:
    return {
        "cap": cap.setting,
        "limit": _to_unit(cap, cap.limit),
        "in_words": describe_limit(cap.measure, cap.limit, currency),
    }


def _describe_total(total: Total) -> dict[str, Any]:
    parts = {"reserved": total.reserved, "uncertain": total.uncertain}
    return {
        **_describe_amount(total.counted),
        **{
            f"{part}_{name}": value
            for part, amount in parts.items()
            for name, value in _describe_amount(amount).items()
        },
    }


def _describe_amount(amount: Amount) -> dict[str, Any]:
    return {"tokens": amount.tokens, "money": _to_money(amount.nano)}


def _to_unit(cap: Cap, value: int) -> float:
    return _to_money(value) if cap.measure == MONEY else value


def _to_money(nano: int) -> float:
    return nano / 1_000_000_000
