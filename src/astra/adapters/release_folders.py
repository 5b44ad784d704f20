"""Releases on disk, below `deployments/`: built once, sealed, switched by one rename.

| path                | what                                                         |
|---------------------|--------------------------------------------------------------|
| `releases/TIME-ID`  | one folder a release, read-only, named by time and commit    |
| `current`           | a link to the release that serves                            |
| `backups/TIME-ID`   | what a deployment replaced                                   |
| `status.json`       | an export, true as of the ledger sequence it names           |

A folder without a leading dot is complete: it was renamed into place after it was sealed. In it is
`.astra-release.json`, the settings the release is run with; whatever the commit or its build had
under that name is replaced.
"""

import errno
import hashlib
import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from astra.adapters.environment_mark import link_modules, read_mark, write_mark
from astra.adapters.environment_orders import Purpose
from astra.adapters.environments import ProvideEnvironment, provide_nothing
from astra.adapters.release_tree import (
    different_files,
    link_tree,
    list_paths,
    measure,
    read_plain,
    remove_tree,
    seal,
    tree_digest,
    write_plain,
    write_tree,
)
from astra.deployments.ports import Built
from astra.trusted.kernel.errors import AstraError, Refused
from astra.trusted.kernel.private_files import write_private
from astra.trusted.policy.secrets import SecretRules
from astra.trusted.sandbox import machine, staging
from astra.trusted.sandbox.ports import Outcome

Steps = Callable[[], tuple[tuple[str, ...], ...]]
RunStep = Callable[[tuple[str, ...], Path, str], Outcome]
SETTINGS_FILE = ".astra-release.json"
_FULL = frozenset({errno.ENOSPC, errno.EDQUOT})


def _is_secret(path: str) -> bool:
    return SecretRules().rule_for(path) is not None


class DiskFull(AstraError):
    code = "disk_full"
    http_status = 507


class BuildFailed(Refused):
    code = "build_failed"


@dataclass(frozen=True, kw_only=True)
class ReleaseFolders:
    """`steps` are the build commands in force, `run` carries one out in a box.

    `secret_filter` gives what tells, by the rules in force, which files no release has.
    """

    base: Path
    repository: Path
    steps: Steps
    run: RunStep
    secret_filter: Callable[[], Callable[[str], bool]] = lambda: _is_secret
    environment: ProvideEnvironment = provide_nothing
    bring_commit: Callable[[str], None] = lambda _commit: None
    """Sees that a commit is here that another machine may have made."""

    def build(self, release: str, commit: str, *, correlation: str, settings: bytes = b"") -> Built:
        final = self._resolve_release(release)
        self.bring_commit(commit)
        try:
            if not final.exists():
                self._build_folder(final, commit, settings, correlation)
            files, size = measure(final)
            sealed_settings = read_plain(final / SETTINGS_FILE) if settings else b""
        except OSError as error:
            raise _in_words(error) from error
        withheld = tuple(filter(self.secret_filter(), list_paths(self.repository, commit)))
        return Built(
            folder=str(final),
            digest=tree_digest(final),
            files=files,
            size=size,
            settings=hash_settings(sealed_settings) if settings else "",
            withheld=withheld,
        )

    def is_intact(self, release: str, digest: str) -> bool:
        """Tell whether code and environment of a release are as they were sealed."""
        folder = self._resolve_release(release)
        try:
            if tree_digest(folder) != digest:
                return False
            mark = read_mark(folder)
            return not mark.digest or tree_digest(Path(mark.folder)) == mark.digest
        except (OSError, AstraError, ValueError, KeyError):
            return False

    def read_settings(self, release: str, digest: str) -> bytes:
        try:
            content = read_plain(self._resolve_release(release) / SETTINGS_FILE)
        except OSError:
            content = b""
        if hash_settings(content) != digest:
            raise Refused(
                f"the settings of {release} are not those it was built with",
                code="release_tampered",
                next_step="find out who wrote to it; go to another release (astra releases)",
            )
        return content

    def folder(self, release: str) -> str:
        return str(self._resolve_release(release))

    def differences(self, old: str, new: str) -> dict[str, tuple[bytes | None, bytes | None]]:
        return different_files(self._resolve_release(old), self._resolve_release(new))

    def back_up(self, release: str, name: str) -> str:
        target = self.base / "backups" / name
        try:
            target.parent.mkdir(exist_ok=True)
            if not target.exists():
                link_tree(self._resolve_release(release), target)
        except OSError as error:
            raise _in_words(error) from error
        return str(target)

    def point_to(self, release: str) -> None:
        link, draft = self.base / "current", self.base / ".current"
        target = Path("releases", release)
        if link.is_symlink() and link.readlink() == target:
            return
        draft.unlink(missing_ok=True)
        draft.symlink_to(target)
        draft.rename(link)

    def remove(self, release: str) -> None:
        remove_tree(self._resolve_release(release))
        for backup in sorted((self.base / "backups").glob(f"*-{release.rpartition('-')[2]}")):
            remove_tree(backup)

    def write_status(self, document: Mapping[str, Any]) -> None:
        path = self.base / "status.json"
        write_private(path, json.dumps(dict(document), indent=2).encode() + b"\n")
        path.chmod(0o644)

    def _build_folder(self, final: Path, commit: str, settings: bytes, correlation: str) -> None:
        final.parent.mkdir(parents=True, exist_ok=True)
        partial = final.with_name(f".{final.name}.partial")
        remove_tree(partial)
        try:
            write_tree(self.repository, commit, partial, is_withheld=self.secret_filter())
            purpose = Purpose(actor="daemon", correlation=correlation)
            environment = self.environment(commit, purpose)
            link_modules(partial, environment)
            write_mark(partial, environment)
            for step in self.steps():
                self._carry_out(step, partial, correlation)
            write_mark(partial, environment)
            if settings:
                write_plain(partial / SETTINGS_FILE, settings)
            seal(partial)
            partial.rename(final)
        except BaseException:
            remove_tree(partial)
            raise

    def _carry_out(self, step: tuple[str, ...], folder: Path, correlation: str) -> None:
        staging.hand_over(folder, machine.inspect_machine().identity)
        outcome = self.run(step, folder, correlation)
        if not outcome.succeeded:
            message = outcome.stderr.decode("utf-8", "replace").strip() or outcome.reason
            printable_message = ascii(message[-500:])[1:-1]
            raise BuildFailed(
                f"the build step {step[0]!a} failed ({outcome.reason}): {printable_message}",
                next_step="mend the build in a change, then deploy that",
                verdict=str(outcome.verdict),
            )

    def _resolve_release(self, release: str) -> Path:
        if not release or "/" in release or release.startswith("."):
            raise Refused(f"{release!a} names no release", next_step="astra releases")
        return self.base / "releases" / release


def hash_settings(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _in_words(error: OSError) -> AstraError:
    if error.errno in _FULL:
        return DiskFull(
            "the disk is full, so the release could not be made; what served goes on serving",
            next_step="free some space (astra releases shows what is kept), then deploy again",
        )
    return AstraError(
        f"the release could not be made: {os.strerror(error.errno or 0)}",
        next_step="look at the folder deployments/ of the data root",
    )
