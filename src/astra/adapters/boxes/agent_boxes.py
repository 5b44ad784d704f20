"""The box an agent gets when it calls a tool itself: its own folders, no network.

It can write its sandbox folder, and its clone of the target while code writing is on; it can read
that clone and its persona space, and start the target's own interpreters (`target_tools`). Fetching
adds exactly one host, which somebody approved.
"""

import json
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from astra.adapters.boxes import target_tools
from astra.adapters.boxes.sandbox import Sandbox
from astra.trusted.kernel.errors import AstraError
from astra.trusted.policy.manifest import Limits, Manifest, in_words, unconfined_in_words
from astra.trusted.sandbox.ports import Boxes, BoxRequest, Fetched, Outcome

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

    def run(self, request: BoxRequest) -> Outcome:
        granted = self._manifest(request.seconds)
        return self.sandbox.run(
            replace(request, manifest=granted, workdir=str(self.folder), programs=self.tools())
        )

    def end(self, label: str, why: str) -> int:
        return self.sandbox.end(label, why)

    def fetch(self, url: str, grant: str, *, actor: str, correlation: str) -> Fetched:
        return fetch(self.sandbox, url, (grant,), actor=actor, correlation=correlation)

    def in_words(self) -> str:
        manifest = self._manifest(60)
        if self.sandbox.off:
            return unconfined_in_words(manifest)
        return target_tools.in_words(self.tools()) + in_words(manifest)

    def _manifest(self, seconds: float) -> Manifest:
        """Write out what the agent's own box may touch right now."""
        writable = [self.folder]
        readable = [self.persona]
        (writable if self.may_write_code() else readable).append(self.code_repo)
        return Manifest(
            read_paths=tuple(str(path) for path in readable),
            write_paths=tuple(str(path) for path in writable),
            limits=Limits(wall_seconds=seconds),
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
            f"{url[:200]} was not fetched: {_last_line(outcome)}",
            next_step="check the address; every attempt is in `astra ledger tail`",
        )
    head, _, body = outcome.stdout.partition(b"\n")
    said = json.loads(head)
    return Fetched(int(said["status"]), str(said["type"]), body)


def _last_line(outcome: Outcome) -> str:
    words = outcome.stderr.decode("utf-8", errors="replace").strip().splitlines()
    return words[-1][:300] if words else outcome.reason
