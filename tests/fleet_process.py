"""A real fleet on one machine: a daemon, workers with data folders of their own, and HAProxy."""

import contextlib
import http.client
import shutil
import socket
import subprocess
from collections.abc import Generator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from astra.adapters.supervisor.client import HolderClient
from deploying import EXAMPLE, PYTHON, until
from driver import Astra, make_repository
from worker_process import WorkerProcess

PATIENCE = 400.0
LABELS = ("web-1", "web-2", "web-3")
CONFIGURATION = f"""
[target]
branch = "trunk"

[app]
command = "{PYTHON} -m agent_server"
health_path = "/healthz"
watch_seconds = 1

[app.permissions]
network = "host"

[deploy.fleet]
instances = ["web-1", "web-2", "web-3"]
waves = ["1", "rest"]
max_down = 2
watch_seconds = 2
away_seconds = 20
instance_seconds = 240
wave_seconds = 600
rollback_seconds = 300
"""


def prepare_root(folder: Path) -> Astra:
    """Make a repository with a server in it, and a data root whose configuration names a fleet."""
    astra = Astra(folder)
    target = make_repository(astra.folder / "target")
    subprocess.run(["cp", "-r", f"{EXAMPLE}/.", target], check=True)
    run_git(target, "add", "-A")
    run_git(target, "commit", "-qm", "two")
    astra.json("init", target, "--throwaway")
    configure(astra, CONFIGURATION)
    astra.run("down")
    return astra


@contextlib.contextmanager
def open_fleet(
    prepared: Astra, address: str, folder: Path, *, more: Sequence[str] = ()
) -> "Generator[RealFleet]":
    """One daemon, three workers and more machines, each with its folder; they share git objects."""
    for name in ("daemon", *LABELS, *more):
        (folder / name).mkdir()
    daemon = prepared.copied_to(Astra(folder / "daemon"))
    daemon.json("ledger", "move", "--to", address)
    copies = {name: daemon.copied_to(Astra(folder / name)) for name in (*LABELS, *more)}
    for astra in (daemon, *copies.values()):
        astra.extra["ASTRA_DATABASE_URL"] = address
    for astra in copies.values():
        shutil.rmtree(astra.root / "var" / "git")
        (astra.root / "var" / "git").symlink_to(daemon.root / "var" / "git")
    workers = {label: WorkerProcess(copies[label]) for label in LABELS}
    fleet = RealFleet(daemon, workers, {name: copies[name] for name in more})
    try:
        yield fleet
    finally:
        for worker in workers.values():
            worker.end()
        for astra in (daemon, *fleet.more.values()):
            astra.end()


def run_git(folder: Path, *words: str) -> None:
    identity = ["-c", "user.name=Someone", "-c", "user.email=someone@localhost"]
    subprocess.run(["git", *identity, *words], cwd=folder, check=True)


def commit_file(astra: Astra, name: str, text: str) -> None:
    """Put a file into the target's branch, in the trusted repository that the fleet shares."""
    work = astra.folder / "work"
    if not work.exists():
        subprocess.run(["git", "clone", "-q", astra.root / "var" / "git", work], check=True)
    (work / name).write_text(text)
    run_git(work, "add", "-A")
    run_git(work, "commit", "-qm", "a change")
    run_git(work, "push", "-q")


def configure(astra: Astra, text: str) -> None:
    (astra.root / "astra.toml").write_text(text)
    astra.json("config", "sign")


@dataclass
class RealFleet:
    daemon: Astra
    workers: dict[str, WorkerProcess]
    more: dict[str, Astra] = field(default_factory=dict[str, Astra])
    """Machines besides: other daemons."""

    def start(self, *labels: str) -> None:
        for label in labels or tuple(self.workers):
            self.workers[label].words = ("--instance", label)
            self.workers[label].start()
        until(lambda: set(labels) <= self.find_present(), seconds=PATIENCE)

    def find_present(self) -> set[str]:
        return {item["instance"] for item in self.show()["items"] if item["present"]}

    def show(self) -> dict[str, Any]:
        return self.daemon.json("releases", "--fleet")

    def releases(self) -> dict[str, str]:
        return {item["instance"]: item["release"] for item in self.show()["items"]}

    def states(self) -> dict[str, str]:
        return {item["instance"]: item["state"] for item in self.show()["items"]}

    def find_port(self, label: str) -> int:
        state = HolderClient(self.workers[label].astra.root).state()
        assert state is not None
        assert state.port is not None
        return state.port

    def list_records(self, type_: str) -> list[dict[str, Any]]:
        return self.daemon.json("ledger", "tail", "--type", type_, "--count", "100")["items"]

    def wait_until_over(self) -> dict[str, Any]:
        """Wait for the deployment under way; gives how it ended."""

        def find_closed() -> dict[str, Any] | None:
            rollout = self.show()["rollout"]
            shown = self.daemon.json("ledger", "tail", "--type", "deployment_requested")["items"]
            if rollout is None or rollout["phase"] != "over":
                return None
            is_newest = rollout["deployment"] == shown[-1]["data"]["deployment"]
            return rollout if is_newest else None

        return until(find_closed, seconds=PATIENCE)


@dataclass
class Balancer:
    """HAProxy before the instances, with health checks and a second try on another instance."""

    folder: Path
    ports: Sequence[int]
    port: int = 0
    _process: subprocess.Popen[bytes] | None = field(default=None, init=False)

    def start(self) -> None:
        program = shutil.which("haproxy", path="/usr/sbin:/usr/bin:/usr/local/sbin")
        assert program, "this test needs HAProxy: run `make setup`, or apt-get install haproxy"
        with socket.create_server(("127.0.0.1", 0)) as probe:
            self.port = probe.getsockname()[1]
        servers = "\n".join(
            f"  server s{number} 127.0.0.1:{port} check inter 200 fall 2 rise 1"
            for number, port in enumerate(self.ports)
        )
        text = f"""
global
  maxconn 200
defaults
  mode http
  timeout connect 10s
  timeout client 60s
  timeout server 60s
  option redispatch
  retries 3
  retry-on conn-failure empty-response
listen app
  bind 127.0.0.1:{self.port}
  option httpchk GET /healthz
{servers}
"""
        path = self.folder / "haproxy.cfg"
        path.write_text(text)
        self._process = subprocess.Popen(
            [program, "-db", "-f", str(path)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        until(self._is_answering, seconds=PATIENCE)

    def end(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()

    def _is_answering(self) -> bool:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)
        with contextlib.suppress(OSError, http.client.HTTPException):
            connection.request("GET", "/healthz", headers={"Connection": "close"})
            return connection.getresponse().status == http.client.OK
        return False


@contextlib.contextmanager
def balanced(folder: Path, ports: Sequence[int]) -> Generator[Balancer]:
    balancer = Balancer(folder, ports)
    try:
        balancer.start()
        yield balancer
    finally:
        balancer.end()
