"""P8: a tier-0 tool over MCP, and P13: how fast `astra mcp` is there, against a bare SDK server.

Astra answers `astra_health` with its gate, its record and (on stdio) its relay in between; the peer
answers a constant. Both are called in turn, a few calls at a time, by the same client in the same
process, so that a busy machine slows both.
"""

import asyncio
import contextlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import httpx2
from mcp import Client
from mcp.client.stdio import StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

import measuring

HERE = Path(__file__).parent
ROUNDS, CALLS, STARTS = 30, 20, 9
LATENCY_TARGET, START_TARGET = 1.5, 1.0
PYTHON = sys.executable


def main() -> None:
    quick = measuring.is_quick()
    rounds, repeated, calls = (2, 1, 2) if quick else (ROUNDS, STARTS, CALLS)
    with tempfile.TemporaryDirectory(prefix="astra-p8-") as folder:
        environment = make_root(Path(folder))
        with (
            serving(
                [
                    PYTHON,
                    "-m",
                    "astra.interfaces.mcp.http",
                    "--data-root",
                    environment["AGENT_DATA_ROOT"],
                ],
                environment,
            ) as astra,
            serving([PYTHON, str(HERE / "bare_mcp_server.py"), "http"], environment) as bare,
        ):
            asyncio.run(
                measure(environment, astra, bare, rounds=rounds, repeated=repeated, calls=calls)
            )


async def measure(
    environment: dict[str, str],
    astra: dict[str, str],
    bare: dict[str, str],
    *,
    rounds: int,
    repeated: int,
    calls: int,
) -> None:
    relay = StdioServerParameters(
        command=PYTHON, args=["-m", "astra.interfaces.cli.main", "mcp"], env=environment
    )
    server = StdioServerParameters(
        command=PYTHON, args=[str(HERE / "bare_mcp_server.py")], env=environment
    )
    for era, mode in (("2025-11-25", "legacy"), ("2026-07-28", "auto")):
        async with Client(relay, mode=mode) as ours, Client(server, mode=mode) as peer:
            taken = await latencies(ours, peer, rounds, calls)
            report(f"P8 tier-0 call, stdio {era} (ms)", *taken)
        async with over_http(astra, mode) as ours, over_http(bare, mode) as peer:
            taken = await latencies(ours, peer, rounds, calls)
            report(f"P8 tier-0 call, HTTP {era} (ms)", *taken)
    report("P13 astra mcp start (ms)", *await starts(relay, server, repeated), START_TARGET)


async def latencies(ours: Client, peer: Client, rounds: int, calls: int) -> tuple[float, float]:
    sides: list[tuple[Client, str, list[float]]] = [
        (ours, "astra_health", []),
        (peer, "health", []),
    ]
    for number in range(rounds):
        for client, tool, taken in sides:
            for _ in range(calls):
                started = time.perf_counter()
                result = await client.call_tool(tool, {})
                elapsed = time.perf_counter() - started
                assert not result.is_error, result
                if number:
                    taken.append(elapsed)
    return milliseconds(sides[0][2]), milliseconds(sides[1][2])


async def starts(
    relay: StdioServerParameters, server: StdioServerParameters, repeated: int
) -> tuple[float, float]:
    taken: tuple[list[float], list[float]] = ([], [])
    for _ in range(repeated):
        for side, parameters in enumerate((relay, server)):
            started = time.perf_counter()
            async with Client(parameters, mode="legacy"):
                taken[side].append(time.perf_counter() - started)
    return milliseconds(taken[0]), milliseconds(taken[1])


@contextlib.asynccontextmanager
async def over_http(where: dict[str, str], mode: str) -> AsyncIterator[Client]:
    headers = {"Authorization": f"Bearer {where['token']}"} if "token" in where else {}
    async with httpx2.AsyncClient(headers=headers, timeout=60) as http:
        transport = streamable_http_client(where["url"], http_client=http)
        async with Client(transport, mode=mode) as client:
            yield client


@contextlib.contextmanager
def serving(command: list[str], environment: dict[str, str]) -> Iterator[dict[str, str]]:
    """Run a server that says in one line of JSON where it is."""
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        assert process.stdout is not None
        try:
            yield json.loads(process.stdout.readline())
        finally:
            process.terminate()


def make_root(folder: Path) -> dict[str, str]:
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "XDG_CONFIG_HOME": str(folder / "config"),
        "AGENT_DATA_ROOT": str(folder / "data"),
        "ASTRA_OPERATOR_PASSPHRASE": "benchmark",
    }
    flag = ["flags", "set", "ASTRA_CODE_WRITE_ENABLED", "on"]
    for words in (["init", "--throwaway"], flag, ["down"]):
        command = [PYTHON, "-m", "astra.interfaces.cli.main", *words]
        subprocess.run(command, env=environment, check=True, capture_output=True, cwd=folder)
    return environment


def milliseconds(taken: list[float]) -> float:
    return statistics.median(taken) * 1000


def report(name: str, value: float, reference: float, target: float = LATENCY_TARGET) -> None:
    measuring.report(name, value, reference, measuring.at_most_times(target))


if __name__ == "__main__":
    main()
