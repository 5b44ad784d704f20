"""What research consists of: a request with limits, tasks, findings, and citations of objects.

A citation names an object that does not change (a blob at a commit, a record by its hash, a kept
body by its sha-256) and a quote that the server found in it. That the quote is there proves that it
exists, not that it supports the claim.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from astra.trusted.kernel.errors import BadInput

LONGEST_QUESTION, LONGEST_CLAIM, LONGEST_QUOTE = 2_000, 400, 600
MOST_TASKS, DEEPEST = 32, 4
USUAL_TASKS, USUAL_DEPTH = 8, 1
MOST_URLS, LONGEST_URL = 8, 2_000
SHORTEST_QUOTE = 20
PREFIX = "res"


class Source(StrEnum):
    """Where research looks, in this order."""

    SOURCE = "source"
    DOCUMENTS = "documents"
    LEDGER = "ledger"
    NOTES = "notes"
    WEB = "web"


LOCAL = (Source.SOURCE, Source.DOCUMENTS, Source.LEDGER, Source.NOTES)


@dataclass(frozen=True, kw_only=True)
class Citation:
    """A quote and the object it stands in; which members are set depends on the kind."""

    kind: str
    quote: str = ""
    commit: str = ""
    path: str = ""
    blob: str = ""
    start: int = 0
    end: int = 0
    sequence: int = 0
    hash: str = ""
    url: str = ""
    sha256: str = ""

    @property
    def place(self) -> str:
        """Name the place as a person looks it up."""
        if self.kind == Source.LEDGER:
            return f"record {self.sequence}"
        name = self.url if self.kind == Source.WEB else self.path
        last = f"-{self.end}" if self.end != self.start else ""
        lines = f":{self.start}{last}" if self.start else ""
        at = f" at {self.commit[:12]}" if self.commit else ""
        return f"{name}{lines}{at}"

    @property
    def object_id(self) -> str:
        return self.blob or self.hash or self.sha256

    def as_dict(self) -> dict[str, Any]:
        fields = {name: value for name, value in self.__dict__.items() if value}
        return {**fields, "quote": self.quote, "place": self.place}


def read_citation(data: Mapping[str, Any]) -> Citation:
    names = Citation.__dataclass_fields__
    return Citation(**{name: data[name] for name in names if name in data})


@dataclass(frozen=True, kw_only=True)
class Passage:
    """A piece of an object that a search found; `target` says where, without a quote."""

    target: Citation
    text: str
    score: float = 0.0
    label: str = ""
    """What the server itself knows about it, such as which definition it is."""


@dataclass(frozen=True, kw_only=True)
class Finding:
    claim: str
    citations: tuple[Citation, ...]
    by: str
    """Who wrote the claim: the name of a model, or `search` for the server's own words."""

    @property
    def identity(self) -> tuple[str, str, int]:
        """Tell findings apart: by what a model says, or by the place that a search found."""
        first = self.citations[0]
        return ("" if self.by == SEARCH else self.claim), first.object_id, first.start

    def as_dict(self) -> dict[str, Any]:
        citations = [citation.as_dict() for citation in self.citations]
        return {"claim": self.claim, "by": self.by, "citations": citations}


SEARCH = "search"


def read_finding(data: Mapping[str, Any]) -> Finding:
    citations = tuple(read_citation(citation) for citation in data["citations"])
    return Finding(claim=data["claim"], by=data["by"], citations=citations)


@dataclass(frozen=True, kw_only=True)
class Request:
    """A question within its limits; `left_out` are addresses whose host is not granted."""

    question: str
    max_tasks: int = USUAL_TASKS
    max_depth: int = USUAL_DEPTH
    sources: tuple[Source, ...] = tuple(Source)
    urls: tuple[str, ...] = ()
    left_out: tuple[Mapping[str, str], ...] = ()
    with_model: bool = True
    """Whether a model reads the passages; a plan's own model reads what its search gives."""

    def as_dict(self) -> dict[str, Any]:
        return {
            **self.__dict__,
            "sources": [str(source) for source in self.sources],
            "urls": list(self.urls),
            "left_out": [dict(item) for item in self.left_out],
        }


