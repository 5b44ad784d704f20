"""The address under which a TLS proxy or a tunnel shows Astra to a phone.

It fixes the only Host and Origin that the door then answers to, so it has to be exact: https, a
name and not a number (passkeys refuse a bare IP), no path, nothing else.

>>> read_public_url("https://astra.example:8443").origin
'https://astra.example:8443'
>>> read_public_url("") is None
True
"""

import re
from dataclasses import dataclass
from urllib.parse import urlsplit

from astra.trusted.kernel.errors import BadSetting

_HTTPS = 443
_LONGEST_NAME = 253
_LABEL = re.compile(r"(?!-)[a-z0-9-]{1,63}(?<!-)")


@dataclass(frozen=True, kw_only=True)
class PublicUrl:
    name: str
    """The host without its port: the passkeys' RP id."""
    host: str
    """As the Host header says it."""

    @property
    def origin(self) -> str:
        return f"https://{self.host}"


def read_public_url(text: str) -> PublicUrl | None:
    """Read ASTRA_PUBLIC_URL; nothing set is None, anything malformed is an error."""
    if not text:
        return None
    try:
        parts = urlsplit(text)
        port, name = parts.port, (parts.hostname or "").lower()
    except ValueError:
        raise _bad_url_error(text, "it is not an address") from None
    if parts.scheme != "https":
        raise _bad_url_error(text, "it does not start with https://")
    if "@" in parts.netloc or parts.path not in {"", "/"} or parts.query or parts.fragment:
        raise _bad_url_error(text, "it has more than a host and a port")
    if set(text) - set(f"https://{parts.netloc}/") or not _is_name(name):
        raise _bad_url_error(text, "its host is not a DNS name")
    return PublicUrl(name=name, host=name if port in {None, _HTTPS} else f"{name}:{port}")


def _is_name(name: str) -> bool:
    labels = name.split(".")
    return (
        len(labels) > 1
        and len(name) <= _LONGEST_NAME
        and all(_LABEL.fullmatch(label) for label in labels)
        and not _is_number(name)
    )


def _is_number(name: str) -> bool:
    from ipaddress import ip_address

    try:
        ip_address(name)
    except ValueError:
        return name.rpartition(".")[2].isdigit()
    return True


def _bad_url_error(text: str, why: str) -> BadSetting:
    return BadSetting(
        f"ASTRA_PUBLIC_URL is {text[:100]!r}: {why}",
        next_step="write https://NAME or https://NAME:PORT, as the TLS proxy in front is called",
        key="ASTRA_PUBLIC_URL",
    )
