r"""`astra.toml`: the operator's description of the target, its app and how it is deployed.

It counts once it is signed (`astra config sign`); what counts is the text in the ledger, not the
file. Unknown keys and wrong types are errors that name the key, the value and what is accepted.

>>> parse('[target]\nrepo = "."\nmax_file_kb = 50').target.max_file_kb
50
"""

import re
import tomllib
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from astra.trusted.kernel.errors import BadSetting
from astra.trusted.settings.app_settings import App
from astra.trusted.settings.deploy_settings import Deploy
from astra.trusted.settings.egress_settings import Egress
from astra.trusted.settings.git_address import check_token_name, read_git_address
from astra.trusted.settings.server_settings import Mcp
from astra.trusted.settings.spend_settings import Spend
from astra.trusted.settings.typed_tables import Variables, build_section
from astra.trusted.settings.witness_address import is_post_address, read_address

Texts = tuple[str, ...]
ENVIRONMENTS = ("auto", "venv", "npm", "command")
_HEAVIEST = 100
_NAME = re.compile(r"[A-Z][A-Z0-9_]{0,63}")
_SIGNER = re.compile(r"[A-Za-z0-9._@+-]+ (?:ssh|ecdsa|sk)-[a-z0-9@.-]+ [A-Za-z0-9+/=]+")
_REGISTRY = re.compile(r"https?://[A-Za-z0-9.-]+(?::\d{1,5})?(?:/[\w.~%/-]*)?")
_PACKAGE = re.compile(r"(?:@[\w.-]+/)?[A-Za-z0-9][\w.,\[\]<>=!~;' \"()*+@^-]*")
_HOST = re.compile(r"(\*\.)?([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]([a-z0-9-]{0,61}[a-z0-9])?")


@dataclass(frozen=True, kw_only=True)
class SyncPolicy:
    """How commits of people come in from the upstream; each that is not covered waits for you."""

    accept: Literal["ask", "authors", "signatures"] = "ask"
    """Who needs no signature of yours for a plain fast-forward, until `until`."""
    authors: Texts = ()
    """Mail addresses of authors; anybody who may push upstream can write one into a commit."""
    signers: Texts = ()
    """SSH keys whose signature a commit must carry: "name ssh-ed25519 AAAA…"."""
    until: str = ""
    every_minutes: int = 0
    """How often the upstream is fetched by itself; 0 is never."""
    before_proposals: bool = False
    """Whether the upstream is fetched before each change is proposed."""

    def __post_init__(self) -> None:
        for line in self.signers:
            if not _SIGNER.fullmatch(line):
                raise BadSetting(
                    f"{line[:100]!a} is no signer of commits",
                    next_step='write signers = ["name@example.org ssh-ed25519 AAAA…"]',
                    key="target.sync.signers",
                )


@dataclass(frozen=True, kw_only=True)
class Target:
    repo: str = ""
    branch: str = "main"
    test_command: str = ""
    test_paths: Texts = ("tests/",)
    toolchain: Texts = ()
    environment: str = ""
    """What tests, agent and app need: "auto", "venv", "npm", "command", or a ready-made folder."""
    environment_command: str = ""
    """How the environment is built where it is "command"; ENVIRONMENT_FOLDER names its folder."""
    registries: Texts = ()
    """Addresses of package registries, the only ones that building an environment reaches."""
    packages: Texts = ()
    """Packages that the environment gets besides what the target's own files ask for."""
    env: Variables = ()
    """Variables of test runs, of the agent's boxes and, below [app] env, of the app."""
    allowed_paths: Texts = ()
    forbidden_paths: Texts = ()
    protected_paths: Texts = ()
    max_file_kb: int = 100
    """How much a change may add to one file."""
    max_files: int = 100
    binary_paths: Texts = ()
    """Where a change may add or replace binary files."""
    blocking_findings: Texts = ()
    mutation_seconds: int = 120
    """How long mutants of a change may be tried against its tests; 0 turns it off."""
    require_human_approval_for_test_changes: bool = True
    auto_approve_paths: Texts = ()
    auto_approve_until: str = ""
    upstream: str = ""
    """Where people's commits come from; the repository that the root was made from by default."""
    upstream_token: str = ""
    """The name of a file in var/secrets with the token for an upstream over HTTPS."""
    sync: SyncPolicy = field(default_factory=SyncPolicy)

    def __post_init__(self) -> None:
        self._check_upstream()
        if self.environment not in {"", *ENVIRONMENTS} and not self.environment.startswith("/"):
            raise BadSetting(
                f"target.environment is {self.environment[:100]!r}",
                next_step=f"choose one of {', '.join(ENVIRONMENTS)}, or the whole path of a folder",
                key="target.environment",
            )
        if (self.environment == "command") != bool(self.environment_command):
            raise BadSetting(
                'target.environment = "command" and target.environment_command go together',
                next_step="set both, or neither",
                key="target.environment_command",
            )
        for address in self.registries:
            if not _REGISTRY.fullmatch(address):
                raise BadSetting(
                    f"{address[:100]!r} is no address of a package registry",
                    next_step="write it like https://packages.example.org/simple, without a"
                    " user name or a password",
                    key="target.registries",
                )
        self._check_packages()

    def _check_upstream(self) -> None:
        check_token_name(self.upstream_token, key="target.upstream_token")
        address = read_git_address(self.upstream, key="target.upstream") if self.upstream else None
        if self.upstream_token and not (address and address.takes_token):
            raise BadSetting(
                "target.upstream_token is for an upstream over HTTPS",
                next_step='set upstream = "https://…" with it; over SSH the key var/keys/push.key'
                " of the data root is used",
                key="target.upstream_token",
            )

    def _check_packages(self) -> None:
        if self.packages and self.environment not in {"auto", "venv", "npm"}:
            raise BadSetting(
                "target.packages is for an environment that Astra builds from the target's files",
                next_step='set environment = "auto", or leave packages out',
                key="target.packages",
            )
        for package in self.packages:
            if not _PACKAGE.fullmatch(package):
                raise BadSetting(
                    f"{package[:100]!a} is no package",
                    next_step='name it as pip or npm does: packages = ["redis>=5"]',
                    key="target.packages",
                )


