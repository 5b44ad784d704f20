"""Comparing signals with rules, and recording what alerts do.

    value → beyond for long enough: raised → lasting: told again → back at clear: resolved

What is raised is in the ledger, so a restart neither forgets nor repeats it. How long a value has
been beyond its number is kept in memory: after a restart those minutes begin anew.
"""

import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from astra.operations import alert_book
from astra.operations.alert_book import Alert
from astra.operations.alert_rules import Rule
from astra.operations.signals import ReadValues, Values
from astra.trusted.kernel.clock import Clock, parse_time
from astra.trusted.kernel.ids import random_id
from astra.trusted.ledger.ports import Ledger
from astra.trusted.ledger.record import Event

_ACTOR = "daemon"
_DIGITS = 4


@dataclass
class Alerting:
    ledger: Ledger
    clock: Clock
    rules: Callable[[], tuple[Rule, ...]]
    """Asked at every check: the operator may have signed others."""
    read_values: ReadValues
    _beyond_since: dict[str, datetime] = field(default_factory=dict[str, datetime], repr=False)
    _checking: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def check(self) -> None:
        """Compare every rule with what its signal says now, and record what changed."""
        with self._checking:
            if events := [*self._find_changes(self.read_values(), self.clock.now())]:
                self.ledger.append(events)

    def list_rules(self) -> list[dict[str, Any]]:
        """Show every rule with the value it compares, now."""
        values, now = self.read_values(), self.clock.now()
        silences = alert_book.list_silences(self.ledger, now=now)
        return [_show_rule(rule, values, silences) for rule in self.rules()]

    def _find_changes(self, values: Values, now: datetime) -> Iterator[Event]:
        open_alerts = alert_book.list_open(self.ledger)
        silences = alert_book.list_silences(self.ledger, now=now)
        rules = self.rules()
        for rule in rules:
            value, alert = values.get(rule.signal), open_alerts.get(rule.name)
            is_silenced = rule.name in silences
            if alert is None:
                if value is not None and self._has_lasted(rule, value, now):
                    yield _build_event(alert_book.RAISED, rule, value, silenced=is_silenced)
            elif value is None or rule.is_clear(value):
                why = "the value is not known any more" if value is None else "it is back"
                yield _build_resolved(alert, value, why)
            elif not is_silenced and _is_due_again(rule, alert, now):
                yield _build_event(alert_book.REPEATED, rule, value, alert_id=alert.id)
        for name in open_alerts.keys() - {rule.name for rule in rules}:
            yield _build_resolved(open_alerts[name], None, "there is no such rule any more")

    def _has_lasted(self, rule: Rule, value: float, now: datetime) -> bool:
        if not rule.is_beyond(value):
            self._beyond_since.pop(rule.name, None)
            return False
        since = self._beyond_since.setdefault(rule.name, now)
        if now - since < timedelta(minutes=rule.for_minutes):
            return False
        del self._beyond_since[rule.name]
        return True


def _is_due_again(rule: Rule, alert: Alert, now: datetime) -> bool:
    """Tell whether it is to be told again: it lasts, or its silence is over and nobody was told."""
    if alert.silenced:
        return True
    repeat = timedelta(hours=rule.repeat_hours)
    return bool(repeat) and now - parse_time(alert.told_at) >= repeat


def _build_event(
    kind: str, rule: Rule, value: float, *, silenced: bool = False, alert_id: str = ""
) -> Event:
    data = {
        "alert": rule.name,
        "severity": rule.severity,
        "signal": rule.signal,
        "value": round(value, _DIGITS),
        "threshold": rule.threshold,
        "text": f"{rule.about or rule.name} ({rule.signal} is {round(value, _DIGITS):g};"
        f" rule: {rule.describe()})",
        "next_step": rule.next_step,
        "silenced": silenced,
    }
    return Event(type=kind, actor=_ACTOR, data=data, subject=alert_id or random_id("alert"))


def _build_resolved(alert: Alert, value: float | None, why: str) -> Event:
    data: dict[str, Any] = {"alert": alert.name, "why": why, "raised_at": alert.raised_at}
    if value is not None:
        data["value"] = round(value, _DIGITS)
    return Event(type=alert_book.RESOLVED, actor=_ACTOR, data=data, subject=alert.id)


def _show_rule(rule: Rule, values: Values, silences: Mapping[str, str]) -> dict[str, Any]:
    value = values.get(rule.signal)
    return {
        "name": rule.name,
        "rule": rule.describe(),
        "signal": rule.signal,
        "severity": rule.severity,
        "about": rule.about,
        "clear": rule.clear_at,
        "value": None if value is None else round(value, _DIGITS),
        "beyond": value is not None and rule.is_beyond(value),
        "silenced_until": silences.get(rule.name),
    }
