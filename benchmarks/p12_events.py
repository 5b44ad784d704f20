"""P12: the event stream to a thousand clients, against a bare ASGI stream on the same server.

Astra reads the ledger once, writes each record once, and sends it to everybody, through its door;
the bare application sends the same bytes from memory to everybody, one record a message, or joined
with what waits as Astra does. All run in this process's
children under the same HTTP server, and the same clients read them in turn. What counts is
deliveries a second: clients times records, over the time until the last client has the last one.
"""

import asyncio
import contextlib
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import measuring

CLIENTS, RECORDS, ROUNDS = 1_000, 100, 3
TARGET = 0.5
PYTHON = sys.executable
MARK = b"\ndata: "


def main() -> None:
    if len(sys.argv) > 2 and sys.argv[1] == "serve":
        asyncio.run(serve(sys.argv[2], Path(sys.argv[3])))
        return
    quick = measuring.is_quick()
    clients, records, rounds = (20, 20, 1) if quick else (CLIENTS, RECORDS, ROUNDS)
    allow_many_files(clients)
    with tempfile.TemporaryDirectory(prefix="astra-p12-") as name:
        folder = Path(name)
        with (
            served("astra", folder) as ours,
            served("bare", folder) as plain,
            served("joining", folder) as joining,
        ):
            best = asyncio.run(measure([ours, plain, joining], clients, records, rounds))
    for what, reference in (("a bare stream", best[1]), ("one that joins what waits", best[2])):
        name = f"P12 events to {clients} clients, against {what} (deliveries/s)"
        measuring.report(name, best[0], reference, measuring.at_least(TARGET))


async def measure(
    servers: list[dict[str, Any]], clients: int, records: int, rounds: int
) -> list[float]:
    """Let them take turns; the best round of each counts."""
    best = [0.0] * len(servers)
    async with contextlib.AsyncExitStack() as opened:
        listeners = [
            await opened.enter_async_context(listening(where, clients)) for where in servers
        ]
        for _ in range(rounds):
            for side, (where, readers) in enumerate(zip(servers, listeners, strict=True)):
                seconds = await one_round(where, readers, records)
                best[side] = max(best[side], clients * records / seconds)
    return best


async def one_round(where: dict[str, Any], readers: list[Any], records: int) -> float:
    """Have the server send so many records; give the seconds until everybody has them all."""
    started = time.perf_counter()
    hearing = [asyncio.create_task(hear(reader, records)) for reader in readers]
    await tell(where, records)
    await asyncio.gather(*hearing)
    return time.perf_counter() - started


async def hear(reader: asyncio.StreamReader, records: int) -> None:
    rest = b""
    while records > 0:
        data = await reader.read(1 << 16)
        assert data, "the stream ended"
        records -= (rest + data).count(MARK)
        rest = (rest + data)[1 - len(MARK) :]


async def tell(where: dict[str, Any], records: int) -> None:
    reader, writer = await asyncio.open_unix_connection(where["control"])
    writer.write(f"{records}\n".encode())
    await reader.readline()
    writer.close()


