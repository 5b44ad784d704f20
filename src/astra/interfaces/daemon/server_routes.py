"""Other MCP servers over HTTP: look freely, accept their tools with a signature."""

from typing import Annotated, Any

from fastapi import Body, FastAPI

from astra.bootstrap.runtime import Runtime
from astra.interfaces.daemon.models import Page, Shape
from astra.tools.servers import name_tool
from astra.trusted.kernel.errors import NotFound
from astra.trusted.policy.authority import Signed
from astra.trusted.servers import classification
from astra.trusted.servers.acceptance import Standing, ToolState, build_content
from astra.trusted.settings.server_settings import McpServer


class ServerShown(Shape):
    name: str
    where: str
    running: bool
    trouble: str
    looked_at: bool
    usable: int
    resting: int
    calls_per_day: int


class ServerToolShown(Shape):
    name: str
    imported_as: str
    tier: int
    state: str
    description: str


class ServerDetails(ServerShown):
    tools: list[ServerToolShown]
    read_paths: list[str]
    write_paths: list[str]
    network: list[str]
    secrets: list[str]


class ServerContent(Shape):
    """What the operator signs to accept the tools of a server, as it lists them now."""

    server: str
    tools: list[dict[str, str]]


class ServerAccepted(Shape):
    server: str
    sequence: int
    usable: int


def add(app: FastAPI, runtime: Runtime) -> None:
    @app.get("/api/servers", response_model=Page[ServerShown])
    def list_servers() -> dict[str, Any]:
        """List the servers of the signed configuration, and how each stands."""
        entries = runtime.servers.servers().servers
        return {"items": [describe_server(runtime, entry) for entry in entries], "next": None}

    @app.get("/api/servers/{name}", response_model=ServerDetails)
    def show_server(name: str) -> dict[str, Any]:
        return describe_details(runtime, find_entry(runtime, name))

    @app.post("/api/servers/{name}/look", response_model=ServerContent)
    def look_at_server(name: str) -> dict[str, Any]:
        """Look at its tool list now, starting it where it does not run; gives what is signed."""
        find_entry(runtime, name)
        return build_content(name, runtime.servers.look(name))

    @app.post("/api/servers/{name}/accept", response_model=ServerAccepted)
    def accept_tools(
        name: str,
        content: Annotated[ServerContent, Body()],
        authority: Annotated[dict[str, Any], Body()],
    ) -> dict[str, Any]:
        find_entry(runtime, name)
        if content.server != name:
            raise NotFound(f"this is signed for {content.server[:50]!a}", next_step="sign again")
        record, standings = runtime.servers.book.accept(
            content.model_dump(), Signed.read(authority), now=runtime.clock.now()
        )
        usable = sum(standing.state is ToolState.USABLE for standing in standings)
        return {"server": name, "sequence": record.sequence, "usable": usable}


def find_entry(runtime: Runtime, name: str) -> McpServer:
    entry = runtime.servers.servers().find(name)
    if entry is None:
        raise NotFound(
            f"the signed configuration names no server {name[:50]!a}",
            next_step="astra servers list; a new one is signed with astra config sign",
        )
    return entry


def describe_server(runtime: Runtime, entry: McpServer) -> dict[str, Any]:
    standings = runtime.servers.list_standings(entry.name)
    usable = sum(standing.state is ToolState.USABLE for standing in standings)
    return {
        "name": entry.name,
        "where": entry.url or entry.command,
        "running": runtime.servers.is_running(entry.name),
        "trouble": runtime.servers.find_trouble(entry.name),
        "looked_at": runtime.servers.book.read_listed(entry.name) is not None,
        "usable": usable,
        "resting": len(standings) - usable,
        "calls_per_day": entry.calls_per_day,
    }


def describe_details(runtime: Runtime, entry: McpServer) -> dict[str, Any]:
    standings = runtime.servers.list_standings(entry.name)
    return {
        **describe_server(runtime, entry),
        "tools": [_describe_tool(entry, standing) for standing in standings],
        "read_paths": list(entry.read_paths),
        "write_paths": list(entry.write_paths),
        "network": list(entry.network),
        "secrets": list(entry.secrets),
    }


def _describe_tool(entry: McpServer, standing: Standing) -> dict[str, Any]:
    return {
        "name": standing.name,
        "imported_as": name_tool(entry.name, standing.name),
        "tier": int(classification.find_tier(entry, standing.name)),
        "state": str(standing.state),
        "description": standing.accepted.description if standing.accepted else "",
    }
