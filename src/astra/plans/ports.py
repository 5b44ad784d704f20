"""What plans need of the world, as small ports; bootstrap fills them in."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from pydantic import BaseModel

from astra.spend.model import NOBODY, Account
from astra.trusted.kernel.errors import AstraError, Refused


class NoModel(Refused):
    code = "no_model"


class ModelUnavailable(AstraError):
    """A model did not answer: too slow, unreachable, refusing, or broken."""

    code = "model_unavailable"
    http_status = 502

    @property
    def patience(self) -> int:
        """For how many seconds its server asked to be left alone."""
        return int(self.facts.get("patience", 0))


class ModelCancelled(AstraError):
    """A model's answer is waited for no longer: what it was asked for has ended."""

    code = "model_cancelled"
    http_status = 409


class PlanFiles(Protocol):
    """The files a plan's approval is exported to: `agents/<id>/plan.json` and `grants.json`."""

    def write(self, agent_id: str, files: Mapping[str, str]) -> None:
        """Write these files; where none was there they appear all at once."""
        ...

    def read(self, agent_id: str, name: str) -> str | None:
        """Give what a file says; what is no plain file of ours reads as empty."""
        ...

    def write_allowlist(self, text: str) -> None: ...

    def read_allowlist(self) -> str | None: ...


@dataclass(frozen=True, kw_only=True)
class Prompt:
    """What a model is asked: rules in our words, then data that may be anybody's.

    `rules` come from versioned files of ours. Each part of `data` is named and delimited by the
    adapter's caller, see `untrusted`.
    """

    rules: str
    data: Sequence[str]
    version: str


@dataclass(frozen=True, kw_only=True)
class Usage:
    input_tokens: int = 0
    output_tokens: int = 0

    @property
    def tokens(self) -> int:
        return self.input_tokens + self.output_tokens

    def as_dict(self) -> dict[str, int]:
        return {
            "input_tokens": self.input_tokens,
            "output_tokens": self.output_tokens,
            "tokens": self.tokens,
        }


@dataclass(frozen=True, kw_only=True)
class Reply:
    """What a model said: any JSON value, or nothing that can be read as one."""

    document: Any = None
    text: str = ""
    usage: Usage = field(default_factory=Usage)


class Model(Protocol):
    """One call to a language model.

    It raises `ModelUnavailable` or, where a cap on spending would be passed, `SpendRefused`.
    """

    @property
    def name(self) -> str: ...

    def ask(self, prompt: Prompt, *, form: type[BaseModel]) -> Reply: ...


class ModelSource(Protocol):
    """Which model is configured now, if any."""

    def current(self, account: Account = NOBODY) -> Model:
        """Give it, on somebody's account, or raise `NoModel` with how to set one."""
        ...

    def configured(self) -> bool: ...


@dataclass(frozen=True, kw_only=True)
class Proposal:
    """What a coder made, on its way into the change path: a diff, or whole files.

    A file whose text is None is deleted.
    """

    agent_id: str
    checkpoint: str
    diff: str = ""
    files: Mapping[str, str | None] | None = None
    reason: str
    coder: str
    prompt_version: str
    correlation: str
    supersedes: str = ""
    """The change that this is a revision of."""


@dataclass(frozen=True, kw_only=True)
class ChangeOutcome:
    """How far a proposed change came: its evidence is pending, it passed, failed, or is over."""

    PENDING, PASSED, FAILED, CLOSED = "pending", "passed", "failed", "closed"

    state: str
    reason: str = ""
    """What failed, with the output of its tests; what a person said where they sent it back."""


class ChangeOutcomes(Protocol):
    """What came of changes, as the worker who proposed them is told."""

    def find(self, change_id: str) -> ChangeOutcome: ...

    def find_newest(self, agent_id: str, *, after: int) -> str:
        """Name the newest change that a plan proposed after a record, or nothing."""
        ...


class NoOutcomes:
    """Nobody looks at changes: each counts as passed once it is proposed."""

    def find(self, change_id: str) -> ChangeOutcome:
        del change_id
        return ChangeOutcome(state=ChangeOutcome.PASSED)

    def find_newest(self, agent_id: str, *, after: int) -> str:
        del agent_id, after
        return ""


class ChangeProposals(Protocol):
    """The change path, as a checkpoint's coder reaches it."""

    def propose(self, proposal: Proposal) -> str:
        """Propose the diff as a change like any other; gives the change's id."""
        ...


class Notifier(Protocol):
    """Tells people; content-free unless they opted in."""

    def tell(self, channels: Sequence[str], agent_id: str, kinds: Mapping[str, int]) -> None: ...
