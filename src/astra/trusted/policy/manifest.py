"""What a process may read, write, reach and use up; everything else is not there for it.

A manifest is written by an agent, checked here, approved by a person who reads `in_words`, and
compiled into a sandbox. Paths are absolute and lexically normal (no `..`, no final slash); the
launcher refuses symbolic links on them, so the checked path is the path that is opened. A grant
may not cover the machine, a home folder or a system folder, and may not touch a protected place,
neither from above nor from below.

>>> plan = Manifest(read_paths=("/srv/data",), network_domains=("example.com",))
>>> print(describe_manifest(plan).splitlines()[0])
can read: /srv/data (and the system's programs)
"""

import posixpath
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from types import MappingProxyType
from typing import NoReturn

from astra.trusted.kernel.errors import BadInput
from astra.trusted.policy import domains

KIB, MIB, GIB = 2**10, 2**20, 2**30
MOST_ENTRIES = 64
LONGEST_PATH = 4096
LARGEST_ENVIRONMENT = 64 * KIB
# The sandbox brings its own of these; a grant below them would replace a piece of the wall.
RESERVED = ("/proc", "/sys", "/dev", "/run", "/boot", "/etc", "/usr", "/bin", "/sbin", "/lib")
PRIVATE_IN_HOME = (
    *(".ssh", ".gnupg", ".aws", ".azure", ".kube", ".docker", ".password-store", ".netrc"),
    *(".pypirc", ".npmrc", ".git-credentials", ".pgpass", ".config/gh", ".config/gcloud"),
    *(".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".profile", ".zshrc", ".zshenv"),
    *(".zprofile", ".zlogin", ".config/fish", ".gitconfig", ".config/git", ".local/bin"),
)
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,127}")
LARGEST_LIMIT = 2**40


class BadManifest(BadInput):
    code = "bad_manifest"


@dataclass(frozen=True, kw_only=True)
class Limits:
    """What a run may use up; `memory`, `processes` and `disk` count for the whole box."""

    wall_seconds: float = 300
    cpu_seconds: int = 600
    processes: int = 256
    memory_bytes: int = 2 * GIB
    file_bytes: int = GIB
    disk_bytes: int = 2 * GIB
    disk_files: int = 200_000
    scratch_bytes: int = 256 * MIB
    open_files: int = 1024
    output_bytes: int = 16 * MIB
    network_bytes: int = GIB
    connections: int = 1000

    def __post_init__(self) -> None:
        for limit in fields(self):
            value = getattr(self, limit.name)
            ceiling = _CEILINGS.get(limit.name, LARGEST_LIMIT)
            if type(value) not in {int, float} or not 0 < value <= ceiling:
                _refuse_manifest(
                    f"the limit {limit.name} is {value!r}",
                    f"give a number above zero and at most {ceiling:,}",
                )


_CEILINGS: dict[str, int] = {
    "wall_seconds": 86_400,
    "cpu_seconds": 864_000,
    "processes": 4096,
    "open_files": 65_536,
}


@dataclass(frozen=True, kw_only=True)
class Manifest:
    read_paths: tuple[str, ...] = ()
    write_paths: tuple[str, ...] = ()
    network_domains: tuple[str, ...] = ()
    asks: bool = False
    """Whether attempts to reach what is not granted are noticed, even where nothing is."""
    limits: Limits = field(default_factory=Limits)
    environment: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))


def check(
    manifest: Manifest, *, protected: Iterable[str] = (), homes: Iterable[str] = ()
) -> Manifest:
    """Give the manifest with one spelling for each grant, or refuse it.

    `protected` are the places no grant may touch (the data root's `var/`, keys, `.env`,
    `astra.toml`, Astra's own install); `homes` are the home folders, whose private parts are
    protected too.
    """
    homes = tuple(homes)
    places = (*protected, *(f"{home}/{name}" for home in homes for name in PRIVATE_IN_HOME))
    _check_count(manifest)
    _check_environment(manifest.environment)
    return replace(
        manifest,
        read_paths=_checked_paths(manifest.read_paths, places, homes),
        write_paths=_checked_paths(manifest.write_paths, places, homes),
        network_domains=tuple(
            dict.fromkeys(str(domains.parse_grant(text)) for text in manifest.network_domains)
        ),
        environment=MappingProxyType(dict(manifest.environment)),
    )


