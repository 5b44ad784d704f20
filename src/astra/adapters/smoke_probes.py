"""What `astra smoke` tries of a running Astra, one function a part.

Each gives a few words about what it saw and raises what is wrong. Nothing here changes anything but
the record of calls: the tools that are called only read, the box runs `true`, the model is not
asked anything, only whether its host takes a connection.
"""

import http.client
import json
import os
import socket
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from astra.operations.smoke import ProbeFailed
from astra.trusted.file_ledger.check import check_files
from astra.trusted.file_ledger.reserve import Reserve, free_space
from astra.trusted.files.data_root import DataRoot
from astra.trusted.kernel.errors import AstraError, Refused
from astra.trusted.kernel.ids import random_id
from astra.trusted.ledger import chain
from astra.trusted.ledger.stored import StoredChain
from astra.trusted.policy.decision import Reason
from astra.trusted.policy.manifest import Limits, Manifest
from astra.trusted.sandbox.ports import Boxes, BoxRequest

CallTool = Callable[[str, Mapping[str, Any]], Mapping[str, Any]]
WHOLE_CHAIN, NEWEST = 50_000, 5_000
_SECONDS, _FIRST_MCP_SECONDS = 5.0, 15.0
_LOGS_LARGEST = 64 << 20
_LATEST_LAG = 300.0
_EXPECTED_CLOSED = frozenset({str(Reason.FLAG_OFF), str(Reason.STOPPED)})
_INTRODUCTION = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "astra-smoke", "version": "1"},
    },
}


def call_tools(call: CallTool) -> str:
    """Read through the gate as an agent, and see that what is an operator's is refused."""
    status = call("astra.health", {})["status"]
    try:
        source_words = f"{len(call('list_source_files', {'limit': 1})['items'])} source file listed"
    except Refused as error:
        if error.reason not in _EXPECTED_CLOSED:
            raise
        source_words = f"source is closed ({error.reason})"
    try:
        call("astra.approvals.reject", {"id": "apr_00000000", "reason": "smoke"})
    except Refused as error:
        return f"health {status}; {source_words}; an operator's tool was refused ({error.reason})"
    except AstraError as error:
        problem = error.detail
    else:
        problem = "it was run"
    raise ProbeFailed(
        f"the gate did not refuse a tool of operators to an agent: {problem}",
        next_step="astra stop --now, then compare the installed code with its release",
    )


def verify_chain(root: DataRoot, stored_chain: StoredChain) -> str:
    """Verify all of a chain of ordinary length; of a longer one its newest records."""
    if (count := stored_chain.read_end().sequence) == 0:
        raise ProbeFailed("the chain is empty", next_step="astra ledger verify")
    if count <= WHOLE_CHAIN:
        report = check_files(
            root.var, stored_chain=stored_chain, public_key=root.read_ledger_key().public
        )
        if not report.ok:
            problem = report.problems[0]
            raise ProbeFailed(
                f"{problem.kind}: {problem.detail}", next_step="astra ledger verify, and keep it"
            )
        return f"all {report.records} records verified"
    verified = _verify_newest(stored_chain, after=count - NEWEST)
    return f"the newest {verified} of {count} records verified; astra ledger verify takes all"


def _verify_newest(stored_chain: StoredChain, *, after: int) -> int:
    previous, count = "", 0
    for line in stored_chain.read_lines(after=after):
        record = chain.parse(line)
        if not chain.is_intact(f"{line}\n".encode()) or previous not in {"", record.previous}:
            raise ProbeFailed(
                f"record {record.sequence} does not follow from the one before",
                next_step="astra ledger verify, and keep the data root as it is",
            )
        previous, count = record.hash, count + 1
    return count


def run_box(boxes: Boxes, stopped: Callable[[], bool]) -> str:
    """Run `true` in a real box with nothing granted."""
    if stopped():
        return "no box starts: an operator stopped all work"
    request = BoxRequest(
        command=("/bin/true",),
        actor="smoke",
        correlation=random_id("cor"),
        manifest=Manifest(limits=Limits(wall_seconds=_SECONDS)),
        label="smoke",
    )
    outcome = boxes.run(request)
    if not outcome.succeeded:
        raise ProbeFailed(
            f"a box did not run: {outcome.reason}", next_step=outcome.next_step or "astra doctor"
        )
    kind = "confined" if outcome.confined else "UNCONFINED, as off-unsafe says"
    return f"true ran {kind} in {outcome.seconds:.2f} s"


