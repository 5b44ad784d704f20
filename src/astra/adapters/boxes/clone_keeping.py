"""Keeps secret content out of the agent's clone when the rule for secrets grows.

A clone is made without it (`trusted/git/agent_clone.py`); one that was made under other rules, or
by an older Astra, is cleared before the next box that would see it. The clone is hostile, so git
runs on it in a box only; files of the work tree are removed from outside, through no link. Where
that fails, boxes do not see the clone's git directory at all.
"""

import os
import tempfile
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from astra.trusted.git.agent_clone import SETTINGS, Withheld, find_withheld
from astra.trusted.kernel.errors import AstraError
from astra.trusted.kernel.private_files import write_private
from astra.trusted.policy.manifest import Limits, Manifest
from astra.trusted.policy.secrets import SecretRules
from astra.trusted.sandbox import machine, workspace
from astra.trusted.sandbox.outcome import Outcome

RunBox = Callable[[tuple[str, ...], Manifest, str], Outcome]
_SECONDS = 600.0
_CLEAR = """
clone=$1; lists=$2; shift 2
export GIT_NO_LAZY_FETCH=1
cd "$clone"
run() { git -c safe.directory='*' -c core.hooksPath=/dev/null -c gc.auto=0 "$@"; }
run cat-file --batch-all-objects --batch-check='%(objectname)' | LC_ALL=C sort -u > /tmp/all
LC_ALL=C comm -23 /tmp/all "$lists/blobs" > /tmp/chosen
name=$(run pack-objects -q .git/objects/pack/pack < /tmp/chosen)
touch ".git/objects/pack/pack-$name.promisor"
find .git/objects/pack -type f ! -name "pack-$name.*" -delete
find .git/objects -mindepth 1 -maxdepth 1 -type d -name '[0-9a-f][0-9a-f]' -exec rm -rf {} +
rm -rf .git/objects/info/commit-graph .git/objects/info/commit-graphs .git/objects/info/alternates
while [ $# -gt 0 ]; do run config "$1" "$2"; shift 2; done
mkdir -p .git/info
cp "$lists/sparse-checkout" .git/info/sparse-checkout
run sparse-checkout reapply
"""


def rules_file(var: Path) -> Path:
    """Name the file that says under which rules the clone was made or cleared."""
    return var / "clone-rules"


@dataclass(kw_only=True)
class CloneKeeper:
    """`run` starts a command in a box that may write the clone."""

    clone: Path
    repository: Path
    marker: Path
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False)

    def ensure_cleared(self, rules: SecretRules, run: RunBox) -> bool:
        """Have the clone cleared under these rules, unless it is; False when that failed."""
        with self._lock:
            if self._read_marker() == rules.digest or not (self.clone / ".git").is_dir():
                return True
            try:
                cleared = self._clear_clone(find_withheld(self.repository, rules), run)
            except (AstraError, OSError):
                return False
            if cleared:
                write_private(self.marker, rules.digest.encode())
            return cleared

    def _read_marker(self) -> str:
        try:
            return self.marker.read_text()
        except OSError:
            return ""

    def _clear_clone(self, withheld: Withheld, run: RunBox) -> bool:
        if not withheld.paths:
            return True
        _remove_files(self.clone, withheld.paths)
        with tempfile.TemporaryDirectory(prefix="astra-clone-") as name:
            lists = Path(name).resolve() / "lists"
            lists.mkdir(mode=0o755)
            blobs = "".join(f"{oid}\n" for oid in sorted(withheld.blobs))
            (lists / "blobs").write_text(blobs)
            (lists / "sparse-checkout").write_bytes(withheld.sparse_patterns())
            settings = (word for pair in SETTINGS for word in pair)
            command = ("/bin/sh", "-euc", _CLEAR, "clear", str(self.clone), str(lists), *settings)
            manifest = Manifest(
                read_paths=(str(lists),),
                write_paths=(str(self.clone), f"{self.clone}/.git"),
                limits=Limits(wall_seconds=_SECONDS),
            )
            return run(command, manifest, str(self.clone)).succeeded


def _remove_files(clone: Path, paths: tuple[bytes, ...]) -> None:
    top = os.open(clone, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        edits = tuple(workspace.Edit(path=path) for path in paths)
        workspace.apply(top, edits, machine.inspect_machine().identity)
    finally:
        os.close(top)
