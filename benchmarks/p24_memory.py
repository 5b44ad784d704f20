"""P24: memory of a daemon under mixed work: it has to become flat, however long the work goes on.

Workers read pages, call tools, record things durably, open MCP sessions at both doors and streams
of events and leave them as they are, send requests that are half, wrong or for nothing. Every line
on stderr is a moment: minutes, requests, resident memory, threads, descriptors. The value is the
memory of the last quarter, the reference that of the second quarter: what comes before is filling
of caches. Minutes are given as `--minutes 60`; `--pause 0.5` has each worker rest so many seconds
after a request, for hours beside other work. The quick run shows only that it works.
"""

import argparse
import contextlib
import json
import os
import random
import socket
import statistics
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import p21_history
from astra.interfaces.cli.client import Client, reach
from astra.trusted.kernel.errors import AstraError
from measuring import at_most_times, folder, report

PAGES = (*p21_history.PAGES, "/api/inbox", "/api/schedules", "/api/deployments", "/api/goals")
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "bench", "version": "1"},
    },
}
CALL = {
    "jsonrpc": "2.0",
    "id": 2,
    "method": "tools/call",
    "params": {"name": "astra.health", "arguments": {}},
}
WORKERS = 6
SAMPLES = 40


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true", help="a few seconds")
    parser.add_argument("--minutes", type=float, default=15.0)
    parser.add_argument("--only", help="one kind of work")
    parser.add_argument("--pause", type=float, default=0.0, help="seconds after each request")
    options = parser.parse_args()
    span = 4.0 if options.quick else options.minutes * 60
    with folder() as place:
        root = p21_history.make_root(place, 100)
        p21_history.start(root)
        kinds = [KINDS[options.only]] if options.only else [*KINDS.values()]
        samples = soak(root, span, kinds, pause=options.pause)
        p21_history.call(p21_history.ASTRA, "down")
    quarter = len(samples) // 4
    early, late = (
        statistics.median(part) for part in (samples[quarter : 2 * quarter], samples[-quarter:])
    )
    name = f"P24 memory after {span / 60:.0f} minutes of mixed work, MB"
    report(name, late, early, at_most_times(1.05))


def soak(
    root: Path,
    span: float,
    kinds: list[Callable[[Path, random.Random], None]],
    *,
    pause: float,
) -> list[float]:
    """Let workers work for so many seconds; gives the memory at moments in between."""
    pid = Client(root).get("/api/status")["daemon"]["pid"]
    over, counts = threading.Event(), [0] * WORKERS

    def work(number: int) -> None:
        dice = random.Random(number)
        while not over.is_set():
            with contextlib.suppress(AstraError, OSError):
                dice.choice(kinds)(root, dice)
            counts[number] += 1
            over.wait(pause)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(WORKERS)]
    for thread in threads:
        thread.start()
    began, samples = time.monotonic(), []
    try:
        for number in range(SAMPLES):
            time.sleep(max(0.0, began + span * (number + 1) / SAMPLES - time.monotonic()))
            samples.append(measure_process(pid)["VmRSS"] / 1024)
            say_moment(time.monotonic() - began, sum(counts), pid)
    finally:
        over.set()
        for thread in threads:
            thread.join()
    return samples


def measure_process(pid: int) -> dict[str, int]:
    lines = Path(f"/proc/{pid}/status").read_text(encoding="ascii").splitlines()
    return {
        name: int(value.split()[0])
        for name, _, value in (line.partition(":") for line in lines)
        if name in {"VmRSS", "RssAnon", "Threads"}
    }


def say_moment(seconds: float, requests: int, pid: int) -> None:
    facts = measure_process(pid)
    descriptors = len(list(Path(f"/proc/{pid}/fd").iterdir()))
    print(
        f"{seconds / 60:5.1f} min  {requests:8,} requests  {facts['VmRSS'] / 1024:6.1f} MB"
        f" ({facts['RssAnon'] / 1024:.1f} anonymous)  {facts['Threads']} threads"
        f"  {descriptors} descriptors",
        file=sys.stderr,
        flush=True,
    )


# The kinds of work


def read_page(root: Path, dice: random.Random) -> None:
    page = dice.choice(PAGES)
    Client(root).get(page, **p21_history.PAGES.get(page, {}))


def call_tool(root: Path, dice: random.Random) -> None:
    name = f"bench-{dice.randrange(10**9)}.md"
    tool, arguments = dice.choice(
        (
            ("astra.health", {}),
            ("write_file", {"path": name, "content": "x" * dice.randrange(20_000)}),
            ("read_source", {"path": name}),
            ("search_source", {"query": name}),
        )
    )
    Client(root).post(f"/api/tools/{tool}", arguments)


def turn_flag_off(root: Path, _dice: random.Random) -> None:
    Client(root).post("/api/flags", {"name": "ASTRA_CODE_WRITE_ENABLED", "on": False})


def read_story(root: Path, dice: random.Random) -> None:
    newest = Client(root).get("/api/ledger", limit=50)["items"]
    Client(root).get("/api/ledger/story", id=dice.choice(newest)["correlation"])


def ask_for_nothing(root: Path, dice: random.Random) -> None:
    Client(root).get(f"/api/{dice.randrange(10**9)}")


def send_nonsense(root: Path, dice: random.Random) -> None:
    """Send what is no request, or half of one, and leave."""
    with reach(root) as connection:
        connection.settimeout(5)
        start = b"POST /api/flags HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000\r\n"
        connection.sendall(dice.choice((b"\x16\x03\x01", start, start + b"\r\n{" + b"[" * 9_000)))


def leave_stream(root: Path, _dice: random.Random) -> None:
    """Follow the events until the first comes, and leave without a word."""
    with reach(root) as connection:
        connection.settimeout(5)
        connection.sendall(b"GET /api/events?after=0 HTTP/1.1\r\nHost: localhost\r\n\r\n")
        connection.recv(4096)


def leave_http_session(root: Path, dice: random.Random) -> None:
    """Open an MCP session over HTTP and never come back."""
    with reach(root) as connection:
        connection.settimeout(5)
        body = json.dumps(INITIALIZE).encode()
        head = (
            "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            "Accept: application/json, text/event-stream\r\n"
            f"Content-Length: {len(body)}\r\n\r\n"
        )
        connection.sendall(head.encode() + body)
        if dice.random() < 0.8:
            connection.recv(65536)


def leave_socket_session(root: Path, dice: random.Random) -> None:
    """Open an MCP session at the socket, call a tool, and leave at any point."""
    with reach(root, "mcp.sock") as connection, connection.makefile("rb") as answers:
        connection.settimeout(5)
        for message in (INITIALIZE, CALL)[: dice.choice((1, 2))]:
            connection.sendall(json.dumps(message).encode() + b"\n")
            if dice.random() < 0.8:
                answers.readline()
        with contextlib.suppress(OSError):
            connection.shutdown(socket.SHUT_RDWR)


KINDS: dict[str, Callable[[Path, random.Random], None]] = {
    "pages": read_page,
    "tools": call_tool,
    "flags": turn_flag_off,
    "stories": read_story,
    "nothing": ask_for_nothing,
    "nonsense": send_nonsense,
    "streams": leave_stream,
    "http sessions": leave_http_session,
    "socket sessions": leave_socket_session,
}


if __name__ == "__main__":
    os.nice(5)
    main()
