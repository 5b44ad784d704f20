"""Reading a branch of the agent's clone: git runs on it in a box only, and a bundle comes out."""

import re
from dataclasses import dataclass
from pathlib import Path

from astra.adapters.change_repo import GitChangeRepo
from astra.adapters.quarantine import ImportRefused, Quarantine
from astra.bootstrap.evidence import BoxesOnly
from astra.changes.ports import Imported
from astra.kernel.errors import BadInput
from astra.kernel.text import one_line
from astra.policy.manifest import Limits, Manifest

_BRANCH = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/-]{0,200}")
_SECONDS = 60.0
_KNOWN = 500
_MOST_BYTES = 16 * 1024 * 1024


@dataclass(frozen=True, kw_only=True)
class BoxedImports:
    boxes: BoxesOnly
    clone: Path
    repo: GitChangeRepo

    def read(self, branch: str, *, most_files: int, actor: str, correlation: str) -> Imported:
        if not _BRANCH.fullmatch(branch) or ".." in branch or branch.endswith("/"):
            raise BadInput(
                "from_branch is not the name of a branch",
                next_step="give the name of a branch of your clone, such as fix/answer",
                field="from_branch",
            )
        head = self.repo.head()
        known = self.repo.history(_KNOWN)  # what the clone does not have of it is ignored there
        outcome = self.boxes.run(
            (
                "/usr/bin/git",
                "-c",
                "safe.directory=*",
                "-C",
                str(self.clone),
                "bundle",
                "create",
                "--version=2",
                "-",
                "--ignore-missing",
                f"refs/heads/{branch}",
                *(f"^{commit}" for commit in known),
            ),
            Manifest(
                read_paths=(str(self.clone),),
                limits=Limits(wall_seconds=_SECONDS, output_bytes=_MOST_BYTES),
            ),
            workdir=str(self.clone),
            actor=actor,
            correlation=correlation,
        )
        if not outcome.succeeded:
            words = one_line(outcome.stderr.decode(errors="replace").strip()[-300:], 300)
            raise ImportRefused(
                f"git could not bundle that branch in the box: {words or outcome.reason}",
                next_step="check that the branch is in your clone and has commits of its own",
            )
        return Quarantine(self.repo.repository).read(
            outcome.stdout, head=head, most_files=most_files, most_bytes=_MOST_BYTES
        )
