"""A goal: what is to be achieved, how that is told, and what it may use up."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, cast

from astra.goals.methods import NAME
from astra.goals.money import read_money, to_nano_limit
from astra.goals.states import State
from astra.operations import signals
from astra.trusted.kernel.clock import format_time
from astra.trusted.kernel.errors import BadInput
from astra.trusted.policy.paths import PathRefused, parse_relative
from astra.trusted.settings.spend_settings import NANO

CATEGORIES = ("user_requested", "introspection", "exploration", "maintenance")
CRITERIA = ("command", "file", "outcome", "metric")
KEPT = "kept"
"""The outcome that holds while nothing of what a goal brought about was taken back."""
LONGEST_TEXT, MOST_CRITERIA, LONGEST_CRITERION, HIGHEST_PRIORITY = 4_000, 20, 1_000, 100
_CEILING = 10_000_000


@dataclass(frozen=True, kw_only=True)
class Budget:
    """What a goal may use up before it is held: once it ran out, a signature renews it."""

    model_calls: int = 20
    tokens: int = 200_000
    minutes: int = 240
    money: str = ""
    """An amount with its currency, as `0.50 USD`; nothing where money is not limited."""

    def as_dict(self) -> dict[str, int | str]:
        """Leave money out where there is none: goals were signed before there was such a budget."""
        counts = {"model_calls": self.model_calls, "tokens": self.tokens, "minutes": self.minutes}
        return {**counts, **({"money": self.money} if self.money else {})}


@dataclass(frozen=True, kw_only=True)
class Usage:
    model_calls: int = 0
    tokens: int = 0
    milliseconds: float = 0.0
    nano: int = 0
    """Money, in billionths, with what is reserved for calls that are under way; never renewed."""

    def find_spent(self, budget: Budget, *, uncounted: float = 0.0) -> str:
        """Name what is used up, or nothing; money is counted before each call instead."""
        used = {
            "model_calls": (self.model_calls, budget.model_calls),
            "tokens": (self.tokens, budget.tokens),
            "minutes": ((self.milliseconds + uncounted) / 60_000, budget.minutes),
        }
        return next((name for name, (amount, limit) in used.items() if amount >= limit), "")

    def as_dict(self) -> dict[str, float]:
        counts = {"model_calls": self.model_calls, "tokens": self.tokens}
        return {**counts, "milliseconds": self.milliseconds, "money": self.nano / NANO}


@dataclass(frozen=True, kw_only=True)
class Goal:
    id: str
    text: str
    state: str
    source: str
    desire_id: str | None
    approval_id: str | None
    created_at: str
    correlation: str
    sequence: int
    category: str = "user_requested"
    task: str = "achieve"
    criteria: tuple[Mapping[str, str], ...] = ()
    deadline: str | None = None
    budget: Budget = field(default_factory=Budget)
    priority: int = 0
    parent: str | None = None
    held: str = ""
    why: str = ""
    planned: int | None = None
    """The record that has its graph."""
    usage: Usage = field(default_factory=Usage)
    checks: tuple[Mapping[str, Any], ...] = ()
    """How the success criteria went when they were last run."""
    asks_model: int = 0
    """Whether a model is to propose a decomposition, because no method fits."""
    model_asked: int = 0
    """How often one was asked since the goal was last proposed."""
    grants: int = 0
    """How often its budgets were signed for."""

    def as_dict(self) -> dict[str, Any]:
        hidden = {"sequence", "planned", "budget", "usage", "criteria", "checks", "model_asked"}
        hidden |= {"grants"}
        fields = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return {
            **{name: value for name, value in fields.items() if name not in hidden},
            "criteria": [dict(criterion) for criterion in self.criteria],
            "budget": self.budget.as_dict(),
            "usage": self.usage.as_dict(),
            "money_limit": self.money_limit,
            "checks": [dict(check) for check in self.checks],
            "asks_model": bool(self.asks_model),
        }

    @property
    def money_limit(self) -> float | None:
        """What it may spend in all, as often as its budgets were signed for; None: no limit."""
        limit = to_nano_limit(self.budget.money, self.grants)
        return None if limit is None else limit / NANO

    def contract(self) -> dict[str, Any]:
        """Give what an adoption binds besides the graph."""
        return {
            "goal": self.id,
            "text": self.text,
            "category": self.category,
            "criteria": [dict(criterion) for criterion in self.criteria],
            "deadline": self.deadline,
            "budget": self.budget.as_dict(),
            "priority": self.priority,
            "parent": self.parent,
        }


_READ_APART = {"state", "criteria", "budget", "checks", "usage"}
_OWN_COLUMNS = tuple(name for name in Goal.__dataclass_fields__ if name not in _READ_APART)


def read_row(row: Mapping[str, Any]) -> Goal:
    waits = row["state"] == State.EXECUTING and (row["held"] or row["waiting"])
    fields: dict[str, Any] = {
        **{name: row[name] for name in _OWN_COLUMNS},
        "state": str(State.BLOCKED) if waits else row["state"],
        "criteria": tuple(json.loads(row["criteria"])),
        "budget": _parse_budget(row["budget"]),
        "checks": tuple(json.loads(row["checks"])),
        "usage": Usage(
            model_calls=row["model_calls"],
            tokens=row["tokens"],
            milliseconds=row["milliseconds"],
            nano=row["nano"],
        ),
    }
    return Goal(**fields)


@lru_cache(64)
def _parse_budget(text: str) -> Budget:
    return Budget(**json.loads(text))


def read_request(fields: Mapping[str, Any], *, currency: str = "USD") -> dict[str, Any]:
    """Check what somebody wants as a goal; gives the data of its record."""
    text = str(fields.get("text", "")).strip()
    if not 1 <= len(text) <= LONGEST_TEXT or _has_controls(text):
        raise BadInput(
            f"a goal's text has 1 to {LONGEST_TEXT} characters and no control characters",
            next_step="say in plain text what is to be achieved",
            field="text",
        )
    category, task = fields.get("category") or "user_requested", fields.get("task") or "achieve"
    if category not in CATEGORIES:
        _refuse_field("category", f"one of {', '.join(CATEGORIES)}")
    if not isinstance(task, str) or not NAME.fullmatch(task):
        _refuse_field("task", "the task of a method: lower-case letters, digits and _")
    return {
        "text": text,
        "category": category,
        "task": task,
        "criteria": [_read_criterion(item) for item in _read_list(fields.get("criteria"))],
        "deadline": _read_deadline(fields.get("deadline")),
        "budget": _read_budget(fields.get("budget"), currency).as_dict(),
        "priority": _read_number("priority", fields.get("priority") or 0, HIGHEST_PRIORITY),
        "parent": fields.get("parent") or None,
    }


def _has_controls(text: str) -> bool:
    return any(not char.isprintable() and char != "\n" for char in text)


def _read_list(value: Any) -> list[Any]:
    if value is None:
        return []
    if not isinstance(value, list) or len(cast("list[Any]", value)) > MOST_CRITERIA:
        _refuse_field("criteria", f"a list of at most {MOST_CRITERIA}")
    return cast("list[Any]", value)


def _read_criterion(item: Any) -> dict[str, str]:
    fields = cast("dict[str, Any]", item) if isinstance(item, dict) else {}
    (name, value), *more = fields.items() or [("", "")]
    if more or name not in CRITERIA or not isinstance(value, str):
        _refuse_field("criteria", f"each a table with one of {', '.join(CRITERIA)}")
    if not 1 <= len(value) <= LONGEST_CRITERION or not value.isprintable():
        _refuse_field("criteria", f"1 to {LONGEST_CRITERION} printable characters each")
    if name == "outcome" and value != KEPT:
        _refuse_field("criteria", f"{{outcome: {KEPT}}}")
    if name == "metric":
        signals.parse_comparison(value)
    if name == "file":
        _check_file(value)
    return {name: value}


def _check_file(path: str) -> None:
    try:
        parse_relative(path)
    except PathRefused as error:
        _refuse_field("criteria", f"a file of the target ({error.detail})")


def _read_deadline(value: Any) -> str | None:
    if value is None:
        return None
    try:
        moment = datetime.fromisoformat(str(value))
    except ValueError:
        moment = None
    if moment is None or moment.tzinfo is None:
        return _refuse_field("deadline", "a time with its zone, like 2026-12-31T18:00:00Z")
    return format_time(moment.astimezone(UTC))


def _read_budget(value: Any, currency: str) -> Budget:
    fields = cast("dict[str, Any]", value) if isinstance(value, dict) else {}
    if fields.keys() - Budget.__dataclass_fields__.keys() or (value and not fields):
        _refuse_field("budget", f"a table of {', '.join(Budget.__dataclass_fields__)}")
    counts = {name: number for name, number in fields.items() if name != "money"}
    checked = {name: _read_number(name, number, _CEILING) for name, number in counts.items()}
    return Budget(**checked, money=read_money(fields.get("money"), currency))


def _read_number(name: str, value: Any, most: int) -> int:
    if type(value) is not int or not 0 <= value <= most:
        _refuse_field(name, f"a whole number from 0 to {most:,}")
    return value


def _refuse_field(name: str, wanted: str) -> Any:
    raise BadInput(f"{name}: give {wanted}", next_step=f"mend {name}", field=name)
