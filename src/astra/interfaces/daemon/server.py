"""The daemon process: it owns the data root, serves the socket, and leaves when nobody needs it.

Whoever starts it in the background passes a descriptor to `--ready`; one line of JSON on it says
`{"ready": pid}`, or the error that kept it from starting.
"""

import argparse
import asyncio
import contextlib
import json
import logging
import os
import signal
import struct
import sys
import threading
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from socket import SO_PEERCRED, SOL_SOCKET, socket
from typing import Any

import uvicorn
from anyio import to_thread
from fastapi import FastAPI
from starlette.types import ASGIApp

from astra.adapters.supervisor.lending import take_back_listeners
from astra.bootstrap import PROJECTIONS
from astra.bootstrap.build import build_runtime
from astra.bootstrap.runtime import Runtime
from astra.bootstrap.sweeping import sweep, sweep_conversations
from astra.interfaces import socket_path
from astra.interfaces.daemon import app as api
from astra.interfaces.daemon import capacity, listening, logs, pages, session_routes
from astra.interfaces.daemon.activity import Activity
from astra.interfaces.daemon.connections import (
    BoundedProtocol,
    limit_arenas,
    raise_descriptor_limit,
)
from astra.interfaces.daemon.session_routes import Reception
from astra.interfaces.daemon.tcp import TcpProtocol
from astra.interfaces.mcp.first_answers import forget_standing
from astra.interfaces.mcp.listener import McpListener, leave_standing
from astra.trusted.door.front_door import FrontDoor, SocketDoor
from astra.trusted.door.leases import Leases
from astra.trusted.door.site import Site
from astra.trusted.files.data_root import DataRoot
from astra.trusted.kernel.errors import AstraError
from astra.trusted.policy import flags
from astra.trusted.sandbox.cgroups import take_delegation
from astra.trusted.settings import environment
from astra.trusted.settings.environment import Settings

Beside = Callable[[ASGIApp], tuple[ASGIApp, socket]]
_IDLE_CHECK_SECONDS = _TICK_SECONDS = 1.0
_KEEP_ALIVE_SECONDS = 75
"""Longer than clients keep an idle connection, so that none sends into one that closes."""
_log = logging.getLogger("astra.daemon")


def main(arguments: list[str] | None = None) -> int:
    options = _parse_arguments(arguments)
    ready = os.fdopen(options.ready, "w") if options.ready is not None else None
    raise_descriptor_limit()
    limit_arenas()
    logs.set_up(DataRoot(options.data_root).log)
    for library in ("uvicorn", "mcp"):
        logging.getLogger(library).setLevel(logging.WARNING)
    try:
        loopback = _open_loopback(options)
        runtime = open_runtime(options.data_root)
        if options.turn is not None:
            os.close(options.turn)
    except AstraError as error:
        _report_start(ready, {"error": error.as_dict(), "exit_code": error.exit_code})
        _log.error("%s; next: %s", error, error.next_step)
        return error.exit_code
    try:
        asyncio.run(
            serve(
                runtime,
                idle=not options.stay,
                ready=ready,
                loopback=loopback,
                app=options.app,
            )
        )
    finally:
        close(runtime)
    return 0


def _open_loopback(options: argparse.Namespace) -> "Loopback | None":
    if options.port is None:
        return None
    return Loopback.open(options.data_root, options.port, seen_at=options.seen_at)


def close(runtime: Runtime) -> None:
    """Let go of the data root, and of this process if a job runs that nobody can interrupt.

    Whoever owns the data root next goes on with that job, so it may not also run here.
    """
    runtime.close()
    _log.info("left")
    if runtime.engine.busy:
        logging.shutdown()
        os._exit(0)


def open_runtime(data_root: Path) -> Runtime:
    runtime = build_runtime(_load_settings(data_root), groups=take_delegation())
    if litter := sweep(runtime.root, PROJECTIONS).describe():
        _log.info("swept: %s", litter)
    if runtime.ledger.holds:  # records may be missing; the texts that they named stay
        return runtime
    if litter := sweep_conversations(runtime.root, runtime.chat.conversations):
        _log.info("swept: %s", litter)
    return runtime


