"""Commits travel between machines by git: through one repository that the signed settings name.

Ids come from the chain, so that repository needs no trust: what it gives is taken under the id that
was asked for or not at all. Git computes the id of every object that arrives from its content, and
refuses a commit whose trees and files did not all come. A machine that makes a commit pushes it
there before anybody hears of it.
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from astra.trusted.git.git_command import (
    GitCommand,
    GitFailed,
    receive_pack_option,
    run_git,
    upload_pack_option,
)
from astra.trusted.git.upstream_repo import FETCH
from astra.trusted.kernel.errors import AstraError, NotFound
from astra.trusted.kernel.text import one_line
from astra.trusted.settings.git_address import GitAddress, hide_credentials, read_git_address

SHARED, ARRIVED = "refs/astra/objects", "refs/astra/arrived"
SETTING = "ledger.objects"
_COMMIT = re.compile(r"[0-9a-f]{40}([0-9a-f]{24})?")
_SECONDS = 300.0
_PUSH = ("push", "--quiet", "--no-verify", "--no-signed", "--no-follow-tags", "--force")
_MISSING = frozenset({0, 1, 128})


class ObjectMissing(NotFound):
    """A commit that the chain names is neither here nor where the machines exchange commits."""

    code = "object_missing"


class ObjectWrong(AstraError):
    """The repository for exchange gave something else under the id of a commit."""

    code = "object_wrong"


class ObjectsUnreachable(AstraError):
    code = "objects_unreachable"


@dataclass(frozen=True, kw_only=True)
class ObjectExchange:
    repository: Path
    read_setting: Callable[[], str]
    ssh_key: Path

    @property
    def is_configured(self) -> bool:
        return bool(self.read_setting())

    def publish(self, commits: Iterable[str]) -> None:
        """Put commits where the other machines find them; doing it again changes nothing."""
        address = self._find_address()
        if address is None:
            return
        refspecs = tuple(f"{_check_id(commit)}:{SHARED}/{commit}" for commit in commits)
        options = (receive_pack_option(),) if address.scheme == "file" else ()
        try:
            self._run_git(address, *_PUSH, *options, "--", address.location, *refspecs)
        except GitFailed as error:
            raise _unreachable_error(address, "pushed to", error) from None

    def ensure(self, commits: Iterable[str]) -> None:
        """See that commits are here, whole; fetch what is not, by its id."""
        for commit in commits:
            if not self.has(commit):
                self._fetch(commit)

    def has(self, commit: str) -> bool:
        """Tell whether a commit is here with all its files; a broken fetch leaves parts of one."""
        walk = ("rev-list", "--objects", "--quiet", f"{_check_id(commit)}^{{commit}}")
        command = GitCommand(
            repository=self.repository, arguments=(*walk, "--not", "--all"), timeout=_SECONDS
        )
        return run_git(command, accept=_MISSING).exit_code == 0

    def _fetch(self, commit: str) -> None:
        address = self._find_address()
        if address is None:
            raise ObjectMissing(
                f"commit {commit[:12]} was made on another machine, and no repository is named"
                " through which commits travel",
                next_step='sign [ledger] objects = "URL" in astra.toml',
            )
        arrived_ref = f"{ARRIVED}/{commit}"
        options = (upload_pack_option(),) if address.scheme == "file" else ()
        refspec = f"+{SHARED}/{commit}:{arrived_ref}"
        try:
            self._run_git(address, *FETCH, *options, "--", address.location, refspec)
        except GitFailed as error:
            raise _fetch_error(commit, address, error) from None
        self._check_arrived(commit, arrived_ref)

    def _check_arrived(self, commit: str, arrived_ref: str) -> None:
        """Take what came under the id that was asked for, and nothing else."""
        command = GitCommand(
            repository=self.repository, arguments=("rev-parse", "--verify", "--quiet", arrived_ref)
        )
        arrived_id = run_git(command, accept=_MISSING).output.decode().strip()
        if arrived_id == commit:
            return
        remove = GitCommand(
            repository=self.repository, arguments=("update-ref", "--no-deref", "-d", arrived_ref)
        )
        run_git(remove)
        raise ObjectWrong(
            f"the repository of [ledger] objects gave {arrived_id[:12] or 'nothing'} for commit"
            f" {commit[:12]}; it was not taken",
            next_step="find out who writes there; the machine that made the commit has it",
        )

    def _find_address(self) -> GitAddress | None:
        setting = self.read_setting()
        return read_git_address(setting, key=SETTING) if setting else None

    def _run_git(self, address: GitAddress, *arguments: str) -> None:
        command = GitCommand(
            repository=self.repository,
            arguments=arguments,
            protocol=address.scheme,
            ssh_key=self.ssh_key if address.scheme == "ssh" else None,
            timeout=_SECONDS,
        )
        run_git(command)


def _check_id(commit: str) -> str:
    if not _COMMIT.fullmatch(commit):
        raise ObjectMissing(
            f"{one_line(commit, 80)} is not the id of a commit", next_step="give the whole id"
        )
    return commit


def _fetch_error(commit: str, address: GitAddress, error: GitFailed) -> AstraError:
    if "couldn't find remote ref" in error.detail:
        return ObjectMissing(
            f"commit {commit[:12]} is not in {address.without_credentials()}",
            next_step="start the machine that made it: it pushes what it makes",
        )
    return _unreachable_error(address, "fetched from", error)


def _unreachable_error(address: GitAddress, verb: str, error: GitFailed) -> ObjectsUnreachable:
    return ObjectsUnreachable(
        f"commits could not be {verb} {address.without_credentials()}:"
        f" {one_line(hide_credentials(error.detail), 400)}",
        next_step="check [ledger] objects in astra.toml, and that this user may use it",
    )
