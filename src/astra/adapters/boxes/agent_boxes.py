"""The box an agent gets when it calls a tool itself: its own folders, no network.

It can write its sandbox folder, and its clone of the target while code writing is on, branches and
commits included (`clone_git` says what of its git directory stays sealed); it can read that clone
and its persona space, and start the target's own interpreters (`target_tools`). Fetching adds
exactly one host, which somebody approved.
"""

import json
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from astra.adapters.boxes import target_tools
from astra.adapters.boxes.clone_git import grant_git_folder
from astra.adapters.boxes.sandbox import Sandbox
from astra.trusted.kernel.errors import AstraError
from astra.trusted.policy.manifest import Limits, Manifest, describe_manifest, describe_unconfined
from astra.trusted.sandbox.ports import Boxes, BoxRequest, Fetched, Outcome
from astra.trusted.sandbox.toolchain import Toolchain

_FETCH_SECONDS = 60.0
_MOST_FETCHED = 2_000_000
_FETCH = """
import json, sys, urllib.error, urllib.request
url, most = sys.argv[1], int(sys.argv[2])
request = urllib.request.Request(url, headers={"User-Agent": "astra"})
try:
    answer = urllib.request.urlopen(request, timeout=30)
except urllib.error.HTTPError as error:
    answer = error
head = {"status": answer.status, "type": answer.headers.get("Content-Type", "")}
sys.stdout.write(json.dumps(head) + "\\n")
sys.stdout.flush()
sys.stdout.buffer.write(answer.read(most))
"""


REFUSALS = {
    "not_granted": "this host was not granted",
    "port_not_granted": "this port was not granted",
    "cannot_resolve": "no such host, or it has no public address",
    "internal_address": "the name leads into a private network",
    "cannot_connect": "nobody answers there",
    "timed_out": "it took too long",
    "byte_limit": "it is too large",
    "cannot_record": "the attempt could not be recorded",
    "too_many": "too many connections",
}


class FetchFailed(AstraError):
    code = "fetch_failed"
    http_status = 502


@dataclass(frozen=True, kw_only=True)
class AgentBoxes:
    sandbox: Sandbox
    folder: Path
    code_repo: Path
    persona: Path
    may_write_code: Callable[[], bool]
    tools: Callable[[], tuple[Path, ...]] = tuple
    environment: Callable[[], Toolchain] = Toolchain

    def run(self, request: BoxRequest) -> Outcome:
        granted = self._add_git(self._make_manifest(request.seconds))
        return self.sandbox.run(
            replace(
                request,
                manifest=granted,
                workdir=str(self.folder),
                programs=self.tools(),
                environment=self.environment(),
            )
        )

    def end(self, label: str, why: str) -> int:
        return self.sandbox.end(label, why)

    def fetch(
        self, url: str, grant: str, *, actor: str, correlation: str, label: str = ""
    ) -> Fetched:
        return fetch(self.sandbox, url, (grant,), actor=actor, correlation=correlation, label=label)

    def describe_grants(self, seconds: float = 60) -> str:
        manifest = self._make_manifest(seconds)
        if self.sandbox.is_off:
            return describe_unconfined(manifest)
        return target_tools.describe_programs(self.tools()) + describe_manifest(manifest)

    def _make_manifest(self, seconds: float) -> Manifest:
        """Write out what the agent's own box may touch right now."""
        writable = [self.folder]
        readable = [self.persona]
        (writable if self.may_write_code() else readable).append(self.code_repo)
        return Manifest(
            read_paths=tuple(str(path) for path in readable),
            write_paths=tuple(str(path) for path in writable),
            limits=Limits(wall_seconds=seconds),
        )

    def _add_git(self, manifest: Manifest) -> Manifest:
        """Let branch and commit work in the clone, where the box may write it."""
        if str(self.code_repo) not in manifest.write_paths:
            return manifest
        grants = grant_git_folder(self.code_repo)
        return replace(
            manifest,
            read_paths=(*manifest.read_paths, *grants.read_paths),
            write_paths=(*manifest.write_paths, *grants.write_paths),
        )


def fetch(
    boxes: Boxes,
    url: str,
    grants: tuple[str, ...],
    *,
    actor: str,
    correlation: str,
    label: str = "",
) -> Fetched:
    """Fetch one address in a box that reaches the granted hosts and no other."""
    python = Path(getattr(sys, "_base_executable", sys.executable))
    request = BoxRequest(
        command=(str(python), "-I", "-S", "-c", _FETCH, url, str(_MOST_FETCHED)),
        manifest=Manifest(network_domains=grants, limits=Limits(wall_seconds=_FETCH_SECONDS)),
        actor=actor,
        correlation=correlation,
        programs=(python,),
        label=label,
    )
    outcome = boxes.run(request)
    if not outcome.succeeded or not outcome.egress.allowed:
        raise FetchFailed(
            f"{url[:200]} was not fetched: {_explain_failure(outcome)}",
            next_step="check the address; every attempt is in `astra ledger tail`",
            cause=outcome.egress.refused,
        )
    head, _, body = outcome.stdout.partition(b"\n")
    response_head = json.loads(head)
    return Fetched(int(response_head["status"]), str(response_head["type"]), body)


def _explain_failure(outcome: Outcome) -> str:
    """Name the cause as the ledger has it, where the proxy is what refused."""
    if cause := outcome.egress.refused:
        return f"the egress proxy refused it ({cause}: {REFUSALS.get(cause, 'see the ledger')})"
    return _last_line(outcome)


def _last_line(outcome: Outcome) -> str:
    error_lines = outcome.stderr.decode("utf-8", errors="replace").strip().splitlines()
    if error_lines:
        return error_lines[-1][:300]
    return "no connection left the box" if outcome.succeeded else outcome.reason