def _load_settings(data_root: Path) -> Settings:
    environ = {**os.environ, "AGENT_DATA_ROOT": str(data_root)}
    return environment.load(environ, DataRoot(data_root).dotenv())


@dataclass(frozen=True, kw_only=True)
class Loopback:
    """The port that `astra up` serves, and the site that it is."""

    site: Site
    listeners: Sequence[socket]
    port: int

    @staticmethod
    def open(data_root: Path, port: int, *, seen_at: int | None = None) -> "Loopback":
        public = _load_settings(data_root).public_url
        listeners = take_back_listeners(DataRoot(data_root).run, port) or listening.listen(port)
        port = listeners[0].getsockname()[1]
        site = Site.public(public) if public else Site.loopback(seen_at or port)
        return Loopback(site=site, listeners=listeners, port=port)


async def serve(
    runtime: Runtime,
    *,
    idle: bool,
    ready: Any = None,
    beside: Beside | None = None,
    loopback: Loopback | None = None,
    app: bool = False,
) -> None:
    """Serve until asked to leave (or, with `idle`, until nobody has come for long enough).

    With `app`, the deployed app is started too. It outlives a daemon that is told to leave by
    SIGTERM, as a service manager does to restart it, and ends with one that a person interrupts.
    """
    activity = Activity()
    leaving = asyncio.Event()
    opened = runtime.root.path.stat()
    runtime.dashboard.on_demand = idle
    to_thread.current_default_thread_limiter().total_tokens = capacity.THREADS
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGTERM, leaving.set)
    loop.add_signal_handler(signal.SIGINT, _end_with_app, runtime, leaving)
    runtime.opened.callback(leave_standing, runtime)  # once nothing can change it any more
    forget_standing(runtime.root.run)
    mcp = McpListener(runtime, activity)
    async with mcp.open():
        reception = Reception(site=loopback.site if loopback else None)
        asgi = api.build(runtime, activity, leaving.set, mcp, reception=reception)
        servers = [
            _Server(SocketDoor(asgi), [socket_path.listen(runtime.root.run)], http=PeerProtocol)
        ]
        if beside:
            application, listener = beside(mcp)
            servers.append(_Server(application, [listener]))
        if loopback:
            door = front_door(asgi, runtime, loopback.site)
            servers.append(_Server(door, loopback.listeners, http=TcpProtocol))
            dashboard = runtime.dashboard
            dashboard.url, dashboard.port = loopback.site.origin, loopback.port
            runtime.listeners.offer(loopback.listeners)
        watching = [asyncio.create_task(_leave_without_root(runtime.root.path, opened, leaving))]
        if idle:
            watching.append(asyncio.create_task(_leave_when_idle(runtime, activity, leaving)))
        runtime.shelf.settle()
        runtime.deployer.prepare(app=app)
        runtime.machines.start()
        runtime.background.start()
        threading.Thread(target=runtime.sandbox.preflight, name="preflight", daemon=True).start()
        _log.info("serving %s", runtime.root.path)
        _log.info("%s", _describe_code_access(runtime.switches.flags()))
        _report_start(ready, {"ready": os.getpid()})
        _show_login_link(runtime, reception)
        await leaving.wait()
        activity.leaving = True
        runtime.listeners.close()
        asgi.state.events.stop()
        await asyncio.to_thread(runtime.chat.leave)
        (runtime.root.run / socket_path.NAME).unlink(missing_ok=True)
        for server in servers:
            server.leave()
    await asyncio.gather(*(server.serving for server in servers))
    for task in watching:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task


def front_door(app: FastAPI, runtime: Runtime, site: Site) -> FrontDoor:
    """Put the loopback door in front of the API."""
    leases = Leases(app.state.events, runtime.recognition.still_recognised)
    return FrontDoor(
        app, site, recognise=runtime.recognition.recognise, leases=leases, pages=pages.Pages(site)
    )


def _show_login_link(runtime: Runtime, reception: Reception) -> None:
    """Show the way in on the terminal, and nowhere else: a log is read by others, and later."""
    if reception.site is None:
        return
    _log.info("serving %s; for a way in: astra login", reception.site.origin)
    if sys.stdout.isatty():
        sys.stdout.write(
            f"\n  Open this once, within ten minutes:\n"
            f"  {session_routes.login_url(runtime, reception)}\n\n"
        )
        sys.stdout.flush()


