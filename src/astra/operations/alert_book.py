"""Alerts as the ledger tells them: which are raised now, which are silenced, what there was.

An alert that is raised is one incident with an id of its own, from `alert_raised` to
`alert_resolved`. A silence is the operator's signature over one rule and a time: while it lasts,
what that rule raises is shown and told to nobody. Ending one early is free.
"""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from astra.trusted.kernel.clock import format_time, parse_time
from astra.trusted.kernel.errors import BadInput, NotFound
from astra.trusted.ledger.ports import Ledger
from astra.trusted.ledger.projection import Projection, Statement
from astra.trusted.ledger.record import Event, Record
from astra.trusted.ledger.timekeeping import last_acceptance
from astra.trusted.policy import authority
from astra.trusted.policy.authority import Signed

RAISED, REPEATED, RESOLVED = "alert_raised", "alert_repeated", "alert_resolved"
SILENCED, UNSILENCED = "alert_silenced", "alert_unsilenced"
LONGEST_SILENCE = timedelta(days=30)
LONGEST_REASON = 300
_MEMBERS = frozenset({"alert", "until", "reason"})
_COLUMNS = "name, id, severity, text, next_step, value, raised_at, told_at, silenced"


@dataclass(frozen=True, kw_only=True)
class Alert:
    name: str
    id: str
    severity: str
    text: str
    next_step: str
    value: float
    raised_at: str
    told_at: str
    silenced: bool
    """Whether it was silenced when it was told last."""

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def list_open(ledger: Ledger) -> dict[str, Alert]:
    """Give the alerts that are raised now, by the name of their rule."""
    rows = ledger.query(f"SELECT {_COLUMNS} FROM alert_open ORDER BY raised_at, name")  # noqa: S608 - fixed
    names = _COLUMNS.split(", ")
    alerts = [Alert(**dict(zip(names, row, strict=True))) for row in rows]
    return {alert.name: alert for alert in alerts}


def list_shown(ledger: Ledger, *, now: datetime) -> list[Alert]:
    """Give the alerts that are raised now, each with whether its rule is silenced now."""
    silences = list_silences(ledger, now=now)
    alerts = list_open(ledger).values()
    return [replace(alert, silenced=alert.name in silences) for alert in alerts]


def list_history(ledger: Ledger, *, limit: int = 50) -> list[Record]:
    """Give what alerts did lately, newest first."""
    return ledger.records(
        RAISED, REPEATED, RESOLVED, SILENCED, UNSILENCED, limit=limit, newest_first=True
    )


def list_silences(ledger: Ledger, *, now: datetime) -> dict[str, str]:
    """Give until when rules are silenced; only what the operator signed counts."""
    rows = ledger.query(
        "SELECT name, until, sequence FROM alert_silence WHERE until > ?", [format_time(now)]
    )
    accepted = last_acceptance(ledger)
    return {
        name: until
        for name, until, sequence in rows
        if sequence > accepted and _is_signed(ledger, sequence)
    }


def _is_signed(ledger: Ledger, sequence: int) -> bool:
    record = ledger.record(sequence)
    return record is not None and authority.is_signed_by_operator(ledger, record)


def draft_silence(name: str, until: str, reason: str) -> dict[str, Any]:
    """Give what an operator signs to silence a rule."""
    return {"alert": name, "until": until, "reason": reason}


def silence(ledger: Ledger, content: Mapping[str, Any], signed: Signed, *, now: datetime) -> Record:
    """Record a silence that the operator signed."""
    _check_silence(content, now)
    event = Event(
        type=SILENCED, actor="operator", data=dict(content), subject=_subject(content["alert"])
    )
    (record,) = ledger.append([authority.signed_event(ledger, event, signed, now=now)])
    return record


def unsilence(ledger: Ledger, name: str, *, actor: str, now: datetime) -> Record:
    if name not in list_silences(ledger, now=now):
        raise NotFound(f"{name[:40]!r} is not silenced", next_step="astra alerts")
    event = Event(type=UNSILENCED, actor=actor, data={"alert": name}, subject=_subject(name))
    (record,) = ledger.append([event])
    return record


def _subject(name: Any) -> str:
    return f"alert rule {name}"


def _check_silence(content: Mapping[str, Any], now: datetime) -> None:
    if frozenset(content) != _MEMBERS or not all(
        isinstance(text, str) for text in content.values()
    ):
        raise _build_refusal("a silence has missing or unknown parts")
    if len(content["reason"]) > LONGEST_REASON or not content["reason"].strip():
        raise _build_refusal(f"a silence says why, in at most {LONGEST_REASON} characters")
    try:
        until = parse_time(content["until"])
    except ValueError:
        raise _build_refusal("until is not a time as Astra writes it") from None
    if not now < until <= now + LONGEST_SILENCE:
        raise _build_refusal(f"a silence ends within {LONGEST_SILENCE.days} days")


def _build_refusal(detail: str) -> BadInput:
    return BadInput(detail, code="bad_silence", next_step="astra alerts silence --help")


def _apply_record(record: Record) -> Iterator[Statement]:
    data = record.data
    match record.type:
        case type_ if type_ == RAISED:
            row = (data["alert"], record.subject, data["severity"], data["text"])
            row = (*row, data["next_step"], data["value"], record.time, record.time)
            yield _INSERT, (*row, int(data["silenced"]))
        case type_ if type_ == REPEATED:
            yield _UPDATE, (record.time, data["value"], data["text"], data["alert"])
        case type_ if type_ == RESOLVED:
            yield "DELETE FROM alert_open WHERE name = ?", (data["alert"],)
        case type_ if type_ == SILENCED:
            row = (data["alert"], data["until"], record.sequence)
            yield "INSERT OR REPLACE INTO alert_silence VALUES (?, ?, ?)", row
        case _:
            yield "DELETE FROM alert_silence WHERE name = ?", (data["alert"],)


_UPDATE = "UPDATE alert_open SET told_at = ?, value = ?, text = ?, silenced = 0 WHERE name = ?"
_INSERT = "INSERT OR REPLACE INTO alert_open VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"

PROJECTION = Projection(
    "alerts",
    (
        """CREATE TABLE alert_open (
            name TEXT PRIMARY KEY, id TEXT, severity TEXT, text TEXT, next_step TEXT, value REAL,
            raised_at TEXT, told_at TEXT, silenced INTEGER
        ) WITHOUT ROWID""",
        "CREATE TABLE alert_silence (name TEXT PRIMARY KEY, until TEXT, sequence INTEGER)",
    ),
    _apply_record,
    types=frozenset({RAISED, REPEATED, RESOLVED, SILENCED, UNSILENCED}),
)