def describe_manifest(manifest: Manifest) -> str:
    """Say to the person who approves what the process can do, in full."""
    limits = manifest.limits
    readable = [*manifest.read_paths, *manifest.write_paths]
    memory, disk = _format_size(limits.memory_bytes), _format_size(limits.disk_bytes)
    lines = [
        f"can read: {_join_names(readable)} (and the system's programs)",
        f"can write: {_join_names(manifest.write_paths)} (and scratch space that vanishes)",
        f"can reach: {_join_names(manifest.network_domains)}",
        *(
            f"can send anything it reads to anyone at {_escape_unprintable(name)}"
            for name in manifest.network_domains
        ),
        *([f"is given: {_join_names(manifest.environment)}"] if manifest.environment else []),
        f"may use {limits.wall_seconds:g} s, {limits.processes} processes, {memory} of memory",
        f"may add {disk} of files",
        "nothing else",
    ]
    return "\n".join(lines)


def describe_unconfined(manifest: Manifest) -> str:
    """Say what a process can do when nothing confines it: what was granted holds nothing back."""
    seconds, memory = manifest.limits.wall_seconds, _format_size(manifest.limits.memory_bytes)
    lines = [
        "UNSAFE: the sandbox is off (ASTRA_SANDBOX=off-unsafe, signed by the operator)",
        "can read, write and end whatever its OS user can, other programs included",
        "can reach every host, of the internet and of your network: domains cannot be enforced",
        "is held to granted domains, and recorded, only if it uses the proxy it is told of",
        f"is ended after {seconds:g} s and above {memory} of memory",
        "stop ends it and what it started, unless it hides from its keeper",
    ]
    return "\n".join(lines)


def normalise_path(text: str) -> str:
    """Give the one spelling of an absolute path, or refuse it.

    >>> normalise_path("/srv//data/")
    '/srv/data'
    """
    if not text.startswith("/") or "\0" in text or len(text) > LONGEST_PATH:
        _refuse_manifest(
            f"{text!r} is no absolute path", "write the whole path, from the first slash"
        )
    if ".." in text.split("/"):
        _refuse_manifest(f"{text!r} goes up with `..`", "write the path that it means")
    return posixpath.normpath("/" + text.lstrip("/"))


def touches(path: str, place: str) -> bool:
    """Say whether one of two places is the other or holds it."""
    return is_within(path, place) or is_within(place, path)


def is_within(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def _checked_paths(
    paths: tuple[str, ...], places: tuple[str, ...], homes: tuple[str, ...]
) -> tuple[str, ...]:
    normal = sorted({normalise_path(path) for path in paths})
    for path in normal:
        _check_breadth(path, homes)
        for place in places:
            if touches(path, place):
                _refuse_manifest(
                    f"{path} touches the protected place {place}", "name a narrower folder"
                )
    return tuple(normal)


def _check_breadth(path: str, homes: tuple[str, ...]) -> None:
    if path.count("/") < 2:  # noqa: PLR2004 - `/` and `/srv` have one slash
        _refuse_manifest(f"{path} is too much of the machine", "name the folder that is needed")
    if any(is_within(home, path) for home in homes):
        _refuse_manifest(f"{path} holds a whole home folder", "name the folder that is needed")
    if any(is_within(path, folder) for folder in (*RESERVED, "/lib32", "/lib64", "/libx32")):
        _refuse_manifest(
            f"{path} belongs to the system", "copy what is needed to a folder of its own"
        )


def _check_count(manifest: Manifest) -> None:
    for name in ("read_paths", "write_paths", "network_domains"):
        if len(getattr(manifest, name)) > MOST_ENTRIES:
            _refuse_manifest(
                f"{name} has more than {MOST_ENTRIES} entries", "name folders, not files"
            )


def _check_environment(environment: Mapping[str, str]) -> None:
    for name, value in environment.items():
        if not _VARIABLE.fullmatch(name) or "\0" in value:
            _refuse_manifest(
                f"{name!r} is no variable", "use letters, digits and _; no NUL in the value"
            )
    if sum(len(name) + len(value) for name, value in environment.items()) > LARGEST_ENVIRONMENT:
        _refuse_manifest(
            "the environment is too large", f"keep it below {LARGEST_ENVIRONMENT} characters"
        )


def _join_names(items: Iterable[str]) -> str:
    return ", ".join(dict.fromkeys(_escape_unprintable(item) for item in items)) or "nothing"


def _escape_unprintable(text: str) -> str:
    """Escape what could hide or reorder text on the approver's screen."""
    return text if text.isascii() and text.isprintable() else text.encode("unicode_escape").decode()


def _format_size(count: int) -> str:
    for unit, name in ((GIB, "GiB"), (MIB, "MiB"), (KIB, "KiB")):
        if count >= unit:
            return f"{count / unit:g} {name}"
    return f"{count} bytes"


def _refuse_manifest(detail: str, next_step: str) -> NoReturn:
    raise BadManifest(detail, next_step=next_step)
