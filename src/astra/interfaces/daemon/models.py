"""What the API answers with, as types: the OpenAPI, and every client made from it, say the same.

The answers of tools are typed where the tools are; what a signature, a configuration or a record
may contain is open, and stays an object here.
"""

from typing import Any, Generic, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field

from astra.interfaces.sentences import describe_record
from astra.trusted.ledger.record import Record
from astra.trusted.policy.call import Role

T = TypeVar("T")


class Shape(BaseModel):
    model_config = ConfigDict(from_attributes=True)


class Growing(Shape):
    """An answer whose parts come from several places; what is not named here is passed on."""

    model_config = ConfigDict(from_attributes=True, extra="allow")


class Page(Shape, Generic[T]):
    """One page of a list; `next` is the cursor of the page behind it, or null."""

    items: list[T]
    next: int | str | None = None


# Getting in


class LoginLink(Shape):
    url: str = Field(description="for one use, in one browser; its code is behind the #")
    expires_at: str


class Session(Shape):
    id: str
    role: Role
    by: Literal["link", "passkey", "token", "socket"]
    expires_at: str | None
    csrf: str | None = Field(description="to be sent as X-CSRF-Token where the session is a cookie")


class Opened(Shape):
    session: Session
    secret: str | None = Field(
        description="told this once, for an Authorization header; null where a cookie was set"
    )


class TokenLimits(Shape):
    tools: list[str] = Field(description="names, or how they begin with `*`; none for every tool")
    tier: int = Field(description="the highest tier of a call")
    paths: list[str] = Field(description="globs; none where it is for every path")
    routes: list[str] = Field(description="`GET /api/status`; none for what its role may use")


class TokenShown(Shape):
    id: str
    name: str
    role: Role
    created_at: str
    expires_at: str
    ended: str = Field(description="when it was revoked, or empty")
    limits: TokenLimits
    made_by: str = Field(description="the operator who signed for it")
    mine: bool = Field(description="what it asks for counts as asked for by that operator")


class TokenCreated(TokenShown):
    sequence: int


# What is going on


class Health(Shape):
    status: Literal["ok"]


class FlagShown(Shape):
    name: str
    meaning: str = Field(description="what it lets happen")
    on: bool
    source: Literal["default", "environment", "record", "operator", "forged"]
    note: str
    sequence: int = Field(default=0, description="the record that set it last, or 0")


class FlagSet(FlagShown):
    pass


class DaemonShown(Shape):
    pid: int
    socket: str
    url: str | None = Field(description="where the dashboard is, when it is served")
    port: int | None = Field(description="on 127.0.0.1 and ::1; a proxy in front goes there")
    on_demand: bool = Field(description="started by a command, and gives way to `astra up`")
    started_at: str


class ApprovalCount(Shape):
    pending: int


class QueueShown(Shape):
    """What waits somewhere, and what has waited longest."""

    name: str
    about: str
    count: int
    oldest: str | None = Field(description="the id of what has waited longest")
    since: str | None


class BudgetShown(Shape):
    day: str
    scope: str
    name: str
    used: int
    limit: int


class BudgetWeek(BudgetShown):
    week: list[int] = Field(description="what each of the last seven days used")


class SandboxProblem(Shape):
    what: str
    fix: str


class SandboxShown(Growing):
    kind: str
    state: str
    problems: list[SandboxProblem]
    limits: str
    off_in_environment: bool
    off_signed: bool


class ClockShown(Shape):
    clock: str = Field(description="what the machine says")
    ledger: str = Field(description="the time of the last record")
    ahead: str = Field(description="by how much the ledger is ahead, in words; empty if it is not")
    first_ahead: int | None = Field(description="the first record that is ahead of the clock")
    last_accepted: int = Field(description="the record of the last acceptance, or 0")


class ClockAccepted(ClockShown):
    sequence: int


class ArchivedMonth(Shape):
    month: str
    records: int
    bytes: int = Field(description="of the compressed file that leaves")
    stays: int = Field(description="bytes of what is left of it")
    saved: int


