"""Which file a record lives in: one segment a UTC month, picked by the record's own time.

Where time went back (an acceptance of the clock), the chain goes on in the segment it is in.

>>> segment_name("2026-11-15T08:00:00.000000Z")
'2026-11.ndjson'
>>> segment_name("2026-11-15T08:00:00.000000Z", last="2027-11.ndjson")
'2027-11.ndjson'
>>> [s.month for s in order_segments(["2026-02.ndjson.gz", "2026-03.ndjson", "notes.txt"])]
['2026-02', '2026-03']
>>> order_segments(["2026-01.remainder.gz"])[0].archived
True
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass

_NAME = re.compile(r"(\d{4}-(?:0[1-9]|1[0-2]))\.(ndjson|ndjson\.gz|remainder\.gz)")


@dataclass(frozen=True, slots=True)
class Segment:
    month: str
    name: str
    compressed: bool
    archived: bool = False
    """Only what an archived month left behind is here; its records lie elsewhere."""


def segment_name(time: str, *, last: str = "") -> str:
    """Name the segment of a record behind the one that the chain ends in."""
    return max(f"{time[:7]}.ndjson", last)


def order_segments(names: Iterable[str]) -> list[Segment]:
    """List the segments among file names, oldest first.

    A crash while compressing, or archiving, can leave two forms of a month: the one that is sure
    to be complete wins, and comes first by its name.
    """
    segments_by_month: dict[str, Segment] = {}
    for name in sorted(names):
        if match := _NAME.fullmatch(name):
            month, form = match.groups()
            segment = Segment(
                month, name, compressed=form != "ndjson", archived=form == "remainder.gz"
            )
            segments_by_month.setdefault(month, segment)
    return [segments_by_month[month] for month in sorted(segments_by_month)]
