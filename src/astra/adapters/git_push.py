"""Pushes one commit of the trusted repository to the operator's remote, and nothing else.

The same hardening as for every git command, with one transport opened: the one of the remote, which
the signed configuration names. No hook, credential helper or prompt; over SSH only the push key of
the daemon (`var/keys/push.key`), to hosts that are known already. Never forced.
"""

import re
from dataclasses import dataclass
from pathlib import Path

from astra.deployments.ports import Checked
from astra.trusted.git.bounded_process import BoundedCommand, run_bounded
from astra.trusted.git.git_command import GitCommand
from astra.trusted.kernel.errors import AstraError, BadSetting

_REMOTE = re.compile(r"(?P<scheme>https|ssh|file)://[^\s\x00-\x1f]+")
_SCP = re.compile(r"[A-Za-z0-9._-]+@[A-Za-z0-9.-]+:[^\s:][^\s]*")
_COMMIT = re.compile(r"[0-9a-f]{40}([0-9a-f]{24})?")
_SECONDS = 300.0


@dataclass(frozen=True, kw_only=True)
class Push:
    repository: Path
    remote: str
    branch: str
    key: Path

    def described(self, commit: str) -> BoundedCommand:
        scheme = _scheme(self.remote)
        if not _COMMIT.fullmatch(commit):
            raise BadSetting("that is no commit", next_step="give the whole id", key="commit")
        arguments = (
            *("push", "--porcelain", "--no-verify", "--no-signed", "--no-follow-tags"),
            *("--recurse-submodules=no", "--"),
            *(self.remote, f"{commit}:refs/heads/{self.branch}"),
        )
        command = GitCommand(
            repository=self.repository,
            arguments=arguments,
            protocol=scheme,
            ssh_key=self.key if scheme == "ssh" else None,
            timeout=_SECONDS,
            output_limit=1024 * 1024,
        )
        return command.bounded()

    def push(self, commit: str) -> Checked:
        try:
            done = run_bounded(self.described(commit))
        except AstraError as error:
            return Checked(ok=False, detail=error.detail)
        words = (done.complaint or done.output).decode("utf-8", "replace").strip()
        shown = ascii(self._hidden(words)[-500:])[1:-1]
        return Checked(ok=done.exit_code == 0, detail=shown or f"exit code {done.exit_code}")

    def _hidden(self, words: str) -> str:
        """Leave out what an address may carry: a name and a password."""
        return re.sub(r"//[^/@\s]+@", "//", words)


def _scheme(remote: str) -> str:
    if _SCP.fullmatch(remote):
        return "ssh"
    found = _REMOTE.fullmatch(remote)
    if found is None:
        raise BadSetting(
            "[deploy] push_remote is no address that can be pushed to",
            next_step="write https://…, ssh://…, user@host:path or file:///…, then config sign",
            key="deploy.push_remote",
        )
    return found["scheme"]
