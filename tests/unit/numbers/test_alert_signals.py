"""The numbers behind alerts, as they follow from records."""

from datetime import timedelta
from typing import Any

from astra.deployments import events as deployments
from astra.numbers.alert_signals import read_signals
from astra.operations import smoke
from astra.testing import RootInMemory
from astra.trusted.kernel.clock import format_time
from astra.trusted.ledger.record import Event


class History:
    def __init__(self) -> None:
        self.root = RootInMemory()

    def read(self, signal: str, oldest: str | None = None) -> float | None:
        now = self.root.clock.now()
        return read_signals(self.root.ledger, now=now, oldest_decision=oldest)[signal]

    def call(self, *, ok: bool = True, count: int = 1, door: str = "mcp") -> None:
        data = {"tool": "write_file", "door": door, "outcome": {"ok": ok}}
        event = Event(type="tool_called", actor="agent:x", data=data)
        self.root.ledger.append([event] * count, lazy=True)
        self.root.ledger.append([])

    def refuse(self, count: int) -> None:
        data = {"tool": "fetch_url", "door": "mcp", "code": "budget_spent", "count": count}
        self._append("tool_refusals_counted", {**data, "seconds": 1.0})

    def start(self, count: int = 1) -> None:
        data = {"scope": "actor", "name": "agent", "day": "2026-01-01", "limit": 2000}
        for _ in range(count):
            self._append("budget_spent", data, subject="budget_00000001")

    def _append(self, kind: str, data: dict[str, Any], subject: str | None = None) -> None:
        event = Event(type=kind, actor="agent:x", data=data, subject=subject)
        self.root.ledger.append([event])


def test_the_share_of_refusals_counts_each_one_and_needs_twenty_calls() -> None:
    history = History()
    history.refuse(19)
    assert history.read("refusal_share") is None
    history.call(count=11)
    assert history.read("refusal_share") == 19 / 30
    history.root.clock.advance(hours=3)
    assert history.read("refusal_share") is None


def test_calls_of_the_smoke_run_are_nobodys_activity() -> None:
    history = History()
    history.call(count=50, door="smoke")
    assert history.read("refusal_share") is None


def test_rollbacks_count_for_a_day() -> None:
    history = History()
    data = {"deployment": "dep_1", "from": "bad", "release": "good"}
    event = Event(type=deployments.ROLLED_BACK, actor="daemon", data=data, subject="dep_1")
    history.root.ledger.append([event, event])
    assert history.read("rollbacks") == 2
    history.root.clock.advance(hours=25)
    assert history.read("rollbacks") == 0


def test_an_agent_is_quiet_only_after_days_of_work() -> None:
    history = History()
    history.call()
    history.root.clock.advance(hours=30)
    assert history.read("agent_quiet_hours") is None
    for _ in range(3):
        history.call()
        history.root.clock.advance(days=1)
    quiet = history.read("agent_quiet_hours")
    assert quiet is not None
    assert 24 <= quiet < 25


def test_calls_at_an_hour_at_which_there_never_were_any_are_unusual() -> None:
    history = History()
    for _ in range(4):
        history.start()
        history.root.clock.advance(days=1)
    history.start(3)
    assert history.read("unusual_calls") == 0
    history.root.clock.advance(hours=7)
    history.start(12)
    assert history.read("unusual_calls") == 12


def test_in_its_first_days_nothing_is_unusual() -> None:
    history = History()
    history.start(50)
    assert history.read("unusual_calls") is None


def test_how_long_the_oldest_decision_waits() -> None:
    history = History()
    since = format_time(history.root.clock.now() - timedelta(hours=5))
    assert history.read("oldest_decision_hours", since) == 5
    assert history.read("oldest_decision_hours") == 0


def test_a_failed_smoke_run_counts_until_one_is_good() -> None:
    history = History()
    assert history.read("smoke_failed") == 0
    for is_ok, expected in ((False, 1), (True, 0)):
        event = Event(type=smoke.FINISHED, actor="daemon", data={"ok": is_ok}, subject="smk_1")
        history.root.ledger.append([event])
        assert history.read("smoke_failed") == expected


def test_a_notification_that_no_attempt_delivered_counts_for_two_hours() -> None:
    history = History()
    for attempt in (1, 2, 3):
        assert history.read("notifications_failed") == 0
        data = {"notice": 1, "channel": "CHAT", "attempt": attempt}
        history.root.ledger.append([Event(type="notification_failed", actor="daemon", data=data)])
    assert history.read("notifications_failed") == 1
    history.root.clock.advance(hours=3)
    assert history.read("notifications_failed") == 0
