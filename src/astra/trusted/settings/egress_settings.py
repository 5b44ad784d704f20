"""`[[egress.secrets]]` of astra.toml: which secret the egress proxy adds for which hosts.

The value is a file in `var/secrets`; here is only its name. A secret goes to exact hosts, over TLS,
in one header. Boxes and servers never hold it.

>>> EgressSecret(name="GITHUB", hosts=("api.github.com",)).template
'Bearer {secret}'
"""

import re
from dataclasses import dataclass
from typing import NoReturn

from astra.trusted.kernel.errors import BadSetting

TLS_PORT = 443
_NAME = re.compile(r"[A-Z][A-Z0-9_]{0,63}")
_HEADER = re.compile(r"[A-Za-z][A-Za-z0-9-]{0,63}")
_TEMPLATE = re.compile(r"[ -~]{0,64}\{secret\}[ -~]{0,64}")
_LABEL = "[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?"
_HOST = re.compile(rf"(?:{_LABEL}\.)+[a-z](?:[a-z0-9-]{{0,61}}[a-z0-9])?(?::[1-9][0-9]{{0,4}})?")
_NEVER = frozenset(
    {
        *("host", "connection", "content-length", "transfer-encoding", "te", "trailer", "upgrade"),
        *("expect", "accept-encoding", "proxy-authorization", "keep-alive", "proxy-connection"),
    }
)


@dataclass(frozen=True, kw_only=True)
class EgressSecret:
    name: str
    """A file of var/secrets, such as GITHUB."""
    hosts: tuple[str, ...]
    """Exact hosts that get it, with a port where that is not 443."""
    header: str = "Authorization"
    template: str = "Bearer {secret}"
    plans: bool = False
    """Whether boxes of plans get it added too, where the plan grants the host."""

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name):
            _refuse("name", self.name, "name a file of var/secrets: A to Z, 0 to 9 and _")
        if not _HEADER.fullmatch(self.header) or self.header.lower() in _NEVER:
            _refuse("header", self.header, "a header of the request, such as Authorization")
        if not _TEMPLATE.fullmatch(self.template):
            _refuse("template", self.template, 'text with {secret} in it, such as "token {secret}"')
        if not self.hosts:
            _refuse("hosts", "[]", "name at least one host")
        for host in self.hosts:
            if not _HOST.fullmatch(host):
                _refuse("hosts", host, "whole names in lower case: api.example.com, or with :8443")

    def is_for(self, host: str, port: int) -> bool:
        """Tell whether a request to a normalised host gets this secret.

        >>> secret = EgressSecret(name="A", hosts=("api.example.com", "b.example.com:8443"))
        >>> [secret.is_for(*to) for to in (("api.example.com", 443), ("b.example.com", 443))]
        [True, False]
        """
        return f"{host}:{port}" in map(_with_port, self.hosts)


@dataclass(frozen=True, kw_only=True)
class Egress:
    secrets: tuple[EgressSecret, ...] = ()

    def __post_init__(self) -> None:
        places = [
            (_with_port(host), secret.header.lower())
            for secret in self.secrets
            for host in secret.hosts
        ]
        names = [secret.name for secret in self.secrets]
        if len(set(places)) < len(places) or len(set(names)) < len(names):
            _refuse("hosts", ", ".join(names), "each name once, and one secret a host and header")

    def list_for_plans(self) -> tuple[str, ...]:
        return tuple(secret.name for secret in self.secrets if secret.plans)

    def select(self, names: tuple[str, ...]) -> tuple[EgressSecret, ...]:
        return tuple(secret for secret in self.secrets if secret.name in names)


def _with_port(host: str) -> str:
    return host if ":" in host else f"{host}:{TLS_PORT}"


def _refuse(key: str, value: str, accepted: str) -> NoReturn:
    raise BadSetting(
        f"egress.secrets.{key} is {value[:200]!a}",
        next_step=f"mend it in astra.toml: {accepted}",
        key=f"egress.secrets.{key}",
    )
