"""Doing a session: one task after another, each recorded once, until an end that always comes.

A session is recorded before anything is searched. What a task found is in its record, so a crash
repeats at most the task that was under way; whoever opens the data root next goes on with what is
open. A session that could not get past one task three times ends with what it has.
"""

import threading
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from astra.research import events, prompts
from astra.research.book import ResearchBook
from astra.research.citations import Citations
from astra.research.gathering import Gathered, Gathering
from astra.research.model import (
    PREFIX,
    SEARCH,
    Finding,
    Passage,
    Request,
    Session,
    Task,
)
from astra.research.planning import find_next_task
from astra.research.ports import OtherMachines
from astra.research.quotes import choose_quote, find_terms
from astra.research.reading import Ordering, Reader, Reading
from astra.research.results import compose_result
from astra.spend.model import Account
from astra.trusted.kernel.errors import Conflict, DuplicateKey
from astra.trusted.kernel.ids import id_from_content, random_id
from astra.trusted.kernel.text import one_line
from astra.trusted.ledger.ports import Ledger
from astra.trusted.ledger.record import Event

MOST_RESUMED = 3
READINGS_A_DAY = 300
"""How many calls of a model research makes in a day of UTC, for all who ask together."""
_FINDINGS_OF_SEARCH = 4
_MOST_TROUBLE = 500