def speak_mcp(run: Path) -> str:
    """Introduce a client at the daemon's own MCP socket and list its tools.

    The first session of a daemon waits until the protocol's library is imported.
    """
    connection = _connect(run, "mcp.sock", seconds=_FIRST_MCP_SECONDS)
    with closing(connection), connection.makefile("rwb") as stream:
        _ask_mcp(stream, _INTRODUCTION)
        _write_line(stream, {"jsonrpc": "2.0", "method": "notifications/initialized"})
        answer = _ask_mcp(stream, {"jsonrpc": "2.0", "id": 2, "method": "tools/list"})
    tools = answer["tools"]
    if not tools:
        raise ProbeFailed("the MCP server lists no tool", next_step="astra flags; astra tools list")
    return f"{len(tools)} tools listed"


def _ask_mcp(stream: Any, message: Mapping[str, Any]) -> Any:
    _write_line(stream, message)
    for line in stream:
        answer = json.loads(line)
        if answer.get("id") == message["id"]:
            if "error" in answer:
                raise ProbeFailed(str(answer["error"]["message"]), next_step="astra logs")
            return answer["result"]
    raise ProbeFailed("the MCP socket was closed without an answer", next_step="astra logs")


def _write_line(stream: Any, message: Mapping[str, Any]) -> None:
    stream.write(json.dumps(message).encode() + b"\n")
    stream.flush()


def ask_http(run: Path) -> str:
    """Ask the API for its health, over the daemon's own socket."""
    connection = http.client.HTTPConnection("localhost", timeout=_SECONDS)
    connection.sock = _connect(run, "astra.sock")
    with closing(connection):
        connection.request("GET", "/healthz")
        answer = connection.getresponse()
        if answer.status != http.HTTPStatus.OK:
            raise ProbeFailed(f"/healthz answered {answer.status}", next_step="astra logs")
    return "/healthz answered 200"


def _connect(run: Path, name: str, *, seconds: float = _SECONDS) -> socket.socket:
    """Connect through a descriptor of the folder: a socket's address is short, its path is not."""
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    connection.settimeout(seconds)
    descriptor = os.open(run, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        connection.connect(f"/proc/self/fd/{descriptor}/{name}")
    except OSError:
        connection.close()
        raise
    finally:
        os.close(descriptor)
    return connection


def check_disk(reserve: Reserve) -> str:
    free_bytes, floor = free_space(reserve.var)
    if reserve.is_low():
        raise ProbeFailed(
            f"{free_bytes >> 20:,} MiB free, below the floor of {floor >> 20:,} MiB",
            next_step="make room on the disk of the data root",
        )
    return f"{free_bytes >> 20:,} MiB free"


def compute_free_share(path: Path) -> float:
    """Say which share of a disk is free for ordinary users."""
    facts = os.statvfs(path)
    return facts.f_bavail / facts.f_blocks if facts.f_blocks else 1.0


def check_logs(folder: Path) -> str:
    """See that the daemon can write its logs and that they are kept within bounds."""
    total = sum(path.stat().st_size for path in folder.glob("daemon.*") if path.is_file())
    if not os.access(folder, os.W_OK):
        raise ProbeFailed("the folder of logs cannot be written", next_step=f"chmod u+w {folder}")
    if total > _LOGS_LARGEST:
        raise ProbeFailed(
            f"the daemon's logs take {total >> 20} MiB and are not turned over",
            next_step="astra down; the next start goes on with new files",
        )
    return f"{total >> 10:,} KiB of logs, writable"


@dataclass(frozen=True, kw_only=True)
class ModelAddress:
    name: str
    url: str


def reach_model(find: Callable[[], ModelAddress | None]) -> str:
    """See whether the model's host takes a connection; nothing is asked, nothing is spent."""
    address = find()
    if address is None:
        return "no model is configured; everything else works"
    parts = urlsplit(address.url)
    port = parts.port or (443 if parts.scheme == "https" else 80)
    try:
        socket.create_connection((parts.hostname or "", port), timeout=_SECONDS).close()
    except OSError as error:
        raise ProbeFailed(
            f"the host of {address.name} takes no connection: {error.strerror or error}",
            next_step="start the model's server, or mend base_url below [model] in astra.toml",
        ) from None
    return f"{address.name}: its host takes connections; it was asked nothing"


def check_executor(*, closed: str, trouble: str, lag_seconds: float, alive: bool) -> str:
    """See that the loop of background work turns and that no schedule waits for it."""
    if not alive:
        raise ProbeFailed("the loop of background work has ended", next_step="astra down")
    if trouble:
        raise ProbeFailed(f"background work fails: {trouble}", next_step="astra status; astra logs")
    if closed:
        return f"closed: {closed}"
    if lag_seconds > _LATEST_LAG:
        raise ProbeFailed(
            f"a schedule is {lag_seconds:.0f} s overdue", next_step="astra schedules list"
        )
    return "nothing is overdue"


def check_supervisor(state: Mapping[str, Any] | None) -> str:
    if state is None:
        return "no app was deployed"
    if state["trouble"]:
        raise ProbeFailed(f"the app: {state['trouble']}", next_step="astra releases")
    return f"release {state['release'] or 'none'} is {state['state']}"
