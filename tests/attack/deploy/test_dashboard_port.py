"""The dashboard's port after the daemon's death: no app gets it, the next daemon gets it back."""

import os
import re
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from astra.adapters.supervisor.client import HolderClient
from astra.adapters.supervisor.lending import LentListeners, take_back_listeners
from astra.interfaces.daemon import listening
from deploying import PLAIN, Stage, until

WANTS_THE_PORT = """
import os, socket, threading, time
def want(family, address):
    while True:
        with socket.socket(family) as made:
            made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                made.bind((address, {port}))
                made.listen()
            except OSError as error:
                print("wants:", address, error.strerror, flush=True)
                time.sleep(0.05)
            else:
                print("GOT", address, flush=True)
                time.sleep(3600)
for place in ((2, "127.0.0.1"), (10, "::1"), (2, "0.0.0.0")):
    threading.Thread(target=want, args=place, daemon=True).start()
"""
DAEMON = """
import socket, sys, time
from pathlib import Path
from astra.adapters.supervisor.lending import LentListeners
run, first, second = Path(sys.argv[1]), *map(int, sys.argv[2:])
lent = LentListeners(run)
lent.offer([socket.socket(fileno=first), socket.socket(fileno=second)])
print("offered", flush=True)
time.sleep(3600)
"""


class Daemon:
    """A process that lends its listeners as a daemon does, and can be killed as one."""

    def __init__(self, run: Path, listeners: tuple[socket.socket, socket.socket]) -> None:
        numbers = [listener.fileno() for listener in listeners]
        self.port = int(listeners[0].getsockname()[1])
        self._process = subprocess.Popen(
            [sys.executable, "-c", DAEMON, str(run), *map(str, numbers)],
            stdout=subprocess.PIPE,
            pass_fds=numbers,
        )
        assert self._process.stdout is not None
        assert self._process.stdout.readline() == b"offered\n"
        for listener in listeners:
            listener.close()

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()
        assert self._process.stdout is not None
        self._process.stdout.close()


@pytest.fixture
def daemon(stage: Stage) -> Iterator[Daemon]:
    """Have an app running that was granted the port, so that only the holder is in its way."""
    listeners = listening.listen(0)
    port = int(listeners[0].getsockname()[1])
    app = WANTS_THE_PORT.replace("{port}", str(port)) + PLAIN
    stage.serve(stage.spec(app, listen_ports=[port]))
    made = Daemon(stage.root / "var" / "run", listeners)
    yield made
    made.kill()


def _attempts(stage: Stage) -> int:
    log = stage.holder.read_output()
    assert "GOT" not in log
    return len(re.findall("^wants:", log, re.MULTILINE))


def _answer(port: int, address: str) -> tuple[int, bytes]:
    try:
        with urllib.request.urlopen(f"http://{address}:{port}/", timeout=30) as answer:
            return answer.status, answer.read()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read()


def test_no_app_takes_the_port_of_a_daemon_that_was_killed(stage: Stage, daemon: Daemon) -> None:
    log = stage.root / "logs" / "app.log"
    daemon.kill()
    size = log.stat().st_size
    until(lambda: log.stat().st_size > size + 2000)
    assert _attempts(stage)
    for address in ("127.0.0.1", "[::1]"):
        status, words = _answer(daemon.port, address)
        assert status == 503
        assert b"astra up" in words


def test_the_next_daemon_gets_the_port_back_and_is_not_robbed(stage: Stage, daemon: Daemon) -> None:
    run = stage.root / "var" / "run"
    assert take_back_listeners(run, daemon.port) is None
    daemon.kill()
    listeners = take_back_listeners(run, daemon.port)
    assert listeners is not None
    try:
        assert [listener.getsockname()[:2] for listener in listeners] == [
            ("127.0.0.1", daemon.port),
            ("::1", daemon.port),
        ]
        with socket.create_connection(("::1", daemon.port), 5) as client:
            listeners[1].setblocking(True)
            accepted, _address = listeners[1].accept()
            with accepted:
                client.sendall(b"x")
                assert accepted.recv(1) == b"x"
    finally:
        for listener in listeners:
            listener.close()
    assert _attempts(stage)


def test_a_daemon_on_another_port_does_not_take_what_is_kept(stage: Stage, daemon: Daemon) -> None:
    daemon.kill()
    assert take_back_listeners(stage.root / "var" / "run", daemon.port + 1) is None


def test_the_port_comes_back_out_of_a_holder_that_hangs(stage: Stage, daemon: Daemon) -> None:
    state = stage.holder.state()
    assert state is not None
    daemon.kill()
    os.kill(state.pid, signal.SIGSTOP)
    try:
        listeners = take_back_listeners(stage.root / "var" / "run", daemon.port)
    finally:
        os.kill(state.pid, signal.SIGCONT)
    assert listeners is not None
    for listener in listeners:
        listener.close()


def test_a_holder_has_the_port_before_its_app_starts(stage: Stage) -> None:
    run = stage.root / "var" / "run"
    lent = LentListeners(run)
    listeners = listening.listen(0)
    port = int(listeners[0].getsockname()[1])
    lent.offer(listeners)
    stage.holder = HolderClient(stage.root, lent=lent)
    stage.serve(stage.spec())
    for listener in listeners:
        listener.close()
    lent.close()
    assert until(lambda: _answer(port, "127.0.0.1"))[0] == 503
