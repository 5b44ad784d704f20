"""Which servers lose requests when a release replaces another, and which requests.

    make setup && .venv/bin/python benchmarks/servers.py [NAME …]

Each server is installed from the package registry into a throwaway folder and run below the real
holder, in real boxes. Releases replace each other while clients ask without a pause: some with a
fresh connection each time, some on kept connections. It prints a table; docs/howto/servers.md has
one of them. Nothing here is a test: what a server does on SIGTERM is its own.
"""

import subprocess
import sys
import tempfile
import time
import venv
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from deploying import Stage, Traffic, until

ROUNDS = 5
ASGI = """
import json, os
BODY = json.dumps({"release": os.environ["ASTRA_RELEASE"]}).encode()
HEAD = [(b"content-type", b"application/json"), (b"content-length", str(len(BODY)).encode())]

async def app(scope, receive, send):
    if scope["type"] == "lifespan":
        while True:
            message = await receive()
            await send({"type": message["type"] + ".complete"})
            if message["type"] == "lifespan.shutdown":
                return
    await send({"type": "http.response.start", "status": 200, "headers": HEAD})
    await send({"type": "http.response.body", "body": BODY})
"""
WSGI = """
import json, os
BODY = json.dumps({"release": os.environ["ASTRA_RELEASE"]}).encode()

def app(environ, start_response):
    start_response("200 OK", [("Content-Length", str(len(BODY)))])
    return [BODY]
"""
NODE = """
const http = require("http");
const body = JSON.stringify({ release: process.env.ASTRA_RELEASE });
const server = http.createServer((_, answer) => {
  if (leaving) answer.setHeader("Connection", "close");
  answer.end(body);
});
let leaving = false;
process.on("SIGTERM", () => { leaving = true; server.close(() => process.exit(0)); });
server.listen({ fd: 3 });
"""
EXPRESS = """
const app = require("express")();
const body = { release: process.env.ASTRA_RELEASE };
let leaving = false;
app.use((_, answer, next) => { if (leaving) answer.set("Connection", "close"); next(); });
app.get("/healthz", (_, answer) => answer.json(body));
const server = app.listen({ fd: 3 });
process.on("SIGTERM", () => { leaving = true; server.close(() => process.exit(0)); });
"""
WORKER = """
import os, signal, time
leaving = []
signal.signal(signal.SIGTERM, lambda *_: leaving.append(True))
with open(os.environ["ASTRA_STATE"] + "/jobs", "a", buffering=1) as jobs:
    number = 0
    while not leaving:
        number += 1
        jobs.write(f"begin {os.getpid()} {number}\\n")
        time.sleep(0.1)
        jobs.write(f"end {os.getpid()} {number}\\n")
"""
WORKER_SECONDS = 1.0


@dataclass(frozen=True, kw_only=True)
class Server:
    name: str
    app: str
    arguments: tuple[str, ...]
    package: str = ""
    modules: str = ""
    """What npm installs into the release."""
    network: str | tuple[str, ...] = "host"
    """Without the host's network, the holder relays to a port inside of the box."""


SERVERS = (
    Server(
        name="uvicorn",
        package="uvicorn",
        app=ASGI,
        arguments=("-m", "uvicorn", "app:app", "--fd", "{fd}"),
    ),
    Server(
        name="gunicorn sync",
        package="gunicorn",
        app=WSGI,
        arguments=("-m", "gunicorn", "app:app"),
    ),
    Server(
        name="gunicorn gthread",
        package="gunicorn",
        app=WSGI,
        arguments=("-m", "gunicorn", "app:app", "--threads", "4"),
    ),
    Server(
        name="hypercorn",
        package="hypercorn",
        app=ASGI,
        arguments=("-m", "hypercorn", "app:app", "-b", "fd://{fd}"),
    ),
    Server(
        name="granian",
        package="granian",
        app=ASGI,
        arguments=("-m", "granian", "--interface", "asgi", "--port", "{port}", "app:app"),
        network=(),
    ),
    Server(name="node http", app=NODE, arguments=("app.py",)),
    Server(name="express", app=EXPRESS, arguments=("app.py",), modules="express"),
)
WORKER_NAME = "a worker"


def main(names: list[str]) -> None:
    print("| server | answered | lost | which |\n| --- | --- | --- | --- |", flush=True)
    for server in SERVERS:
        if not names or server.name in names:
            with tempfile.TemporaryDirectory() as folder:
                print(_measure(server, Path(folder)), flush=True)
    if not names or WORKER_NAME in names:
        with tempfile.TemporaryDirectory() as folder:
            print(_measure_worker(Path(folder)), flush=True)


def _measure(server: Server, folder: Path) -> str:
    program = _install(server, folder / "venv")
    stage = Stage(folder)
    if server.modules:
        npm = ["npm", "install", "--silent", "--no-audit", "--no-fund", server.modules]
        subprocess.run(npm, cwd=stage.repository, check=True)
    fields = {"command": [program, *server.arguments], "network": server.network}
    fields |= {"drain_seconds": 10}
    try:
        stage.serve(stage.spec(server.app, **fields))
        state = stage.holder.state()
        assert state and state.port  # noqa: PT018 - it was just put into service
        with Traffic(state.port) as traffic:
            for _ in range(ROUNDS):
                traffic.more(30)
                stage.serve(stage.spec(server.app, **fields))
            traffic.more(30)
    finally:
        stage.holder.close()
    kinds = ", ".join(sorted({text.partition("(")[0] for text in traffic.lost})) or "none"
    return f"| {server.name} | {traffic.answered} | {len(traffic.lost)} | {kinds} |"


def _measure_worker(folder: Path) -> str:
    """Replace a program without a port while it works; a job is lost that began and did not end."""
    stage = Stage(folder)
    try:
        for _ in range(ROUNDS + 1):
            spec = stage.spec(WORKER, listens=False, health_path="", drain_seconds=10)
            instance = stage.holder.launch(spec)
            until(lambda: stage.running(instance).state == "running")  # noqa: B023 - called at once
            if before := stage.holder.switch(instance):
                stage.holder.retire(before)
            time.sleep(WORKER_SECONDS)
        stage.holder.stop(instance)
    finally:
        stage.holder.close()
    lines = (stage.root / "app-state" / "jobs").read_text().splitlines()
    begun = {line.partition(" ")[2] for line in lines if line.startswith("begin")}
    ended = {line.partition(" ")[2] for line in lines if line.startswith("end")}
    lost = len(begun - ended)
    return f"| {WORKER_NAME} | {len(ended)} jobs | {lost} | {'jobs' if lost else 'none'} |"


def _install(server: Server, folder: Path) -> str:
    if not server.package:
        return "/usr/bin/node"
    venv.create(folder, with_pip=True, symlinks=True)
    program = str(folder / "bin" / "python")
    subprocess.run([program, "-m", "pip", "install", "-q", server.package], check=True)
    return program


if __name__ == "__main__":
    main(sys.argv[1:])
