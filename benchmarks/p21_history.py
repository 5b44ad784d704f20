"""P21: what a long history costs: a start, `astra status`, a page, a signed decision, an idle hour.

The history is a mixture as a year leaves it: calls of tools, budgets, conversations, approvals that
expired. The same is measured on a young data root in the same run, and is the reference: nothing
that a person waits for may grow with what is behind them. Then the start after a change of
versions: the index is gone as if its projections had changed, is built ahead by another process,
and the daemon starts on it. `--records 10000000` measures the year that the targets speak of, and
`--place FOLDER` keeps what was made there: `--make` only makes it, for a machine with other work.
"""

import argparse
import contextlib
import io
import os
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing, nullcontext
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from itertools import groupby, islice
from pathlib import Path
from typing import Any
from unittest import mock

from astra.bootstrap import initialise
from astra.interfaces.cli import main as commands
from astra.interfaces.cli.client import Client, start_daemon
from astra.testing import SetClock
from astra.trusted.file_ledger import segments
from astra.trusted.kernel.clock import format_time
from astra.trusted.ledger import chain
from astra.trusted.ledger.record import Event, Head
from measuring import Target, at_most, at_most_times, best_rounds, folder, report, seconds

ASTRA = Path(sys.executable).with_name("astra")
FULL, QUICK = 1_000_000, 1_000
YOUNG = 100
TURN = 10
YEAR = timedelta(days=365)
PAGES: dict[str, dict[str, str]] = {
    "/api/status": {},
    "/api/config": {},
    "/api/chat": {},
    "/api/approvals": {"state": "all"},
    "/api/ledger": {"type": "flag_set"},
    "/api/awareness": {"kind": "alert"},
    "/api/metrics": {},
    "/api/budgets": {},
    "/api/tasks": {},
}
IDLE_SECONDS = 20.0
MOST_BYTES = 500
ROUNDS = 3


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true", help="small sizes, few rounds")
    parser.add_argument("--records", type=int, default=FULL, help=f"how many ({FULL:,})")
    parser.add_argument("--place", type=Path, help="an empty folder, or what a run left there")
    parser.add_argument("--make", action="store_true", help="make the history and its index only")
    options = parser.parse_args()
    quick = options.quick
    size = QUICK if quick else options.records
    if options.make:
        start(make_root(options.place, size))
        call(ASTRA, "down")
        return
    young = measure(YOUNG, quick=quick)
    old = measure(size, quick=quick, kept=options.place)
    for name, target in (
        ("start, seconds", at_most(5)),
        ("start after a change of versions, seconds", at_most(5)),
        ("status, seconds", at_most_times(1.5)),
        ("decision, seconds", at_most_times(1.5)),
        ("slowest page, seconds", at_most(0.1)),
        ("idle, share of a core", at_most(0.005)),
    ):
        report(f"P21 {name}, at {size:,}", old[name], young[name], target)
    name = "index built ahead, records/s"
    report(f"P21 {name}, at {size:,}", old[name], young[name])
    most = Target("≤ 500", lambda value, _reference: value <= MOST_BYTES)
    report(f"P21 index, bytes a record, at {size:,}", old["index, bytes a record"], None, most)


def measure(size: int, *, quick: bool, kept: Path | None = None) -> dict[str, float]:
    rounds = 1 if quick else ROUNDS
    with nullcontext(kept) if kept else folder() as place:
        root = make_root(place, size)
        start(root)  # the index is built here, once
        call(ASTRA, "down")
        found = {"start, seconds": seconds(lambda: start(root))}
        found |= best_rounds({"status, seconds": time_status, "decision, seconds": decide}, rounds)
        pages = best_rounds({page: _asking(Client(root), page) for page in PAGES}, rounds)
        found["slowest page, seconds"] = max(pages.values())
        found["idle, share of a core"] = idle_share(root, 0.1 if quick else IDLE_SECONDS)
        call(ASTRA, "down")
        found["index, bytes a record"] = index_size(root) / size
        found |= change_versions(root, size)
    shown = {name: round(value, 4) for name, value in (found | pages).items()}
    print(f"{size:,} records: {shown}", file=sys.stderr)
    return found


def change_versions(root: Path, size: int) -> dict[str, float]:
    """Take the index away, have it built by another process, and start on that."""
    for path in (root / "var" / "index").glob("index-*"):
        path.unlink()
    spent = seconds(lambda: call(ASTRA, "ledger", "rebuild", "--ahead"))
    took = seconds(lambda: start(root))
    call(ASTRA, "down")
    return {
        "index built ahead, records/s": size / spent,
        "start after a change of versions, seconds": took,
    }


def _asking(client: Client, page: str) -> Callable[[], float]:
    return lambda: seconds(lambda: client.get(page, **PAGES[page]))


def make_root(place: Path, size: int) -> Path:
    """Make a data root a year ago, whose chain goes on until now for `size` records.

    They are what usually happens, evenly spread; finished months are compressed, as a daemon does.
    """
    use_only(place)
    root, target = place / "data", place / "target"
    if (root / "var" / "ledger").exists():
        return root
    call("git", "init", "-q", "-b", "main", target)
    identity = ("-c", "user.name=Bench", "-c", "user.email=bench@localhost")
    call("git", "-C", target, *identity, "commit", "-q", "--allow-empty", "-m", "one")
    began = datetime.now(UTC) - YEAR
    with mock.patch.object(initialise, "SystemClock", return_value=SetClock(began)):
        initialise_root(["init", str(target), "--throwaway", "--json"])
    prolong(root / "var" / "ledger", size)
    return root


