"""Settings from the environment and from `.env` in the data root.

The process environment wins over `.env`, except for flags, where off wins. `${NAME}` expands to
another setting or variable. A name that starts with ASTRA_ and is not known is an error, because a
misspelt switch that silently does nothing is dangerous.

The environment can only narrow: an agent's client chooses the environment it starts Astra with.

>>> load({"DESIRE_HALF_LIFE_DAYS": "7"}).half_life_days
7.0
>>> load({"ASTRA_PORTT": "1"})
Traceback (most recent call last):
astra.trusted.kernel.errors.BadSetting: ASTRA_PORTT is not a setting; did you mean ASTRA_PORT?
"""

import contextlib
import errno
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from astra.trusted.kernel.errors import BadSetting
from astra.trusted.settings.flag_names import FLAGS
from astra.trusted.settings.public_url import PublicUrl, read_public_url

LARGEST_PORT = 65_535
OFF_UNSAFE = "off-unsafe"


@dataclass(frozen=True)
class Setting:
    name: str
    kind: str
    default: str


_TEXT, _WHOLE, _NUMBER, _SWITCH = "text", "whole number", "number", "on or off"
_PORT = "port, 0 to 65535"
_HOURS = "whole number from 1 to 168"
PERSON_FOR_TESTS = "AGENT_REQUIRE_HUMAN_APPROVAL_FOR_TEST_CHANGES"
SETTINGS = (
    Setting("AGENT_DATA_ROOT", "path", "./agent-data"),
    Setting("AGENT_CODE_REPO_PATH", "path", "${AGENT_DATA_ROOT}/code-repo"),
    Setting("AGENT_SANDBOX_PATH", "path", "${AGENT_DATA_ROOT}/sandbox"),
    *(Setting(name, _SWITCH, "on" if default else "off") for name, (default, _) in FLAGS.items()),
    Setting("ASTRA_DAEMON_IDLE_MINUTES", _NUMBER, "10"),
    Setting("ASTRA_OPERATOR_PASSPHRASE", _TEXT, ""),
    Setting("ASTRA_BACKUP_PASSPHRASE", _TEXT, ""),
    Setting("ASTRA_PORT", _PORT, "8700"),
    Setting("ASTRA_PUBLIC_URL", _TEXT, ""),
    Setting("ASTRA_DATABASE_URL", _TEXT, ""),
    Setting("ASTRA_RELEASE", _TEXT, ""),
    Setting("ASTRA_STATE", _TEXT, ""),
    Setting("ASTRA_SANDBOX", "bubblewrap or off-unsafe", "bubblewrap"),
    Setting("ASTRA_MCP_TOOL_NAMES", "underscore or dotted", "underscore"),
    Setting("ASTRA_MODEL", _TEXT, ""),
    Setting("ASTRA_MODEL_BASE_URL", _TEXT, ""),
    Setting("AGENT_READ_SCOPE", "source, granted or all", "source"),
    Setting("AGENT_GIT_USER_NAME", _TEXT, "Agent"),
    Setting("AGENT_GIT_USER_EMAIL", _TEXT, "agent@localhost"),
    Setting("AGENT_DEPLOY_TEST_TIMEOUT", _WHOLE, "300"),
    Setting("AGENT_DEPLOY_REQUIRE_TESTS", _SWITCH, "on"),
    Setting(PERSON_FOR_TESTS, _SWITCH, "on"),
    Setting("AGENT_RUNNER_MAX_CONCURRENT", _WHOLE, "3"),
    Setting("MAX_CLARIFYING_ROUNDS", _WHOLE, "3"),
    Setting("DESIRE_HALF_LIFE_DAYS", _NUMBER, "14"),
    Setting("DESIRE_SURVEY_HOURS", _HOURS, "1"),
)
"""What each means is in `scripts/setting_meanings.py`, for the reference."""

_BY_NAME = {setting.name: setting for setting in SETTINGS}
_ON, _OFF = frozenset({"1", "true", "on", "yes"}), frozenset({"0", "false", "off", "no"})
_REFERENCE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
_DEEPEST_REFERENCE = 8