def _end_with_app(runtime: Runtime, leaving: asyncio.Event) -> None:
    runtime.deployer.ends_app = True
    leaving.set()


async def _leave_when_idle(runtime: Runtime, activity: Activity, leaving: asyncio.Event) -> None:
    limit = runtime.settings.idle_minutes * 60
    while activity.idle_seconds() < limit or runtime.background.is_needed():  # noqa: ASYNC110 - idleness is a lack of events
        await asyncio.sleep(min(_IDLE_CHECK_SECONDS, limit))
    _log.info("nobody came for %s minutes", runtime.settings.idle_minutes)
    leaving.set()


async def _leave_without_root(root: Path, opened: os.stat_result, leaving: asyncio.Event) -> None:
    """Leave when the data root is moved or removed: nobody finds this daemon there any more."""
    while _is_at(root, opened):  # noqa: ASYNC110 - nothing tells of it
        await asyncio.sleep(_IDLE_CHECK_SECONDS)
    _log.error("%s was moved or removed while it was served", root)
    leaving.set()


def _is_at(path: Path, opened: os.stat_result) -> bool:
    try:
        return os.path.samestat(path.stat(), opened)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:  # a disk or a folder above that fails says nothing about where it is
        return True


class _Server(uvicorn.Server):
    """Uvicorn without its own signal handling: the daemon decides when to leave."""

    def __init__(self, app: ASGIApp, listeners: Sequence[socket], **options: Any) -> None:
        config = uvicorn.Config(
            app,
            lifespan="off",
            log_config=None,
            access_log=False,
            timeout_graceful_shutdown=5,
            timeout_keep_alive=_KEEP_ALIVE_SECONDS,
            proxy_headers=False,  # they never prove who somebody is
            server_header=False,
            ws="none",
            **options,
        )
        super().__init__(config)
        self._leaving = asyncio.Event()
        self.serving = asyncio.create_task(self.serve(sockets=list(listeners)))

    async def main_loop(self) -> None:
        """Keep the date of answers; uvicorn's own loop wakes ten times a second, to look."""
        while not await self.on_tick(0):
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._leaving.wait(), _TICK_SECONDS)

    def leave(self) -> None:
        self.should_exit = True
        self._leaving.set()

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        yield


class PeerProtocol(BoundedProtocol):
    """HTTP on a unix socket, with the peer's OS user and process as the client's address."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        peer: socket | None = transport.get_extra_info("socket")
        if peer is not None:
            pid, uid, _ = struct.unpack("3i", peer.getsockopt(SOL_SOCKET, SO_PEERCRED, 12))
            self.client = (f"user:{uid}", pid)


def _parse_arguments(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="astra-daemon", description=__doc__)
    parser.add_argument("--data-root", type=Path, required=True)
    parser.add_argument("--ready", type=int, help="descriptor to tell when ready")
    parser.add_argument("--port", type=int, help="also serve this loopback port; 0 picks one")
    parser.add_argument(
        "--seen-at", type=int, help="the loopback port that people ask, where a relay passes it on"
    )
    parser.add_argument("--turn", type=int, help="descriptor of the lock to let go once it owns")
    parser.add_argument("--stay", action="store_true", help="never leave for want of clients")
    parser.add_argument("--app", action="store_true", help="start the deployed app too")
    return parser.parse_args(arguments)


def _report_start(ready: Any, message: dict[str, Any]) -> None:
    if ready is not None:
        with contextlib.suppress(BrokenPipeError):
            ready.write(json.dumps(message, default=str) + "\n")
            ready.close()


def _describe_code_access(effective: Mapping[str, flags.Flag]) -> str:
    """Say in one line what the agent may do with the source, and which flags make it so."""
    names = ("PERSONA_MODE_ENABLED", "ASTRA_CODE_WRITE_ENABLED")
    reasons = [
        f"{name} is {'on' if effective[name].on else 'off'} by {effective[name].source}"
        f"{f' ({effective[name].note})' if effective[name].note else ''}"
        for name in names
    ]
    return f"code access: {flags.code_access(effective)}, because {' and '.join(reasons)}"


if __name__ == "__main__":
    sys.exit(main())
