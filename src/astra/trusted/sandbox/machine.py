"""What this machine offers a box: programs, the shape of its root folder, its architecture.

Facts only, gathered once, so that compiling a profile stays pure.
"""

import os
import platform
import pwd
import shutil
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from astra.trusted.kernel.errors import Refused

SYSTEM_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
BOX_USER = "astra-box"
# Used when nobody made that user; 60578-61183 is the range that distributions leave free.
BOX_UID = 60870
_PEOPLE = range(1000, 60000)
_ROOT_NAMES = ("/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
_ETC = (
    *("/etc/ssl/certs", "/etc/ssl/openssl.cnf", "/etc/pki/tls/certs", "/etc/pki/ca-trust"),
    *("/etc/ca-certificates", "/etc/alternatives", "/etc/ld.so.cache", "/etc/mime.types"),
)


class SandboxUnavailable(Refused):
    code = "sandbox_unavailable"
    http_status = 503


@dataclass(frozen=True, kw_only=True)
class Identity:
    """Who a box is on the host: never root."""

    uid: int
    gid: int
    dropped: bool


@dataclass(frozen=True, kw_only=True)
class Machine:
    architecture: str
    bwrap: str
    links: tuple[tuple[str, str], ...]
    folders: tuple[str, ...]
    etc: tuple[str, ...]
    identity: Identity


@lru_cache(maxsize=1)
def inspect_machine() -> Machine:
    names = [Path(name) for name in _ROOT_NAMES]
    return Machine(
        architecture=platform.machine(),
        bwrap=_require_program("bwrap", package="bubblewrap"),
        links=tuple((str(name), str(name.readlink())) for name in names if name.is_symlink()),
        folders=("/usr", *(str(n) for n in names if n.is_dir() and not n.is_symlink())),
        etc=tuple(name for name in _ETC if Path(name).exists()),
        identity=choose_identity(),
    )


@lru_cache(maxsize=1)
def home_folders() -> tuple[str, ...]:
    """List the home folders of people: no grant may hold one."""
    people = [user for user in pwd.getpwall() if user.pw_uid == 0 or user.pw_uid in _PEOPLE]
    return tuple(sorted({user.pw_dir for user in people if user.pw_dir.strip("/")}))


def own_homes() -> tuple[str, ...]:
    """List the homes of people and of whoever Astra runs as, by the user database.

    `HOME` is up to whoever starts a process, so it decides nothing that protects.
    """
    try:
        own_home = pwd.getpwuid(os.geteuid()).pw_dir.rstrip("/")
    except KeyError:
        own_home = ""
    return tuple(dict.fromkeys((*filter(None, (own_home,)), *home_folders())))


def choose_identity() -> Identity:
    """Say who runs boxes: this user, or for root a user of their own."""
    if os.geteuid() != 0:
        return Identity(uid=os.geteuid(), gid=os.getegid(), dropped=False)
    try:
        user = pwd.getpwnam(BOX_USER)
    except KeyError:
        return Identity(uid=BOX_UID, gid=BOX_UID, dropped=True)
    if user.pw_uid == 0 or user.pw_gid == 0:
        raise SandboxUnavailable(
            f"the user {BOX_USER} is root", next_step=f"give {BOX_USER} a uid of its own"
        )
    return Identity(uid=user.pw_uid, gid=user.pw_gid, dropped=True)


def no_such_user_error(identity: Identity, error: OSError) -> SandboxUnavailable:
    """Say what it means that this root has no uid to give to boxes: a container of one uid."""
    return SandboxUnavailable(
        f"Astra runs as root but cannot become uid {identity.uid}: {error.strerror}",
        next_step="run Astra as an ordinary user, or give the container a range of uids"
        f" that has {identity.uid}",
    )


def _require_program(name: str, *, package: str) -> str:
    program_path = shutil.which(name, path=SYSTEM_PATH)
    if program_path is None:
        raise SandboxUnavailable(
            f"{name} is not installed, so agent code cannot be confined",
            next_step=f"install the package {package} (Debian: apt-get install {package})",
        )
    return os.path.realpath(program_path)