@dataclass(frozen=True, kw_only=True)
class Settings:
    data_root: Path
    code_repo: Path
    sandbox_folder: Path
    flags_off: frozenset[str]
    flags_asked_on: frozenset[str]
    idle_minutes: float
    half_life_days: float
    survey_hours: int
    test_timeout: int
    tests_required: bool
    person_for_tests: bool
    git_user_name: str
    git_user_email: str
    read_scope: str | None
    mcp_tool_names: str
    port: int
    public_url: PublicUrl | None
    sandbox_off: bool
    model: str
    model_base_url: str
    most_clarifying_rounds: int
    most_plans_at_once: int
    database_url: str
    release: str


def load(environ: Mapping[str, str], dotenv: str = "") -> Settings:
    """Read every setting, or raise an error that names the key, the value and what is accepted."""
    file = parse_dotenv(dotenv)
    _refuse_unknown({*environ, *file})
    merged = {**file, **environ}
    values = {setting.name: _read_value(setting, merged) for setting in SETTINGS}
    value_layers = [{**values, **source} for source in (file, environ)]
    off = {
        name
        for name in FLAGS
        if any(not _is_switched_on(name, source[name]) for source in value_layers)
    }
    present_flags = {name for name in FLAGS if name in merged}
    default_off = {name for name, (default, _) in FLAGS.items() if not default}
    return Settings(
        data_root=Path(values["AGENT_DATA_ROOT"]),
        code_repo=Path(values["AGENT_CODE_REPO_PATH"]),
        sandbox_folder=Path(values["AGENT_SANDBOX_PATH"]),
        flags_off=frozenset(off & present_flags),
        flags_asked_on=frozenset((present_flags - off) & default_off),
        idle_minutes=float(values["ASTRA_DAEMON_IDLE_MINUTES"]),
        half_life_days=float(values["DESIRE_HALF_LIFE_DAYS"]),
        survey_hours=int(values["DESIRE_SURVEY_HOURS"]),
        test_timeout=min(int(values["AGENT_DEPLOY_TEST_TIMEOUT"]), 86_400),
        tests_required=_is_switched_on(
            "AGENT_DEPLOY_REQUIRE_TESTS", merged.get("AGENT_DEPLOY_REQUIRE_TESTS") or "off"
        ),
        person_for_tests=_is_switched_on(PERSON_FOR_TESTS, merged.get(PERSON_FOR_TESTS) or "off"),
        git_user_name=values["AGENT_GIT_USER_NAME"],
        git_user_email=values["AGENT_GIT_USER_EMAIL"],
        read_scope=values["AGENT_READ_SCOPE"] if merged.get("AGENT_READ_SCOPE") else None,
        mcp_tool_names=values["ASTRA_MCP_TOOL_NAMES"],
        port=int(values["ASTRA_PORT"]),
        public_url=read_public_url(values["ASTRA_PUBLIC_URL"]),
        sandbox_off=_sandbox_off(file, environ),
        model=values["ASTRA_MODEL"],
        model_base_url=values["ASTRA_MODEL_BASE_URL"],
        most_clarifying_rounds=int(values["MAX_CLARIFYING_ROUNDS"]),
        most_plans_at_once=int(values["AGENT_RUNNER_MAX_CONCURRENT"]),
        database_url=values["ASTRA_DATABASE_URL"],
        release=values["ASTRA_RELEASE"],
    )


def _sandbox_off(*sources: Mapping[str, str]) -> bool:
    """Tell whether somebody asks for no sandbox and nobody for one: a sandbox wins."""
    sandbox_modes = {source["ASTRA_SANDBOX"] for source in sources if source.get("ASTRA_SANDBOX")}
    return sandbox_modes == {OFF_UNSAFE}


def read_data_root(environ: Mapping[str, str]) -> str:
    """Read where the data root is, which has to be known before its `.env` can be read.

    >>> read_data_root({"AGENT_DATA_ROOT": "${ASTRA_STATE}/data", "ASTRA_STATE": "/state"})
    '/state/data'
    """
    return _read_value(_BY_NAME["AGENT_DATA_ROOT"], environ)


def list_setting_names() -> frozenset[str]:
    return frozenset(_BY_NAME)


