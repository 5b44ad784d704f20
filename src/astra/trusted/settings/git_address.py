r"""Addresses of git repositories in `astra.toml`: what is fetched from, and what is pushed to.

| written                              | transport                             |
|--------------------------------------|---------------------------------------|
| `https://host/path`                  | https                                 |
| `ssh://user@host/path`, `user@host:path` | ssh, with the daemon's own key    |
| `file:///path`, `/path`              | a folder of this machine              |
| `http://localhost/path`              | http, on the loopback interface only  |

Nothing that git or ssh could take for an option, a program or another transport gets through.

>>> read_git_address("git@example.org:team/app.git", key="deploy.push_remote").scheme
'ssh'
>>> read_git_address("ext::sh -c id", key="target.upstream")
Traceback (most recent call last):
    ...
astra.trusted.kernel.errors.BadSetting: target.upstream is no address of a git repository
"""

import base64
import re
from dataclasses import dataclass

from astra.trusted.kernel.errors import BadSetting

_URL = re.compile(r"(?P<scheme>https|ssh|file)://(?!-)[^\s\x00-\x1f\x7f]+")
_LOOPBACK = re.compile(r"http://(?:localhost|127\.0\.0\.1|\[::1\])(?::[0-9]{1,5})?/[^\s\x00-\x1f]*")
_SCP = re.compile(r"[A-Za-z0-9._][A-Za-z0-9._-]*@[A-Za-z0-9][A-Za-z0-9.-]*:[^\s:-][^\s\x00-\x1f]*")
_FOLDER = re.compile(r"/[^\x00-\x1f\x7f]*")
_CREDENTIALS = re.compile(r"//[^/@\s]+@")
_SECRET_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,63}")


@dataclass(frozen=True, kw_only=True)
class GitAddress:
    location: str
    scheme: str

    def without_credentials(self) -> str:
        return hide_credentials(self.location)

    @property
    def takes_token(self) -> bool:
        return self.scheme in {"http", "https"}

    def authorize(self, token: str) -> str:
        """Give the header that carries a token to this address; over other transports none does."""
        if not (token and self.takes_token):
            return ""
        return "Basic " + base64.b64encode(f"x-access-token:{token}".encode()).decode()


def read_git_address(text: str, *, key: str) -> GitAddress:
    if match := _URL.fullmatch(text):
        return GitAddress(location=text, scheme=match["scheme"])
    if _LOOPBACK.fullmatch(text):
        return GitAddress(location=text, scheme="http")
    if _SCP.fullmatch(text):
        return GitAddress(location=text, scheme="ssh")
    if _FOLDER.fullmatch(text):
        return GitAddress(location=text, scheme="file")
    raise BadSetting(
        f"{key} is no address of a git repository",
        next_step="write https://…, ssh://…, user@host:path or file:///…, then config sign",
        key=key,
    )


def check_token_name(name: str, *, key: str) -> None:
    """Refuse what is no name of a file in var/secrets, such as a token itself."""
    if name and not _SECRET_NAME.fullmatch(name):
        setting = key.rpartition(".")[2]
        raise BadSetting(
            f"{key} names a file of var/secrets; a token itself would stay in the ledger for good",
            next_step=f'write the token to var/secrets/TOKEN, and {setting} = "TOKEN"',
            key=key,
        )


def hide_credentials(text: str) -> str:
    """Leave out what an address may carry: a name and a password.

    >>> hide_credentials("cannot reach https://me:secret@example.org/app.git")
    'cannot reach https://example.org/app.git'
    """
    return _CREDENTIALS.sub("//", text)
