r"""`astra.toml`: the operator's description of the target, its app and how it is deployed.

It counts once it is signed (`astra config sign`); what counts is the text in the ledger, not the
file. Unknown keys and wrong types are errors that name the key, the value and what is accepted.

>>> parse('[target]\nrepo = "."\nmax_file_kb = 50').target.max_file_kb
50
"""

import dataclasses
import difflib
import re
import tomllib
import types
from dataclasses import dataclass, field
from typing import Any, Literal, get_args, get_origin, get_type_hints

from astra.trusted.kernel.errors import BadSetting
from astra.trusted.settings.witness_address import read_address

Texts = tuple[str, ...]
Numbers = tuple[int, ...]
_LONGEST_START = 3600
_LARGEST_STATE = 1 << 20
_LAST_PORT = 65_535
_NAME = re.compile(r"[A-Z][A-Z0-9_]{0,63}")
_HOST = re.compile(r"(\*\.)?([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]([a-z0-9-]{0,61}[a-z0-9])?")


@dataclass(frozen=True, kw_only=True)
class Target:
    repo: str = ""
    branch: str = "main"
    test_command: str = ""
    test_paths: Texts = ("tests/",)
    toolchain: Texts = ()
    allowed_paths: Texts = ()
    forbidden_paths: Texts = ()
    protected_paths: Texts = ()
    max_file_kb: int = 100
    max_files: int = 100
    blocking_findings: Texts = ()
    mutation_seconds: int = 120
    """How long mutants of a change may be tried against its tests; 0 turns it off."""
    require_human_approval_for_test_changes: bool = True
    auto_approve_paths: Texts = ()
    auto_approve_until: str = ""


@dataclass(frozen=True, kw_only=True)
class AppPermissions:
    network: str | Texts = ()
    state_path: str = ""
    secrets: Texts = ()
    secret_files: Texts = ()
    """Files of the repository that are secrets and that the app gets all the same."""
    state_mb: int = 10_240
    """How much the app's state folder may hold; an app that passes it is ended."""
    listen_ports: Numbers = ()
    """TCP ports the app may bind besides its own, with network = "host"."""

    def __post_init__(self) -> None:
        if not 1 <= self.state_mb <= _LARGEST_STATE:
            raise BadSetting(
                f"the app's state cannot be limited to {self.state_mb} MiB",
                next_step=f"set app.permissions.state_mb to 1 to {_LARGEST_STATE:,}",
                key="app.permissions.state_mb",
            )
        for port in self.listen_ports:
            if not 1 <= port <= _LAST_PORT:
                raise BadSetting(
                    f"{port} is no TCP port",
                    next_step=f"name ports from 1 to {_LAST_PORT}",
                    key="app.permissions.listen_ports",
                )


@dataclass(frozen=True, kw_only=True)
class App:
    command: str = ""
    port: int = 0
    health_path: str = "/healthz"
    health_command: str = ""
    client_build: str = ""
    reload: bool = False
    start_seconds: int = 30
    """How long a new release may take to its first good answer."""
    watch_seconds: int = 60
    permissions: AppPermissions = field(default_factory=AppPermissions)

    def __post_init__(self) -> None:
        if not 1 <= self.start_seconds <= _LONGEST_START:
            raise BadSetting(
                f"a release cannot have {self.start_seconds} seconds to start",
                next_step=f"set app.start_seconds to 1 to {_LONGEST_START}",
                key="app.start_seconds",
            )


@dataclass(frozen=True, kw_only=True)
class Deploy:
    keep: int = 5
    require_tests: bool = True
    push_remote: str = ""
    commit_checks: str = ""
    staging: bool = False


@dataclass(frozen=True, kw_only=True)
class Coder:
    command: str = ""


@dataclass(frozen=True, kw_only=True)
class Model:
    name: str = ""
    base_url: str = ""
    key_env: str = ""


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
    boxes_at_once: int = 4
    """How many boxes one actor may have running with calls of its own; more are refused."""
    waiting_requests: int = 20
    """How many requests of one actor may wait for an approval; more are refused."""


@dataclass(frozen=True, kw_only=True)
class LedgerSettings:
    witness: str = ""
    """Where each checkpoint goes besides the data root: a folder, a git remote, an address."""

    def __post_init__(self) -> None:
        if self.witness:
            read_address(self.witness)


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


def parse(text: str) -> Configuration:
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise BadSetting(
            f"astra.toml is not TOML: {error}", next_step="mend that line", key="astra.toml"
        ) from None
    return _build(Configuration, document, "")


def _build(cls: type[Any], table: dict[str, Any], where: str) -> Any:
    hints = get_type_hints(cls)
    for key in table:
        if key not in hints:
            _refuse_unknown(f"{where}{key}", key, list(hints))
    values = {key: _value(hints[key], value, f"{where}{key}") for key, value in table.items()}
    return cls(**values)


def _value(hint: Any, value: Any, key: str) -> Any:
    if dataclasses.is_dataclass(hint):
        if isinstance(value, dict):
            return _build(hint, value, f"{key}.")  # pyright: ignore[reportUnknownArgumentType, reportArgumentType]
    elif isinstance(hint, types.UnionType):
        for option in get_args(hint):
            if _fits(option, value):
                return _value(option, value, key)
    elif _fits(hint, value):
        return tuple(value) if get_origin(hint) is tuple else value
    raise BadSetting(
        f"{key} is {value!r}; accepted: {_in_words(hint)}",
        next_step=f"mend {key} in astra.toml",
        key=key,
    )


def _fits(hint: Any, value: Any) -> bool:
    if get_origin(hint) is Literal:
        return value in get_args(hint)
    if get_origin(hint) is tuple:
        kind = get_args(hint)[0]
        return isinstance(value, list) and all(_fits(kind, v) for v in value)  # pyright: ignore[reportUnknownVariableType]
    if hint is int:
        return isinstance(value, int) and not isinstance(value, bool) and value >= 0
    return isinstance(value, hint)


def _in_words(hint: Any) -> str:
    if isinstance(hint, types.UnionType):
        return " or ".join(_in_words(option) for option in get_args(hint))
    if get_origin(hint) is tuple:
        return "a list of texts" if get_args(hint)[0] is str else "a list of whole numbers"
    if get_origin(hint) is Literal:
        return ", ".join(get_args(hint))
    return {str: "a text", int: "a whole number", bool: "true or false"}.get(hint, "a table")


def _refuse_unknown(full: str, key: str, known: list[str]) -> None:
    close = difflib.get_close_matches(key, known, n=1)
    hint = f"; did you mean {close[0]}?" if close else ""
    raise BadSetting(
        f"{full} is not a setting of astra.toml{hint}",
        next_step=f"known here: {', '.join(known)}",
        key=full,
    )