@dataclass(kw_only=True)
class Researcher:
    ledger: Ledger
    gathering: Gathering
    citations: Citations
    reader: Reader
    closed: Callable[[], str] = str
    """Says why nothing may be searched now."""
    others: OtherMachines | None = None
    """Who could do a session instead; None where this machine is alone."""
    _held: set[str] = field(default_factory=set[str])
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def book(self) -> ResearchBook:
        return ResearchBook(self.ledger)

    def ask(self, request: Request, *, actor: str, correlation: str) -> Session:
        """Start a session and bring it to its end; one that its story has open goes on."""
        session = self.book.find_in_story(correlation, request.question)
        if session is None or session.state == "finished":
            session = self._start(request, actor=actor, correlation=correlation)
        self._send_away(session)
        return self.run(session.id)

    def list_due(self) -> list[str]:
        """Give open sessions that nobody works on, here or elsewhere."""
        if self.closed():
            return []
        open_sessions = [name for name in self.book.list_open() if name not in self._held]
        if self.others is None:
            return open_sessions
        is_elsewhere = self.others.is_elsewhere
        return [name for name in open_sessions if not is_elsewhere(self.book.get(name))]

    def resume(self, identifier: str) -> None:
        """Go on with a session that a dead daemon left, or end it where that fails each time."""
        session = self.book.get(identifier)
        if session.state == "finished" or identifier in self._held:
            return
        if session.resumed >= MOST_RESUMED:
            self._finish(session, note=f"interrupted {session.resumed} times at one task")
            return
        fields = events.fill_event(identifier, {}, correlation=session.correlation)
        event = Event(type=events.RESUMED, **fields)
        self.ledger.append([event], expect={identifier: self.ledger.version(identifier)})
        self.run(identifier)

    def run(self, identifier: str) -> Session:
        """Do what is left of a session; only one thread of this process does."""
        with self._hold(identifier):
            return self._run_tasks(identifier)

    def _send_away(self, session: Session) -> None:
        if self.others is not None and not self.closed():
            with self._hold(session.id):
                self.others.send(session)

    @contextmanager
    def _hold(self, identifier: str) -> Generator[None]:
        with self._lock:
            if identifier in self._held:
                raise _still_running(identifier, "another call works on it")
            self._held.add(identifier)
        try:
            yield
        finally:
            self._held.discard(identifier)

    def _run_tasks(self, identifier: str) -> Session:
        session = self.book.get(identifier)
        while session.state != "finished":
            if reason := self.closed():
                raise _still_running(identifier, reason)
            task = find_next_task(session)
            if task is None:
                self._finish(session)
            else:
                self._do_task(session, task)
            session = self.book.get(identifier)
        return session

    def _start(self, request: Request, *, actor: str, correlation: str) -> Session:
        commit = self.gathering.code.find_commit()
        identifier = id_from_content(
            PREFIX, request.question, random_id(PREFIX), taken=self.book.exists
        )
        data = {"request": request.as_dict(), "commit": commit}
        if self.others is not None:
            data["machine"] = self.others.own_machine
        fields = events.fill_event(identifier, data, correlation=correlation, actor=actor)
        event = Event(type=events.STARTED, **fields)
        self.ledger.append([event], expect={identifier: 0})
        return self.book.get(identifier)

    def _do_task(self, session: Session, task: Task) -> None:
        gathered = self.gathering.gather(task, session)
        reading = self._read_passages(session, task, gathered)
        findings, unsupported = self._support_claims(reading)
        if not reading.model or reading.trouble:
            findings = self._cite_passages(task, gathered.passages)
        troubles = (*gathered.troubles, *((reading.trouble,) if reading.trouble else ()))
        data = {
            "task": task.as_dict(),
            "passages": len(gathered.passages),
            "findings": [finding.as_dict() for finding in findings],
            "unsupported": unsupported + reading.malformed,
            "follow_up": list(reading.questions if reading.model else gathered.names),
            "searched": one_line(gathered.searched, _MOST_TROUBLE),
            "trouble": one_line("; ".join(troubles), _MOST_TROUBLE),
            "model": reading.model,
            "prompt": prompts.READING if reading.model else "",
            "tokens": reading.tokens,
        }
        self._record_task(session, task, data)

    def _record_task(self, session: Session, task: Task, data: Mapping[str, object]) -> None:
        fields = events.fill_event(
            session.id,
            data,
            correlation=session.correlation,
            key=f"research_task:{session.id}:{task.number}",
        )
        event = Event(type=events.TASK_FINISHED, **fields)
        try:
            self.ledger.append([event])
        except DuplicateKey:
            return  # somebody else was first: what is recorded counts

    def _read_passages(self, session: Session, task: Task, gathered: Gathered) -> Reading:
        if not gathered.passages or not self._may_ask_model(session):
            return Reading(trouble=self._explain_no_model(session))
        return self.reader.read(task.query, gathered.passages, _account_of(session))

    def _may_ask_model(self, session: Session) -> bool:
        is_wanted = session.request.with_model and self.reader.is_there()
        return is_wanted and not self._explain_no_model(session)

    def _explain_no_model(self, session: Session) -> str:
        """Say that a day's calls are used up, where there is a model to call."""
        if not session.request.with_model or not self.reader.is_there():
            return ""
        if self.book.count_readings(self.ledger.head().time[:10]) < READINGS_A_DAY:
            return ""
        return f"no model was asked: research made {READINGS_A_DAY} calls today already"

    def _support_claims(self, reading: Reading) -> tuple[list[Finding], int]:
        """Keep the claims whose quotes stand in their objects; give how many do not."""
        verified = [
            (claim, self.citations.verify(claim.passage.target, claim.quote))
            for claim in reading.claims
        ]
        findings = [
            Finding(claim=claim.text, citations=(citation,), by=reading.model)
            for claim, citation in verified
            if citation
        ]
        return findings, len(reading.claims) - len(findings)

    def _cite_passages(self, task: Task, passages: Sequence[Passage]) -> list[Finding]:
        """Make findings of passages, in the server's own words."""
        terms = find_terms(task.query)
        findings: list[Finding] = []
        for passage in passages[:_FINDINGS_OF_SEARCH]:
            quote = choose_quote(passage.text, terms, from_start=bool(passage.label))
            if citation := self.citations.verify(passage.target, quote):
                claim = one_line(f"{citation.place} {passage.label or 'matches the question'}", 300)
                findings.append(Finding(claim=claim, citations=(citation,), by=SEARCH))
        return findings

    def _finish(self, session: Session, *, note: str = "") -> None:
        ordering = Ordering()
        model_claims = [finding for finding in session.findings if finding.by != SEARCH]
        if len(model_claims) > 1 and self._may_ask_model(session) and not note:
            question, account = session.request.question, _account_of(session)
            ordering = self.reader.order(question, session.findings, account)
        result = compose_result(session, ordering, note=note or ordering.trouble)
        fields = events.fill_event(
            session.id,
            result,
            correlation=session.correlation,
            key=f"research_finished:{session.id}",
        )
        event = Event(type=events.FINISHED, **fields)
        try:
            self.ledger.append([event])
        except DuplicateKey:
            return  # it was finished already


def _account_of(session: Session) -> Account:
    return Account(actor=session.actor, correlation=session.correlation)


def _still_running(identifier: str, why: str) -> Conflict:
    return Conflict(
        f"{identifier} is not finished: {why}",
        code="research_not_finished",
        next_step=f"it goes on by itself; look again: astra research show {identifier}",
    )
