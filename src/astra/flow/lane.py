"""What a kind of background work says about itself; the one loop (`background`) does the rest.

A lane answers: what is due now, when is the next due, how many run at once, and why nothing may run
at the moment. Asking what is due may claim it (a firing is claimed by an append); whatever is given
is run at least once while the process lives, or given again by the next one.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from astra.trusted.ledger.record import Event

WORK_LEASE, APP_LEASE, EACH_MACHINE = "background", "app", ""


def _return_false() -> bool:
    return False


def _do_nothing() -> None:
    pass


def _no_time() -> None:
    return None


@dataclass(frozen=True, kw_only=True)
class WorkItem:
    """One thing to do, given again each time somebody asks for as long as it is due."""

    key: str
    """Tells it from everything else of its lane: no two with the same key run at once."""
    action: str
    subject: str
    run: Callable[[], None]
    entity: str = ""
    """What it works on, where that is not the subject: one worker at a time for each entity."""
    every: float = 0.0
    """For what is always due: how many seconds it rests after it went well."""
    end: Callable[[], None] | None = None
    """Ends it early; called again and again while it runs though it is due no more."""

    @property
    def label(self) -> str:
        return f"{self.action} of {self.subject}"

    @property
    def entity_id(self) -> str:
        return self.entity or self.subject


@dataclass(frozen=True, kw_only=True)
class Lane:
    """A kind of background work. Nothing in a lane waits for the work of another lane."""

    name: str
    due: Callable[[], Sequence[WorkItem]]
    """Gives everything that is due now, oldest first."""
    next_due: Callable[[], str | None] = _no_time
    """Gives the time at which more falls due, if it is known."""
    workers: int = 1
    closed: Callable[[], str] = str
    """Says why nothing of it may run now."""
    holds_daemon: Callable[[], bool] = _return_false
    """Tells whether the daemon has to stay for it."""
    failure: Callable[[WorkItem, str], Event] | None = None
    """Describes the first failure of an item, where that is to be recorded."""
    leave: Callable[[], None] = _do_nothing
    """Asks what runs to come to an end, because the daemon leaves."""
    finish_claims: Callable[[], None] = _do_nothing
    """Runs what was claimed and not begun when the daemon leaves: nobody else knows of it."""
    grace: float | None = None
    """How many seconds the daemon waits for what runs when it leaves; None: to its end."""
    breath: float = 0.02
    """How many seconds are between two looks, however fast the ledger moves."""
    look_again: float = 5.0
    """How many seconds are between two looks at most: a clock may be set, a machine may sleep."""
    longest_pause: float = 300.0
    """The longest pause before something that failed is tried again."""
    lease: str = WORK_LEASE
    """Which lease its work is done under where several machines share a chain; empty: on each."""
    begin_term: Callable[[], None] = _do_nothing
    """Forgets what it knew when this machine begins to lead: another one did the work meanwhile."""
