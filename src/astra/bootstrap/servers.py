"""Putting other MCP servers together: boxes or the egress proxy for them, and who keeps them."""

from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from pathlib import Path

from astra.adapters.boxes.boxes_only import BoxesOnly
from astra.adapters.boxes.sandbox import (
    Sandbox,
    build_egress_event,
    build_opened_event,
    name_endpoint,
)
from astra.adapters.servers.boxed_connection import BoxedConnection
from astra.adapters.servers.hosting import ServerHost, split_command
from astra.adapters.servers.http_connection import HttpConnection
from astra.adapters.servers.messages import Connection
from astra.bootstrap.base import Base
from astra.flow import Lane, lanes
from astra.trusted.egress.egress_proxy import Attempt, EgressProxy
from astra.trusted.kernel.ids import random_id
from astra.trusted.policy import domains
from astra.trusted.policy.call import Call
from astra.trusted.policy.manifest import MIB, Limits, Manifest
from astra.trusted.sandbox import toolchain
from astra.trusted.sandbox.ports import SCRATCH, BoxRequest
from astra.trusted.servers import classification
from astra.trusted.servers.signed_entries import SignedServers
from astra.trusted.settings.server_settings import McpServer

_LONGEST_LIFE, _PROCESSOR_SECONDS, _MOST_CONNECTIONS = 86_400, 36_000, 10_000
"""Of one start; a server that has used them up is started anew by the next call."""


def make_servers(base: Base, sandbox: Sandbox, opened: ExitStack) -> ServerHost:
    def connect(entry: McpServer, story: str) -> Connection:
        if entry.url:
            return connect_over_http(entry, sandbox, story)
        return start_in_box(entry, sandbox, story)

    host = ServerHost(
        ledger=base.ledger,
        servers=SignedServers(base.ledger).read,
        connect=connect,
        is_stopped=base.stops.is_stopped,
    )
    opened.callback(host.close)
    return host


def make_servers_lane(base: Base, host: ServerHost) -> Lane:
    return lanes.servers_lane(
        list_due=host.list_due,
        look=lambda name: _ignore_tools(host, name),
        settle=host.settle,
        closed=lambda: "all work is stopped" if base.stops.is_stopped() else base.why_held(),
    )


def _ignore_tools(host: ServerHost, name: str) -> None:
    host.look(name)


def make_server_grants(base: Base) -> Callable[[Call], str]:
    """Give what names the part of a call that lies outside its server's signed entry."""
    signed_servers = SignedServers(base.ledger)
    return lambda call: classification.find_outside(
        signed_servers.find(call.server), call.footprint
    )


def start_in_box(entry: McpServer, sandbox: Sandbox, story: str) -> Connection:
    """Start a server's command in a box of its own; without a sandbox it does not start."""
    command = split_command(entry)

    def request(connection: BoxedConnection) -> BoxRequest:
        return BoxRequest(
            command=command,
            actor=f"server:{entry.name}",
            correlation=story,
            manifest=make_manifest(entry),
            workdir=_choose_workdir(entry),
            programs=_find_programs(command),
            shown=_find_signed_git(entry),
            secrets=entry.secrets,
            on_output=connection.on_output,
            on_started=connection.on_started,
            label=f"server-{entry.name}-{random_id('start')}",
        )

    connection = BoxedConnection(entry.name, BoxesOnly(sandbox), request)
    connection.await_start()
    return connection


def make_manifest(entry: McpServer) -> Manifest:
    """Write out what the box of a server may touch: its signed entry, and nothing else."""
    return Manifest(
        read_paths=entry.read_paths,
        write_paths=entry.write_paths,
        network_domains=entry.network,
        environment={**name_endpoint(entry.secrets), **dict(entry.env)},
        limits=Limits(
            wall_seconds=_LONGEST_LIFE,
            cpu_seconds=_PROCESSOR_SECONDS,
            memory_bytes=entry.memory_mb * MIB,
            connections=_MOST_CONNECTIONS,
        ),
    )


def connect_over_http(entry: McpServer, sandbox: Sandbox, story: str) -> Connection:
    """Reach a server's address through a proxy that grants its one host; its name was signed."""
    actor = f"server:{entry.name}"

    def record(attempt: Attempt) -> None:
        event = build_egress_event(attempt, actor=actor, correlation=story)
        sandbox.ledger.append([event], lazy=True)

    def announce(host: str, port: int) -> None:
        event = build_opened_event(host, port, actor=actor, correlation=story)
        sandbox.ledger.append([event], lazy=True)

    grant = domains.parse_grant(entry.host)
    internet = sandbox.reach_inner(grant.host)
    proxy = EgressProxy(
        grants=(grant,),
        record=record,
        announce=announce,
        internet=internet,
        secrets=sandbox.find_secrets(entry.secrets),
        note_secret=partial(sandbox.note_secret, actor=actor, correlation=story),
    )
    return HttpConnection(
        entry.name, entry.url, proxy, trust=internet.trust, has_secrets=bool(entry.secrets)
    )


def _find_programs(command: tuple[str, ...]) -> tuple[Path, ...]:
    """Name the programs of a command that lie outside the system's folders."""
    program = Path(command[0])
    named_programs = toolchain.find_named_programs(command)
    return tuple(dict.fromkeys((*((program,) if program.is_absolute() else ()), *named_programs)))


def _find_signed_git(entry: McpServer) -> tuple[str, ...]:
    """Name the git directories granted by name; inside other grants they are hidden."""
    granted = (*entry.read_paths, *entry.write_paths)
    return tuple(path for path in granted if Path(path).name == ".git")


def _choose_workdir(entry: McpServer) -> str:
    folders = [path for path in entry.write_paths if Path(path).is_dir()]
    return folders[0] if folders else SCRATCH
