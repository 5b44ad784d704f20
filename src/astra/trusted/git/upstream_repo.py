"""The quarantine for commits of people: a bare repository of its own, `var/upstream`.

The remote is hostile input. One branch is asked for by its full name, so no other ref of the remote
arrives; every object is checked by git on arrival (`fetch.fsckObjects`); no hook, tag, submodule or
configuration of the remote takes part; a folder of this machine is read with the same hardening on
its end. Objects reach the trusted repository only by `bring_in`, one named commit at a time.
"""

import os
import shutil
from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from astra.trusted.changes.files import SUBMODULE
from astra.trusted.changes.rebase import carry_over
from astra.trusted.git.change_repo import GitChangeRepo, Identity
from astra.trusted.git.git_command import (
    NOT_ADMITTED,
    GitCommand,
    GitFailed,
    run_git,
    upload_pack_option,
)
from astra.trusted.kernel.clock import Clock
from astra.trusted.kernel.errors import AstraError
from astra.trusted.kernel.private_files import write_private
from astra.trusted.kernel.text import one_line, printable
from astra.trusted.settings.git_address import GitAddress, hide_credentials
from astra.trusted.upstream.ports import IncomingCommit

TRUSTED, UPSTREAM, KEPT = "refs/heads/trusted", "refs/heads/upstream", "refs/heads/incoming"
FETCH = (
    *("fetch", "--no-tags", "--no-write-fetch-head", "--no-auto-maintenance", "--quiet"),
    *("--no-recurse-submodules", "--no-show-forced-updates", "--refmap="),
)
_CONFIG = """[core]
\trepositoryformatversion = 0
\tbare = true
[fetch]
\tfsckObjects = true
[transfer]
\tfsckObjects = true
[gpg "openpgp"]
\tprogram = /bin/false
[gpg "x509"]
\tprogram = /bin/false
[gpg "ssh"]
\tallowedSignersFile = {signers}
"""
_FORMAT = "--format=%H%x00%P%x00%an%x00%ae%x00%aI%x00%s"
_FIELDS = 6
_GIVE_ACCESS = (
    "give the key var/keys/push.key, or over HTTPS the token of [target] upstream_token, the right"
    " to read it; for an unknown SSH host, compare its fingerprint and add it to"
    " var/keys/known_hosts"
)
_CHECK_ADDRESS = "check [target] upstream in astra.toml, and that this user may read it"
_SECONDS = 600.0
_LONGEST = 200


class UpstreamUnreachable(AstraError):
    code = "upstream_unreachable"


