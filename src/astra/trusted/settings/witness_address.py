"""Where checkpoints are kept outside the data root: `[ledger] witness` of `astra.toml`, read.

| written                                   | what it is                                        |
|-------------------------------------------|---------------------------------------------------|
| `/mnt/elsewhere/witness`                  | a folder that is there already                    |
| `git+ssh://`, `git+https://`, `git+file://`, `user@host:path` | a git remote                  |
| `https://host/path`                       | an address that takes a POST; `http` on loopback  |

Nothing that git or ssh could take for an option or a program of its own gets through, and no name
or password: what is signed stays in the ledger.

>>> read_address("git+ssh://git@example.org/witness.git").location
'ssh://git@example.org/witness.git'
>>> read_address("/mnt/elsewhere/witness").kind
'folder'
"""

import re
from dataclasses import dataclass

from astra.trusted.kernel.errors import BadSetting

KEY = "ledger.witness"
FOLDER, GIT, POST = "folder", "remote", "post"
_HOST = r"(?:[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?|\[[0-9a-fA-F:]+\])(?::[0-9]{1,5})?"
_PATH = r"/[A-Za-z0-9_.~/%+=,@:-]*"
_USER = r"(?:[A-Za-z0-9_][A-Za-z0-9_.-]*@)?"
_GIT_URL = re.compile(
    rf"git\+(?P<location>https://{_HOST}{_PATH}"
    rf"|ssh://{_USER}{_HOST}{_PATH}|file:///[A-Za-z0-9_.~/%+=,@-][A-Za-z0-9_.~/%+=,@ -]*)"
)
_SCP = re.compile(
    r"[A-Za-z0-9_][A-Za-z0-9_.-]*@[A-Za-z0-9][A-Za-z0-9.-]*:[A-Za-z0-9_.~/][A-Za-z0-9_.~/+-]*"
)
_POST_URL = re.compile(
    rf"https://{_HOST}{_PATH}(?:\?[\w.~/%+=&-]*)?"
    rf"|http://(?:localhost|127\.0\.0\.1|\[::1\])(?::[0-9]{{1,5}})?{_PATH}(?:\?[\w.~/%+=&-]*)?",
    re.ASCII,
)
_FOLDER = re.compile(r"/[^\x00-\x1f\x7f]+")


@dataclass(frozen=True, kw_only=True)
class WitnessAddress:
    kind: str
    location: str
    scheme: str = ""
    """Of a git remote: the one transport that is opened for it."""


def is_post_address(text: str) -> bool:
    """Tell whether a POST may go there: over TLS, or plainly on loopback; no name, no password."""
    return _POST_URL.fullmatch(text) is not None


def read_address(text: str) -> WitnessAddress:
    if match := _GIT_URL.fullmatch(text):
        location = match["location"]
        return WitnessAddress(kind=GIT, location=location, scheme=location.partition(":")[0])
    if _SCP.fullmatch(text):
        return WitnessAddress(kind=GIT, location=text, scheme="ssh")
    if is_post_address(text):
        return WitnessAddress(kind=POST, location=text, scheme=text.partition(":")[0])
    if _FOLDER.fullmatch(text) and "/../" not in f"{text}/":
        return WitnessAddress(kind=FOLDER, location=text)
    raise BadSetting(
        f"{text[:100]!a} is no place that can keep checkpoints",
        next_step="write an absolute folder, git+ssh://…, git+https://…, git+file:///…,"
        " user@host:path, or https://… without a name and a password",
        key=KEY,
    )
