"""The desires as tables: one row a desire, ordered by a key that time does not touch.

`fading` has one row: how many halvings were counted up to which moment, and the half-life since.
A key is written when a desire is recorded or reinforced, from that row as it is then (see
`astra.desires.decay`). Listing is a range of `desire_order`, or of `desire_tag_order` for one tag;
pruning is the other end of the same range.
"""

import hashlib
import json
import re
import unicodedata
from collections.abc import Iterator
from datetime import datetime

from astra.desires.decay import DAY, depth
from astra.trusted.ledger.projection import Projection, Statement
from astra.trusted.ledger.record import Record
from astra.trusted.ledger.timekeeping import CLOCK_ACCEPTED

RECORDED, REINFORCED = "desire_recorded", "desire_reinforced"
PRUNED, PROMOTED = "desires_pruned", "desire_promoted"
CLOSED, REOPENED = "desire_closed", "desire_reopened"
HALF_LIFE_SET = "desire_half_life_set"
_HALVINGS = "(SELECT halvings + (? - since) / half_life FROM fading)"


def fold_text(text: str) -> str:
    """Give a text as it is searched: without the difference of case and of look-alike forms."""
    return unicodedata.normalize("NFKC", text).casefold()


def likeness(text: str) -> str:
    """Name what two texts share that say the same words."""
    normalised = " ".join(re.findall(r"\w+", fold_text(text))) or fold_text(text)
    return hashlib.sha256(normalised.encode()).hexdigest()[:16]


def _apply_record(record: Record) -> Iterator[Statement]:
    yield from _EFFECTS[record.type](record, datetime.fromisoformat(record.time).timestamp())


def _insert_desire(record: Record, moment: float) -> Iterator[Statement]:
    data = record.data
    doublings = depth(data["strength"])
    yield (
        _INSERT,
        (
            record.sequence,
            record.subject,
            doublings,
            moment,
            data["text"],
            fold_text(data["text"]),
            likeness(data["text"]),
            json.dumps(data["tags"]),
            json.dumps(data["context"]),
            record.time,
            record.correlation,
        ),
    )
    for tag in sorted({fold_text(tag) for tag in data["tags"]}):
        yield _INSERT_TAG, (tag, record.sequence, doublings, moment)


def _reinforce_desire(record: Record, moment: float) -> Iterator[Statement]:
    doublings = depth(record.data["strength"])
    yield _REINFORCE, (doublings, moment, record.time, record.subject)
    yield _REINFORCE_TAGS, (doublings, moment, record.subject)


def _prune_desires(record: Record, moment: float) -> Iterator[Statement]:
    yield _PRUNE, (record.sequence, depth(record.data["threshold"]), moment)


def _set_goal(record: Record, _moment: float) -> Iterator[Statement]:
    yield "UPDATE desire SET goal = ? WHERE id = ?", (record.data["goal"], record.subject)


def _close_desire(record: Record, _moment: float) -> Iterator[Statement]:
    """Take a desire off the lists: its goal is over, and it is wanted no more."""
    yield (
        "UPDATE desire SET closed = ?, pruned = ? WHERE id = ?",
        (record.data["outcome"], record.sequence, record.subject),
    )


def _reopen_desire(record: Record, _moment: float) -> Iterator[Statement]:
    yield "UPDATE desire SET closed = '', pruned = 0 WHERE id = ?", (record.subject,)


def _half_life_set(record: Record, moment: float) -> Iterator[Statement]:
    yield _SET_HALF_LIFE, (moment, record.data["days"] * DAY)


def _clock_accepted(_record: Record, moment: float) -> Iterator[Statement]:
    """Let what was recorded while the clock was ahead be at full strength, and fade from now on."""
    for table in ("desire", "desire_tag"):
        yield f"UPDATE {table} SET key = min(key, {_HALVINGS})", (moment,)  # noqa: S608 - fixed text


_EFFECTS = {
    RECORDED: _insert_desire,
    REINFORCED: _reinforce_desire,
    PRUNED: _prune_desires,
    PROMOTED: _set_goal,
    CLOSED: _close_desire,
    REOPENED: _reopen_desire,
    HALF_LIFE_SET: _half_life_set,
    CLOCK_ACCEPTED: _clock_accepted,
}
_SET_HALF_LIFE = """
    INSERT INTO fading VALUES (1, ?, 0.0, ?)
    ON CONFLICT (only_one) DO UPDATE SET
        halvings = halvings + (excluded.since - since) / half_life,
        since = excluded.since, half_life = excluded.half_life
"""
_INSERT = f"""
    INSERT INTO desire
    VALUES (?, ?, ? + {_HALVINGS}, 0, ?, ?, ?, ?, ?, ?, 0, NULL, NULL, ?, '')
"""  # noqa: S608 - fixed text
_INSERT_TAG = f"INSERT INTO desire_tag VALUES (?, ?, ? + {_HALVINGS})"  # noqa: S608 - fixed text
_REINFORCE = f"""
    UPDATE desire SET key = ? + {_HALVINGS}, pruned = 0, reinforcements = reinforcements + 1,
        reinforced_at = ?
    WHERE id = ?
"""  # noqa: S608 - fixed text
_REINFORCE_TAGS = f"""
    UPDATE desire_tag SET key = ? + {_HALVINGS}
    WHERE sequence = (SELECT sequence FROM desire WHERE id = ?)
"""  # noqa: S608 - fixed text
_PRUNE = f"UPDATE desire SET pruned = ? WHERE pruned = 0 AND key < ? + {_HALVINGS}"  # noqa: S608 - fixed text

PROJECTION = Projection(
    "desires",
    (
        """CREATE TABLE fading (
            only_one INTEGER PRIMARY KEY, since REAL, halvings REAL, half_life REAL
        )""",
        """CREATE TABLE desire (
            sequence INTEGER PRIMARY KEY, id TEXT UNIQUE, key REAL, pruned INTEGER,
            text TEXT, folded TEXT, likeness TEXT, tags TEXT, context TEXT,
            recorded_at TEXT, reinforcements INTEGER, reinforced_at TEXT, goal TEXT,
            correlation TEXT, closed TEXT
        )""",
        "CREATE INDEX desire_order ON desire (pruned, key DESC, sequence)",
        "CREATE INDEX desire_likeness ON desire (likeness)",
        """CREATE TABLE desire_tag (
            tag TEXT, sequence INTEGER, key REAL, PRIMARY KEY (sequence, tag)
        ) WITHOUT ROWID""",
        "CREATE INDEX desire_tag_order ON desire_tag (tag, key DESC, sequence)",
    ),
    _apply_record,
    types=frozenset(_EFFECTS),
)
