"""Links and failures over time, on a clock that is told."""

from datetime import UTC, datetime, timedelta

import pytest

from astra.trusted.door.login import Attempts, LoginLinks, TooMany

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)


def test_a_link_is_good_once_and_for_ten_minutes() -> None:
    links = LoginLinks()
    first, second = links.create(NOW), links.create(NOW)
    assert links.spend(first, NOW + timedelta(minutes=9))
    assert not links.spend(first, NOW)
    assert not links.spend(second, NOW + timedelta(minutes=10))
    assert not links.spend(second, NOW)


def test_open_links_are_few() -> None:
    links = LoginLinks()
    first, *_, last = [links.create(NOW) for _ in range(21)]
    assert not links.spend(first, NOW)
    assert links.spend(last, NOW)


def test_after_ten_failures_their_source_waits_a_minute_and_nobody_else() -> None:
    attempts = Attempts()
    for number in range(10):
        attempts.count_failure("one", NOW + timedelta(seconds=number))
    with pytest.raises(TooMany):
        attempts.count_failure("one", NOW + timedelta(seconds=59))
    attempts.count_failure("another", NOW + timedelta(seconds=59))
    attempts.count_failure("one", NOW + timedelta(seconds=61))