class ArchivePlanned(Shape):
    months: list[ArchivedMonth]
    saved: int
    content: dict[str, Any] = Field(description="what the operator signs")


class ArchiveMoved(ArchivePlanned):
    sequence: int


class LedgerShown(Shape):
    records: int
    head: str
    time: str
    trouble: str
    clock: str = Field(default="", description="that the last record is ahead of the clock")
    next_index: str = Field(
        default="", description="that another version is installed, and how far its index is"
    )


class ExecutorShown(Growing):
    active: int
    paused: int
    open: int
    running: int
    next_due: str | None
    trouble: str
    closed: str


class DiskShown(Growing):
    free: int
    floor: int
    low: bool
    reserve: str
    inodes: int | None = Field(default=None, description="free ones; null where none are counted")


class WitnessShown(Growing):
    """Who keeps checkpoints outside the data root, and what it says about the chain."""

    address: str
    state: str
    sequence: int = Field(description="the newest record that it vouches for, or denies")
    trouble: str


class SmokeSummary(Shape):
    id: str
    at: str
    ok: bool
    failed: list[str] = Field(description="the names of the parts that did not answer well")


class ServersShown(Shape):
    count: int
    resting: list[str] = Field(description="servers with tools that wait for a signature")
    troubles: dict[str, str] = Field(description="servers that do not run, and why")


class SpendGauge(Shape):
    cap: str = Field(description="a setting such as tokens_per_day, or budget_of_money")
    name: str = Field(description="the actor, goal or plan; empty for a day")
    used: float = Field(description="settled, uncertain and reserved together")
    reserved: float = Field(description="of calls that are not settled")
    uncertain: float = Field(description="of calls whose server reported nothing believable")
    limit: float = Field(description="in force: the configured one, or what was signed for")
    configured: float
    share: float
    in_words: str


class SpendSummary(Shape):
    summary: str = Field(description="the fullest cap in one line; empty where none is set")
    gauges: list[SpendGauge] = Field(description="the fullest first")


class Status(Growing):
    version: str
    data_root: str
    root_id: str
    throwaway: bool
    daemon: DaemonShown
    flags: dict[str, FlagShown]
    code_access: Literal["off", "read", "write"]
    configuration: str
    stopped: bool
    held: list[str] = Field(description="why nothing may begin until the operator signs a restore")
    witness: WitnessShown
    approvals: ApprovalCount
    queues: list[QueueShown]
    budgets: list[BudgetWeek]
    read_scope: str
    sandbox: SandboxShown
    ledger: LedgerShown
    executor: ExecutorShown
    app: dict[str, Any] | None
    smoke: SmokeSummary | None = Field(description="the last `astra smoke`, or null")
    model: str | None
    disk: DiskShown
    servers: ServersShown
    spend: SpendSummary
    changes: dict[str, Any]


class Leaving(Shape):
    leaving: bool
    pid: int = Field(description="the process that is about to end")


# Stop, configuration, keys


class RestoreShown(Shape):
    """Why the ledger is held, and what the operator signs to go on."""

    held: list[str]
    content: dict[str, Any]


class StopShown(Shape):
    stopped: bool
    stop: str
    report: dict[str, Any]


class Survivor(Shape):
    box: str
    label: str
    pids: list[int]


class MachineStopped(Shape):
    """Whether a stop is verified on one of the machines that share a chain."""

    id: str
    name: str
    answers: bool
    seen_seconds_ago: float
    leads: list[str]
    reached: bool


class MachineShown(Shape):
    id: str
    name: str
    answers: bool
    seen_seconds_ago: float
    leads: list[str]


class MachinesShown(Shape):
    """The machines that share this chain; none where a data root is alone."""

    own: str
    items: list[MachineShown]