@dataclass(frozen=True, kw_only=True)
class Coder:
    command: str = ""
    offer_model: bool = False
    """Whether the command may call the configured model, at an address that only its box has."""


@dataclass(frozen=True, kw_only=True)
class ModelRoles:
    """Which model does what, by its name at the same server; empty where `name` does it too."""

    draft: str = ""
    work: str = ""
    code: str = ""
    chat: str = ""
    research: str = ""


@dataclass(frozen=True, kw_only=True)
class Model:
    name: str = ""
    base_url: str = ""
    key_env: str = ""
    temperature: float | int | None = None
    """From 0 to 2; left out, it is the server's own for a hosted model and 0.2 for others."""
    silence_seconds: int = 120
    """How long it may say nothing before a call is given up."""
    call_seconds: int = 900
    """How long a call may take altogether: all that bounds it where a server cannot stream."""
    output_tokens: int = 8_000
    context_tokens: int = 0
    """How much it can read and write in one call; 0 where nobody knows."""
    roles: ModelRoles = field(default_factory=ModelRoles)

    def __post_init__(self) -> None:
        if self.temperature is not None and not 0 <= self.temperature <= _HOTTEST:
            _refuse_model("temperature", self.temperature, f"from 0 to {_HOTTEST}")
        if not 1 <= self.silence_seconds <= _LONGEST_SILENCE:
            _refuse_model("silence_seconds", self.silence_seconds, f"1 to {_LONGEST_SILENCE}")
        if not 1 <= self.call_seconds <= _LONGEST_CALL:
            _refuse_model("call_seconds", self.call_seconds, f"1 to {_LONGEST_CALL}")
        if not 1 <= self.output_tokens <= _MOST_OUTPUT:
            _refuse_model("output_tokens", self.output_tokens, f"1 to {_MOST_OUTPUT}")


_HOTTEST, _LONGEST_SILENCE, _LONGEST_CALL, _MOST_OUTPUT = 2, 3_600, 14_400, 100_000


def _refuse_model(name: str, value: float, accepted: str) -> None:
    raise BadSetting(
        f"model.{name} is {value}; accepted: {accepted}",
        next_step=f"mend model.{name} in astra.toml",
        key=f"model.{name}",
    )


@dataclass(frozen=True, kw_only=True)
class Agent:
    read_scope: Literal["source", "granted", "all"] = "source"
    read_paths: Texts = ()
    secret_patterns: Texts = ()


@dataclass(frozen=True, kw_only=True)
class Notify:
    channels: Texts = ()
    include_content: bool = False
    push_services: Texts = ()
    """Hosts of push services besides those of the big browsers."""

    def __post_init__(self) -> None:
        for host in self.push_services:
            if not _HOST.fullmatch(host):
                raise BadSetting(
                    f"{host[:100]!r} is no host of a push service",
                    next_step='name hosts: push_services = ["push.example.org"]',
                    key="notify.push_services",
                )
        for name in self.channels:
            if not _NAME.fullmatch(name):
                raise BadSetting(
                    "notify.channels names lines of the data root's .env; an address is a secret,"
                    " and what is signed stays in the ledger",
                    next_step='write CHAT_URL=… into .env, and channels = ["CHAT_URL"]',
                    key="notify.channels",
                )


@dataclass(frozen=True, kw_only=True)
class Budgets:
    """Ceilings: an agent stays below them; beyond, it is refused or waits for a signature."""

    schedule_per_day: int = 24
    tool_per_day: int = 500
    """How often one tool may be started on one UTC day, whoever starts it; more are refused."""
    actor_per_day: int = 2_000
    """How often all agents together, or all operators, may start tools on one UTC day."""
    boxes_at_once: int = 4
    """How many boxes one actor may have running with calls of its own; more are refused."""
    waiting_requests: int = 20
    """How many requests of one actor may wait for an approval; more are refused."""


