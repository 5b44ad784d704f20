"""HTTP/1.1 in one file: keep-alive, bounded requests, and a drain that loses nobody.

Draining: nothing new is accepted; every connection gets an answer to the request it has sent or is
about to send, with `Connection: close`, so that its next request goes to whoever serves then; a
connection that stays silent is closed after a while.
"""

import asyncio
import contextlib
import json
import socket
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from http import HTTPStatus

_LARGEST_HEAD = 32 * 1024
_LARGEST_BODY = 1024 * 1024
_IDLE_SECONDS = 60.0
_DRAIN_IDLE_SECONDS = 3.0


@dataclass(frozen=True)
class Request:
    method: str
    path: str
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""

    def json(self) -> object:
        return json.loads(self.body or b"null")


@dataclass(frozen=True)
class Response:
    status: int = 200
    body: bytes = b""
    content_type: str = "application/json"

    @staticmethod
    def json(document: object, status: int = 200) -> "Response":
        return Response(status=status, body=json.dumps(document).encode())


class BadRequest(Exception):
    """The bytes of a request are not what HTTP asks for."""


class HttpServer:
    def __init__(self, answer: Callable[[Request], Awaitable[Response]]) -> None:
        self._answer = answer
        self._draining = asyncio.Event()
        self._open: set[asyncio.Task[None]] = set()

    def drain(self) -> None:
        self._draining.set()

    async def serve(self, listener: socket.socket) -> None:
        """Serve until drained."""
        server = await asyncio.start_server(
            self._connected, sock=listener, limit=_LARGEST_HEAD, backlog=512
        )
        await self._draining.wait()
        server.close()
        while self._open:
            await asyncio.wait(self._open)

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        self._open.add(task)
        try:
            while await self._exchange(reader, writer):
                pass
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            self._open.discard(task)
            writer.close()
            with contextlib.suppress(ConnectionError):
                await writer.wait_closed()

    async def _exchange(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Answer one request; tell whether the connection goes on."""
        try:
            request = await self._next_request(reader)
            if request is None:
                return False
            response = await self._answer(request)
        except BadRequest as error:
            response, request = Response.json({"error": str(error)}, 400), None
        stays = request is not None and _keeps_alive(request) and not self._draining.is_set()
        writer.write(_encode(response, stays=stays))
        await writer.drain()
        return stays

    async def _next_request(self, reader: asyncio.StreamReader) -> Request | None:
        """Wait for a request; give up on a silent connection, sooner while draining."""
        reading = asyncio.ensure_future(_read(reader))
        draining = asyncio.ensure_future(self._draining.wait())
        try:
            await asyncio.wait(
                {reading, draining}, timeout=_IDLE_SECONDS, return_when="FIRST_COMPLETED"
            )
            if not reading.done() and self._draining.is_set():
                await asyncio.wait({reading}, timeout=_DRAIN_IDLE_SECONDS)
            return reading.result() if reading.done() else None
        finally:
            reading.cancel()
            draining.cancel()


async def _read(reader: asyncio.StreamReader) -> Request | None:
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError as error:
        if error.partial:
            raise
        return None
    except asyncio.LimitOverrunError:
        raise BadRequest("the head is too large") from None
    first, *lines = head.decode("latin-1").split("\r\n")
    words = first.split(" ")
    if len(words) != 3 or not words[2].startswith("HTTP/1."):
        raise BadRequest("the first line is not a request")
    headers = {
        name.strip().lower(): value.strip()
        for name, _, value in (li.partition(":") for li in lines)
    }
    body = await reader.readexactly(_length(headers))
    return Request(method=words[0], path=words[1].partition("?")[0], headers=headers, body=body)


def _length(headers: dict[str, str]) -> int:
    text = headers.get("content-length", "0")
    if "transfer-encoding" in headers or not text.isdigit() or int(text) > _LARGEST_BODY:
        raise BadRequest("a body comes with its length, at most one megabyte")
    return int(text)


def _keeps_alive(request: Request) -> bool:
    return request.headers.get("connection", "").lower() != "close"


def _encode(response: Response, *, stays: bool) -> bytes:
    status = HTTPStatus(response.status)
    head = (
        f"HTTP/1.1 {status.value} {status.phrase}\r\n"
        f"Content-Type: {response.content_type}\r\n"
        f"Content-Length: {len(response.body)}\r\n"
        f"Connection: {'keep-alive' if stays else 'close'}\r\n\r\n"
    )
    return head.encode("latin-1") + response.body
