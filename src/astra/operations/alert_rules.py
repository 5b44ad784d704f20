r"""Alert rules read from TOML: the built-in ones of the package, and an operator's of astra.toml.

A rule compares one signal with one number. It raises when the signal has been beyond the number for
some minutes, and resolves when it is back at `clear`: between the two nothing changes, so a value
that goes up and down around the number raises once.

>>> read_rules('[[alerts]]\nname = "a"\nsignal = "rollbacks"\nabove = 1.0\nbelow = 2.0')
Traceback (most recent call last):
astra.operations.alert_rules.BadAlert: alerts[0]: give one of above and below
"""

import math
import re
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass, fields
from functools import cache
from importlib import resources
from typing import Any, NoReturn, cast

from astra.operations.signals import SIGNALS
from astra.trusted.kernel.errors import BadSetting
from astra.trusted.kernel.text import one_line

WARNING, CRITICAL = "warning", "critical"
MOST_RULES, LONGEST_TEXT, LONGEST_FOR, LONGEST_REPEAT = 100, 200, 7 * 24 * 60, 30 * 24
_NAME = re.compile(r"[a-z][a-z0-9_]{0,39}")


class BadAlert(BadSetting):
    code = "bad_alert"


@dataclass(frozen=True, kw_only=True)
class Rule:
    name: str
    signal: str = ""
    above: float | None = None
    below: float | None = None
    clear: float | None = None
    """Back at this value it resolves; the number itself by default."""
    for_minutes: int = 0
    repeat_hours: int = 24
    """How often it is told again while it lasts; 0 is never."""
    severity: str = WARNING
    about: str = ""
    next_step: str = "astra alerts"
    enabled: bool = True

    @property
    def threshold(self) -> float:
        return cast("float", self.below if self.above is None else self.above)

    @property
    def clear_at(self) -> float:
        return self.threshold if self.clear is None else self.clear

    def is_beyond(self, value: float) -> bool:
        return value < self.threshold if self.above is None else value > self.threshold

    def is_clear(self, value: float) -> bool:
        return value >= self.clear_at if self.above is None else value <= self.clear_at

    def describe(self) -> str:
        """Say what is compared.

        >>> Rule(name="a", signal="rollbacks", above=1.0, for_minutes=5).describe()
        'rollbacks above 1 for 5 min'
        """
        word = "below" if self.above is None else "above"
        lasting = f" for {self.for_minutes} min" if self.for_minutes else ""
        return f"{self.signal} {word} {self.threshold:g}{lasting}"


@cache
def read_built_in() -> tuple[Rule, ...]:
    text = resources.files("astra.operations").joinpath("alerts.toml").read_text(encoding="utf-8")
    return read_rules(text)


def combine(built_in: Iterable[Rule], own: Iterable[Rule]) -> tuple[Rule, ...]:
    """Put an operator's rules in the place of built-in ones of the same name; leave out the off."""
    rules = {rule.name: rule for rule in (*built_in, *own)}
    return tuple(rule for rule in rules.values() if rule.enabled)


def read_rules(text: str) -> tuple[Rule, ...]:
    """Read the rules of a TOML text, or name what is wrong and where."""
    try:
        tables: Any = tomllib.loads(text).get("alerts", [])
    except tomllib.TOMLDecodeError as error:
        raise BadAlert(f"not TOML: {error}", next_step="mend that line") from None
    if not isinstance(tables, list) or len(cast("list[Any]", tables)) > MOST_RULES:
        raise BadAlert(
            f"alerts is no list of at most {MOST_RULES} tables",
            next_step="write each rule below a line [[alerts]]",
        )
    rules = [_read_rule(f"alerts[{i}]", table) for i, table in enumerate(cast("list[Any]", tables))]
    names = [rule.name for rule in rules]
    if twice := next((name for name in names if names.count(name) > 1), ""):
        raise BadAlert(f"{twice} is there twice", next_step="give each rule a name of its own")
    return tuple(rules)


def _read_rule(where: str, table: Any) -> Rule:
    if not isinstance(table, dict):
        _refuse(where, "is no table", "write each rule below a line [[alerts]]")
    members = cast("dict[str, Any]", table)
    field_names = {field.name for field in fields(Rule)}
    if unknown := sorted(members.keys() - field_names):
        _refuse(
            where,
            f"{one_line(unknown[0], 40)} is unknown",
            f"known: {', '.join(sorted(field_names))}",
        )
    if not _NAME.fullmatch(str(members.get("name", ""))):
        _refuse(where, "name is missing or no name", "write name with a to z, 0 to 9 and _")
    for name, value in members.items():
        _check_type(where, name, value)
    rule = Rule(**{name: _to_number(name, value) for name, value in members.items()})
    if rule.enabled:
        _check_rule(where, rule)
    return rule


def _check_type(where: str, name: str, value: Any) -> None:
    kinds: dict[str, tuple[type, ...]] = {
        **dict.fromkeys(("above", "below", "clear"), (int, float)),
        **dict.fromkeys(("for_minutes", "repeat_hours"), (int,)),
        "enabled": (bool,),
    }
    accepted_types = kinds.get(name, (str,))
    if type(value) not in accepted_types:
        _refuse(where, f"{name} is {value!r}", f"write a {accepted_types[-1].__name__}")
    if isinstance(value, float) and not math.isfinite(value):
        _refuse(where, f"{name} is {value!r}", "write a number")
    if isinstance(value, str) and len(value) > LONGEST_TEXT:
        _refuse(where, f"{name} is too long", f"at most {LONGEST_TEXT} characters")


def _to_number(name: str, value: Any) -> Any:
    return float(value) if name in {"above", "below", "clear"} else value


def _check_rule(where: str, rule: Rule) -> None:
    if rule.signal not in SIGNALS:
        _refuse(where, f"signal is {one_line(rule.signal, 40)!r}", f"one of {', '.join(SIGNALS)}")
    if (rule.above is None) == (rule.below is None):
        _refuse(where, "give one of above and below", "write above = 0.5, say")
    if rule.severity not in {WARNING, CRITICAL}:
        _refuse(where, f"severity is {rule.severity!r}", f"{WARNING} or {CRITICAL}")
    if not (0 <= rule.for_minutes <= LONGEST_FOR and 0 <= rule.repeat_hours <= LONGEST_REPEAT):
        _refuse(where, "for_minutes or repeat_hours is out of range", "a week and 30 days at most")
    if rule.is_beyond(rule.clear_at):
        _refuse(where, "clear is beyond the number that raises it", "set it on the other side")


def _refuse(where: str, problem: str, next_step: str) -> NoReturn:
    raise BadAlert(f"{where}: {problem}", next_step=next_step, key="alerts")
