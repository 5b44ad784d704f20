"""The idle policy: every hour, or every few, what the agent wants most goes to its awareness feed.

It looks and writes one record; it starts nothing and makes no goal. Each hour has at most one
survey, by a key of the ledger, so restarts and several processes change nothing. Each survey says
when the next one is due. Hours in which nobody ran are not made up for: the next survey tells how
it is then. Where no desire is left above the threshold, one
last, empty survey says so, and the next one comes after somebody has recorded or reinforced one.
"""

from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta

from astra.desires.book import Desires
from astra.desires.model import Desire
from astra.trusted.kernel.clock import format_time
from astra.trusted.kernel.errors import DuplicateKey
from astra.trusted.ledger.record import Event

SURVEYED = "desires_surveyed"
TOP = 10
_SHOWN = 200


@dataclass(frozen=True)
class IdlePolicy:
    desires: Desires
    hours: int = 1

    def survey(self) -> None:
        hour = format_time(self.desires.now())[:13]
        top = [_render_desire(desire) for desire in self.desires.list_desires(limit=TOP).items]
        data = {"hour": hour, "top": top, "next": next_hour(hour, self.hours)}
        event = Event(type=SURVEYED, actor="daemon", data=data, key=f"survey:{hour}")
        with suppress(DuplicateKey):
            self.desires.ledger.append([event])


def next_hour(hour: str, hours: int = 1) -> str:
    """Name the full hour after a moment, or after an hour, or the one so many hours later.

    >>> next_hour("2026-02-28T23")
    '2026-03-01T00:00:00.000000Z'
    """
    return format_time(datetime.fromisoformat(f"{hour[:13]}:00:00Z") + timedelta(hours=hours))


def _render_desire(desire: Desire) -> str:
    """Show a desire in words. An id on its own would put every survey into the desire's story."""
    text = " ".join(desire.text.split())
    short_text = text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"
    return f"{desire.strength:.3f} {desire.id} {short_text}"