def _read_value(setting: Setting, merged: Mapping[str, str]) -> str:
    raw = merged.get(setting.name) or setting.default
    text = _expand_references(setting.name, raw, merged)
    checks = {
        _WHOLE: lambda: int(text) >= 0,
        _PORT: lambda: 0 <= int(text) <= LARGEST_PORT,
        _HOURS: lambda: 1 <= int(text) <= 168,  # noqa: PLR2004 - as _HOURS says
        _NUMBER: lambda: 0 < float(text) < float("inf"),
        _SWITCH: lambda: text.lower() in _ON | _OFF,
        _TEXT: lambda: True,
        "path": lambda: "\0" not in text and text != "",
    }
    check = checks.get(setting.kind, lambda: text in re.split(r", | or ", setting.kind))
    try:
        accepted = check()
    except ValueError:
        accepted = False
    if not accepted:
        raise BadSetting(
            f"{setting.name} is {text!r}; accepted: {setting.kind}",
            next_step=f"set {setting.name} to such a value, or unset it for {setting.default!r}",
            key=setting.name,
        )
    return text


def _is_switched_on(name: str, text: str) -> bool:
    return _read_value(_BY_NAME[name], {name: text}).lower() in _ON


def _expand_references(name: str, text: str, merged: Mapping[str, str]) -> str:
    for _ in range(_DEEPEST_REFERENCE):
        if not (reference := _REFERENCE.search(text)):
            return text
        inner = merged.get(reference[1]) or (
            _BY_NAME[reference[1]].default if reference[1] in _BY_NAME else None
        )
        if inner is None:
            raise BadSetting(
                f"{name} refers to ${{{reference[1]}}}, which is not set",
                next_step=f"set {reference[1]}, or write the value out",
                key=name,
            )
        text = text[: reference.start()] + inner + text[reference.end() :]
    raise BadSetting(f"{name} refers to itself", next_step="write the value out", key=name)


def _refuse_unknown(given: set[str]) -> None:
    for name in sorted(given):
        if name.startswith("ASTRA_") and name not in _BY_NAME:
            import difflib

            close = difflib.get_close_matches(name, _BY_NAME, n=1)
            hint = f"; did you mean {close[0]}?" if close else ""
            raise BadSetting(
                f"{name} is not a setting{hint}",
                next_step="unset it, or see docs/reference/settings.md",
                key=name,
            )


def read_dotenv(path: Path) -> str:
    """Read a `.env`, which need not be there; what cannot be read as text is a bad setting."""
    try:
        return _read_file(path).decode()
    except (FileNotFoundError, NotADirectoryError):
        return ""
    except UnicodeDecodeError as error:
        number = error.object[: error.start].count(b"\n") + 1
        raise BadSetting(
            f".env line {number} is not UTF-8",
            next_step=f"write line {number} of {path} anew, or remove it",
            key=f".env:{number}",
        ) from None
    except OSError as error:
        raise BadSetting(
            f".env cannot be read: {error.strerror}",
            next_step=f"make {path} readable for you, or remove it",
            key=".env",
        ) from None


def read_valid_lines(path: Path) -> dict[str, str]:
    """Read the lines of a `.env` that are in order, for who looks up an address while work goes on.

    What is wrong with the others is said by whoever loads settings.
    """
    values: dict[str, str] = {}
    try:
        lines = _read_file(path).splitlines()
    except OSError:
        return values
    for line in lines:
        with contextlib.suppress(UnicodeDecodeError, BadSetting):
            values |= parse_dotenv(line.decode())
    return values


def _read_file(path: Path) -> bytes:
    """Read a file, but no pipe, which would be waited for without an end."""
    if path.is_fifo():
        raise OSError(errno.EINVAL, "it is no file")
    return path.read_bytes()


def parse_dotenv(text: str) -> dict[str, str]:
    variables: dict[str, str] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        stripped = line.strip()
        if not stripped or stripped.startswith("#"):
            continue
        name, equals, value = stripped.removeprefix("export ").partition("=")
        if not equals or not name.strip().isidentifier():
            raise BadSetting(
                f".env line {number} is not NAME=value",
                next_step="write NAME=value, one a line",
                key=f".env:{number}",
            )
        variables[name.strip()] = value.strip().strip("\"'")
    return variables
