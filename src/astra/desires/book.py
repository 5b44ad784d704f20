"""The book of desires: record, list, show, reinforce, prune.

Invariants:
- A strength is between 0 and 1, whatever time does. It is worked out when somebody looks, from a
  key that nobody has to keep up to date; no job walks over the rows.
- Below `THRESHOLD` a desire is not listed any more. Nothing has to happen for that, and the chain
  keeps it. Reinforcing brings it back, whether or not `prune` has put it away meanwhile.
- A desire whose goal is over is closed: fulfilled, or given up. Reopening the goal reopens it.
- The half-life in force is a record of the chain, so the tables depend on nothing else. A new
  setting counts from the moment it is recorded.

    book.record("learn to sail", strength=0.8, actor="agent:…", correlation="cor_…")
    book.listed(limit=10)
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from astra.desires import model
from astra.desires.decay import Fading, depth, half_life_seconds
from astra.desires.model import (
    CLOSED_STATES,
    THRESHOLD,
    Context,
    Desire,
    Filter,
    Page,
    fraction,
)
from astra.desires.views import HALF_LIFE_SET, PRUNED, RECORDED, REINFORCED, fold_text, likeness
from astra.trusted.kernel.clock import Clock, format_time
from astra.trusted.kernel.errors import BadInput, Conflict, NotFound, StaleVersion
from astra.trusted.kernel.ids import id_from_content, is_id
from astra.trusted.kernel.paging import check_page
from astra.trusted.ledger.ports import Ledger
from astra.trusted.ledger.record import Event
from astra.trusted.ledger.timekeeping import current_time

_HALF_LIFE = "half-life"
_MOST_ATTEMPTS = 20
_COLUMNS = (
    "d.id, d.text, d.key, d.tags, d.context, d.recorded_at, d.reinforcements, d.reinforced_at,"
    " d.pruned, d.goal, d.correlation, d.closed, d.sequence"
)


@dataclass(frozen=True, kw_only=True)
class Desires:
    ledger: Ledger
    clock: Clock
    half_life_days: float = 14.0

    def record(
        self,
        text: str,
        *,
        strength: float = 1.0,
        tags: Sequence[str] = (),
        context: Context = None,
        actor: str,
        correlation: str,
    ) -> Desire:
        data = {
            "text": model.check_text(text),
            "strength": fraction("strength", strength),
            "tags": model.check_tags(tags),
            "context": model.check_context(context),
        }
        for _ in range(_MOST_ATTEMPTS):
            event = self._make_recorded_event(data, actor, correlation)
            pace, expect = self._pace_if_none()
            try:
                self.ledger.append([*pace, event], expect={str(event.subject): 0, **expect})
            except StaleVersion:
                continue
            return replace(self.get(str(event.subject)), strength=data["strength"])
        raise _make_busy_conflict()

    def list_desires(
        self, wanted: Filter | None = None, *, limit: int = 10, cursor: str | None = None
    ) -> Page:
        """Give the strongest first; of two equal ones the one recorded first."""
        check_page(limit)
        fading, moment = self.read_fading(), self._read_timestamp()
        sql, parameters = _build_query(wanted or Filter(), fading.halvings_at(moment), cursor)
        rows = self.ledger.query(sql, [*parameters, limit + 1])
        items = tuple(_desire_from_row(row, fading, moment) for row in rows[:limit])
        return Page(
            items=items, next=_cursor_from_row(rows[limit - 1]) if len(rows) > limit else None
        )

    def get(self, identifier: str) -> Desire:
        rows = self.ledger.query(
            f"SELECT {_COLUMNS} FROM desire d WHERE d.id = ?",  # noqa: S608 - fixed text
            [identifier],
        )
        if not rows:
            label = identifier if is_id(identifier) else "with that id"
            raise NotFound(f"there is no desire {label}", next_step="astra desires list")
        return _desire_from_row(rows[0], self.read_fading(), self._read_timestamp())

    def reinforce(
        self, identifier: str, amount: float = model.REINFORCEMENT, *, actor: str
    ) -> Desire:
        """Raise what is left of a strength, to 1 at most; it fades from there, from now on."""
        amount = fraction("amount", amount)
        for _ in range(_MOST_ATTEMPTS):
            version, desire = self._read_version(identifier), self.get(identifier)
            _refuse_closed(desire)
            strength = min(desire.strength + amount, 1.0)
            data = {"amount": amount, "before": desire.strength, "strength": strength}
            event = Event(
                type=REINFORCED,
                actor=actor,
                data=data,
                correlation=desire.correlation,
                subject=identifier,
            )
            try:
                self.ledger.append([event], expect={identifier: version})
            except StaleVersion:
                continue
            return replace(self.get(identifier), strength=strength)
        raise _make_busy_conflict()

    def prune(self, *, actor: str, correlation: str) -> int:
        """Put away what has faded below the threshold; says how many."""
        least = self.read_fading().halvings_at(self._read_timestamp()) + depth(THRESHOLD)
        if not self.ledger.query(
            "SELECT 1 FROM desire WHERE pruned = 0 AND key < ? LIMIT 1", [least]
        ):
            return 0
        data = {"threshold": THRESHOLD}
        event = Event(type=PRUNED, actor=actor, data=data, correlation=correlation)
        (record,) = self.ledger.append([event])
        rows = self.ledger.query("SELECT count(*) FROM desire WHERE pruned = ?", [record.sequence])
        return int(rows[0][0])

    def recurrence(self, text: str) -> tuple[int, str]:
        """Count the desires recorded in the same words, and say when the first was."""
        rows = self.ledger.query(
            "SELECT count(*), min(recorded_at) FROM desire WHERE likeness = ?", [likeness(text)]
        )
        count, first = rows[0]
        return int(count), str(first or "")

    def settle(self) -> None:
        """Record the half-life of the settings where the chain has another one in force."""
        rows = self.ledger.query("SELECT half_life FROM fading")
        if rows and rows[0][0] != half_life_seconds(self.half_life_days):
            self.ledger.append(
                [self._make_half_life_event()], expect={_HALF_LIFE: self._read_version(_HALF_LIFE)}
            )

    def read_fading(self) -> Fading:
        rows = self.ledger.query("SELECT since, halvings, half_life FROM fading")
        return Fading(*rows[0] if rows else (0.0, 0.0, half_life_seconds(self.half_life_days)))

    def now(self) -> datetime:
        """Tell the time that counts."""
        return current_time(self.clock.now(), self.ledger.head())

    def _read_timestamp(self) -> float:
        return self.now().timestamp()

    def _make_recorded_event(self, data: dict[str, Any], actor: str, correlation: str) -> Event:
        timestamp = format_time(self.now())
        return Event(
            type=RECORDED,
            actor=actor,
            data={**data, "timestamp": timestamp},
            correlation=correlation,
            subject=id_from_content("des", data["text"], timestamp, taken=self._is_taken),
        )

    def _pace_if_none(self) -> tuple[list[Event], dict[str, int]]:
        """Give the record of the half-life that the first desire brings along."""
        if self.ledger.query("SELECT 1 FROM fading"):
            return [], {}
        return [self._make_half_life_event()], {_HALF_LIFE: 0}

    def _make_half_life_event(self) -> Event:
        half_life_seconds(self.half_life_days)
        data = {"days": self.half_life_days}
        return Event(type=HALF_LIFE_SET, actor="daemon", data=data, subject=_HALF_LIFE)

    def _is_taken(self, identifier: str) -> bool:
        return self._read_version(identifier) > 0

    def _read_version(self, subject: str) -> int:
        return self.ledger.version(subject)


def _build_query(wanted: Filter, halvings: float, cursor: str | None) -> tuple[str, list[Any]]:
    """Write the query: a range of the order by key, of all desires or of those with one tag."""
    least = fraction("min_strength", max(wanted.min_strength, 0 if wanted.faded else THRESHOLD))
    source, order, conditions = "desire d", "d", ["d.pruned = 0"]
    parameters: list[Any] = []
    if wanted.tag is not None:
        source, order = "desire_tag t CROSS JOIN desire d USING (sequence)", "t"
        conditions.append("t.tag = ?")
        parameters.append(fold_text(wanted.tag.strip()))
    conditions.append(f"{order}.key >= ?")
    parameters.append(depth(least) + halvings)
    if wanted.search:
        conditions.append("instr(d.folded, ?) > 0")
        parameters.append(fold_text(wanted.search))
    if cursor is not None:
        key, sequence = _parse_cursor(cursor)
        conditions.append(f"{order}.key <= ? AND ({order}.key < ? OR {order}.sequence > ?)")
        parameters += [key, key, sequence]
    sql = (
        f"SELECT {_COLUMNS} FROM {source} WHERE {' AND '.join(conditions)}"  # noqa: S608 - fixed texts
        f" ORDER BY {order}.key DESC, {order}.sequence LIMIT ?"
    )
    return sql, parameters


def _desire_from_row(row: tuple[Any, ...], fading: Fading, moment: float) -> Desire:
    identifier, text, key, tags, context, recorded, count, reinforced, *more = row
    pruned, goal, story, end_state, _ = more
    active = key >= fading.halvings_at(moment) + depth(THRESHOLD)
    strength_state = "active" if active else "pruned" if pruned else "faded"
    return Desire(
        id=identifier,
        text=text,
        strength=fading.strength(key, moment),
        tags=tuple(json.loads(tags)),
        context=json.loads(context),
        state=end_state or strength_state,
        recorded_at=recorded,
        reinforcements=count,
        reinforced_at=reinforced,
        goal_id=goal,
        correlation=story,
    )


def _cursor_from_row(row: tuple[Any, ...]) -> str:
    """Name a place in the order. Keys do not move, so it stays a place however long one waits."""
    return f"{row[-1]}:{float(row[2]).hex()}"


def _parse_cursor(cursor: str) -> tuple[float, int]:
    sequence, _, key = cursor.partition(":")
    try:
        position = float.fromhex(key), int(sequence)
    except (ValueError, OverflowError):
        position = None
    if position is None or position[1] >= 1 << 63:
        raise BadInput("the cursor is not one that a list gave", next_step="start without a cursor")
    return position


def _refuse_closed(desire: Desire) -> None:
    if desire.state in CLOSED_STATES:
        raise Conflict(
            f"{desire.id} is {desire.state.replace('_', ' ')}: {desire.goal_id} is over",
            code="desire_closed",
            next_step="record it anew, if it is wanted again",
        )


def _make_busy_conflict() -> Conflict:
    return Conflict("others are changing the same desire", next_step="try again")
