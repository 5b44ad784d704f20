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
from astra.adapters.boxes.granted_places import make_missing
from astra.adapters.boxes.sandbox import BOX_ENDED, name_endpoint
from astra.plans.grants import absolute
from astra.plans.model import AgentPlan
from astra.plans.terms import Contracts
from astra.trusted.kernel.errors import Refused
from astra.trusted.ledger.ports import Ledger
from astra.trusted.policy import globs
from astra.trusted.policy.manifest import (
    MOST_ENTRIES,
    Limits,
    Manifest,
    describe_manifest,
    is_within,
)
from astra.trusted.sandbox.ports import SCRATCH, Boxes, BoxRequest, Fetched, Outcome
from astra.trusted.sandbox.toolchain import Toolchain

_MOST_LOOKED_AT = 20_000


@dataclass(frozen=True, kw_only=True)
class PlanBoxes:
    """One plan's way into the sandbox."""

    agent_id: str
    sandbox: Boxes
    contracts: Contracts
    may_write_code: Callable[[], bool]
    tools: Callable[[], tuple[Path, ...]] = tuple
    environment: Callable[[], Toolchain] = Toolchain
    own_folders: tuple[Path, ...] = ()
    secrets: Callable[[], tuple[str, ...]] = tuple
    """Names the secrets that the proxy may add for plans; the host has to be granted as well."""

    def run(self, request: BoxRequest) -> Outcome:
        self._make_missing_places()
        manifest = self.make_manifest(request.seconds)
        return self.sandbox.run(
            replace(
                request,
                manifest=manifest,
                workdir=_choose_workdir(manifest),
                programs=self.tools(),
                environment=self.environment(),
                label=self.agent_id,
                secrets=self.secrets(),
            )
        )

    def end(self, label: str, why: str) -> int:
        return self.sandbox.end(label, why)

    def fetch(
        self, url: str, grant: str, *, actor: str, correlation: str, label: str = ""
    ) -> Fetched:
        """Fetch one address; a page that leads elsewhere may lead to what the plan may reach."""
        del label  # it is ended with its plan
        plan_domains = self.contracts.permissions(self.agent_id).network_domains
        grants = tuple(dict.fromkeys((grant, *plan_domains)))
        return fetch(
            self.sandbox, url, grants, actor=actor, correlation=correlation, label=self.agent_id
        )

    def describe_grants(self, seconds: float = 60) -> str:
        return target_tools.describe_programs(self.tools()) + describe_manifest(
            self.make_manifest(seconds)
        )

    def make_manifest(self, seconds: float) -> Manifest:
        granted = self.contracts.permissions(self.agent_id)
        writable = self._resolve_grants(granted.write_paths)
        readable = self._resolve_grants(granted.read_paths)
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
            environment=name_endpoint(self.secrets()),
        )

    def _make_missing_places(self) -> None:
        repo = self.contracts.code_repo
        for granted in self.contracts.permissions(self.agent_id).write_paths:
            path = absolute(granted, repo)
            if self.may_write_code() or not is_within(path, repo):
                make_missing(path, self.own_folders)

    def _resolve_grants(self, granted: Iterable[str]) -> list[str]:
        places = dict.fromkeys(
            place
            for path in granted
            for place in _find_existing(absolute(path, self.contracts.code_repo))
        )
        if len(places) > MOST_ENTRIES:
            raise Refused(
                f"the plan's grants match {len(places)} files; a box takes {MOST_ENTRIES}",
                code="too_many_files",
                next_step="grant the folder instead of a glob that matches so much",
            )
        return list(places)


@dataclass(frozen=True)
class RefusedHosts:
    """What the boxes of a plan were kept from reaching, as the record of each box's end says."""

    ledger: Ledger

    def read_since(self, plan: AgentPlan, sequence: int) -> tuple[tuple[str, int], ...]:
        records = self.ledger.find_mentions(plan.correlation, BOX_ENDED, after=sequence)
        actor = f"agent:{plan.id}"
        ended = [record.data["egress"] for record in records if record.actor == actor]
        attempts = (
            name.rpartition(":") for egress in ended for name in egress.get("ungranted", ())
        )
        return tuple(dict.fromkeys((host, int(port)) for host, _, port in attempts))


def _find_existing(path: str) -> Iterator[str]:
    """Give the path when it is there; for a glob, each file it matches, through no link."""
    if not globs.has_wildcard(path):
        if os.path.lexists(path):
            yield path
        return
    glob = globs.parse_glob(path)
    file_count = 0
    for folder, folders, names in os.walk(glob.folder):
        folders.sort()
        for name in sorted(names):
            file_count += 1
            if file_count > _MOST_LOOKED_AT:
                return
            place = f"{folder}/{name}"
            if glob.matches(place) and not Path(place).is_symlink():
                yield place


def _choose_workdir(manifest: Manifest) -> str:
    folders = [path for path in manifest.write_paths if Path(path).is_dir()]
    return folders[0] if folders else SCRATCH
