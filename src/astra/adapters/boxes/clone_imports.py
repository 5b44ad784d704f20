"""Reading the agent's clone: git runs on it in a box only, and a bundle comes out.

This git is not started by `git_command`: it runs in a box, as whoever owns the clone, and the box
is what bounds it. Nothing of what it configures or prints is trusted.

Edits in the work tree that are in no commit are committed in the box, in a repository that is gone
with it, at a fixed time: the same edits on the same commit have the same name. Files outside the
clone's sparse checkout, as secret ones are, are not deleted because they are not there.
"""

import re
from dataclasses import dataclass
from pathlib import Path

from astra.adapters.quarantine import ImportRefused, Quarantine
from astra.trusted.changes.ports import Imported
from astra.trusted.git.change_repo import GitChangeRepo
from astra.trusted.kernel.errors import BadInput
from astra.trusted.kernel.text import one_line
from astra.trusted.policy.manifest import Limits, Manifest
from astra.trusted.sandbox.ports import Boxes, BoxRequest

_BRANCH = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/-]{0,200}")
_SECONDS = 60.0
_KNOWN = 500
_MOST_BYTES = 16 * 1024 * 1024
_SAFE = ("-c", "safe.directory=*")
_BUNDLE = ("bundle", "create", "--version=2", "-", "--ignore-missing")
_EDITS = """
clone=$1; shift
head=$(git -c safe.directory='*' -C "$clone" rev-parse --verify 'HEAD^{commit}')
git init -q --bare /tmp/edits
printf '%s\\n' "$clone/.git/objects" > /tmp/edits/objects/info/alternates
export GIT_DIR=/tmp/edits GIT_WORK_TREE="$clone"
export GIT_AUTHOR_NAME=Agent GIT_AUTHOR_EMAIL=agent@localhost
export GIT_COMMITTER_NAME=Agent GIT_COMMITTER_EMAIL=agent@localhost
export GIT_AUTHOR_DATE='946684800 +0000' GIT_COMMITTER_DATE='946684800 +0000'
git read-tree "$head"
git ls-files -s > /tmp/before
git -c safe.directory='*' --git-dir="$clone/.git" ls-files -t | sed -n 's/^S //p' > /tmp/skipped
git add -A .
git ls-files > /tmp/after
awk -F'\t' 'FILENAME == "/tmp/skipped" { skipped[$0]; next }
  FILENAME == "/tmp/after" { present[$0]; next }
  ($2 in skipped) && !($2 in present)' /tmp/skipped /tmp/after /tmp/before > /tmp/withheld
git update-index --index-info < /tmp/withheld
tree=$(git write-tree --missing-ok)
if [ "$tree" = "$(git rev-parse "$head^{tree}")" ]; then exit 0; fi
tip=$(git commit-tree "$tree" -p "$head" -m edits)
git update-ref refs/heads/edits "$tip"
exec git bundle create --version=2 - --ignore-missing refs/heads/edits "$@"
"""


@dataclass(frozen=True, kw_only=True)
class BoxedImports:
    boxes: Boxes
    clone: Path
    repo: GitChangeRepo

    def read(self, branch: str, *, most_files: int, actor: str, correlation: str) -> Imported:
        if not _BRANCH.fullmatch(branch) or ".." in branch or branch.endswith("/"):
            raise BadInput(
                "from_branch is not the name of a branch",
                next_step="give the name of a branch of your clone, such as fix/answer",
                field="from_branch",
            )
        branch_ref = f"refs/heads/{branch}"
        command = ("/usr/bin/git", *_SAFE, "-C", str(self.clone), *_BUNDLE, branch_ref)
        bundle = self._run_in_box((*command, *self._list_known_commits()), actor, correlation)
        return self._import_bundle(bundle, most_files)

    def read_edits(self, *, most_files: int, actor: str, correlation: str) -> Imported | None:
        if not (self.clone / ".git").is_dir():
            return None
        command = ("/bin/sh", "-euc", _EDITS, "edits", str(self.clone), *self._list_known_commits())
        bundle = self._run_in_box(command, actor, correlation)
        return self._import_bundle(bundle, most_files) if bundle else None

    def _list_known_commits(self) -> tuple[str, ...]:
        """Name what need not be bundled; what the clone does not have of it is ignored there."""
        return tuple(f"^{commit}" for commit in self.repo.history(_KNOWN))

    def _run_in_box(self, command: tuple[str, ...], actor: str, correlation: str) -> bytes:
        request = BoxRequest(
            command=command,
            manifest=Manifest(
                read_paths=(str(self.clone),),
                limits=Limits(wall_seconds=_SECONDS, output_bytes=_MOST_BYTES),
            ),
            workdir=str(self.clone),
            actor=actor,
            correlation=correlation,
        )
        outcome = self.boxes.run(request)
        if not outcome.succeeded:
            error_text = one_line(outcome.stderr.decode(errors="replace").strip()[-300:], 300)
            raise ImportRefused(
                f"git could not bundle your clone in the box: {error_text or outcome.reason}",
                next_step="check that the branch is in your clone and has commits of its own",
            )
        return outcome.stdout

    def _import_bundle(self, bundle: bytes, most_files: int) -> Imported:
        return Quarantine(self.repo.repository).read(
            bundle, head=self.repo.head(), most_files=most_files, most_bytes=_MOST_BYTES
        )
