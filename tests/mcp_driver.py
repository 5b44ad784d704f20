"""Real MCP clients in front of real processes: the SDK's own, and one that sends raw lines."""

import asyncio
import contextlib
import json
import subprocess
from collections.abc import AsyncIterator, Iterator
from typing import Any

import httpx2
from mcp import Client
from mcp.client.stdio import StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp_types import CallToolResult, ToolListChangedNotification

from driver import COMMAND, Astra
from http_driver import NO_AUTHORITIES
from warm_start import warm

ERAS = ("legacy", "auto")


def parameters(astra: Astra, *words: str, **environment: str) -> StdioServerParameters:
    command, *arguments = warm(COMMAND, "mcp", *words)
    env = {**astra.environment, **environment}
    return StdioServerParameters(command=command, args=arguments, env=env, cwd=astra.folder)


class Heard:
    """Counts the notifications that the list of tools has changed."""

    def __init__(self) -> None:
        self._changes: asyncio.Queue[None] = asyncio.Queue()

    async def __call__(self, message: Any) -> None:
        if isinstance(message, ToolListChangedNotification):
            self._changes.put_nowait(None)

    async def change(self) -> None:
        await asyncio.wait_for(self._changes.get(), 60)


@contextlib.asynccontextmanager
async def connected(
    astra: Astra, *words: str, mode: str = "legacy", **options: Any
) -> AsyncIterator[Client]:
    """Connect the SDK's client through `astra mcp`."""
    environment = options.pop("environment", {})
    async with Client(parameters(astra, *words, **environment), mode=mode, **options) as client:
        yield client


@contextlib.asynccontextmanager
async def over_http(
    url: str, *, mode: str = "legacy", headers: dict[str, str] | None = None, **options: Any
) -> AsyncIterator[Client]:
    async with httpx2.AsyncClient(headers=headers, timeout=60, verify=NO_AUTHORITIES) as http:
        transport = streamable_http_client(url, http_client=http)
        async with Client(transport, mode=mode, **options) as client:
            yield client


async def names(client: Client) -> list[str]:
    return [tool.name for tool in (await client.list_tools()).tools]


async def refusal(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    result = await client.call_tool(tool, arguments)
    assert isinstance(result, CallToolResult)
    assert result.is_error, result
    return result.structured_content


async def answer(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    result = await client.call_tool(tool, arguments)
    assert isinstance(result, CallToolResult)
    assert not result.is_error, result
    return result.structured_content


class RawClient:
    """Speaks lines to `astra mcp`, also ones that no decent client would send."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process = process
        self._next = 0

    def send(self, line: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()

    def read(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        return json.loads(self.process.stdout.readline())

    def read_answer(self) -> dict[str, Any]:
        """Give the next answer; notifications, which may come at any time, are dropped."""
        while "method" in (message := self.read()):
            pass
        return message

    def post(self, method: str, **params: Any) -> int:
        self._next += 1
        message = {"jsonrpc": "2.0", "id": self._next, "method": method, "params": params}
        self.send(json.dumps(message).encode())
        return self._next

    def ask(self, method: str, **params: Any) -> dict[str, Any]:
        """Send a request and give its answer; what else arrives until then is dropped."""
        identifier = self.post(method, **params)
        while (message := self.read_answer()).get("id") != identifier:
            pass
        return message

    def introduce(self, **client_info: str) -> dict[str, Any]:
        info = {"name": "raw", "version": "1", **client_info}
        version = "2025-11-25"
        said = self.ask("initialize", protocolVersion=version, capabilities={}, clientInfo=info)
        self.send(b'{"jsonrpc":"2.0","method":"notifications/initialized"}')
        return said["result"]

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        return self.ask("tools/call", name=tool, arguments=arguments)["result"]

    def tools(self) -> list[str]:
        return [tool["name"] for tool in self.ask("tools/list")["result"]["tools"]]


@contextlib.contextmanager
def raw(astra: Astra, *words: str, **environment: str) -> Iterator[RawClient]:
    with subprocess.Popen(
        warm(COMMAND, "mcp", *words),
        env={**astra.environment, **environment},
        cwd=astra.folder,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as process:
        try:
            yield RawClient(process)
        finally:
            assert process.stdin is not None
            with contextlib.suppress(BrokenPipeError):
                process.stdin.close()
            process.wait(timeout=240)


@contextlib.contextmanager
def loopback(astra: Astra) -> Iterator[dict[str, str]]:
    """Run the daemon that also serves MCP on a port; gives its url and token."""
    command = warm("astra.interfaces.mcp.http", "--data-root", astra.root)
    with subprocess.Popen(
        command, env=astra.environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        assert process.stdout is not None
        try:
            yield json.loads(process.stdout.readline())
        finally:
            process.terminate()
            process.wait(timeout=240)


def bearer(where: dict[str, str]) -> dict[str, str]:
    return {"Authorization": f"Bearer {where['token']}"}
