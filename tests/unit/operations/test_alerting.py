"""What raises an alert, what ends it, and who is told."""

from datetime import timedelta
from typing import Any

import pytest

from astra.notifications.outbox import Outbox
from astra.operations import alert_book
from astra.operations.alert_rules import Rule
from astra.operations.alerting import Alerting
from astra.persona.awareness import Awareness
from astra.testing import MemoryChannels, RootInMemory
from astra.trusted.kernel.clock import format_time
from astra.trusted.kernel.errors import BadInput, NotFound, Refused
from astra.trusted.ledger.record import Event

RULE = Rule(name="budget", signal="budget_share", above=0.9, clear=0.8, about="almost used up")


class World:
    def __init__(self, *rules: Rule) -> None:
        self.root = RootInMemory()
        self.rules = rules or (RULE,)
        self.values: dict[str, float | None] = {}
        self.alerting = self.start()
        self.channels = MemoryChannels("CHAT", include_content=True)
        self.outbox = Outbox(
            self.root.ledger, self.root.clock, lambda: self.channels, lambda: "http://localhost"
        )

    def start(self) -> Alerting:
        """Start anew, as after a crash."""
        return Alerting(self.root.ledger, self.root.clock, lambda: self.rules, lambda: self.values)

    def see(self, value: float | None, *, minutes: float = 0.5) -> list[str]:
        """Let a signal have a value at the next check; give what that recorded."""
        self.values = dict.fromkeys(("budget_share", "rollbacks"), value)
        self.root.clock.advance(minutes=minutes)
        before = self.root.ledger.head().sequence
        self.alerting.check()
        return [record.type for record in self.root.ledger.records(after=before)]

    def silence(self, hours: float = 24, **changes: Any) -> None:
        until = format_time(self.root.clock.now() + timedelta(hours=hours))
        content = {**alert_book.draft_silence("budget", until, "known"), **changes}
        signed = self.root.sign(alert_book.SILENCED, content)
        alert_book.silence(self.root.ledger, content, signed, now=self.root.clock.now())

    def told(self) -> list[str]:
        self.outbox.send_due()
        return [text for _, text in self.channels.taken]


def test_a_value_around_the_number_raises_once_and_ends_at_clear() -> None:
    world = World()
    seen = [world.see(value) for value in (0.5, 0.95, 0.85, 0.95, 0.81, 0.8, 0.85)]
    assert seen == [[], ["alert_raised"], [], [], [], ["alert_resolved"], []]
    (raised,) = world.root.ledger.records("alert_raised")
    (resolved,) = world.root.ledger.records("alert_resolved")
    assert raised.subject == resolved.subject
    assert raised.data["text"] == (
        "almost used up (budget_share is 0.95; rule: budget_share above 0.9)"
    )


def test_it_raises_only_after_it_has_lasted() -> None:
    world = World(Rule(name="a", signal="rollbacks", above=0.0, for_minutes=5))
    assert [world.see(1.0, minutes=2) for _ in range(2)] == [[], []]
    assert world.see(0.0, minutes=1) == []
    assert [world.see(1.0, minutes=2) for _ in range(4)] == [[], [], [], ["alert_raised"]]


def test_a_restart_neither_forgets_nor_repeats_what_is_raised() -> None:
    world = World()
    world.see(0.95)
    world.alerting = world.start()
    assert world.see(0.95) == []
    assert world.see(0.1) == ["alert_resolved"]


def test_one_that_lasts_is_told_again_after_a_day() -> None:
    world = World()
    world.see(0.95)
    assert world.see(0.95, minutes=23 * 60) == []
    assert world.see(0.97, minutes=61) == ["alert_repeated"]
    assert world.see(0.97, minutes=61) == []


def test_a_value_that_is_not_known_raises_nothing_and_ends_what_was_raised() -> None:
    world = World()
    assert world.see(None) == []
    world.see(0.95)
    assert world.see(None) == ["alert_resolved"]


def test_an_alert_whose_rule_is_gone_is_over() -> None:
    world = World()
    world.see(0.95)
    world.rules = (Rule(name="other", signal="rollbacks", above=100.0),)
    assert world.see(0.95) == ["alert_resolved"]
    assert alert_book.list_open(world.root.ledger) == {}


def test_it_reaches_the_feed_and_the_operators_channels_with_its_page() -> None:
    world = World()
    world.see(0.95)
    (alert,) = alert_book.list_open(world.root.ledger).values()
    (text,) = world.told()
    assert text.startswith("almost used up")
    assert text.endswith(f"\nAstra: an alert was raised\nhttp://localhost/alerts\n{alert.id}")
    notes, _ = Awareness(world.root.ledger).read(kind="alert")
    assert notes[0].text.startswith("alert budget: almost used up")


def test_what_is_silenced_is_shown_and_told_to_nobody() -> None:
    world = World()
    world.silence()
    assert world.see(0.95) == ["alert_raised"]
    assert [alert.silenced for alert in alert_book.list_open(world.root.ledger).values()] == [True]
    assert world.told() == []
    assert Awareness(world.root.ledger).read(kind="alert")[0] == []


def test_a_silence_also_hides_what_was_raised_before_it() -> None:
    world = World()
    world.see(0.95)
    now = world.root.clock.now()
    assert [alert.silenced for alert in alert_book.list_shown(world.root.ledger, now=now)] == [
        False
    ]
    world.silence()
    assert [alert.silenced for alert in alert_book.list_shown(world.root.ledger, now=now)] == [True]


def test_when_a_silence_is_over_what_still_lasts_is_told() -> None:
    world = World()
    world.silence(hours=1)
    world.see(0.95)
    assert world.see(0.95, minutes=61) == ["alert_repeated"]
    assert len(world.told()) == 1


def test_a_silence_can_be_ended_early_by_anybody_and_then_it_is_told() -> None:
    world = World()
    world.silence()
    world.see(0.95)
    alert_book.unsilence(world.root.ledger, "budget", actor="operator", now=world.root.clock.now())
    assert world.see(0.95) == ["alert_repeated"]
    with pytest.raises(NotFound):
        alert_book.unsilence(
            world.root.ledger, "budget", actor="operator", now=world.root.clock.now()
        )


@pytest.mark.parametrize(
    "changes",
    [
        {"until": "2999-01-01T00:00:00.000000Z"},
        {"until": "2020-01-01T00:00:00.000000Z"},
        {"until": "tomorrow"},
        {"reason": " "},
        {"reason": "x" * 301},
        {"more": "x"},
    ],
)
def test_a_silence_that_is_too_long_over_or_without_a_reason_is_refused(
    changes: dict[str, str],
) -> None:
    with pytest.raises(BadInput):
        World().silence(**changes)


def test_a_silence_without_the_operators_signature_counts_for_nothing() -> None:
    world = World()
    until = format_time(world.root.clock.now() + timedelta(hours=1))
    content = alert_book.draft_silence("budget", until, "trust me")
    forged = Event(
        type=alert_book.SILENCED, actor="operator", data=content, subject="alert rule budget"
    )
    world.root.ledger.append([forged])
    world.see(0.95)
    assert len(world.told()) == 1
    signed = world.root.sign(alert_book.SILENCED, {**content, "alert": "other"})
    with pytest.raises(Refused):
        alert_book.silence(world.root.ledger, content, signed, now=world.root.clock.now())
