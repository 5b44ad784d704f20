"""Pushes one commit of the trusted repository to the operator's remote, and nothing else.

The same hardening as for every git command, with one transport opened: the one of the remote, which
the signed configuration names. No hook, credential helper or prompt; over SSH only the push key of
the daemon (`var/keys/push.key`), to hosts that are known already; over HTTP only the token that the
signed configuration names, in no argument list and to no other host. Never forced.
"""

import re
from dataclasses import dataclass, field
from pathlib import Path

from astra.deployments.pushing import BEHIND, DENIED, REFUSED, UNREACHABLE, PushOutcome
from astra.trusted.git.bounded_process import BoundedCommand, Finished, run_bounded
from astra.trusted.git.git_command import NOT_ADMITTED, GitCommand
from astra.trusted.kernel.errors import AstraError, BadSetting
from astra.trusted.kernel.masking import mask
from astra.trusted.settings.git_address import GitAddress, hide_credentials, read_git_address

_COMMIT = re.compile(r"[0-9a-f]{40}([0-9a-f]{24})?")
_SECONDS = 300.0
_BEHIND = re.compile(r"^!\t[^\t]*\t\[rejected\]", re.MULTILINE)
_REFUSED = re.compile(r"^!\t[^\t]*\t\[remote rejected\]", re.MULTILINE)
_NEXT_STEPS = {
    BEHIND: "people committed there: astra sync, then astra deploy; what settles then is pushed",
    REFUSED: 'look at the rules of that branch; push = "pull-request" asks people to merge it',
    DENIED: "give the key var/keys/push.key, or the token of [deploy] push_token, the right to"
    " push; for an unknown SSH host, compare its fingerprint and add it to var/keys/known_hosts",
    UNREACHABLE: "it is tried again by itself; look whether this machine reaches that remote",
}


@dataclass(frozen=True, kw_only=True)
class Push:
    repository: Path
    remote: str
    branch: str
    key: Path
    token: str = field(default="", repr=False)

    def make_push_command(self, commit: str) -> BoundedCommand:
        if not _COMMIT.fullmatch(commit):
            raise BadSetting("that is no commit", next_step="give the whole id", key="commit")
        options = ("--porcelain", "--no-verify", "--no-signed", "--no-follow-tags")
        refspec = f"{commit}:refs/heads/{self.branch}"
        return self._make_command("push", *options, "--recurse-submodules=no", "--", refspec)

    def push(self, commit: str) -> PushOutcome:
        """Push; a commit that the remote's branch already contains has arrived."""
        try:
            finished = run_bounded(self.make_push_command(commit))
        except AstraError as error:
            return make_failure(UNREACHABLE, error.detail)
        if finished.exit_code == 0:
            return PushOutcome(ok=True, detail=f"{commit[:12]} is in {self.branch}")
        code, message = _classify_failure(finished), self._describe(finished)
        if code == BEHIND and self._is_contained(commit):
            return PushOutcome(ok=True, detail=f"{self.branch} of the remote contains it already")
        return make_failure(code, message)

    def _is_contained(self, commit: str) -> bool:
        """Tell whether the remote's branch is ahead of a commit, as far as is known here."""
        reference = f"refs/heads/{self.branch}"
        listing = run_bounded(self._make_command("ls-remote", "--", reference)).output
        tip = listing.decode(errors="replace").partition("\t")[0]
        if not _COMMIT.fullmatch(tip):
            return False
        command = GitCommand(
            repository=self.repository, arguments=("merge-base", "--is-ancestor", commit, tip)
        )
        return run_bounded(command.to_bounded()).exit_code == 0

    def _make_command(self, subcommand: str, *words: str) -> BoundedCommand:
        """Describe a command whose last word follows the address of the remote."""
        address = self._read_address()
        command = GitCommand(
            repository=self.repository,
            arguments=(subcommand, *words[:-1], address.location, words[-1]),
            protocol=address.scheme,
            ssh_key=self.key if address.scheme == "ssh" else None,
            authorization=address.authorize(self.token),
            timeout=_SECONDS,
            output_limit=1024 * 1024,
        )
        return command.to_bounded()

    def _read_address(self) -> GitAddress:
        return read_git_address(self.remote, key="deploy.push_remote")

    def _describe(self, finished: Finished) -> str:
        """Give the end of what git printed, without what an address or a header may carry."""
        text = (finished.complaint or finished.output).decode("utf-8", "replace").strip()
        text = text.replace(self.token, "…") if self.token else text
        printable_text = ascii(mask(hide_credentials(text))[-500:])[1:-1]
        return printable_text or f"exit code {finished.exit_code}"


def make_failure(code: str, detail: str) -> PushOutcome:
    return PushOutcome(ok=False, detail=detail, code=code, next_step=_NEXT_STEPS[code])


def _classify_failure(finished: Finished) -> str:
    report = finished.output.decode(errors="replace")
    complaint = finished.complaint.decode(errors="replace")
    if _BEHIND.search(report):
        return BEHIND
    if _REFUSED.search(report):
        return REFUSED
    if NOT_ADMITTED.search(complaint):
        return DENIED
    return UNREACHABLE
