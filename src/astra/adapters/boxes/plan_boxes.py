"""The box of a plan: its manifest as the kernel enforces it, compiled anew for every run.

Relative grants are the target's clone. A glob becomes the files it matches now, each by itself, and
never their folder. While code writing is off, nothing of the clone is writable. What does not exist
is not there. Where the sandbox is switched off a plan runs nothing: its manifest is its contract.
Every box carries the plan's id, so that ending the plan ends it.
"""

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from astra.adapters.boxes import target_tools
from astra.adapters.boxes.agent_boxes import fetch
from astra.adapters.boxes.sandbox import BOX_ENDED
from astra.plans.grants import absolute
from astra.plans.model import AgentPlan
from astra.plans.terms import Contracts
from astra.trusted.kernel.errors import Refused
from astra.trusted.ledger.ports import Ledger
from astra.trusted.policy import globs
from astra.trusted.policy.manifest import MOST_ENTRIES, Limits, Manifest, in_words, is_within
from astra.trusted.sandbox.ports import SCRATCH, Boxes, BoxRequest, Fetched, Outcome

_MOST_LOOKED_AT = 20_000


@dataclass(frozen=True, kw_only=True)
class PlanBoxes:
    """One plan's way into the sandbox."""

    agent_id: str
    sandbox: Boxes
    contracts: Contracts
    may_write_code: Callable[[], bool]
    tools: Callable[[], tuple[Path, ...]] = tuple

    def run(self, request: BoxRequest) -> Outcome:
        manifest = self.manifest(request.seconds)
        return self.sandbox.run(
            replace(
                request,
                manifest=manifest,
                workdir=_workdir(manifest),
                programs=self.tools(),
                label=self.agent_id,
            )
        )

    def end(self, label: str, why: str) -> int:
        return self.sandbox.end(label, why)

    def fetch(self, url: str, grant: str, *, actor: str, correlation: str) -> Fetched:
        """Fetch one address; a page that leads elsewhere may lead to what the plan may reach."""
        others = self.contracts.permissions(self.agent_id).network_domains
        grants = tuple(dict.fromkeys((grant, *others)))
        return fetch(
            self.sandbox, url, grants, actor=actor, correlation=correlation, label=self.agent_id
        )

    def in_words(self) -> str:
        return target_tools.in_words(self.tools()) + in_words(self.manifest(60))

    def manifest(self, seconds: float) -> Manifest:
        granted = self.contracts.permissions(self.agent_id)
        writable = self._places(granted.write_paths)
        readable = self._places(granted.read_paths)
        if not self.may_write_code():
            repo = self.contracts.code_repo
            readable += [path for path in writable if is_within(path, repo)]
            writable = [path for path in writable if not is_within(path, repo)]
        return Manifest(
            read_paths=tuple(path for path in readable if path not in writable),
            write_paths=tuple(writable),
            network_domains=granted.network_domains,
            asks=True,
            limits=Limits(wall_seconds=seconds),
        )

    def _places(self, granted: Iterable[str]) -> list[str]:
        found = dict.fromkeys(
            place
            for path in granted
            for place in _existing(absolute(path, self.contracts.code_repo))
        )
        if len(found) > MOST_ENTRIES:
            raise Refused(
                f"the plan's grants match {len(found)} files; a box takes {MOST_ENTRIES}",
                code="too_many_files",
                next_step="grant the folder instead of a glob that matches so much",
            )
        return list(found)


@dataclass(frozen=True)
class RefusedHosts:
    """What the boxes of a plan were kept from reaching, as the record of each box's end says."""

    ledger: Ledger

    def since(self, plan: AgentPlan, sequence: int) -> tuple[tuple[str, int], ...]:
        records = self.ledger.mentioning(plan.correlation, BOX_ENDED, after=sequence)
        actor = f"agent:{plan.id}"
        ended = [record.data["egress"] for record in records if record.actor == actor]
        tried = (name.rpartition(":") for egress in ended for name in egress.get("ungranted", ()))
        return tuple(dict.fromkeys((host, int(port)) for host, _, port in tried))


def _existing(path: str) -> Iterator[str]:
    """Give the path when it is there; for a glob, each file it matches, through no link."""
    if not globs.has_wildcard(path):
        if os.path.lexists(path):
            yield path
        return
    glob = globs.parse_glob(path)
    looked = 0
    for folder, folders, names in os.walk(glob.folder):
        folders.sort()
        for name in sorted(names):
            looked += 1
            if looked > _MOST_LOOKED_AT:
                return
            place = f"{folder}/{name}"
            if glob.matches(place) and not Path(place).is_symlink():
                yield place


def _workdir(manifest: Manifest) -> str:
    folders = [path for path in manifest.write_paths if Path(path).is_dir()]
    return folders[0] if folders else SCRATCH
