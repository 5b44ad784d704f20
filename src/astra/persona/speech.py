"""What a conversation with a model consists of, and the port to a model that talks.

Plans ask a model for one document at a time (`astra.plans.ports.Model`); here it speaks piece by
piece, may call tools in between, and can be cut off by the person who listens.
"""

import threading
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Protocol

from astra.plans.ports import Usage
from astra.spend.model import NOBODY, Account

Say = Callable[[str], None]


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """A call that a model wants; `arguments` is None where it wrote no JSON object."""

    id: str
    tool: str
    arguments: Mapping[str, Any] | None


@dataclass(frozen=True, kw_only=True)
class Result:
    id: str
    tool: str
    text: str


@dataclass(frozen=True)
class FromPerson:
    text: str


@dataclass(frozen=True)
class FromPersona:
    text: str
    calls: tuple[Wanted, ...] = ()


@dataclass(frozen=True)
class FromTools:
    results: tuple[Result, ...]


Utterance = FromPerson | FromPersona | FromTools


@dataclass(frozen=True, kw_only=True)
class Offered:
    """A tool as a model is shown it."""

    name: str
    description: str
    schema: Mapping[str, Any]
    toolset: str = ""
    """The set it is shown with; one without a set is always shown."""


@dataclass(frozen=True, kw_only=True)
class Dialogue:
    rules: str
    utterances: Sequence[Utterance]
    tools: Sequence[Offered] = ()


@dataclass(frozen=True, kw_only=True)
class Spoken:
    """What a model said in one go."""

    text: str = ""
    calls: tuple[Wanted, ...] = ()
    usage: Usage = field(default_factory=Usage)
    cut: bool = False
    is_short: bool = False
    """It ended where the model may say no more, not where it had said everything."""


class Cut:
    """Lets one thread cut off what a model says to another."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting: list[Callable[[], None]] = []
        self._is_set = False

    def set(self) -> None:
        with self._lock:
            self._is_set = True
            callbacks, self._waiting = self._waiting, []
        for act in callbacks:
            act()

    def is_set(self) -> bool:
        return self._is_set

    @contextmanager
    def calls(self, act: Callable[[], None]) -> Generator[None]:
        """Have `act` called at the cut, or at once when it was made already; never afterwards."""
        with self._lock:
            late = self._is_set
            if not late:
                self._waiting.append(act)
        if late:
            act()
        try:
            yield
        finally:
            with self._lock:
                self._waiting = [callback for callback in self._waiting if callback is not act]


class Talker(Protocol):
    """One call to a model that talks; it raises what `astra.plans.ports.Model` raises."""

    @property
    def name(self) -> str: ...

    def converse(self, dialogue: Dialogue, *, say: Say, cut: Cut) -> Spoken:
        """Say each piece of text as it comes; give all of it, and the calls that are wanted."""
        ...


class Talkers(Protocol):
    """Which model talks now, if any."""

    def talker(self, account: Account = NOBODY) -> Talker:
        """Give it, on somebody's account, or raise `NoModel` with how to set one."""
        ...
