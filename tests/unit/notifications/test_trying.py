"""An operator tries a channel before it matters, and cannot flood people with it."""

import pytest

from astra.notifications.trying import MOST_AN_HOUR, TESTED, Attempt, ChannelTest
from astra.testing import MemoryChannels, RootInMemory
from astra.trusted.kernel.errors import NotFound, Refused


def make_test(root: RootInMemory, channels: MemoryChannels, *signed: str) -> ChannelTest:
    return ChannelTest(
        ledger=root.ledger,
        clock=root.clock,
        channels=lambda: channels,
        signed_names=lambda: signed,
        page=lambda: "http://localhost:8700",
    )


def test_each_channel_says_whether_it_took_the_message() -> None:
    root, channels = RootInMemory(), MemoryChannels("CHAT", "MAIL")
    channels.dead.add("MAIL")
    attempts = make_test(root, channels).run(actor="operator")
    assert [(attempt.channel, attempt.ok) for attempt in attempts] == [
        ("CHAT", True),
        ("MAIL", False),
    ]
    assert [bool(attempt.problem) for attempt in attempts] == [False, True]
    ((_, text),) = channels.taken
    assert text.startswith("Astra: a test, nothing waits for you\n")
    assert "\nhttp://localhost:8700/\ntest_" in text
    assert [record.data["ok"] for record in root.ledger.records(TESTED)] == [True, False]


def test_one_channel_can_be_named_and_an_unknown_one_is_told() -> None:
    channels = MemoryChannels("CHAT", "MAIL")
    test = make_test(RootInMemory(), channels)
    assert [attempt.channel for attempt in test.run(actor="operator", only="MAIL")] == ["MAIL"]
    with pytest.raises(NotFound):
        test.run(actor="operator", only="PAGER")
    with pytest.raises(NotFound):
        make_test(RootInMemory(), MemoryChannels()).run(actor="operator")


def test_a_channel_that_was_signed_and_has_no_address_fails_and_nothing_is_sent_for_it() -> None:
    root, channels = RootInMemory(), MemoryChannels("CHAT")
    test = make_test(root, channels, "CHAT", "PAGER")
    missing = Attempt(channel="PAGER", ok=False, problem="there is no such line in .env")
    assert test.run(actor="operator") == [Attempt(channel="CHAT", ok=True), missing]
    assert test.run(actor="operator", only="PAGER") == [missing]
    assert len(root.ledger.records(TESTED)) == len(channels.taken) == 1


def test_only_so_many_tests_reach_people_in_an_hour() -> None:
    root, channels = RootInMemory(), MemoryChannels("CHAT")
    test = make_test(root, channels)
    for _ in range(MOST_AN_HOUR):
        test.run(actor="operator")
    with pytest.raises(Refused):
        test.run(actor="operator")
    root.clock.advance(minutes=61)
    assert test.run(actor="operator")