def check_request(
    question: str,
    *,
    max_tasks: int = USUAL_TASKS,
    max_depth: int = USUAL_DEPTH,
    sources: Sequence[str] = (),
    urls: Sequence[str] = (),
) -> Request:
    """Read what somebody asks, or say which limit it does not keep."""
    text = question.strip()
    if not 1 <= len(text) <= LONGEST_QUESTION or _has_controls(text):
        _refuse("question", f"1 to {LONGEST_QUESTION:,} characters and no control characters")
    if not 1 <= max_tasks <= MOST_TASKS:
        _refuse("max_tasks", f"a number from 1 to {MOST_TASKS}")
    if not 0 <= max_depth <= DEEPEST:
        _refuse("max_depth", f"a number from 0 to {DEEPEST}")
    if unknown := [name for name in sources if name not in set(Source)]:
        _refuse("sources", f"any of {', '.join(Source)}, not {unknown[0][:40]!r}")
    if len(urls) > MOST_URLS or any(not _is_plain_url(url) for url in urls):
        _refuse("urls", f"at most {MOST_URLS} addresses of printable ASCII characters")
    chosen_sources = tuple(source for source in Source if not sources or source in sources)
    return Request(
        question=text,
        max_tasks=max_tasks,
        max_depth=max_depth,
        sources=chosen_sources,
        urls=tuple(urls),
    )


def _is_plain_url(url: str) -> bool:
    return 0 < len(url) <= LONGEST_URL and url.isascii() and url.isprintable() and " " not in url


def _has_controls(text: str) -> bool:
    return any(not char.isprintable() and char not in "\n\t" for char in text)


def _refuse(name: str, wanted: str) -> None:
    raise BadInput(f"{name}: give {wanted}", next_step=f"mend {name}", field=name)


@dataclass(frozen=True, kw_only=True)
class Task:
    """One search of a session, and the number of the task it follows from."""

    number: int
    sources: tuple[Source, ...]
    query: str
    depth: int = 0
    parent: int | None = None
    url: str = ""

    def as_dict(self) -> dict[str, Any]:
        return {**self.__dict__, "sources": [str(source) for source in self.sources]}


@dataclass(frozen=True, kw_only=True)
class Step:
    """A task that is over, as its record says."""

    task: Task
    findings: tuple[Finding, ...]
    follow_up: tuple[str, ...]
    unsupported: int
    passages: int
    searched: str
    trouble: str
    tokens: int


def read_step(data: Mapping[str, Any]) -> Step:
    task: dict[str, Any] = dict(data["task"])
    task["sources"] = tuple(Source(name) for name in task["sources"])
    return Step(
        task=Task(**task),
        findings=tuple(read_finding(finding) for finding in data["findings"]),
        follow_up=tuple(data["follow_up"]),
        unsupported=data["unsupported"],
        passages=data["passages"],
        searched=data["searched"],
        trouble=data["trouble"],
        tokens=data["tokens"],
    )


@dataclass(frozen=True, kw_only=True)
class Session:
    """A research session as its records tell it."""

    id: str
    request: Request
    commit: str
    actor: str
    correlation: str
    started_at: str
    machine: str = ""
    """Who began it, where several machines share a chain."""
    steps: tuple[Step, ...] = ()
    resumed: int = 0
    """How often it was resumed since its last task ended."""
    finished_at: str = ""
    result: Mapping[str, Any] = field(default_factory=dict[str, Any])

    @property
    def state(self) -> str:
        return "finished" if self.finished_at else "running"

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Give every finding once, in the order of the tasks; the first of a place counts."""
        findings = [finding for step in self.steps for finding in step.findings]
        by_identity: dict[tuple[str, str, int], Finding] = {}
        for finding in findings:
            by_identity.setdefault(finding.identity, finding)
        return tuple(by_identity.values())

    @property
    def unsupported(self) -> int:
        return sum(step.unsupported for step in self.steps)

    @property
    def tokens(self) -> int:
        return sum(step.tokens for step in self.steps) + int(self.result.get("tokens", 0))
