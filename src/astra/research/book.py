"""The book of research: which sessions there are, and each as the fold of its records."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from astra.research import events
from astra.research.model import Request, Session, Source, read_step
from astra.research.projection import COLUMNS
from astra.research.quotes import count_terms, find_terms
from astra.trusted.kernel.errors import Conflict, NotFound
from astra.trusted.kernel.ids import is_id
from astra.trusted.kernel.paging import check_page
from astra.trusted.ledger.ports import Ledger
from astra.trusted.ledger.record import Record

_LOOKED_BACK = 500


@dataclass(frozen=True)
class ResearchBook:
    ledger: Ledger

    def list_sessions(
        self, *, limit: int = 50, cursor: str | int | None = None
    ) -> tuple[list[dict[str, Any]], int | None]:
        """Give sessions, the newest first, and where the next page starts."""
        before = check_page(limit, cursor)
        rows = self._select("sequence < ? ORDER BY sequence DESC LIMIT ?", before, limit + 1)
        more = len(rows) > limit
        return rows[:limit], rows[limit - 1]["sequence"] if more else None

    def list_open(self) -> list[str]:
        return [row["id"] for row in self._select("state = 'running' ORDER BY sequence LIMIT 100")]

    def find_in_story(self, correlation: str, question: str) -> Session | None:
        """Give the newest session of a story that asks exactly this."""
        rows = self._select("correlation = ? ORDER BY sequence DESC LIMIT 50", correlation)
        sessions = [row["id"] for row in rows if row["question"] == question]
        return self.get(sessions[0]) if sessions else None

    def find_recent(self, topic: str, *, limit: int) -> list[dict[str, Any]]:
        """Give finished sessions whose question has words of a topic, the closest first."""
        terms = find_terms(topic)
        rows = self._select("state = 'finished' ORDER BY sequence DESC LIMIT ?", _LOOKED_BACK)
        scored = [(count_terms(row["question"], terms), row) for row in rows]
        matching = [(score, row) for score, row in scored if score]
        matching.sort(key=lambda pair: (-pair[0], -pair[1]["sequence"]))
        return [row for _, row in matching[:limit]]

    def count_readings(self, day: str) -> int:
        """Count the calls of a model that research made on a day."""
        rows = self.ledger.query("SELECT count FROM research_reading WHERE day = ?", [day])
        return int(rows[0][0]) if rows else 0

    def exists(self, identifier: str) -> bool:
        return bool(self._select("id = ?", identifier))

    def get(self, identifier: str) -> Session:
        records = self.ledger.records_of(identifier, *_FOLDED) if self.exists(identifier) else []
        if not records:
            label = identifier if is_id(identifier) else "with that id"
            raise NotFound(
                f"there is no research session {label}",
                code="unknown_research",
                next_step="astra research list",
            )
        return fold_session(records)

    def get_finished(self, identifier: str) -> Session:
        session = self.get(identifier)
        if session.state != "finished":
            raise Conflict(
                f"{identifier} is not finished",
                code="research_not_finished",
                next_step=f"wait for it: astra research show {identifier}",
            )
        return session

    def _select(self, condition: str, *parameters: Any) -> list[dict[str, Any]]:
        rows = self.ledger.query(
            f"SELECT {COLUMNS} FROM research_session WHERE {condition}",  # noqa: S608 - fixed texts
            parameters,
        )
        return [dict(zip(COLUMNS.split(", "), row, strict=True)) for row in rows]


_FOLDED = (events.STARTED, events.TASK_FINISHED, events.RESUMED, events.FINISHED)


def fold_session(records: Sequence[Record]) -> Session:
    first, *later_records = records
    session = Session(
        id=str(first.subject),
        request=_read_request(first.data["request"]),
        commit=first.data["commit"],
        actor=first.actor,
        correlation=first.correlation,
        started_at=first.time,
        machine=str(first.data.get("machine", "")),
    )
    for record in later_records:
        session = _apply_record(session, record)
    return session


def _apply_record(session: Session, record: Record) -> Session:
    if record.type == events.TASK_FINISHED:
        steps = (*session.steps, read_step(record.data))
        return replace(session, steps=steps, resumed=0)
    if record.type == events.RESUMED:
        return replace(session, resumed=session.resumed + 1)
    return replace(session, finished_at=record.time, result=record.data)


def _read_request(data: Mapping[str, Any]) -> Request:
    return Request(
        question=data["question"],
        max_tasks=data["max_tasks"],
        max_depth=data["max_depth"],
        sources=tuple(Source(name) for name in data["sources"]),
        urls=tuple(data["urls"]),
        left_out=tuple(data["left_out"]),
        with_model=data["with_model"],
    )
