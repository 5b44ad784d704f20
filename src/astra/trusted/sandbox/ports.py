"""The port to the sandbox: what a box is asked for, and what a run gives back.

One protocol for everybody who runs a command in a box or ends one, whatever stands behind it: the
sandbox itself, the sandbox for what must never run without one, the boxes of an agent's own calls,
the boxes of a plan. Nothing here starts a process, so domains may import it.

Who is asked decides the grants. The sandbox gives what the request's manifest names; the boxes of
an agent or a plan put their own paths, hosts and working folder in its place, and keep the limits.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Protocol

from astra.trusted.egress.summary import NO_EGRESS, EgressSummary
from astra.trusted.policy.manifest import MIB, Limits, Manifest

SCRATCH = "/tmp"  # noqa: S108 - the box's own, fresh and size-capped
OnOutput = Callable[[str, bytes], None]
"""Takes the name of a stream and what came on it."""


class Verdict(StrEnum):
    NEVER_RAN = "never_ran"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    TIMED_OUT = "timed_out"
    KILLED_BY_LIMIT = "killed_by_limit"
    STOPPED_BY_OPERATOR = "stopped_by_operator"


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What a run gives back; `stdout` and `stderr` are cut at the limit of the request."""

    verdict: Verdict
    reason: str
    next_step: str = ""
    code: str = ""
    exit_code: int | None = None
    limit: str | None = None
    seconds: float = 0.0
    stdout: bytes = b""
    stderr: bytes = b""
    egress: EgressSummary = NO_EGRESS
    confined: bool = True

    @property
    def succeeded(self) -> bool:
        return self.verdict is Verdict.SUCCEEDED


@dataclass(frozen=True, kw_only=True)
class Edit:
    """One path that has to become something else; `data` None removes it, or is a link's target."""

    path: bytes
    data: bytes | None = None
    mode: int = 0o644
    link: bool = False
    folder: bool = False


@dataclass(frozen=True, kw_only=True)
class Workspace:
    """What a box finds at `place`: the base with the edits, to be written as it likes."""

    place: str
    base: Path
    edits: tuple[Edit, ...] = ()
    scratch: Path
    most_bytes: int = 512 * MIB
    most_files: int = 200_000
    copied: bool = False


def _ignore(_stream: str, _data: bytes) -> None:
    """Take output that nobody watches; the outcome has it too."""


@dataclass(frozen=True, kw_only=True)
class BoxRequest:
    """One command, on whose behalf it runs, and what it may touch.

    `programs` outside the system's folders become usable in the box. A `label` is how the box is
    ended by name: a change or plan id.
    """

    command: tuple[str, ...]
    actor: str
    correlation: str
    manifest: Manifest = field(default_factory=Manifest)
    workdir: str = SCRATCH
    programs: tuple[Path, ...] = ()
    workspace: Workspace | None = None
    on_output: OnOutput = _ignore
    label: str = ""
    host_network: bool = False
    on_low_disk: bool = False
    """Runs although the disk is almost full, as what proves or takes back a release must."""

    @property
    def seconds(self) -> float:
        return self.manifest.limits.wall_seconds


def request_for(
    command: tuple[str, ...], seconds: float, *, actor: str, correlation: str
) -> BoxRequest:
    """Ask for nothing but time: for boxes that bring their own grants.

    >>> request_for(("true",), 5, actor="agent", correlation="cor_1").seconds
    5
    """
    manifest = Manifest(limits=Limits(wall_seconds=seconds))
    return BoxRequest(command=command, manifest=manifest, actor=actor, correlation=correlation)


@dataclass(frozen=True)
class Fetched:
    status: int
    content_type: str
    body: bytes


class Boxes(Protocol):
    """Runs commands in boxes, and ends boxes."""

    def run(self, request: BoxRequest) -> Outcome:
        """Run to the end; that a command could not start is an outcome, or a refusal."""
        ...

    def end(self, label: str, why: str) -> int:
        """End every box that carries the label; says how many there were."""
        ...


class GrantedBoxes(Boxes, Protocol):
    """Boxes that bring their own grants, as the tools of an agent need them."""

    def fetch(self, url: str, grant: str, *, actor: str, correlation: str) -> Fetched:
        """Fetch one address from the one host that was granted."""
        ...

    def in_words(self) -> str:
        """Say what a command in such a box can touch."""
        ...
