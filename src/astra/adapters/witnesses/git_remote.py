"""A git remote as a witness: a branch for each data root, one commit for each publication.

The branch only moves forward and is never forced, so a remote that refuses anything else keeps
every checkpoint it ever got. The same hardening as for every git command, with the one transport
opened that the signed address names; over ssh only the daemon's own push key, to known hosts.

`var/witness` is a cache: it is made anew whenever it is in the way.
"""

import re
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from astra.adapters.witnesses.lines import MOST_BYTES, read_lines, write_lines
from astra.trusted.git.git_command import GitCommand, GitFailed, run_git
from astra.trusted.kernel.errors import AstraError
from astra.trusted.ledger.checkpoint import Checkpoint
from astra.trusted.ledger.witnessing import WitnessUnreachable

_FILE, _KEPT = "checkpoints.ndjson", "refs/witness/remote"
_MOST_LINES, _MOST_FOLDERS = 1000, 250
_IDENTITY = {
    f"GIT_{who}_{what}": value
    for who in ("AUTHOR", "COMMITTER")
    for what, value in (("NAME", "Astra"), ("EMAIL", "astra@localhost"))
}


@dataclass(frozen=True, kw_only=True)
class GitWitness:
    address: str
    location: str
    scheme: str
    root_id: str
    cache: Path
    ssh_key: Path
    seconds: float = 60.0

    @property
    def branch(self) -> str:
        return f"refs/heads/astra-witness/{self.root_id}"

    def read(self) -> Sequence[Checkpoint | None]:
        return read_lines(self._read_checkpoint_file(self._fetch_branch()))

    def publish(self, points: Sequence[Checkpoint]) -> None:
        parent = self._fetch_branch()
        lines = [*self._read_checkpoint_file(parent).splitlines(keepends=True), write_lines(points)]
        blob = self._run_git("hash-object", "-w", "--stdin", given=b"".join(lines[-_MOST_LINES:]))
        tree = self._run_git("mktree", given=f"100644 blob {blob}\t{_FILE}\n".encode())
        message = f"record {points[-1].sequence}\n".encode()
        behind = ("-p", parent) if parent else ()
        commit = self._run_git("commit-tree", *behind, tree, given=message)
        options = ("--porcelain", "--no-verify", "--no-signed", "--no-follow-tags")
        self._run_git("push", *options, "--", self.location, f"{commit}:{self.branch}", remote=True)

    def _fetch_branch(self) -> str:
        """Give the commit that the remote's branch is at, with its content here, or nothing."""
        if not (self.cache / "HEAD").exists() or _is_full(self.cache):
            shutil.rmtree(self.cache, ignore_errors=True)
            self.cache.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._run_git("init", "--bare", "--quiet", "--", str(self.cache), inside=False)
        answer = self._run_git("ls-remote", "--", self.location, self.branch, remote=True)
        if not answer:
            return ""
        options = ("--depth=1", "--no-tags", "--no-write-fetch-head", "--quiet", "--force")
        self._run_git("fetch", *options, "--", self.location, f"{self.branch}:{_KEPT}", remote=True)
        return self._run_git("rev-parse", "--verify", "--quiet", f"{_KEPT}^{{commit}}")

    def _read_checkpoint_file(self, commit: str) -> bytes:
        if not commit:
            return b""
        try:
            size = int(self._run_git("cat-file", "-s", f"{commit}:{_FILE}"))
        except WitnessUnreachable:
            return b"this commit holds no checkpoints\n"
        if size > MOST_BYTES:
            return b"this is no list of checkpoints\n"
        return self._run_git("cat-file", "blob", f"{commit}:{_FILE}").encode() + b"\n"

    def _run_git(
        self, *arguments: str, given: bytes = b"", remote: bool = False, inside: bool = True
    ) -> str:
        command = GitCommand(
            repository=self.cache if inside else None,
            arguments=arguments,
            input=given,
            protocol=self.scheme if remote else "",
            ssh_key=self.ssh_key if remote and self.scheme == "ssh" else None,
            environment=_IDENTITY,
            timeout=self.seconds,
            output_limit=4 * MOST_BYTES,
        )
        try:
            return run_git(command).output.decode(errors="replace").strip()
        except GitFailed as error:
            raise self._unreachable_error(error) from None
        except AstraError as error:
            shutil.rmtree(self.cache, ignore_errors=True)
            raise self._unreachable_error(error) from None

    def _unreachable_error(self, error: AstraError) -> WitnessUnreachable:
        git_message = ascii(re.sub(r"//[^/@\s]+@", "//", error.detail)[:300])[1:-1]
        return WitnessUnreachable(
            f"the witness {self.address} cannot be used: {git_message}",
            next_step="look whether the daemon's user reaches that remote and may push there",
        )


def _is_full(cache: Path) -> bool:
    """Tell whether so many objects lie loose that nearly every folder for them is there."""
    return len(list((cache / "objects").iterdir())) > _MOST_FOLDERS
