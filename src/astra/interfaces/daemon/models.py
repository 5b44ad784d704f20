"""What the API answers with, as types: the OpenAPI, and every client made from it, say the same.

The answers of tools are typed where the tools are; what a signature, a configuration or a record
may contain is open, and stays an object here.
"""

from typing import Any, Generic, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field

from astra.policy.call import Role

T = TypeVar("T")


class Shape(BaseModel):
    model_config = ConfigDict(from_attributes=True)


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


class TokenShown(Shape):
    id: str
    name: str
    role: Role
    created_at: str
    expires_at: str
    ended: str = Field(description="when it was revoked, or empty")


class TokenCreated(TokenShown):
    sequence: int


# Passkeys, in the shapes that browsers read and write themselves


class EnrolmentLink(Shape):
    url: str
    code: str
    expires_at: str


class Candidate(Shape):
    content: dict[str, Any] | None = Field(description="what the operator signs, once it is made")
    check: str | None = Field(description="six digits that the page shows too")


class PasskeyLogin(Shape):
    """A browser's answer to a login's challenge, each part in base64url."""

    credential: str = Field(max_length=4096)
    authenticator_data: str = Field(max_length=4096)
    client_data: str = Field(max_length=4096)
    signature: str = Field(max_length=4096)


class PasskeyMade(Shape):
    check: str = Field(description="six digits that the terminal shows too")


class PasskeyShown(Shape):
    id: str
    name: str
    credential: str
    site: str
    origin: str
    enrolled_at: str
    revoked_at: str = Field(description="or empty")


class PasskeyEnrolled(PasskeyShown):
    sequence: int


class CredentialNamed(Shape):
    type: Literal["public-key"]
    id: str


class RelyingParty(Shape):
    id: str
    name: str


class PasskeyUser(Shape):
    id: str
    name: str
    displayName: str  # noqa: N815 - the browser's own name


class KeyKind(Shape):
    type: Literal["public-key"]
    alg: int


class AuthenticatorSelection(Shape):
    residentKey: str  # noqa: N815 - the browser's own name
    userVerification: str  # noqa: N815 - the browser's own name


class CreationOptions(Shape):
    """For `PublicKeyCredential.parseCreationOptionsFromJSON`."""

    challenge: str
    rp: RelyingParty
    user: PasskeyUser
    pubKeyCredParams: list[KeyKind]  # noqa: N815 - the browser's own name
    excludeCredentials: list[CredentialNamed]  # noqa: N815 - the browser's own name
    authenticatorSelection: AuthenticatorSelection  # noqa: N815 - the browser's own name
    attestation: str
    timeout: int


class RequestOptions(Shape):
    """For `PublicKeyCredential.parseRequestOptionsFromJSON`."""

    challenge: str
    rpId: str  # noqa: N815 - the browser's own name
    allowCredentials: list[CredentialNamed]  # noqa: N815 - the browser's own name
    userVerification: str  # noqa: N815 - the browser's own name
    timeout: int


class Drafted(Shape):
    """A decision to be signed with a passkey.

    Send it back as `authority`: the statement, `key` (the passkey's id), and of the browser's
    answer `signature`, `authenticator_data` and `client_data`, each in base64url.
    """

    statement: dict[str, Any]
    options: RequestOptions
    passkeys: dict[str, str] = Field(description="the passkey's id, by its credential")


# What is going on


class Health(Shape):
    status: Literal["ok"]


class FlagShown(Shape):
    name: str
    on: bool
    source: Literal["default", "environment", "record", "operator", "forged"]
    note: str


class FlagSet(FlagShown):
    sequence: int


class DaemonShown(Shape):
    pid: int
    socket: str
    url: str | None = Field(description="where the dashboard is, when it is served")
    port: int | None = Field(description="on 127.0.0.1 and ::1; a proxy in front goes there")
    started_at: str


class ApprovalCount(Shape):
    pending: int


class BudgetShown(Shape):
    day: str
    scope: str
    name: str
    used: int
    limit: int


class SandboxProblem(Shape):
    what: str
    fix: str


class SandboxShown(Shape):
    kind: str
    state: str
    problems: list[SandboxProblem]


class LedgerShown(Shape):
    records: int
    head: str
    time: str
    trouble: str


class ExecutorShown(Shape):
    active: int
    paused: int
    open: int
    running: int
    next_due: str | None
    trouble: str
    closed: str


class Status(Shape):
    version: str
    data_root: str
    root_id: str
    throwaway: bool
    daemon: DaemonShown
    flags: dict[str, FlagShown]
    code_access: Literal["off", "read", "write"]
    configuration: str
    stopped: bool
    approvals: ApprovalCount
    budgets: list[BudgetShown]
    read_scope: str
    sandbox: SandboxShown
    ledger: LedgerShown
    executor: ExecutorShown
    app: dict[str, Any] | None
    model: dict[str, Any] | None

    model_config = ConfigDict(extra="allow")


class Leaving(Shape):
    leaving: bool


# Stop, configuration, keys


class StopShown(Shape):
    stopped: bool
    stop: str
    report: dict[str, Any]


class Survivor(Shape):
    box: str
    label: str
    pids: list[int]


class Stopped(Shape):
    stop: str
    recorded: bool
    frozen: bool
    ended: int
    already_gone: int
    kept_apps: int
    survivors: list[Survivor]
    unreadable: list[str]
    clean: bool


class Recorded(Shape):
    recorded: bool


class Accepted(Shape):
    """A decision is in the ledger, as this record."""

    sequence: int


class ConfigurationShown(Shape):
    text: str
    state: str
    file: str


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


class ApprovalDetails(ApprovalShown):
    details: dict[str, Any]
    requested_by: str
    correlation: str


class ApprovalDecided(ApprovalShown):
    sequence: int


class Explained(Shape):
    in_words: str
    next_runs: list[str]


class GoalShown(Shape):
    id: str
    text: str
    state: str
    source: str
    desire_id: str | None
    approval_id: str | None
    created_at: str
    correlation: str
