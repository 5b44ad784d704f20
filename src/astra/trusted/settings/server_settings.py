r"""`[[mcp.servers]]` of astra.toml: other MCP servers, and what the operator says about each.

What a server says about itself is nowhere here. The operator names which of its tools there are for
an agent, the tier of each (by name or by a pattern, the strictest that fits; without any it is 2),
which arguments are hosts, paths or amounts, and what its box may touch.

>>> server = McpServer(name="git", command="/srv/venv/bin/mcp-server-git")
>>> server.calls_per_day
500
"""

import re
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Literal, NoReturn
from urllib.parse import urlsplit

from astra.trusted.kernel.errors import BadSetting
from astra.trusted.settings.typed_tables import Variables

Texts = tuple[str, ...]
HOST, READ_PATH, WRITE_PATH, AMOUNT = "host", "read_path", "write_path", "amount"
MOST_SERVERS = 32
_MOST_SECONDS = 600
_NAME = re.compile(r"[a-z][a-z0-9-]{0,19}")
_TOOL = re.compile(r"[A-Za-z0-9_.*?/-]{1,64}")
_SECRET = re.compile(r"[A-Z][A-Z0-9_]{0,63}")
_TIERS = (0, 1, 2)


@dataclass(frozen=True, kw_only=True)
class ArgumentRule:
    """What an argument of some tools is; a member of an object is named with a dot."""

    tool: str = "*"
    argument: str
    kind: Literal["host", "read_path", "write_path", "amount"]
    most: int = 0
    """For an amount: up to how much a call needs no approval of its own."""


@dataclass(frozen=True, kw_only=True)
class McpServer:
    name: str
    command: str = ""
    """Started in a box, and spoken to over its standard input and output."""
    url: str = ""
    """Spoken to over HTTP, through the egress proxy and to that host only."""
    tools: Texts = ("*",)
    """Which of its tools an agent gets, by name or pattern."""
    tiers: dict[str, int] = field(default_factory=dict[str, int])
    """The tier of tools, by name or pattern; what is not named is 2."""
    arguments: tuple[ArgumentRule, ...] = ()
    calls_per_day: int = 500
    call_seconds: int = 60
    read_paths: Texts = ()
    write_paths: Texts = ()
    network: Texts = ()
    """Hosts that its box reaches."""
    env: Variables = ()
    secrets: Texts = ()
    """Names of [[egress.secrets]] that the proxy adds for it; it never holds one."""
    memory_mb: int = 1024

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name):
            _refuse("name", self.name, "a to z, 0 to 9 and -, at most 20 characters")
        if bool(self.command) == bool(self.url):
            _refuse("command", self.name, "give each server a command or a url, one of the two")
        if self.url:
            _check_url(self.url)
        if self.url.startswith("http://") and self.secrets:
            _refuse("secrets", self.name, "a secret goes over TLS only; give an https:// address")
        _check_patterns(self)
        if not 1 <= self.call_seconds <= _MOST_SECONDS:
            _refuse("call_seconds", str(self.call_seconds), f"1 to {_MOST_SECONDS}")

    @property
    def host(self) -> str:
        """Name the host and port behind the url, as a grant does; nothing for a command."""
        if not self.url:
            return ""
        parts = urlsplit(self.url)
        return f"{parts.hostname}:{parts.port or (443 if parts.scheme == 'https' else 80)}"

    def imports(self, tool: str) -> bool:
        return any(fnmatchcase(tool, pattern) for pattern in self.tools)


@dataclass(frozen=True, kw_only=True)
class Mcp:
    servers: tuple[McpServer, ...] = ()

    def __post_init__(self) -> None:
        names = [server.name for server in self.servers]
        if len(names) > MOST_SERVERS or len(set(names)) < len(names):
            _refuse("name", ", ".join(names)[:200], f"at most {MOST_SERVERS}, each name once")

    def find(self, name: str) -> McpServer | None:
        return next((server for server in self.servers if server.name == name), None)


def _check_url(url: str) -> None:
    try:
        parts = urlsplit(url)
        is_plain = parts.port is None or parts.port > 0
    except ValueError:
        is_plain, parts = False, urlsplit("")
    has_host = parts.scheme in {"http", "https"} and bool(parts.hostname)
    if not (is_plain and has_host) or parts.username is not None or parts.fragment:
        _refuse("url", url, 'write url = "https://tools.example.org/mcp", without a user name')


def _check_patterns(server: McpServer) -> None:
    patterns = [*server.tools, *server.tiers, *(rule.tool for rule in server.arguments)]
    for pattern in patterns:
        if not _TOOL.fullmatch(pattern):
            _refuse("tools", pattern, "letters, digits, _ . / - and the wildcards * ?")
    for pattern, tier in server.tiers.items():
        if tier not in _TIERS:
            _refuse(f"tiers.{pattern}", str(tier), "0 reads, 1 writes here, 2 asks you each time")
    for name in server.secrets:
        if not _SECRET.fullmatch(name):
            _refuse("secrets", name, "name entries of [[egress.secrets]], such as GITHUB")


def _refuse(key: str, value: str, accepted: str) -> NoReturn:
    raise BadSetting(
        f"mcp.servers.{key} is {value[:200]!a}",
        next_step=f"mend it in astra.toml: {accepted}",
        key=f"mcp.servers.{key}",
    )
