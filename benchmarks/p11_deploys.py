"""P11: deployments and rollbacks under load, and how many requests they lose.

Two releases of the example agent server replace each other again and again while clients ask
without a pause, half with fresh and half with kept connections. A measure is the requests that were
answered, against those that were asked: equal means that none was lost. The reference is uvicorn on
an inherited socket that old and new share (`--fd`), replaced by SIGTERM once the new one answers.
"""

import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import measuring

DEPLOYMENTS = 20
APP = """
import json, os
BODY = json.dumps({"release": os.environ["RELEASE"]}).encode()
HEAD = [(b"content-type", b"application/json"), (b"content-length", str(len(BODY)).encode())]

async def app(scope, receive, send):
    if scope["type"] == "http":
        await send({"type": "http.response.start", "status": 200, "headers": HEAD})
        await send({"type": "http.response.body", "body": BODY})
"""
NONE_LOST = measuring.Target("none lost", lambda answered, asked: answered == asked)


def main() -> None:
    sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
    rounds = 2 if measuring.is_quick() else DEPLOYMENTS
    with tempfile.TemporaryDirectory() as folder:
        with _astra(Path(folder)) as (port, replace):
            _measure(f"P11 {rounds} deployments", port, replace, rounds, NONE_LOST)
        with _uvicorn(Path(folder)) as (port, replace):
            _measure(f"P11 {rounds} replacements, uvicorn --fd", port, replace, rounds, None)


def _measure(
    name: str, port: int, replace: Callable[[], None], rounds: int, target: measuring.Target | None
) -> None:
    from deploying import Traffic

    began = time.perf_counter()
    with Traffic(port) as traffic:
        for _ in range(rounds):
            _more(traffic.answered, lambda: traffic.answered)
            replace()
        _more(traffic.answered, lambda: traffic.answered)
    took = time.perf_counter() - began
    asked = traffic.answered + len(traffic.lost)
    measuring.report(f"{name} (requests answered of asked)", traffic.answered, asked, target)
    measuring.report(f"{name} (s each, traffic included)", took / rounds)


def _more(before: int, answered: Callable[[], int], count: int = 200) -> None:
    while answered() < before + count:
        time.sleep(0.01)


@contextmanager
def _astra(folder: Path) -> Iterator[tuple[int, Callable[[], None]]]:
    from deploying import EXAMPLE, Stage

    stage = Stage(folder / "astra")
    shutil.copytree(EXAMPLE, stage.repository, dirs_exist_ok=True)
    command = ("/usr/bin/python3", "-m", "agent_server")
    specs = [stage.spec(f"# {number}\n", command=command) for number in range(2)]
    stage.serve(specs[0])
    turn = [0]

    def replace() -> None:
        turn[0] += 1
        stage.serve(specs[turn[0] % 2])

    try:
        yield stage.port, replace
    finally:
        stage.holder.close()


@contextmanager
def _uvicorn(folder: Path) -> Iterator[tuple[int, Callable[[], None]]]:
    (folder / "peer.py").write_text(APP)
    with socket.create_server(("127.0.0.1", 0), backlog=1024) as shared:
        port = shared.getsockname()[1]
        running = [_start(folder, shared, 0)]
        _answered_by(port, "0")

        def replace() -> None:
            number = len(running)
            running.append(_start(folder, shared, number))
            _answered_by(port, str(number))
            running[-2].terminate()
            running[-2].wait(30)

        try:
            yield port, replace
        finally:
            running[-1].terminate()
            running[-1].wait(30)


def _start(folder: Path, shared: socket.socket, number: int) -> "subprocess.Popen[bytes]":
    words = ["-m", "uvicorn", "peer:app", "--fd", str(shared.fileno()), "--log-level", "critical"]
    return subprocess.Popen(
        [sys.executable, *words],
        cwd=folder,
        env={"PATH": os.environ["PATH"], "RELEASE": str(number)},
        pass_fds=(shared.fileno(),),
    )


def _answered_by(port: int, release: str) -> None:
    """Ask until the new one happens to answer: with a shared socket nobody can choose."""
    from deploying import fetch

    while fetch(port)["release"] != release:
        time.sleep(0.005)


if __name__ == "__main__":
    main()