def initialise_root(words: list[str]) -> None:
    with contextlib.redirect_stdout(io.StringIO()):
        code = commands.main(words)
    if code:
        raise SystemExit(code)


def prolong(chain_folder: Path, size: int) -> None:
    """Write records behind the last one up to now, without an index and without syncing."""
    path = max(chain_folder.glob("*.ndjson"))
    last = chain.parse(path.read_text(encoding="utf-8").splitlines()[-1])
    head, events = Head(last.sequence, last.hash, last.time), history()
    began, turns = datetime.fromisoformat(last.time), -(-size // TURN)
    step = (datetime.now(UTC) - began) / turns
    months = groupby(range(1, turns + 1), lambda turn: f"{began + turn * step:%Y-%m}")
    for month, turns_of_month in months:
        with (chain_folder / f"{month}.ndjson").open("a", encoding="utf-8") as file:
            for turn in turns_of_month:
                time = max(format_time(began + turn * step), head.time)
                for record in chain.link(list(islice(events, TURN)), after=head, time=time):
                    head = Head(record.sequence, record.hash, record.time)
                    file.write(f"{record.line}\n")
    for segment in segments.segments(chain_folder)[:-1]:
        if not segment.compressed:
            segments.compress(chain_folder, segment)


def history() -> Iterator[Event]:
    """Give what usually happens, without end: `TURN` records a turn."""
    turn = 0
    while True:
        yield from _turn(turn, sha256(b"%d" % turn).hexdigest())
        turn += 1


def _turn(number: int, name: str) -> Iterator[Event]:
    story, call_id = f"cor_{name[:16]}", f"call_{name[:16]}"
    short = f"{number * _SPREAD % 2**32:08x}"

    def event(kind: str, subject: str | None, /, **data: object) -> Event:
        return Event(type=kind, actor="agent:bench", data=data, subject=subject, correlation=story)

    outcome = {"ok": True, "code": "ok", "milliseconds": 1.5, "size": 400}
    read = {"tool": "read_source", "tier": 0, "door": "mcp", "outcome": outcome}
    for step in range(5):
        path = f"src/module_{number % 97}/part_{step}.py"
        yield event("tool_called", None, arguments={"path": path}, **read)
    wrote = {"tool": "write_file", "tier": 1, "door": "mcp"}
    yield event("tool_started", call_id, arguments={"path": "notes.txt"}, **wrote)
    yield event("tool_finished", call_id, tool="write_file", outcome=outcome)
    if number % 2:
        talk = f"chat_{short}"
        yield event("chat_asked", talk, who="person", digest=name, length=16)
        yield event("chat_answered", talk, who="persona", digest=name[::-1], length=13)
    else:
        yield event("approval_requested", f"apr_{short}", digest=name, **_REQUEST)
        yield event("approval_expired", f"apr_{short}", reason="nobody decided in time")
    yield event("desires_surveyed", None, top=[])


_SPREAD = 0x9E3779B1
"""Odd, so that ids of eight digits are spread and none comes twice."""
_REQUEST: dict[str, Any] = {
    "kind": "tool_call",
    "subject_id": "fetch_url",
    "summary": "asks to fetch a page",
    "details": {},
    "expires_at": "2026-01-01T00:00:00.000000Z",
}


def use_only(place: Path) -> None:
    """Point this process and its children at a throwaway data root and at nothing else."""
    for name in [name for name in os.environ if name.startswith(("ASTRA_", "AGENT_"))]:
        del os.environ[name]
    os.environ |= {
        "XDG_CONFIG_HOME": str(place / "config"),
        "AGENT_DATA_ROOT": str(place / "data"),
        "ASTRA_OPERATOR_PASSPHRASE": "only for measuring",
        "ASTRA_DAEMON_IDLE_MINUTES": "60",
    }
    os.chdir(place)


def start(root: Path) -> None:
    start_daemon(root)
    Client(root).get("/healthz")


def time_status() -> float:
    return seconds(lambda: call(ASTRA, "status"))


def decide() -> float:
    """Sign something and have it checked: a flag that is on goes off, and on again by signature."""
    call(ASTRA, "flags", "set", "PERSONA_MODE_ENABLED", "off")
    return seconds(lambda: call(ASTRA, "flags", "set", "PERSONA_MODE_ENABLED", "on"))


def idle_share(root: Path, span: float) -> float:
    """Give the share of a core that a daemon takes which nobody asks anything."""
    pid = Client(root).get("/api/status")["daemon"]["pid"]
    before = _spent(pid)
    time.sleep(span)
    return (_spent(pid) - before) / span


def _spent(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def index_size(root: Path) -> int:
    (path,) = (root / "var" / "index").glob("index-*.sqlite3")
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as index:
        ((size,),) = index.execute(
            "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size"
        )
    return size


def call(*command: str | Path) -> None:
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


if __name__ == "__main__":
    main()
