"""What a call of a server's tool is, by the operator's signed entry: its tier, what it touches.

An exact name decides before a pattern, and among patterns the strictest; a tool that nobody
classified is tier 2. An argument that the entry calls a host or a path has to be one, and lies
within what the server's box was granted; an amount above what was signed asks for an approval.
"""

from collections.abc import Iterator, Mapping
from decimal import Decimal, InvalidOperation
from fnmatch import fnmatchcase
from typing import Any, NoReturn, cast
from urllib.parse import urlsplit

from astra.trusted.kernel.errors import BadInput
from astra.trusted.policy import domains
from astra.trusted.policy.call import Footprint, Tier
from astra.trusted.policy.manifest import is_within, normalise_path
from astra.trusted.settings.server_settings import (
    AMOUNT,
    HOST,
    READ_PATH,
    WRITE_PATH,
    ArgumentRule,
    McpServer,
)

_MOST_VALUES = 64


def find_tier(server: McpServer, tool: str) -> Tier:
    """Give the tier of a tool.

    >>> git = McpServer(name="git", command="git", tiers={"git_*": 1, "git_status": 0, "*push": 2})
    >>> [int(find_tier(git, tool)) for tool in ("git_status", "git_add", "git_push", "other")]
    [0, 1, 2, 2]
    """
    if tool in server.tiers:
        return Tier(server.tiers[tool])
    tiers = [tier for pattern, tier in server.tiers.items() if fnmatchcase(tool, pattern)]
    return Tier(max(tiers, default=Tier.EXTERNAL))


def find_footprint(server: McpServer, tool: str, arguments: Mapping[str, Any]) -> Footprint:
    """Say what a call would touch; refuse arguments that are not what the entry calls them."""
    touched: dict[str, list[str]] = {HOST: [], READ_PATH: [], WRITE_PATH: [], AMOUNT: []}
    for rule in _rules_for(server, tool):
        for value in _find_values(arguments, rule.argument):
            touched[rule.kind].append(_read_value(rule, value))
    if server.host:
        touched[HOST].append(str(domains.parse_grant(server.host)))
    return Footprint(
        read_paths=tuple(dict.fromkeys(touched[READ_PATH])),
        write_paths=tuple(dict.fromkeys(touched[WRITE_PATH])),
        domains=tuple(dict.fromkeys(touched[HOST])),
        amounts=tuple(touched[AMOUNT]),
    )


def find_loosening(server: McpServer, tool: str, arguments: Mapping[str, Any]) -> str:
    """Say which amount of a call is above what was signed; one that cannot be read always is."""
    for rule in _rules_for(server, tool):
        if rule.kind != AMOUNT:
            continue
        values = list(_find_values(arguments, rule.argument))
        for value in values or [None]:
            if not _is_within_amount(value, rule.most):
                return f"is for {rule.argument} {str(value)[:40]!a}, and {rule.most} was signed,"
    return ""


def find_outside(server: McpServer | None, footprint: Footprint) -> str:
    """Name the first thing that lies outside what the server's box was granted."""
    if server is None:
        return "a server that the signed configuration does not name"
    if server.url:
        return ""  # what it touches is its own; a plan's grants are looked at besides
    readable = (*server.read_paths, *server.write_paths)
    outside = [
        *(path for path in footprint.write_paths if not _is_granted(path, server.write_paths)),
        *(path for path in footprint.read_paths if not _is_granted(path, readable)),
        *(name for name in footprint.domains if not _is_reachable(name, server.network)),
    ]
    return outside[0] if outside else ""


def _rules_for(server: McpServer, tool: str) -> list[ArgumentRule]:
    return [rule for rule in server.arguments if fnmatchcase(tool, rule.tool)]


def _find_values(arguments: Mapping[str, Any], name: str) -> Iterator[object]:
    """Give what stands under a dotted name, each item of a list by itself."""
    value: object = arguments
    for part in name.split("."):
        if not isinstance(value, dict):
            return
        value = cast("dict[str, object]", value).get(part)
    if isinstance(value, list):
        items = cast("list[object]", value)
        if len(items) > _MOST_VALUES:
            _refuse_argument(name, f"has more than {_MOST_VALUES} items")
        yield from items
    elif value is not None:
        yield value


def _read_value(rule: ArgumentRule, value: object) -> str:
    if rule.kind == AMOUNT:
        return f"{rule.argument} {str(value)[:40]}"
    if not isinstance(value, str):
        _refuse_argument(rule.argument, "is no text")
    if rule.kind == HOST:
        return _read_host(rule.argument, value)
    try:
        return normalise_path(value)
    except BadInput as error:
        _refuse_argument(rule.argument, error.detail)


def _read_host(name: str, value: str) -> str:
    """Read a host out of an address or a bare name, with the port that it stands for."""
    try:
        parts = urlsplit(value if "://" in value else f"//{value}")
        port, host = parts.port, parts.hostname or ""
    except ValueError:
        _refuse_argument(name, "is no address")
    if parts.username is not None or "\\" in value:
        _refuse_argument(name, "has a user name or a backslash in it")
    try:
        return str(domains.parse_grant(f"{host}:{port}" if port else host))
    except BadInput as error:
        _refuse_argument(name, error.detail)


def _is_within_amount(value: object, most: int) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return False
    try:
        amount = Decimal(str(value))
    except InvalidOperation:
        return False
    return amount.is_finite() and 0 <= amount <= most


def _is_granted(path: str, folders: tuple[str, ...]) -> bool:
    return any(is_within(path, normalise_path(folder)) for folder in folders)


def _is_reachable(name: str, network: tuple[str, ...]) -> bool:
    grant, granted = domains.parse_grant(name), domains.parse_grants(network)
    ports = (grant.port,) if grant.port else domains.WEB_PORTS
    return all(domains.allows(granted, grant.host, port) for port in ports)


def _refuse_argument(name: str, why: str) -> NoReturn:
    raise BadInput(
        f"the argument {name[:100]} {why[:300]}",
        code="bad_arguments",
        next_step="give hosts as example.com or https://example.com/…, and whole paths",
    ) from None
