"""The agent's clone follows the trusted branch: new commits arrive there, local work stays.

What is due follows from the ledger: the branch moved after the clone was last brought along. The
commits go over as a pack that the host makes of the trusted repository, without the content of
secret files; git runs on the clone in a box only. The branch there moves forward where nothing of
the agent's stands in the way; whatever happens, `refs/remotes/trusted/BRANCH` names the new commit.
Doing it again changes nothing.
"""

import os
import re
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from astra.adapters.boxes.clone_git import NOT_WRITABLE, grant_git_folder
from astra.trusted.changes.events import EXECUTED
from astra.trusted.git.agent_clone import find_new_withheld, write_pack
from astra.trusted.git.change_repo import GitChangeRepo
from astra.trusted.kernel.errors import AstraError
from astra.trusted.kernel.ids import random_id
from astra.trusted.kernel.text import one_line
from astra.trusted.ledger.ports import Ledger
from astra.trusted.ledger.record import Event
from astra.trusted.policy.manifest import Limits, Manifest
from astra.trusted.policy.secrets import SecretRules
from astra.trusted.sandbox.ports import Boxes, BoxRequest
from astra.trusted.upstream.sync import MERGED

FOLLOWED = "clone_followed"
FORWARDED, KEPT, DIVERGED, CURRENT = "forwarded", "kept", "diverged", "current"
_MISSING, _BUSY = "missing", "busy"
_OUTCOMES = frozenset({FORWARDED, KEPT, DIVERGED, CURRENT, _MISSING, _BUSY})
_SECONDS = 600.0
_COMMIT = re.compile(rb"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_MOST_REFS = 1 << 20
_FOLLOW = """
clone=$1; pack=$2; branch=$3; new=$4; old=$5
cd "$clone"
export GIT_NO_LAZY_FETCH=1 GIT_TERMINAL_PROMPT=0 GIT_EDITOR=false
run() {
  git -c safe.directory='*' -c core.hooksPath=/dev/null -c core.fsmonitor=false -c gc.auto=0 "$@"
}
if [ -n "$(find .git/index.lock -mmin -10 2>/dev/null)" ]; then echo busy; exit 0; fi
if [ -n "$old" ] && ! run cat-file -e "$old^{commit}" 2>/dev/null; then echo missing; exit 0; fi
mkdir -p .git/objects/pack .git/info
for file in "$pack"/pack-*; do cp "$file" .git/objects/pack/; done
if [ -f "$pack/sparse-checkout" ]; then cp "$pack/sparse-checkout" .git/info/sparse-checkout; fi
run update-ref "refs/remotes/trusted/$branch" "$new"
mine=$(run rev-parse --verify --quiet "refs/heads/$branch" || true)
if [ "$mine" = "$new" ]; then echo current; exit 0; fi
if [ -n "$mine" ] && ! run merge-base --is-ancestor "$mine" "$new"; then echo diverged; exit 0; fi
if [ "$(run symbolic-ref -q HEAD || true)" != "refs/heads/$branch" ]; then
  run update-ref "refs/heads/$branch" "$new" "$mine"; echo forwarded; exit 0
fi
if run merge --quiet --ff-only "$new" >/dev/null 2>&1; then echo forwarded; else echo kept; fi
"""


class CloneNotFollowing(AstraError):
    code = "clone_not_following"


@dataclass(frozen=True, kw_only=True)
class CloneFollower:
    boxes: Boxes
    clone: Path
    repo: GitChangeRepo
    ledger: Ledger
    rules: Callable[[], SecretRules]
    marker: Path
    """Says under which rules the clone was last cleared of secrets (`clone_keeping`)."""

    def is_due(self) -> bool:
        """Tell whether the branch moved since the clone was last brought along."""
        newest = self.ledger.newest(EXECUTED, MERGED, FOLLOWED)
        return newest is not None and newest.type != FOLLOWED

    def follow(self) -> None:
        """Bring the clone along, and record how far it came."""
        commit = self.repo.head()
        how = self._deliver(commit, self._read_clones_commit())
        if how == _MISSING:
            how = self._deliver(commit, "")
        if how in {_MISSING, _BUSY}:
            raise CloneNotFollowing(
                f"the agent's clone at {self.clone} does not take new commits ({how})",
                next_step="it is tried again; a clone that stays broken can be moved away, then:"
                " astra init",
            )
        data = {"commit": commit, "branch": self.repo.branch, "how": how}
        self.ledger.append([Event(type=FOLLOWED, actor="daemon", data=data)])

    def _deliver(self, commit: str, old: str) -> str:
        """Have a box take over what the clone lacks; gives what became of the branch there."""
        if not (self.clone / ".git").is_dir():
            return CURRENT
        with tempfile.TemporaryDirectory(prefix="astra-follow-") as name:
            folder = Path(name).resolve() / "pack"
            folder.mkdir(mode=0o755)
            self._write_delivery(folder, commit, old)
            return self._run_in_box(folder, commit, old)

    def _write_delivery(self, folder: Path, commit: str, old: str) -> None:
        withheld = find_new_withheld(self.repo.repository, self.rules(), new=commit, old=old)
        pack = write_pack(self.repo.repository, folder, commit, withheld.blobs, behind=old)
        if withheld.paths:
            self.marker.unlink(missing_ok=True)  # the next box clears the clone before it starts
            pack.with_suffix(".promisor").touch()
            (folder / "sparse-checkout").write_bytes(withheld.sparse_patterns())
        for path in folder.iterdir():
            path.chmod(0o644)

    def _run_in_box(self, folder: Path, commit: str, old: str) -> str:
        grants = grant_git_folder(self.clone)
        if grants == NOT_WRITABLE:
            raise CloneNotFollowing(
                f"the git directory of {self.clone} was changed so that it cannot be sealed",
                next_step="move that clone away, then: astra init",
            )
        arguments = (str(self.clone), str(folder), self.repo.branch, commit, old)
        manifest = Manifest(
            read_paths=(str(folder), *grants.read_paths),
            write_paths=(str(self.clone), *grants.write_paths),
            limits=Limits(wall_seconds=_SECONDS),
        )
        outcome = self.boxes.run(
            BoxRequest(
                command=("/bin/sh", "-euc", _FOLLOW, "follow", *arguments),
                manifest=manifest,
                workdir=str(self.clone),
                actor="daemon",
                correlation=random_id("cor"),
            )
        )
        how = outcome.stdout.decode(errors="replace").strip()
        if not outcome.succeeded or how not in _OUTCOMES:
            error_text = one_line(outcome.stderr.decode(errors="replace").strip()[-300:], 300)
            raise CloneNotFollowing(
                f"git could not bring the agent's clone along: {error_text or outcome.reason}",
                next_step="it is tried again; astra ledger tail shows the box",
            )
        return how

    def _read_clones_commit(self) -> str:
        """Read which trusted commit the clone's branch names, as data: its owner is hostile."""
        reference = f"refs/heads/{self.repo.branch}"
        loose = _read_small(self.clone / ".git" / reference)
        if commit := self._accept_commit(loose.strip()):
            return commit
        for line in _read_small(self.clone / ".git" / "packed-refs").splitlines():
            oid, _, name = line.partition(b" ")
            if name == reference.encode() and (commit := self._accept_commit(oid)):
                return commit
        return ""

    def _accept_commit(self, text: bytes) -> str:
        if not _COMMIT.fullmatch(text):
            return ""
        commit = text.decode()
        return commit if self.repo.is_merged(commit) else ""


def _read_small(path: Path) -> bytes:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return b""
    try:
        return os.read(descriptor, _MOST_REFS)
    except OSError:
        return b""
    finally:
        os.close(descriptor)
