"""Research on workers: the daemon that was asked records the session, a worker does its tasks.

Every record of a session has a key of its own, so a task that two machines did is recorded once.
Only what travels is offered: source and documents of a commit, and records of the chain. Notes lie
in the folder of their machine, and the bodies of pages are kept where they were read, so that each
citation can be read again there: a session that reads either stays where it was asked. So does one
whose model a worker does not have.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from astra.adapters.git_objects import ObjectExchange
from astra.research.model import Session, Source
from astra.research.ports import Notes
from astra.research.reading import Reader
from astra.research.running import Researcher
from astra.trusted.kernel.errors import Refused
from astra.trusted.stop.machines import Machines
from astra.workers.book import JobBook
from astra.workers.model import RESEARCH, Job, Offer
from astra.workers.offering import JobBoard

_SECONDS = 1_800.0
"""How long a session may take on one worker: its tasks are few, but a model may be slow."""


@dataclass(frozen=True, kw_only=True)
class OfferedResearch:
    """Has a worker do a session, where one can and nothing of the session is here only."""

    board: JobBoard
    objects: ObjectExchange
    notes: Notes
    reader: Reader

    @property
    def own_machine(self) -> str:
        return self.board.machines.own_id

    def send(self, session: Session) -> None:
        """Wait until a worker did it, or until nobody else can; what is open then is done here."""
        offer = Offer(
            kind=RESEARCH,
            work={"session": session.id, "model": name_model(session, self.reader)},
            label=session.id,
            seconds=_SECONDS,
            repeatable=True,
        )
        if not self._can_travel(session) or not self.board.has_able_worker(offer):
            return
        self.objects.publish([session.commit])
        self.board.have_done(offer, correlation=session.correlation, do_here=lambda: True)

    def is_elsewhere(self, session: Session) -> bool:
        """Tell whether a worker has it, or the machine that began it answers."""
        if JobBook(self.board.ledger).list_open(session.id):
            return True
        return session.machine != self.own_machine and is_answering(
            self.board.machines, session.machine
        )

    def _can_travel(self, session: Session) -> bool:
        sources = session.request.sources
        has_pages = Source.WEB in sources and bool(session.request.urls)
        has_notes = Source.NOTES in sources and any(True for _ in self.notes.list_notes())
        return self.objects.is_configured and not has_pages and not has_notes


@dataclass(frozen=True, kw_only=True)
class ResearchPerformer:
    """Does a session of a job on this machine."""

    researcher: Researcher
    objects: ObjectExchange

    def perform(self, job: Job) -> Mapping[str, Any]:
        session = self.researcher.book.get(str(job.offer.work["session"]))
        own_model, wanted_model = (
            name_model(session, self.researcher.reader),
            job.offer.work["model"],
        )
        if own_model != wanted_model:
            raise Refused(
                f"this worker has {own_model or 'no model'}, and the session is to be read by"
                f" {wanted_model or 'none'}",
                code="other_model",
                next_step="give the worker the same ASTRA_MODEL, or leave out --kinds research",
            )
        self.objects.ensure([session.commit])
        self.researcher.run(session.id)
        return {"session": session.id}

    def end(self, job: Job) -> None:
        """Leave it to its end: a session looks at the stop before each of its tasks."""


def name_model(session: Session, reader: Reader) -> str:
    """Name the model that would read for a session here, or nothing."""
    wants_model = session.request.with_model and reader.is_there()
    return reader.models.current().name if wants_model else ""


def is_answering(machines: Machines, machine_id: str) -> bool:
    return any(
        machine.is_answering for machine in machines.list_machines() if machine.id == machine_id
    )
