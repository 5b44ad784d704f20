"""`astra support`: what helps to find a fault, in one archive, without a secret in it.

Nothing is copied as it is. Text passes the one rule for secrets (`kernel.masking`), then every
value that stands in the data root's `.env` or in a setting of the environment is replaced wherever
it occurs, whatever its shape. Records are told by type, time and actor, never by their data; keys,
`.env` and the agent's files are not opened at all.
"""

import io
import json
import os
import platform
import stat
import sys
import tarfile
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from astra import __version__
from astra.trusted.file_ledger import segments
from astra.trusted.file_ledger.places import LedgerPlaces
from astra.trusted.kernel.errors import AstraError
from astra.trusted.kernel.masking import MASK, mask, redact
from astra.trusted.ledger import chain
from astra.trusted.settings import environment

LONGEST_LOG, NEWEST_RECORDS, SHORTEST_SECRET = 2 << 20, 2_000, 6
LOGS = ("daemon.log", "daemon.log.1", "daemon.ndjson", "daemon.ndjson.1", "holder.log", "app.log")
_PLAIN_NAMES = frozenset({"AGENT_DATA_ROOT", "PATH", "LANG", "TZ"})
_SECRET_NAMES = ("PASS", "SECRET", "TOKEN", "KEY", "CREDENTIAL", "AUTH", "DSN", "URL", "PWD")
Read = Callable[[], Any]


@dataclass(frozen=True, kw_only=True)
class Bundle:
    """What goes into an archive; every part is made when it is written."""

    data_root: Path
    reports: Mapping[str, Read]
    """Documents by file name, each made by asking some part of Astra."""
    environ: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))

    def write(self, path: Path) -> list[str]:
        """Write the archive, for its owner only, and name what is in it."""
        secrets = find_secrets(self.data_root, self.environ)
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
        names: list[str] = []
        with os.fdopen(descriptor, "wb") as file, tarfile.open(fileobj=file, mode="w:gz") as tar:
            for name, text in self._make_parts():
                _add_text(tar, f"astra-support/{name}", hide(text, secrets))
                names.append(name)
        return names

    def _make_parts(self) -> Iterator[tuple[str, str]]:
        yield "machine.json", _to_json(describe_machine(self.environ))
        for name, ask in self.reports.items():
            yield name, _to_json(_read_report(ask))
        yield "records.ndjson", "".join(_describe_records(self.data_root))
        yield "files.txt", "".join(_describe_files(self.data_root))
        yield "configuration.json", _to_json(_read_configuration(self.data_root / "astra.toml"))
        for name in LOGS:
            if (self.data_root / "logs" / name).exists():
                yield f"logs/{name}", _read_text(self.data_root / "logs" / name, LONGEST_LOG)


def hide(text: str, secrets: Iterable[str]) -> str:
    """Take secrets out of a text: known values wherever they are, then whatever looks like one."""
    for secret in secrets:
        for spelling in {
            secret,
            json.dumps(secret)[1:-1],
            json.dumps(secret, ensure_ascii=False)[1:-1],
        }:
            text = text.replace(spelling, MASK)
    return mask(text)


def find_secrets(data_root: Path, environ: Mapping[str, str]) -> list[str]:
    """Name the values that may be in no archive, the longest first."""
    values = set(environment.read_valid_lines(data_root / ".env").values())
    values |= {
        value
        for name, value in environ.items()
        if name not in _PLAIN_NAMES and any(word in name.upper() for word in _SECRET_NAMES)
    }
    values |= {part for value in values for part in _split_address(value)}
    return sorted((v for v in values if len(v) >= SHORTEST_SECRET), key=len, reverse=True)


def _split_address(value: str) -> list[str]:
    """Give the parts of an address that may be secret by themselves: login, path, query."""
    if "://" not in value:
        return []
    login, _, place = value.partition("://")[2].rpartition("@")
    path = place.partition("/")[2]
    return [*login.split(":"), *path.replace("?", "/").replace("&", "/").split("/"), path]


def describe_machine(environ: Mapping[str, str]) -> dict[str, Any]:
    names = {*environment.FLAGS, *(setting.name for setting in environment.SETTINGS)}
    return {
        "astra": __version__,
        "python": sys.version,
        "platform": platform.platform(),
        "cpus": os.cpu_count(),
        "settings_set": sorted(name for name in environ if name in names),
    }


def _read_report(read: Read) -> Any:
    """Ask one part; that it cannot answer is itself worth knowing."""
    try:
        return redact(read())
    except AstraError as error:
        return {"not_available": error.as_dict()}
    except OSError as error:
        return {"not_available": str(error)}


def _read_configuration(path: Path) -> Any:
    """Read astra.toml without the values of variables, which may be anything."""
    try:
        document: Any = tomllib.loads(_read_text(path, LONGEST_LOG))
    except tomllib.TOMLDecodeError as error:
        return {"not_available": f"not TOML: {error}"}
    return redact(_hide_variables(document))


def _hide_variables(value: Any) -> Any:
    if isinstance(value, list):
        return [_hide_variables(item) for item in cast("list[Any]", value)]
    if not isinstance(value, dict):
        return value
    return {
        name: dict.fromkeys(member, MASK) if name == "env" else _hide_variables(member)
        for name, member in cast("dict[str, Any]", value).items()
    }


def _describe_records(data_root: Path) -> Iterator[str]:
    folder = LedgerPlaces(data_root / "var").chain
    if not folder.is_dir() or not segments.segments(folder):  # in a database: astra ledger export
        return
    tail = segments.read_tail(folder, segments.segments(folder)[-1]).last
    after = max((tail.sequence if tail else 0) - NEWEST_RECORDS, 0)
    for line in segments.lines(folder, after=after):
        record = chain.parse(line)
        members = ("sequence", "time", "type", "actor", "correlation", "subject", "hash")
        yield json.dumps({name: getattr(record, name) for name in members}) + "\n"


def _describe_files(data_root: Path) -> Iterator[str]:
    """List what the server keeps, with size, mode and owner; the agent's files are not named."""
    for folder in ("", "var", "var/ledger", "var/index", "var/checkpoints", "var/run", "logs"):
        path = data_root / folder
        for entry in sorted(path.iterdir()) if path.is_dir() else ():
            facts = entry.lstat()
            mode = stat.filemode(facts.st_mode)
            owner = f"{facts.st_uid}:{facts.st_gid}"
            yield f"{mode} {owner} {facts.st_size:>12} {folder}/{entry.name}\n"


def _read_text(path: Path, most: int) -> str:
    """Read the end of a file that is a file; a link is not followed."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
    except OSError as error:
        return f"not read: {error.strerror}\n"
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            return "not read: no ordinary file\n"
        file.seek(max(os.fstat(file.fileno()).st_size - most, 0))
        return file.read(most).decode(errors="replace")


def _to_json(document: Any) -> str:
    return json.dumps(document, indent=2, default=str) + "\n"


def _add_text(tar: tarfile.TarFile, name: str, text: str) -> None:
    data = text.encode(errors="replace")
    member = tarfile.TarInfo(name)
    member.size, member.mode = len(data), 0o600
    tar.addfile(member, io.BytesIO(data))
