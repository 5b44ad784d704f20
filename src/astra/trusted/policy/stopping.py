"""Stop and start, as the ledger tells them.

Stopping kills first and records later, without the daemon if need be: `var/stop` is what stops new
work, and the record of it may follow much later. Starting again loosens, so it is signed; it names
the stop it ends, so that it cannot end a later one.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from astra.trusted.ledger.ports import Ledger
from astra.trusted.ledger.record import Event
from astra.trusted.policy import authority
from astra.trusted.policy.authority import Signed

STOPPED, STARTED = "work_stopped", "work_started"
SUBJECT = "work"


def build_stopped_event(stop_id: str, report: Mapping[str, Any], *, actor: str) -> Event:
    data = {"stop": stop_id, "report": dict(report)}
    return Event(type=STOPPED, actor=actor, data=data, subject=SUBJECT, key=f"stop:{stop_id}")


def build_started_event(ledger: Ledger, stop_id: str, signed: Signed, *, now: datetime) -> Event:
    event = Event(type=STARTED, actor="operator", data=content(stop_id), subject=SUBJECT)
    return authority.signed_event(ledger, event, signed, now=now)


def content(stop_id: str) -> dict[str, Any]:
    """Give what an operator signs to start again."""
    return {"stop": stop_id}


class StopRecord:
    """Whether the chain says that work is stopped, worked out again only when it has changed."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._known: tuple[int, str] = (0, "")

    def find_stop(self) -> str:
        """Name the last recorded stop if no signature has ended it, or nothing."""
        version = self._ledger.version(SUBJECT)
        if version != self._known[0]:
            self._known = (version, self._find_open_stop())
        return self._known[1]

    def _find_open_stop(self) -> str:
        if (record := self._ledger.newest(STOPPED)) is None:
            return ""
        stop_id = str(record.data["stop"])
        return "" if was_ended(self._ledger, stop_id) else stop_id


def was_ended(ledger: Ledger, stop_id: str) -> bool:
    """Tell whether an operator's signature ended this stop."""
    return any(
        record.data.get("stop") == stop_id and authority.is_signed_by_operator(ledger, record)
        for record in ledger.records(STARTED, limit=100, newest_first=True)
    )