@dataclass(frozen=True, kw_only=True)
class EvidenceWeights:
    """How much each kind of outcome counts for or against a belief."""

    rollback: int = 3
    settlement: int = 1
    test_pass: int = 1
    test_failure: int = 1
    test_flake: int = 1
    goal_success: int = 2
    task_success: int = 1
    task_failure: int = 1
    firing_success: int = 1
    firing_failure: int = 1
    call_success: int = 1
    call_failure: int = 1

    def __post_init__(self) -> None:
        for name, weight in self.__dict__.items():
            if weight > _HEAVIEST:
                raise BadSetting(
                    f"beliefs.weights.{name} cannot be {weight}",
                    next_step=f"set it to 0 to {_HEAVIEST}",
                    key=f"beliefs.weights.{name}",
                )


@dataclass(frozen=True, kw_only=True)
class BeliefSettings:
    weights: EvidenceWeights = field(default_factory=EvidenceWeights)


@dataclass(frozen=True, kw_only=True)
class GoalSettings:
    adopt_repairs_until: str = ""
    """Until when a goal that mends a release taken back is adopted without asking."""

    def __post_init__(self) -> None:
        if self.adopt_repairs_until and not _is_moment(self.adopt_repairs_until):
            raise BadSetting(
                f"goals.adopt_repairs_until is {self.adopt_repairs_until[:50]!r}, which is no time",
                next_step='write it with its zone: adopt_repairs_until = "2026-12-31T18:00:00Z"',
                key="goals.adopt_repairs_until",
            )


def refuse_unclear_end(target: Target) -> None:
    """Refuse to sign a policy whose end could be read in two ways.

    One that was signed before this was checked is still read; its policy is not in force.
    """
    until = target.auto_approve_until
    if until and not _is_moment(until):
        raise BadSetting(
            f"target.auto_approve_until is {until[:50]!r}, which is no time with its zone",
            next_step='write the zone: auto_approve_until = "2026-12-31T18:00:00Z"',
            key="target.auto_approve_until",
        )


def _is_moment(text: str) -> bool:
    try:
        return datetime.fromisoformat(text).tzinfo is not None
    except ValueError:
        return False


@dataclass(frozen=True, kw_only=True)
class LedgerSettings:
    witness: str = ""
    """Where each checkpoint goes besides the data root: a folder, a git remote, an address."""
    objects: str = ""
    """The git repository through which commits reach the other machines of a shared chain."""

    def __post_init__(self) -> None:
        if self.witness:
            read_address(self.witness)
        if self.objects:
            read_git_address(self.objects, key="ledger.objects")


@dataclass(frozen=True, kw_only=True)
class TraceSettings:
    endpoint: str = ""
    """The OpenTelemetry collector that stories are sent to, as OTLP over HTTP."""

    def __post_init__(self) -> None:
        if self.endpoint and not is_post_address(f"{self.endpoint.rstrip('/')}/"):
            raise BadSetting(
                f"traces.endpoint: {self.endpoint[:100]!a} is no address of a collector",
                next_step="write https://host:4318, or http://127.0.0.1:4318 for one on this"
                " machine, without a name and a password",
                key="traces.endpoint",
            )


@dataclass(frozen=True, kw_only=True)
class WorkerSettings:
    test_labels: Variables = ()
    """What a worker must say of itself to be given test runs: { gpu = "yes" }."""


@dataclass(frozen=True, kw_only=True)
class Configuration:
    target: Target = field(default_factory=Target)
    agent: Agent = field(default_factory=Agent)
    app: App = field(default_factory=App)
    deploy: Deploy = field(default_factory=Deploy)
    coder: Coder = field(default_factory=Coder)
    model: Model = field(default_factory=Model)
    notify: Notify = field(default_factory=Notify)
    budgets: Budgets = field(default_factory=Budgets)
    ledger: LedgerSettings = field(default_factory=LedgerSettings)
    workers: WorkerSettings = field(default_factory=WorkerSettings)
    traces: TraceSettings = field(default_factory=TraceSettings)
    beliefs: BeliefSettings = field(default_factory=BeliefSettings)
    goals: GoalSettings = field(default_factory=GoalSettings)
    mcp: Mcp = field(default_factory=Mcp)
    egress: Egress = field(default_factory=Egress)
    spend: Spend = field(default_factory=Spend)
    alerts: tuple[object, ...] = ()
    """Alert rules besides the built-in ones; `operations.alert_rules` reads them."""
    methods: tuple[object, ...] = ()
    """How goals are decomposed besides the built-in methods; `goals.method_files` reads them."""

    def __post_init__(self) -> None:
        fleet, app = self.deploy.fleet, self.app
        is_too_slow = app.before_start_seconds >= fleet.instance_seconds
        if fleet.instances and app.before_start and is_too_slow:
            raise BadSetting(
                f"app.before_start may take {app.before_start_seconds} s, and an instance has"
                f" {fleet.instance_seconds} s to prove a release, with before_start among it",
                next_step="raise deploy.fleet.instance_seconds, or lower app.before_start_seconds",
                key="deploy.fleet.instance_seconds",
            )


def parse(text: str) -> Configuration:
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise BadSetting(
            f"astra.toml is not TOML: {error}", next_step="mend that line", key="astra.toml"
        ) from None
    return build_section(Configuration, document)
