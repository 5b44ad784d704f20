"""The book of all tasks: one list, newest first, whichever part of Astra a task comes from.

Every door reads this one: `tasks_list`, `tasks_by_trace`, `tasks_last_failed`, `astra tasks` and
`/api/tasks`.
"""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from astra.tasks.sources import CHANGES, COLUMNS, FINISHED, FIRINGS, SOURCES, STATES, Source
from astra.trusted.changes.model import SCHEDULED, read_purpose
from astra.trusted.kernel.errors import BadInput, NotFound
from astra.trusted.kernel.ids import is_id
from astra.trusted.kernel.paging import END, check_page, read_cursor
from astra.trusted.kernel.text import quote_text
from astra.trusted.ledger.ports import Ledger

LARGEST_PAGE = 1_000
_FAILED = "failed"
Place = tuple[int, int]
"""A record, and a place in it: a graph is one record with many tasks."""


@dataclass(frozen=True, kw_only=True)
class Filter:
    """Which tasks: those of a state or an outcome, a source, a story or a schedule."""

    state: str | None = None
    outcome: str | None = None
    source: str | None = None
    trace: str | None = None
    schedule_id: str | None = None


@dataclass(frozen=True, kw_only=True)
class Task:
    id: str
    kind: str
    source: str
    title: str
    tool: str
    schedule: str
    enabled: bool
    state: str
    outcome: str
    subject_id: str
    attempt: int
    waits_on: str
    reason: str
    detail: str
    created_at: str
    started_at: str | None
    finished_at: str | None
    milliseconds: float
    correlation: str

    def as_dict(self) -> dict[str, Any]:
        return {**asdict(self), "trace": self.correlation}


@dataclass(frozen=True)
class TaskBook:
    ledger: Ledger

    def list_page(
        self, task_filter: Filter | None = None, *, limit: int = 50, cursor: str | None = None
    ) -> tuple[list[Task], str | None]:
        """Give tasks, newest first, and where the next page starts."""
        task_filter = task_filter or Filter()
        check_page(limit, largest=LARGEST_PAGE)
        _refuse_unknown(task_filter)
        before = _read_place(cursor)
        rows = [
            row
            for source in _pick_sources(task_filter)
            for own_state in _pick_own_states(source, task_filter)
            for row in self._query_source(source, task_filter, own_state, before, limit + 1)
        ]
        rows.sort(key=lambda row: row[0], reverse=True)
        more = len(rows) > limit
        return [task for _, task in rows[:limit]], _write_place(
            rows[limit - 1][0]
        ) if more else None

    def list_failed(self, *, schedule_id: str | None = None, limit: int = 10) -> list[Task]:
        task_filter = Filter(outcome=_FAILED, schedule_id=schedule_id)
        return self.list_page(task_filter, limit=limit)[0]

    def get(self, identifier: str) -> Task:
        for source in SOURCES:
            condition = f"{source.table}.id = ?"
            rows = self._read(
                source, f"WHERE {condition} ORDER BY {source.order} DESC LIMIT 1", [identifier]
            )
            if rows:
                return rows[0][1]
        label = identifier if is_id(identifier) else "with that id"
        raise NotFound(f"there is no task {label}", next_step="astra tasks list")

    def _query_source(
        self, source: Source, task_filter: Filter, own_state: str | None, before: Place, limit: int
    ) -> list[tuple[Place, Task]]:
        conditions, parameters = [_before(source)], list[Any](before)
        for condition, value in (
            (f"{source.table}.state = ?", own_state),
            (f"{source.table}.{source.outcome_column} = ?", task_filter.outcome),
            (f"{source.table}.correlation = ?", task_filter.trace),
            ("firing.schedule = ?", task_filter.schedule_id),
        ):
            if value is not None:
                conditions.append(condition)
                parameters.append(value)
        clause = f"WHERE {' AND '.join(conditions)} ORDER BY {_order(source)} LIMIT ?"
        return self._read(source, clause, [*parameters, limit])

    def _read(
        self, source: Source, clause: str, parameters: Sequence[Any]
    ) -> list[tuple[Place, Task]]:
        rows = self.ledger.query(f"{source.select} {clause}", parameters)
        placed_tasks = [_read_row(source, row) for row in rows]
        if source is not CHANGES:
            return placed_tasks
        return [(place, self._name_by_purpose(task)) for place, task in placed_tasks]

    def _name_by_purpose(self, task: Task) -> Task:
        """Title the task of a change with why the change was proposed."""
        proposals = self.ledger.records_of(task.subject_id, SCHEDULED)
        purpose = read_purpose(proposals[0].data["about"]) if proposals else task.subject_id
        return replace(task, title=f"Change the code: {quote_text(purpose)}")


def _read_row(source: Source, row: Sequence[Any]) -> tuple[Place, Task]:
    fields: dict[str, Any] = dict(zip(COLUMNS, row, strict=True))
    place = (fields.pop("sequence"), fields.pop("place"))
    state = source.name_state(fields.pop("own_state"))
    fields |= {"enabled": bool(fields["enabled"]), "source": source.name, "state": state}
    if state != FINISHED:
        fields["outcome"] = ""
    return place, Task(**fields)


def _pick_sources(task_filter: Filter) -> Iterator[Source]:
    for source in SOURCES:
        if task_filter.source in {None, source.name} and (
            task_filter.schedule_id is None or source is FIRINGS
        ):
            yield source


def _pick_own_states(source: Source, task_filter: Filter) -> Sequence[str | None]:
    """Give the source's own states to ask for, one question each: an index holds each of them."""
    if task_filter.state is None:
        return (None,)
    return source.own_states[task_filter.state]


def _before(source: Source) -> str:
    if source.table == "goal_task":
        return "(goal_task.sequence, goal_task.place) < (?, ?)"
    return f"{source.order} < ? AND ? >= 0"


def _order(source: Source) -> str:
    return f"{source.order} DESC" + (", place DESC" if source.table == "goal_task" else "")


def _refuse_unknown(task_filter: Filter) -> None:
    names = tuple(source.name for source in SOURCES)
    for field, value, choices in (
        ("state", task_filter.state, STATES),
        ("source", task_filter.source, names),
    ):
        if value is not None and value not in choices:
            raise BadInput(
                f"{field} is one of {', '.join(choices)}", next_step="choose one of them"
            )


def _read_place(cursor: str | None) -> Place:
    if cursor is None:
        return END, 0
    sequence, _, place = cursor.partition(".")
    return read_cursor(sequence), read_cursor(place or "0")


def _write_place(place: Place) -> str:
    return f"{place[0]}.{place[1]}" if place[1] else str(place[0])