@dataclass(frozen=True, kw_only=True)
class GitUpstream:
    trusted: Path
    folder: Path
    branch: str
    identity: Identity
    clock: Clock
    ssh_key: Path
    read_address: Callable[[], GitAddress | None]
    read_token: Callable[[], str] = str
    """Gives the token for an upstream over HTTPS, empty where there is none."""
    _repo: list[GitChangeRepo] = field(default_factory=list[GitChangeRepo])

    @property
    def address(self) -> str:
        address = self.read_address()
        return address.without_credentials() if address else ""

    @property
    def repo(self) -> GitChangeRepo:
        if not self._repo:
            self._prepare()
            self._repo.append(GitChangeRepo(self.folder, "trusted", self.identity))
        return self._repo[0]

    def close(self) -> None:
        for repo in self._repo:
            repo.close()

    def fetch(self) -> None:
        address = self.read_address()
        if address is None:
            return
        self._prepare()
        self._fetch_local(self.trusted, self.folder, f"refs/heads/{self.branch}", TRUSTED)
        token = self.read_token()
        options = (upload_pack_option(),) if address.scheme == "file" else ()
        refspec = f"+refs/heads/{self.branch}:{UPSTREAM}"
        command = GitCommand(
            repository=self.folder,
            arguments=(*FETCH, *options, "--", address.location, refspec),
            protocol=address.scheme,
            ssh_key=self.ssh_key if address.scheme == "ssh" else None,
            authorization=address.authorize(token),
            environment=self._name_authority(),
            timeout=_SECONDS,
        )
        try:
            run_git(command)
        except GitFailed as error:
            raise self._make_unreachable(error.detail, token) from None

    def tip(self) -> str | None:
        return self._resolve(UPSTREAM) if self.folder.is_dir() else None

    def merge_base(self, ours: str, theirs: str) -> str | None:
        command = GitCommand(repository=self.folder, arguments=("merge-base", ours, theirs))
        return run_git(command, accept=frozenset({0, 1})).output.decode().strip() or None

    def list_commits(self, *, behind: str, tip: str, most: int) -> list[IncomingCommit]:
        options = ("-z", "--no-show-signature", "--no-mailmap", f"--max-count={most}", _FORMAT)
        output = self._run_git("log", *options, tip, f"^{behind}", "--").decode(errors="replace")
        fields = iter(output.split("\0")[:-1])
        return [_parse_commit(row) for row in zip(*[fields] * _FIELDS, strict=True)]

    def choose_part(self, *, behind: str, tip: str, most: int) -> str:
        if self.count_commits(behind=behind, tip=tip) <= most:
            return tip
        way = self._run_git("rev-list", "--first-parent", "--reverse", tip, f"^{behind}", "--")
        commits = way.decode().split()

        def fits(commit: str) -> bool:
            return self.count_commits(behind=behind, tip=commit) <= most

        # Each commit on the way brings more than the one before it.
        fitting = bisect_left(commits, x=True, key=lambda commit: not fits(commit))
        return commits[max(fitting - 1, 0)]

    def count_commits(self, *, behind: str, tip: str) -> int:
        return int(self._run_git("rev-list", "--count", tip, f"^{behind}", "--"))

    def all_signed_by(self, commits: Sequence[str], signers: Sequence[str]) -> bool:
        write_private(self._signers_file, "".join(f"{line}\n" for line in signers).encode())
        return bool(commits) and all(self._is_signed(commit) for commit in commits)

    def make_merge(self, *, ours: str, theirs: str, base: str) -> tuple[str, tuple[str, ...]]:
        files = self.repo.differences(base, theirs)
        submodules = tuple(f.path for f in files if SUBMODULE in {f.old_mode, f.new_mode})
        outcome = carry_over(self.repo, change=files, old=base, new=ours)
        if conflicts := (*submodules, *outcome.conflicts):
            return "", conflicts
        merge = self.repo.commit(
            base=ours,
            result=outcome.result,
            message=f"Merge {theirs[:12]} of the upstream's {self.branch}\n",
            when=self.clock.now(),
            merged=(theirs,),
        )
        return merge.id, ()

    def keep(self, commit: str) -> None:
        self._run_git("update-ref", "--no-deref", f"{KEPT}/{commit}", commit)

    def bring_in(self, commit: str) -> None:
        ref = f"{KEPT}/{commit}"
        self._fetch_local(self.folder, self.trusted, ref, f"refs/astra/incoming/{commit}")

    @property
    def _signers_file(self) -> Path:
        return self.folder / "allowed-signers"

    def _is_signed(self, commit: str) -> bool:
        command = GitCommand(repository=self.folder, arguments=("verify-commit", commit))
        return run_git(command, accept=frozenset(range(256))).exit_code == 0

    def _prepare(self) -> None:
        """Make the quarantine from the trusted repository; its files are shared, not its refs."""
        if self.folder.is_dir():
            return
        partial = self.folder.with_name(f"{self.folder.name}.partial")
        shutil.rmtree(partial, ignore_errors=True)
        command = GitCommand(
            repository=None,
            arguments=("init", "--bare", "--quiet", "--template=", "--", str(partial)),
        )
        run_git(command)
        (partial / "config").write_text(_CONFIG.format(signers=self._signers_file))
        _share_objects(self.trusted / "objects", partial / "objects")
        partial.rename(self.folder)
        self._fetch_local(self.trusted, self.folder, f"refs/heads/{self.branch}", TRUSTED)

    def _fetch_local(self, source: Path, to: Path, ref: str, as_ref: str) -> None:
        arguments = (*FETCH, upload_pack_option(), "--", str(source), f"+{ref}:{as_ref}")
        command = GitCommand(repository=to, arguments=arguments, protocol="file", timeout=_SECONDS)
        run_git(command)

    def _resolve(self, ref: str) -> str | None:
        arguments = ("rev-parse", "--verify", "--quiet", f"{ref}^{{commit}}")
        command = GitCommand(repository=self.folder, arguments=arguments)
        return run_git(command, accept=frozenset({0, 1})).output.decode().strip() or None

    def _name_authority(self) -> dict[str, str]:
        """Name the certificate authority that the operator gave the trusted repository."""
        command = GitCommand(
            repository=self.trusted, arguments=("config", "--get", "http.sslCAInfo")
        )
        path = run_git(command, accept=frozenset({0, 1})).output.decode().strip()
        return {"GIT_SSL_CAINFO": path} if path else {}

    def _make_unreachable(self, detail: str, token: str) -> UpstreamUnreachable:
        reason = hide_credentials(detail.replace(token, "…") if token else detail)
        return UpstreamUnreachable(
            f"{self.branch} of {self.address} was not fetched: {one_line(reason, 500)}",
            next_step=_GIVE_ACCESS if NOT_ADMITTED.search(detail) else _CHECK_ADDRESS,
        )

    def _run_git(self, *arguments: str) -> bytes:
        command = GitCommand(repository=self.folder, arguments=arguments, timeout=_SECONDS)
        return run_git(command).output


def _share_objects(source: Path, to: Path) -> None:
    """Link what never changes once it is there; a file system without links gets copies."""
    for path in source.rglob("*"):
        place = to / path.relative_to(source)
        if path.is_dir():
            place.mkdir(parents=True, exist_ok=True)
        elif path.is_file() and path.parent.name != "info":
            place.parent.mkdir(parents=True, exist_ok=True)
            try:
                os.link(path, place)
            except OSError:
                shutil.copyfile(path, place)


def _parse_commit(row: tuple[str, ...]) -> IncomingCommit:
    commit, parents, author, email, time, subject = row
    return IncomingCommit(
        id=commit,
        parents=tuple(parents.split()),
        author=one_line(printable(author), _LONGEST),
        email=one_line(printable(email), _LONGEST),
        time=time,
        subject=one_line(printable(subject), _LONGEST),
    )
