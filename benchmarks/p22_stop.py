"""P22: how long an operator's stop takes while every thread that agents can get is busy.

Agents call `run_in_sandbox` over the loopback port until their pool is full and others wait behind
it; then the operator presses the button, or types the command. Reference: the same stop with
nothing running. Before a pool of their own, operators waited until a box ended.
"""

import json
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from astra.interfaces.daemon.capacity import SIZES, PoolName
from astra.trusted.policy.caps import BOXES_AT_ONCE
from astra.trusted.sandbox import boxes
from measuring import at_most, folder, is_quick, report, seconds
from p13_start import ASTRA, call, use_only

SLEEP = {"command": ["sleep", "300"], "seconds": 300}
CALLS_OF_ONE = 12


def main() -> None:
    agents = 1 if is_quick() else SIZES[PoolName.AGENT].working // BOXES_AT_ONCE.most + 1
    rounds = 1 if is_quick() else 5
    with folder() as place:
        use_only(place)
        root = place / "data"
        make_root(place)
        with served(root) as daemon:
            tokens = [
                said("tokens", "create", f"agent {n}", "--role", "agent") for n in range(agents)
            ]
            secrets = [token["secret"] for token in tokens]
            operator = open_session(daemon)
            for name, stop in {
                "the button": lambda: post(daemon, "/api/stop", operator, {}),
                "the command": lambda: call(ASTRA, "stop", "--now"),
            }.items():
                idle = min(timed(stop, lambda: None) for _ in range(rounds))
                busy = [timed(stop, lambda: fill(daemon, root, secrets)) for _ in range(rounds)]
                full = f"P22 stop by {name}, agents busy, worst, seconds"
                report(full, max(busy), idle, at_most(1))


def timed(stop: Callable[[], object], prepare: Callable[[], Callable[[], None] | None]) -> float:
    """Prepare, stop, and start again; gives the seconds of the stop."""
    wait = prepare()
    taken = seconds(stop)
    if wait:
        wait()
    call(ASTRA, "start")
    return taken


def fill(daemon: str, root: Path, secrets: list[str]) -> Callable[[], None]:
    """Have agents call until their threads are taken; gives what waits for their answers."""
    threads = [
        threading.Thread(target=post, args=(daemon, "/api/tools/run_in_sandbox", secret, SLEEP))
        for secret in secrets
        for _ in range(CALLS_OF_ONE)
    ]
    for thread in threads:
        thread.start()
    wanted = min(SIZES[PoolName.AGENT].working, len(secrets) * BOXES_AT_ONCE.most)
    while len(boxes.list_registered(root)[0]) < wanted:
        time.sleep(0.05)
    return lambda: [thread.join() for thread in threads] and None


def make_root(place: Path) -> None:
    target = place / "target"
    call("git", "init", "-q", "-b", "main", target)
    identity = ("-c", "user.name=Bench", "-c", "user.email=bench@localhost")
    call("git", "-C", target, *identity, "commit", "-q", "--allow-empty", "-m", "one")
    call(ASTRA, "init", target, "--throwaway")


@contextmanager
def served(root: Path) -> Iterator[str]:
    """Run `astra up` on a free port; gives its address."""
    command = [ASTRA, "up", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        while not (root / "var" / "run" / "astra.sock").exists():
            time.sleep(0.05)
        try:
            yield said("status")["daemon"]["url"]
        finally:
            process.terminate()
            process.wait()


def said(*words: str) -> Any:
    done = subprocess.run([ASTRA, *words, "--json"], check=True, stdout=subprocess.PIPE)
    return json.loads(done.stdout)


def open_session(daemon: str) -> str:
    code = said("login")["url"].partition("#")[2]
    return str(post(daemon, "/api/session", "", {"code": code})["secret"])


def post(daemon: str, path: str, secret: str, body: dict[str, Any]) -> Any:
    headers = {"Content-Type": "application/json"}
    if secret:
        headers["Authorization"] = f"Bearer {secret}"
    request = urllib.request.Request(daemon + path, json.dumps(body).encode(), headers)
    try:
        with urllib.request.urlopen(request, timeout=600) as answer:
            return json.load(answer)
    except urllib.error.HTTPError as refusal:
        return json.load(refusal)


if __name__ == "__main__":
    sys.exit(main())