class WorkerShown(Shape):
    """A worker of the chain: what it can do, how it is, and what it does now."""

    id: str
    name: str
    instance: str
    kinds: list[str]
    labels: dict[str, str]
    jobs: int = Field(description="how many it does at once")
    state: str = Field(description="ready, unfit, draining, or away")
    problems: list[str] = Field(description="why it takes no jobs, by its preflight")
    current_jobs: list[str]
    version: str
    epoch: int
    since: str


class WorkersShown(Shape):
    items: list[WorkerShown]


class MachineForgotten(Shape):
    forgotten: bool


class Stopped(Shape):
    stop: str
    recorded: bool
    machines: list[MachineStopped] = []
    frozen: bool
    ended: int
    already_gone: int
    kept_apps: int
    survivors: list[Survivor]
    unreadable: list[str]
    clean: bool


class Recorded(Shape):
    recorded: bool
    machines: list[MachineStopped] = []


class Accepted(Shape):
    """A decision is in the ledger, as this record."""

    sequence: int


class ConfigurationShown(Shape):
    text: str
    sha256: str
    state: str
    file: str


class CheckedItem(Shape):
    name: str
    ok: bool
    detail: str
    fix: str


class ConfigurationChecked(Shape):
    ok: bool
    items: list[CheckedItem]


class ConfigurationSigned(Accepted):
    sha256: str


class OperatorShown(Shape):
    root_id: str
    public_key: str
    throwaway: bool


class OperatorRotated(Accepted):
    public_key: str


# The ledger


class RecordShown(Shape):
    sequence: int
    time: str
    type: str
    actor: str
    correlation: str
    subject: str | None
    key: str | None
    schema_: int = Field(alias="schema")
    batch: list[int]
    data: dict[str, Any]
    previous: str
    hash: str
    sentence: str = Field(description="what happened this time, in one line")

    @classmethod
    def show(cls, record: Record) -> dict[str, Any]:
        """Give a record as it was written, and its sentence."""
        return {**record.as_dict(), "sentence": describe_record(record.type, record.data)}


class BeliefMove(Shape):
    sequence: int = Field(description="the record that counts")
    belief: str
    statement: str
    kind: str
    sign: str = Field(description="for or against")
    mean: float = Field(description="what the belief is worth now")


class StoryPage(Page[RecordShown]):
    """A page of a story, with the beliefs that its records moved."""

    beliefs: list[BeliefMove] = []


class HeadShown(Shape):
    sequence: int
    hash: str
    time: str


class Rebuilt(Shape):
    records: int | None = None
    same: bool | None = None
    differences: list[str] | None = None


# Tools, approvals, goals


class ToolShown(Shape):
    name: str
    tier: int
    title: str
    description: str
    available: bool
    input_schema: dict[str, Any]
    output_schema: dict[str, Any]


class ApprovalShown(Shape):
    id: str
    kind: str
    subject_id: str
    digest: str
    state: Literal["pending", "approved", "rejected", "expired", "used", "stale"]
    requested_at: str
    expires_at: str
    summary: str
    reason: str


class Payload(Shape):
    """All of what would be signed, as the one text that every door shows."""

    text: str
    lines: int
    characters: int
    sha256: str


class RoundShown(Shape):
    """A decision that has some of the signatures that it takes."""

    round: str
    action: str = Field(description="the record that it will be")
    content: dict[str, Any] = Field(description="what is signed, word for word")
    needed: int
    signed_by: list[str]
    words: str
    since: str


class SignaturesShown(Shape):
    needed: int = Field(description="how many operators have to sign")
    rounds: list[RoundShown] = Field(description="what was signed so far, by content")
    signed_by: list[str] = Field(description="whose signatures granted it")


class ApprovalDetails(ApprovalShown):
    details: dict[str, Any]
    payload: Payload
    requested_by: str
    correlation: str
    signatures: SignaturesShown
    smaller_calls: list[str] = Field(
        default=[], description="calls of the same tool that would pass now without asking"
    )


class ApprovalDecided(ApprovalShown):
    sequence: int


class Explained(Shape):
    in_words: str
    next_runs: list[str]
