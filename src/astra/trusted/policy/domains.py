"""Which hosts a grant names, compared label by label.

`example.com` grants exactly that host, `*.example.com` grants every host below it and not itself,
`:8443` narrows a grant to one port; without a port it means 80 and 443. Hosts are compared after
one normalisation (lower case, no final dot, punycode), and what two programs could read
differently is refused: IP addresses in any spelling, empty labels, user names, NUL, look-alike
dots and the letters that the two IDNA standards disagree on.

>>> allows([parse_grant("*.example.com")], "api.example.com", 443)
True
>>> allows([parse_grant("example.com")], "evil-example.com", 443)
False
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NoReturn

from astra.trusted.kernel.errors import BadInput

WEB_PORTS = (80, 443)
LONGEST_NAME = 253
LARGEST_PORT = 65535
_LABEL = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?")
_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*")
_PORT = re.compile(r"[1-9][0-9]{0,4}")
# IDNA 2003 rewrites these letters, IDNA 2008 keeps them: the same text names two hosts.
_AMBIGUOUS = frozenset("ßς\u200c\u200d")


class BadDomain(BadInput):
    code = "bad_domain"


@dataclass(frozen=True, kw_only=True)
class DomainGrant:
    host: str
    below: bool
    port: int | None

    def __str__(self) -> str:
        port = f":{self.port}" if self.port else ""
        return f"{'*.' if self.below else ''}{self.host}{port}"


def parse_grant(text: str) -> DomainGrant:
    name, port = _split_port(text)
    below = name.startswith("*.")
    host = normalise_host(name.removeprefix("*."), display_text=text)
    if "." not in host:
        _refuse_domain(text, "names a whole top-level domain or a host of the local network")
    return DomainGrant(host=host, below=below, port=port)


def parse_grants(texts: Iterable[str]) -> tuple[DomainGrant, ...]:
    return tuple(parse_grant(text) for text in texts)


def allows(grants: Iterable[DomainGrant], host: str, port: int) -> bool:
    """Say whether a normalised host and a port are named by a grant."""
    return any(_names_host(grant, host) and _names_port(grant, port) for grant in grants)


def names_host(grants: Iterable[DomainGrant], host: str) -> bool:
    return any(_names_host(grant, host) for grant in grants)


def normalise_host(text: str, *, display_text: str | None = None) -> str:
    """Give the one spelling under which a host is compared, or refuse it.

    >>> normalise_host("BÜCHER.Example.")
    'xn--bcher-kva.example'
    """
    display_text = text if display_text is None else display_text
    host = _to_ascii(text, display_text).lower().removesuffix(".")
    labels = host.split(".")
    if len(host) > LONGEST_NAME or not all(_LABEL.fullmatch(label) for label in labels):
        _refuse_domain(display_text, "is no host name")
    if _NUMBER.fullmatch(labels[-1]):
        _refuse_domain(display_text, "is an IP address, and grants go by name")
    return host


def _to_ascii(text: str, shown: str) -> str:
    if text.isascii():
        return text
    if _AMBIGUOUS & set(text):
        _refuse_domain(
            shown, "holds a letter that programs translate differently", "write it as xn--…"
        )
    try:
        return text.encode("idna").decode("ascii")
    except UnicodeError:
        _refuse_domain(shown, "is no host name")


def _split_port(text: str) -> tuple[str, int | None]:
    name, colon, port = text.partition(":")
    if not colon:
        return name, None
    if not _PORT.fullmatch(port) or int(port) > LARGEST_PORT:
        _refuse_domain(text, f"has a port that is not between 1 and {LARGEST_PORT}")
    return name, int(port)


def _names_host(grant: DomainGrant, host: str) -> bool:
    return host.endswith("." + grant.host) if grant.below else host == grant.host


def _names_port(grant: DomainGrant, port: int) -> bool:
    return port in WEB_PORTS if grant.port is None else port == grant.port


def _refuse_domain(
    text: str,
    why: str,
    next_step: str = "name a host: example.com, *.example.com, example.com:8443",
) -> NoReturn:
    raise BadDomain(f"{text!r} {why}", next_step=next_step, domain=text) from None
