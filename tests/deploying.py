"""A stage for deployments: a data root's folders, a git repository of small apps, a real holder."""

import http.client
import json
import subprocess
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from astra.adapters.release_folders import ReleaseFolders
from astra.adapters.supervisor.client import HolderClient
from astra.deployments.ports import AppSpec

EXAMPLE = Path(__file__).parents[1] / "examples" / "agent_server"
PYTHON = "/usr/bin/python3"
LONGEST_PAUSE = 0.3
BETWEEN_REQUESTS = 0.01

SERVER = """
import http.server, json, os, socket, sys, time

class Answer(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        body = self.body()
        self.send_response(self.status())
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    def status(self):
        return 200
    def body(self):
        return json.dumps({"release": os.environ["ASTRA_RELEASE"], "path": self.path}).encode()
    def log_message(self, *words):
        pass

class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    def __init__(self, answer=Answer):
        super().__init__(("127.0.0.1", 0), answer, bind_and_activate=False)
        if os.environ.get("LISTEN_FDS"):
            self.socket = socket.socket(fileno=3)
        else:
            self.socket = socket.create_server(("127.0.0.1", int(os.environ["PORT"])))
"""
PLAIN = SERVER + "\nServer().serve_forever()\n"


def until(
    condition: Callable[[], Any],
    *,
    seconds: float = 120.0,
    otherwise: Callable[[], Any] = lambda: "it never came",
) -> Any:
    """Wait for something to become true; how long it takes is not what is tested.

    A condition that asks a command costs a process each time: what takes long to ask is asked less
    often, or the question keeps a processor from what it waits for.
    """
    deadline = time.monotonic() + seconds
    began = time.monotonic()
    while not (found := condition()):
        now = time.monotonic()
        assert now < deadline, otherwise()
        time.sleep(min(max(0.02, 2 * (now - began)), LONGEST_PAUSE))
        began = time.monotonic()
    return found


@dataclass
class Stage:
    folder: Path
    _count: int = 0

    def __post_init__(self) -> None:
        for name in ("var/run", "var/secrets", "logs", "deployments"):
            (self.root / name).mkdir(parents=True)
        self.repository = self.folder / "repository"
        self.git("init", "-q", "-b", "main", self.repository, where=self.folder)
        self.holder = HolderClient(self.root)
        self.releases = ReleaseFolders(
            base=self.root / "deployments",
            repository=self.repository / ".git",
            steps=lambda: (),
            run=lambda *_words: 1 / 0,  # type: ignore[arg-type]
        )

    @property
    def root(self) -> Path:
        return self.folder / "data"

    def git(self, *words: str | Path, where: Path | None = None) -> str:
        identity = ["-c", "user.name=Someone", "-c", "user.email=someone@localhost"]
        done = subprocess.run(
            ["git", *identity, *map(str, words)],
            cwd=where or self.repository,
            check=True,
            capture_output=True,
            text=True,
        )
        return done.stdout.strip()

    def commit(self, files: Mapping[str, str]) -> str:
        for name, text in files.items():
            path = self.repository / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", "a version")
        return self.git("rev-parse", "HEAD")

    def spec(self, app: str = PLAIN, **fields: Any) -> AppSpec:
        """Build a release of a one-file app and describe how it is run."""
        commit = self.commit({"app.py": app})
        self._count += 1
        release = f"202603{self._count:02}T120000Z-{commit[:12]}"
        built = self.releases.build(release, commit, correlation="cor_00000000")
        described = AppSpec(
            release=release,
            folder=built.folder,
            digest=built.digest,
            command=(PYTHON, "app.py"),
            port=0,
            network="host",
            state=str(self.root / "app-state"),
        )
        return AppSpec.read({**described.as_dict(), **fields})

    def healthy(self, spec: AppSpec, **options: Any) -> str:
        instance = self.holder.launch(spec)
        until(lambda: self.holder.check(instance, "/healthz", seconds=5).ok, **options)
        return instance

    def serve(self, spec: AppSpec) -> str:
        """Put a release into service, as a deployment does; give its instance."""
        instance = self.healthy(spec)
        before = self.holder.switch(instance)
        if before:
            self.holder.retire(before)
        return instance

    def running(self, instance: str) -> Any:
        state = self.holder.state()
        return state and state.find_instance(instance)

    @property
    def port(self) -> int:
        state = self.holder.state()
        assert state is not None
        assert state.port is not None
        return state.port

    def get(self, path: str = "/") -> Any:
        return fetch(self.port, path)


def fetch(port: int, path: str = "/") -> Any:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    try:
        connection.request("GET", path, headers={"Connection": "close"})
        answer = connection.getresponse()
        return json.loads(answer.read())
    finally:
        connection.close()


@dataclass
class Traffic:
    """Clients that never stop asking: some with fresh connections, some with kept ones.

    Each draws breath between two requests: without it four of them take all that a small machine
    has, and what they watch takes four times as long.
    """

    port: int
    path: str = "/healthz"
    clients: int = 2
    answered: int = 0
    lost: list[str] = field(default_factory=list[str])
    releases: set[str] = field(default_factory=set[str])

    def __enter__(self) -> Self:
        self._over = threading.Event()
        kinds = (self._fresh, self._kept)
        self._threads = [
            threading.Thread(target=kind) for kind in kinds for _ in range(self.clients)
        ]
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self._over.set()
        for thread in self._threads:
            thread.join()

    def more(self, count: int = 50) -> None:
        """Wait until so many more requests were answered."""
        before = self.answered
        until(lambda: self.answered >= before + count or self.lost)

    def _fresh(self) -> None:
        while not self._over.wait(BETWEEN_REQUESTS):
            connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
            self._ask(connection, {"Connection": "close"})
            connection.close()

    def _kept(self) -> None:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        while not self._over.wait(BETWEEN_REQUESTS):
            self._ask(connection, {})
        connection.close()

    def _ask(self, connection: http.client.HTTPConnection, headers: dict[str, str]) -> None:
        try:
            connection.request("GET", self.path, headers=headers)
            answer = connection.getresponse()
            body = json.loads(answer.read())
            if answer.status != http.client.OK:
                self.lost.append(f"status {answer.status}")
            self.releases.add(body["release"])
            self.answered += 1
        except (OSError, http.client.HTTPException, ValueError) as error:
            self.lost.append(repr(error))
            connection.close()
