"""A cron expression in words, for the person who is about to save it.

>>> describe_cron("0 7 * * 1-5")
'at 07:00, on Monday to Friday'
>>> describe_cron("@daily")
'at 00:00, every day'
>>> describe_cron("*/15 * * * *")
'every 15 minutes'
>>> describe_cron("5 0 1,15 * *")
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


def describe_cron(expression: str) -> str:
    """Word an expression that `astra.schedules.cron` accepts."""
    text = NICKNAMES.get(expression.strip().lower(), expression.strip())
    minute, hour, day, month, weekday = text.upper().split()
    parts = [_describe_time(minute, hour)]
    if (day, month, weekday) == ("*", "*", "*") and parts[0].count(":"):
        parts.append("every day")
    if day != "*":
        parts.append(_LAST.get(day) or f"on day {_describe_list(day, ())} of the month")
    if weekday != "*":
        joined = "or on" if day != "*" else "on"
        parts.append(f"{joined} {_describe_list(weekday, _DAYS)}")
    if month != "*":
        parts.append(f"in {_describe_list(month, _MONTHS)}")
    return ", ".join(parts)


def _describe_time(minute: str, hour: str) -> str:
    if minute.isdigit() and hour.isdigit():
        return f"at {int(hour):02}:{int(minute):02}"
    if hour != "*":
        return f"{_describe_minutes(minute)}, {_describe_hours(hour)}"
    return (
        _describe_minutes(minute) if "*" in minute else f"{_describe_minutes(minute)} of every hour"
    )


def _describe_minutes(minute: str) -> str:
    if minute == "*":
        return "every minute"
    if minute.startswith("*/"):
        return f"every {minute[2:]} minutes"
    return f"at minute {_describe_list(minute, ())}"


def _describe_hours(hour: str) -> str:
    if hour.startswith("*/"):
        return f"every {hour[2:]} hours"
    return f"in hour {_describe_list(hour, ())}"


def _describe_list(field: str, names: tuple[str, ...]) -> str:
    if field.startswith("*/"):
        return f"every {field[2:]}"
    parts = [_describe_range(part, names) for part in field.split(",")]
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def _describe_range(part: str, names: tuple[str, ...]) -> str:
    bounds, _, step = part.partition("/")
    first, dash, last = bounds.partition("-")
    phrase = (
        f"{_name_value(first, names)} to {_name_value(last, names)}"
        if dash
        else _name_value(first, names)
    )
    return f"every {step} of {phrase}" if step else phrase


def _name_value(value: str, names: tuple[str, ...]) -> str:
    if value.isdigit() and int(value) < len(names):
        return names[int(value)]
    for name in names:
        if value and name.upper().startswith(value):
            return name
    return value
