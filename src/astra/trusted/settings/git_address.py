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

import re
from dataclasses import dataclass

from astra.trusted.kernel.errors import BadSetting

_URL = re.compile(r"(?P<scheme>https|ssh|file)://(?!-)[^\s\x00-\x1f\x7f]+")
_LOOPBACK = re.compile(r"http://(?:localhost|127\.0\.0\.1|\[::1\])(?::[0-9]{1,5})?/[^\s\x00-\x1f]*")
_SCP = re.compile(r"[A-Za-z0-9._][A-Za-z0-9._-]*@[A-Za-z0-9][A-Za-z0-9.-]*:[^\s:-][^\s\x00-\x1f]*")
_FOLDER = re.compile(r"/[^\x00-\x1f\x7f]*")
_CREDENTIALS = re.compile(r"//[^/@\s]+@")


@dataclass(frozen=True, kw_only=True)
class GitAddress:
    location: str
    scheme: str

    def without_credentials(self) -> str:
        return hide_credentials(self.location)


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


def hide_credentials(text: str) -> str:
    """Leave out what an address may carry: a name and a password.

    >>> hide_credentials("cannot reach https://me:secret@example.org/app.git")
    'cannot reach https://example.org/app.git'
    """
    return _CREDENTIALS.sub("//", text)
