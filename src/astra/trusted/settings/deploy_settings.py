"""`[deploy]` of `astra.toml`: how releases are made, and where what settled is pushed to.

A token is named, never written: what is signed stays in the ledger for good.

>>> Deploy(push_remote="https://github.com/team/app.git").find_forge().api
'https://api.github.com'
"""

import re
from dataclasses import dataclass, field
from typing import Literal
from urllib.parse import urlsplit

from astra.trusted.kernel.errors import BadSetting
from astra.trusted.settings.fleet_settings import Fleet
from astra.trusted.settings.git_address import check_token_name, read_git_address

_PLACE = re.compile(r"(?:.*/)?(?P<owner>[\w.-]+)/(?P<name>[\w.-]+?)(?:\.git)?/?")
_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
_API_PATHS = {"github": "/api/v3", "gitea": "/api/v1"}
_GITHUB = "github.com"


@dataclass(frozen=True, kw_only=True)
class Forge:
    """Where pull requests are made: the shape of the API, its address, and the repository."""

    kind: str
    api: str
    owner: str
    repository: str


@dataclass(frozen=True, kw_only=True)
class Deploy:
    keep: int = 5
    require_tests: bool = True
    push: Literal["fast-forward", "branch", "pull-request"] = "fast-forward"
    """How a settled commit goes out: to the branch, to one of its own, or as a pull request."""
    push_remote: str = ""
    push_token: str = ""
    """The name of a file in var/secrets with the token for push_remote and for the forge."""
    forge: Literal["", "github", "gitea"] = ""
    """The shape of the forge's API; Forgejo has that of Gitea."""
    forge_api: str = ""
    """Where the API is, unless that follows from the host of push_remote."""
    commit_checks: str = ""
    staging: bool = False
    fleet: Fleet = field(default_factory=Fleet)

    def __post_init__(self) -> None:
        if self.push_remote:
            read_git_address(self.push_remote, key="deploy.push_remote")
        check_token_name(self.push_token, key="deploy.push_token")
        if self.forge_api:
            _refuse_api(self.forge_api)
        if self.push == "pull-request":
            self.find_forge()
            _require_token(self.push_token)

    def find_forge(self) -> Forge:
        """Say where pull requests for push_remote are made."""
        host, path = _split_remote(self.push_remote)
        place = _PLACE.fullmatch(path)
        kind = self.forge or ("github" if host == _GITHUB else "")
        api = self.forge_api or _derive_api(kind, host)
        if not (place and kind and api):
            raise BadSetting(
                "a pull request needs a forge, and push_remote does not say which",
                next_step='set forge = "github" or "gitea", and forge_api where the API is not'
                " on the host of push_remote",
                key="deploy.forge",
            )
        return Forge(kind=kind, api=api.rstrip("/"), owner=place["owner"], repository=place["name"])


def _require_token(name: str) -> None:
    if not name:
        raise BadSetting(
            "a pull request needs a token of the forge",
            next_step='write the token to var/secrets/PUSH, and push_token = "PUSH"',
            key="deploy.push_token",
        )


def _split_remote(remote: str) -> tuple[str, str]:
    """Give the host and the path of an address that was read before."""
    if "://" not in remote:
        host, _, path = remote.partition("@")[2].partition(":")
        return host.lower(), path
    parts = urlsplit(remote)
    return (parts.hostname or "").lower(), parts.path


def _derive_api(kind: str, host: str) -> str:
    if not (kind and host):
        return ""
    return f"https://api.{_GITHUB}" if host == _GITHUB else f"https://{host}{_API_PATHS[kind]}"


def _refuse_api(address: str) -> None:
    parts = urlsplit(address)
    is_safe = parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in _LOOPBACK)
    if is_safe and parts.hostname and not (parts.username or parts.query or parts.fragment):
        return
    raise BadSetting(
        f"deploy.forge_api is {address[:100]!a}, where a token is not safe",
        next_step='write forge_api = "https://git.example.org/api/v1", without a name or password',
        key="deploy.forge_api",
    )
