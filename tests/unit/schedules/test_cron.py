"""When a schedule fires: against a walk through every minute, and against well-known tables."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from cronsim.cronsim import Field
from hypothesis import given, settings
from hypothesis import strategies as st

from astra.schedules import cron
from astra.trusted.kernel.errors import BadInput

MINUTE = timedelta(minutes=1)
# A zone and the day before its clock changes: whole hours, half hours, two hours, a lost day.
CHANGES = [
    ("Europe/Berlin", "2026-03-28"),
    ("Europe/Berlin", "2026-10-24"),
    ("America/New_York", "2026-03-07"),
    ("America/New_York", "2026-10-31"),
    ("America/St_Johns", "2026-03-07"),
    ("Australia/Lord_Howe", "2026-04-04"),
    ("Australia/Lord_Howe", "2026-10-03"),
    ("Pacific/Chatham", "2026-04-04"),
    ("Antarctica/Troll", "2026-03-28"),
    ("Africa/Cairo", "2026-10-29"),
    ("America/Havana", "2026-03-07"),
    ("Africa/Casablanca", "2026-02-14"),
    ("Asia/Kolkata", "2026-03-07"),
    ("Asia/Kathmandu", "2026-03-07"),
    ("Pacific/Apia", "2011-12-29"),
]


def walk(expression: str, zone: ZoneInfo, start: datetime, end: datetime) -> list[datetime]:
    """Say minute by minute what a clock on the wall would do: slow, and hard to get wrong."""
    words = expression.split()
    fields = [Field(place).parse(word) for place, word in enumerate(words, start=1)]
    once = not words[0].startswith("*") and not words[1].startswith("*")
    found: list[datetime] = []
    moment = start
    while (moment := moment + MINUTE) <= end:
        wall = moment.astimezone(zone)
        before = (moment - MINUTE).astimezone(zone).replace(tzinfo=None)
        shown = wall.replace(tzinfo=None)
        if once and wall.fold:
            continue
        passed = [shown]
        if once and shown > before + MINUTE:  # the minutes that were left out count here
            count = int((shown - before) / MINUTE)
            passed = [before + MINUTE * (step + 1) for step in range(count)]
        if any(matches(fields, words, each) for each in passed):
            found.append(moment)
    return found


def matches(fields: list[set[object]], words: list[str], wall: datetime) -> bool:
    minutes, hours, days, months, weekdays = fields
    if wall.minute not in minutes or wall.hour not in hours or wall.month not in months:
        return False
    day, weekday = wall.day in days, bool({wall.isoweekday(), wall.isoweekday() % 7} & weekdays)
    both = words[2].startswith("*") or words[4].startswith("*")
    return (day and weekday) if both else (day or weekday)


def part(low: int, high: int) -> st.SearchStrategy[str]:
    number = st.integers(low, high)
    return st.one_of(
        st.just("*"),
        st.sampled_from(["*/2", "*/7", "*/20", "*/30"]),
        number.map(str),
        st.tuples(number, number).map(lambda pair: f"{min(pair)}-{max(pair)}"),
        st.lists(number, min_size=2, max_size=4).map(lambda each: ",".join(map(str, each))),
    )


@settings(max_examples=150)
@given(
    minute=part(0, 59),
    hour=part(0, 5),
    change=st.sampled_from(CHANGES),
    offset=st.integers(0, 47),
    days=st.sampled_from(["* * *", "* * *", "*/2 * *", "1-20 * SUN", "28,29 * 1-5", "* 3,10 *"]),
)
def test_it_fires_when_a_walk_through_every_minute_says_so(
    minute: str, hour: str, change: tuple[str, str], offset: int, days: str
) -> None:
    zone, day = change
    start = datetime.fromisoformat(day).replace(tzinfo=UTC) + timedelta(minutes=30 * offset)
    end = start + timedelta(hours=36)
    expression = f"{minute} {hour} {days}"
    calendar = cron.parse(expression, zone)
    expected = walk(expression, ZoneInfo(zone), start, end)
    assert calendar.list_between(start, end, most=10_000) == expected
    if expected:
        assert calendar.at_or_before(end) == expected[-1]


@pytest.mark.parametrize(
    ("expression", "zone", "start", "expected"),
    [
        # A skipped hour: what falls into it fires when it ends, once.
        ("30 2 * * *", "Europe/Berlin", "2026-03-28T12:00Z", "2026-03-29T03:00:00+02:00"),
        ("0,15,30 2 * * *", "Europe/Berlin", "2026-03-29T01:00Z", "2026-03-30T02:00:00+02:00"),
        # A repeated hour: the first time only.
        ("30 2 * * *", "Europe/Berlin", "2026-10-25T00:00Z", "2026-10-25T02:30:00+02:00"),
        ("30 2 * * *", "Europe/Berlin", "2026-10-25T00:30Z", "2026-10-26T02:30:00+01:00"),
        # With a star, real time: the repeated hour repeats.
        ("30 * * * *", "Europe/Berlin", "2026-10-25T00:30Z", "2026-10-25T02:30:00+01:00"),
        ("*/30 * * * *", "Europe/Berlin", "2026-03-29T00:30Z", "2026-03-29T03:00:00+02:00"),
        # Half an hour, on an island; quarter hours, in the mountains.
        ("15 2 * * *", "Australia/Lord_Howe", "2026-10-03T12:00Z", "2026-10-04T02:30:00+11:00"),
        ("* 5 * * *", "Australia/Lord_Howe", "2026-04-04T15:00Z", "2026-04-05T05:00:00+10:30"),
        ("45 0 * * *", "Asia/Kathmandu", "2026-01-01T00:00Z", "2026-01-02T00:45:00+05:45"),
        # A zone that skipped a whole day.
        ("0 9 30 12 *", "Pacific/Apia", "2011-12-29T12:00Z", "2011-12-31T00:00:00+14:00"),
        # Days that are rare.
        ("0 0 29 2 *", "UTC", "2026-01-01T00:00Z", "2028-02-29T00:00:00+00:00"),
        ("0 0 13 * FRI", "UTC", "2026-01-01T00:00Z", "2026-01-02T00:00:00+00:00"),
        ("0 0 * * 7", "UTC", "2026-01-01T00:00Z", "2026-01-04T00:00:00+00:00"),
        ("0 0 * JAN,jul mon", "UTC", "2026-02-01T00:00Z", "2026-07-06T00:00:00+00:00"),
    ],
)
def test_the_next_firing(expression: str, zone: str, start: str, expected: str) -> None:
    (firing,) = cron.parse(expression, zone).upcoming(datetime.fromisoformat(start), 1)
    assert firing.isoformat() == expected


@pytest.mark.parametrize(
    ("nickname", "expected"),
    [
        ("@hourly", "2026-05-13T08:00:00+00:00"),
        ("@daily", "2026-05-14T00:00:00+00:00"),
        ("@weekly", "2026-05-17T00:00:00+00:00"),
        ("@monthly", "2026-06-01T00:00:00+00:00"),
        ("@yearly", "2027-01-01T00:00:00+00:00"),
    ],
)
def test_nicknames(nickname: str, expected: str) -> None:
    moment = datetime(2026, 5, 13, 7, 30, tzinfo=UTC)
    assert cron.parse(nickname, "UTC").after(moment).isoformat() == expected


@pytest.mark.parametrize(
    ("expression", "field"),
    [
        ("61 * * * *", "minute"),
        ("* 24 * * *", "hour"),
        ("* * 0 * *", "day-of-month"),
        ("* * * FOO *", "month"),
        ("* * * * 8", "day-of-week"),
        ("*/0 * * * *", "minute"),
        ("5-1 * * * *", "minute"),
        ("* * * * 5L/2", "day-of-week"),
        ("* * 30 2 *", "day-of-month"),
        ("* * * *", "fields"),
        ("* * * * * *", "fields"),
        ("", "fields"),
        ("@fortnightly", "nickname"),
        ("@reboot", "nickname"),
        (f"{'9' * 5000} * * * *", "fields"),
        ("٣ * * * *", "minute"),
    ],
)
def test_a_bad_expression_is_refused_with_the_field_at_fault(expression: str, field: str) -> None:
    with pytest.raises(BadInput) as refused:
        cron.parse(expression, "UTC")
    assert refused.value.facts["field"] == field
    assert field in refused.value.detail
    assert refused.value.next_step


@pytest.mark.parametrize("zone", ["Europe/Berlim", "../../etc/passwd", "", "CEST", "/etc/x"])
def test_an_unknown_zone_is_refused(zone: str) -> None:
    with pytest.raises(BadInput) as refused:
        cron.parse("@daily", zone)
    assert refused.value.facts["field"] == "timezone"


def test_a_near_miss_of_a_zone_is_suggested() -> None:
    with pytest.raises(BadInput) as refused:
        cron.parse("@daily", "Europe/Berlim")
    assert "Europe/Berlin" in refused.value.next_step
