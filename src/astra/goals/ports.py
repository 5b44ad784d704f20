"""What running goals need of the rest of Astra, as small ports; bootstrap fills them in."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from astra.goals.graph import Node
from astra.goals.model import Goal, Usage


@dataclass(frozen=True, kw_only=True)
class TaskRun:
    """One attempt at a task: whose it is, and its arguments with what others gave."""

    goal: Goal
    node: Node
    arguments: Mapping[str, Any]


def _no_outputs() -> dict[str, Any]:
    return {}


@dataclass(frozen=True, kw_only=True)
class Done:
    """How an attempt ended; a failure has a reason."""

    succeeded: bool = True
    reason: str = "ok"
    detail: str = ""
    outputs: Mapping[str, Any] = field(default_factory=_no_outputs)
    usage: Usage = field(default_factory=Usage)
    final: bool = False
    """Whether trying again would be pointless: a person said no."""


@dataclass(frozen=True, kw_only=True)
class Waiting:
    """Something has to happen first: a decision, a merge, a plan's end."""

    on: str
    why: str
    usage: Usage = field(default_factory=Usage)


def _no_files() -> dict[str, str | None]:
    return {}


@dataclass(frozen=True, kw_only=True)
class WrittenCode:
    """What a model wrote: whole files by path, None for one to delete; or why that is no use."""

    files: Mapping[str, str | None] = field(default_factory=_no_files)
    usage: Usage = field(default_factory=Usage)
    """Every call that was made, and its tokens."""
    objection: str = ""


@dataclass(frozen=True, kw_only=True)
class Proposal:
    """What a model answered for a decomposition: any JSON value, and the tokens it took."""

    subtasks: Any = None
    usage: Usage = field(default_factory=Usage)
    """The tokens; the call itself was counted before it was made."""


class Decomposer(Protocol):
    """Proposes a decomposition where no method fits: a model, where one is configured."""

    def is_there(self) -> bool: ...

    def propose(self, goal: Goal, tasks: Sequence[str], /) -> Proposal:
        """Ask for subtasks: of the kinds, or of these tasks. Raises where nobody answers."""
        ...


class Performer(Protocol):
    """Does the tasks of one kind."""

    def is_repeatable(self, node: Node, /) -> bool:
        """Tell whether doing it twice is the same as once: then a crash begins it again."""
        ...

    @property
    def model_calls(self) -> int:
        """Say how many calls of a model one attempt makes; they count when it begins."""
        ...

    def begin(self, run: TaskRun, /) -> Done | Waiting:
        """Do it, or the first part of it. Raises an AstraError for what failed."""
        ...

    def look(self, run: TaskRun, on: str, /) -> Done | Waiting | None:
        """See whether what it waits for has come; None: it waits on."""
        ...

    def recover(self, run: TaskRun, /) -> Done | Waiting | None:
        """Find what an attempt that a crash cut off had brought about, if that can be told.

        It only looks: the goal may stand still.
        """
        ...