@contextlib.asynccontextmanager
async def listening(where: dict[str, Any], clients: int) -> AsyncIterator[list[Any]]:
    opened: list[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = []
    for _ in range(clients):
        reader, writer = await asyncio.open_connection("127.0.0.1", where["port"])
        writer.write(
            f"GET /api/events HTTP/1.1\r\nHost: localhost:{where['port']}\r\n"
            f"Authorization: Bearer {where['secret']}\r\n\r\n".encode()
        )
        answer = await reader.readuntil(b"following")
        assert b" 200 " in answer.splitlines()[0], answer
        opened.append((reader, writer))
    yield [reader for reader, _ in opened]
    for _, writer in opened:
        writer.close()


# The two servers


@contextlib.contextmanager
def served(kind: str, folder: Path) -> Iterator[dict[str, Any]]:
    command = [PYTHON, __file__, "serve", kind, str(folder)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield json.loads(process.stdout.readline())
        finally:
            process.kill()


async def serve(kind: str, folder: Path) -> None:
    import uvicorn

    from astra.interfaces.daemon import listening as sockets
    from astra.interfaces.daemon.tcp import TcpProtocol

    allow_many_files(CLIENTS)
    listeners = sockets.listen(0)
    port = listeners[0].getsockname()[1]
    make = {"astra": astra, "bare": bare, "joining": partial(bare, joining=True)}[kind]
    app, send, secret = make(folder, port)
    control = str(folder / f"{kind}.sock")
    await asyncio.start_unix_server(lambda *streams: controlled(send, *streams), control)
    config = uvicorn.Config(app, http=TcpProtocol, lifespan="off", log_config=None, ws="none")
    serving = asyncio.create_task(uvicorn.Server(config).serve(sockets=list(listeners)))
    print(json.dumps({"port": port, "control": control, "secret": secret}), flush=True)
    await serving


async def controlled(send: Any, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    count = int(await reader.readline())
    await send(count)
    writer.write(b"sent\n")
    writer.close()


def astra(folder: Path, port: int) -> tuple[Any, Any, str]:
    """Astra's own door over a real ledger, to which records come one by one."""
    from types import SimpleNamespace

    from starlette.applications import Starlette
    from starlette.routing import Route

    from astra.bootstrap import PROJECTIONS
    from astra.interfaces.daemon.events import Events, EventStream
    from astra.trusted.door.front_door import FrontDoor
    from astra.trusted.door.leases import Leases
    from astra.trusted.door.site import Site
    from astra.trusted.file_ledger.ledger import FileLedger
    from astra.trusted.policy.access import Principal
    from astra.trusted.policy.call import Role

    ledger = FileLedger(folder / "var", projections=PROJECTIONS)
    events = Events(ledger)
    who = Principal(id="ses_1", role=Role.VIEWER, by="link", expires_at="9")

    def follow(_request: Any) -> EventStream:
        return EventStream(events, ledger.head().sequence)

    app = Starlette(routes=[Route("/api/events", follow)])
    door = FrontDoor(
        app,
        Site.loopback(port),
        recognise=lambda _secret: who,
        leases=Leases(events, lambda _who: True),
        pages=SimpleNamespace(),  # type: ignore[arg-type]
    )

    def append(count: int) -> None:
        for _ in range(count):
            ledger.append([sample()])

    async def send(count: int) -> None:
        await asyncio.to_thread(append, count)

    return door, send, "secret"


def sample() -> Any:
    from astra.trusted.ledger.record import Event

    return Event(type="thing_done", actor="agent:bench", data={"text": "x" * 300})


def bare(_folder: Path, _port: int, *, joining: bool = False) -> tuple[Any, Any, str]:
    """The least that sends the same bytes to everybody: one record a message, or what waits."""
    from astra.trusted.ledger import chain
    from astra.trusted.ledger.record import EMPTY

    (record,) = chain.link([sample()], after=EMPTY, time="2026-01-01T00:00:00.000000Z")
    frame = f"id: 1\nevent: {record.type}\ndata: {record.line}\n\n".encode()
    queues: set[asyncio.Queue[bytes]] = set()

    async def app(_scope: Any, _receive: Any, send: Any) -> None:
        headers = [(b"content-type", b"text/event-stream")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        queue: asyncio.Queue[bytes] = asyncio.Queue()
        queues.add(queue)
        await send({"type": "http.response.body", "body": b": following\n\n", "more_body": True})
        while True:
            body = await queue.get()
            while joining and not queue.empty():
                body += queue.get_nowait()
            await send({"type": "http.response.body", "body": body, "more_body": True})

    async def send(count: int) -> None:
        for _ in range(count):
            for queue in queues:
                queue.put_nowait(frame)
            await asyncio.sleep(0)

    return app, send, "none"


def allow_many_files(clients: int) -> None:
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = clients * 3 + 500
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(wanted, most), most))


if __name__ == "__main__":
    main()
