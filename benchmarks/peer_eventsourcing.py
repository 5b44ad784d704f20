"""The `eventsourcing` library doing what P1 measures: one durable event at a time, on SQLite."""

from pathlib import Path
from uuid import UUID

from eventsourcing.application import Application
from eventsourcing.domain import Aggregate, event

import sample
from measuring import seconds


class Task(Aggregate):
    def __init__(self) -> None:
        self.step, self.note = 0, ""

    @event("Progressed")
    def progress(self, step: int, note: str) -> None:
        self.step, self.note = step, note


class Peer:
    """Tasks of ten events each: got anew before each event, as in its manual, or kept in memory."""

    def __init__(self, path: Path, count: int, *, kept: bool) -> None:
        self._application = Application[UUID](
            env={"PERSISTENCE_MODULE": "eventsourcing.sqlite", "SQLITE_DBNAME": str(path)}
        )
        self._stories = count // sample.STORY
        self._kept = kept

    def append(self) -> float:
        return seconds(lambda: [self._story() for _ in range(self._stories)])

    def _story(self) -> None:
        task = Task()
        self._application.save(task)
        for step in range(1, sample.STORY):
            if not self._kept:
                task = self._application.repository.get(task.id)
            task.progress(step, sample.NOTE)
            self._application.save(task)
