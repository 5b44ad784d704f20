"""A cron expression in words, for the person who is about to save it.

>>> in_words("0 7 * * 1-5")
'at 07:00, on Monday to Friday'
>>> in_words("@daily")
'at 00:00, every day'
>>> in_words("*/15 * * * *")
'every 15 minutes'
>>> in_words("5 0 1,15 * *")
'at 00:05, on day 1 and 15 of the month'
"""

from astra.schedules.cron import NICKNAMES

_DAYS = ("Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_MONTHS = (
    "",
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)
_LAST = {"L": "on the last day of the month", "LW": "on the last working day of the month"}


def in_words(expression: str) -> str:
    """Word an expression that `astra.schedules.cron` accepts."""
    text = NICKNAMES.get(expression.strip().lower(), expression.strip())
    minute, hour, day, month, weekday = text.upper().split()
    parts = [_time(minute, hour)]
    if (day, month, weekday) == ("*", "*", "*") and parts[0].count(":"):
        parts.append("every day")
    if day != "*":
        parts.append(_LAST.get(day) or f"on day {_listed(day, ())} of the month")
    if weekday != "*":
        joined = "or on" if day != "*" else "on"
        parts.append(f"{joined} {_listed(weekday, _DAYS)}")
    if month != "*":
        parts.append(f"in {_listed(month, _MONTHS)}")
    return ", ".join(parts)


def _time(minute: str, hour: str) -> str:
    if minute.isdigit() and hour.isdigit():
        return f"at {int(hour):02}:{int(minute):02}"
    if hour != "*":
        return f"{_minutes(minute)}, {_hours(hour)}"
    return _minutes(minute) if "*" in minute else f"{_minutes(minute)} of every hour"


def _minutes(minute: str) -> str:
    if minute == "*":
        return "every minute"
    if minute.startswith("*/"):
        return f"every {minute[2:]} minutes"
    return f"at minute {_listed(minute, ())}"


def _hours(hour: str) -> str:
    if hour.startswith("*/"):
        return f"every {hour[2:]} hours"
    return f"in hour {_listed(hour, ())}"


def _listed(field: str, names: tuple[str, ...]) -> str:
    if field.startswith("*/"):
        return f"every {field[2:]}"
    parts = [_range(part, names) for part in field.split(",")]
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def _range(part: str, names: tuple[str, ...]) -> str:
    bounds, _, step = part.partition("/")
    first, dash, last = bounds.partition("-")
    phrase = f"{_named(first, names)} to {_named(last, names)}" if dash else _named(first, names)
    return f"every {step} of {phrase}" if step else phrase


def _named(value: str, names: tuple[str, ...]) -> str:
    if value.isdigit() and int(value) < len(names):
        return names[int(value)]
    for name in names:
        if value and name.upper().startswith(value):
            return name
    return value
