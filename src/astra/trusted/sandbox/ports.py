"""The port to the sandbox: what a box is asked for, and what a run gives back.

One protocol for everybody who runs a command in a box or ends one, whatever stands behind it: the
sandbox itself, the sandbox for what must never run without one, the boxes of an agent's own calls,
the boxes of a plan. Nothing here starts a process, so domains may import it.

Who is asked decides the grants. The sandbox gives what the request's manifest names; the boxes of
an agent or a plan put their own paths, hosts and working folder in its place, and keep the limits.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any, Protocol

from astra.trusted.egress.summary import NO_EGRESS, EgressSummary
from astra.trusted.policy.manifest import MIB, Limits, Manifest
from astra.trusted.sandbox.toolchain import NO_TOOLCHAIN, Toolchain

SCRATCH = "/tmp"  # noqa: S108 - the box's own, fresh and size-capped
OnOutput = Callable[[str, bytes], None]
"""Takes the name of a stream and what came on it."""
OwnServices = Mapping[str, Callable[[], Any]]
"""Names, each with what connects it: gives a socket, a word that domains do not know."""
OnStarted = Callable[[int], None]
"""Takes the descriptor through which a command that began is spoken to; good while it runs."""


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


def _ignore_output(_stream: str, _data: bytes) -> None:
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
    on_output: OnOutput = _ignore_output
    label: str = ""
    host_network: bool = False
    on_low_disk: bool = False
    """Runs although the disk is almost full, as what proves or takes back a release must."""
    environment: Toolchain = NO_TOOLCHAIN
    """A sealed environment of the target, as Astra itself made it."""
    on_started: OnStarted | None = None
    """Makes it a conversation: the command keeps a standard input, and its output, however much it
    becomes, goes to `on_output` only."""
    secrets: tuple[str, ...] = ()
    """Names of [[egress.secrets]] that the proxy adds to requests of this box."""
    shown: tuple[str, ...] = ()
    """Granted places that the operator signed by name although boxes see such places empty."""
    inner_hosts: tuple[str, ...] = ()
    """Granted hosts that the operator signed by name: they may be in the operator's network."""
    own_services: OwnServices = field(default_factory=dict[str, Callable[[], Any]])
    """Granted names that Astra itself answers for in this box."""

    @property
    def seconds(self) -> float:
        return self.manifest.limits.wall_seconds


def request_for(
    command: tuple[str, ...], seconds: float, *, actor: str, correlation: str, label: str = ""
) -> BoxRequest:
    """Ask for nothing but time: for boxes that bring their own grants.

    >>> request_for(("true",), 5, actor="agent", correlation="cor_1").seconds
    5
    """
    manifest = Manifest(limits=Limits(wall_seconds=seconds))
    return BoxRequest(
        command=command, manifest=manifest, actor=actor, correlation=correlation, label=label
    )


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

    def fetch(
        self, url: str, grant: str, *, actor: str, correlation: str, label: str = ""
    ) -> Fetched:
        """Fetch one address from the one host that was granted."""
        ...

    def describe_grants(self, seconds: float = 60) -> str:
        """Say what a command in such a box can touch, and use up in so much time."""
        ...
