"""Accepting the clock: the operator says that the time of now is right, and the ledger's was not.

What is signed names the time of now, the ledger's time, and the first record whose time lies ahead
of now. All three are checked again when the statement arrives, so an acceptance that was signed
and not sent cannot be used at another time, and the record never says what is not so.

It takes the operator's key. A passkey, a session, a token or an agent cannot accept.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from astra.trusted.kernel.clock import describe_time_ahead, format_time, parse_time
from astra.trusted.kernel.errors import Conflict, SignatureRejected
from astra.trusted.ledger.ports import Ledger
from astra.trusted.ledger.record import Event, Record
from astra.trusted.ledger.timekeeping import CLOCK_ACCEPTED, last_acceptance
from astra.trusted.policy import authority
from astra.trusted.policy.authority import Signed

SUBJECT = "clock"


@dataclass(frozen=True, kw_only=True)
class ClockState:
    """How the machine's clock and the ledger's time differ."""

    clock: str
    ledger: str
    ahead: str
    """In words, by how much the ledger is ahead; nothing when the two agree."""
    first_ahead: int | None
    """The first record whose time lies ahead of the clock."""
    last_accepted: int
    """The record of the last acceptance; 0 when there is none."""


def read_state(ledger: Ledger, *, machine: datetime) -> ClockState:
    head, moment = ledger.head(), format_time(machine)
    ahead = describe_time_ahead(head.time, machine)
    return ClockState(
        clock=moment,
        ledger=head.time,
        ahead=ahead,
        first_ahead=first_after(ledger, moment) if ahead else None,
        last_accepted=last_acceptance(ledger),
    )


def first_after(ledger: Ledger, moment: str) -> int:
    """Find the first record behind a time; since the last acceptance, times only grow."""
    low, high = last_acceptance(ledger) + 1, ledger.head().sequence + 1
    while low < high:
        middle = (low + high) // 2
        record = ledger.record(middle)
        if record is not None and record.time > moment:
            high = middle
        else:
            low = middle + 1
    return low


def content(state: ClockState) -> dict[str, Any]:
    """Give what an operator signs to accept the clock."""
    return {"time": state.clock, "ledger_time": state.ledger, "first_ahead": state.first_ahead}


def accept(ledger: Ledger, signed: Signed, *, machine: datetime) -> Record:
    """Record that the clock is right; the ledger's time goes on from it."""
    if not describe_time_ahead(ledger.head().time, machine):
        raise Conflict(
            "the ledger's time is not ahead of the clock: there is nothing to accept",
            code="clock_not_behind",
            next_step="astra status",
        )
    content_signed = _check_content(ledger, signed.statement.get("content"), machine)
    event = Event(type=CLOCK_ACCEPTED, actor="operator", data=content_signed, subject=SUBJECT)
    event = authority.signed_event(ledger, event, signed, now=machine)
    version = ledger.version(SUBJECT)
    (record,) = ledger.append([event], expect={SUBJECT: version})
    return record


def _check_content(ledger: Ledger, stated: Any, machine: datetime) -> dict[str, Any]:
    """Compare what was signed with what is so; the time may be that of a few minutes ago."""
    try:
        moment = str(stated["time"])
        age = machine - parse_time(moment)
    except (TypeError, KeyError, ValueError):
        raise _build_rejection("it does not say which time is right") from None
    if abs(age) > authority.LIFETIME:
        raise _build_rejection(f"it accepts {moment}, and the clock says {format_time(machine)}")
    current_content = {
        "time": moment,
        "ledger_time": ledger.head().time,
        "first_ahead": first_after(ledger, moment),
    }
    if stated != current_content:
        raise _build_rejection("the ledger's time is not what it names")
    return current_content


def _build_rejection(why: str) -> SignatureRejected:
    return SignatureRejected(f"signature not valid: {why}", next_step="astra clock accept")
