"""JSON-RPC, one message a line, as the SDK's streams: what stdio speaks, over a socket.

Whatever is not a message is answered politely and forgotten; the stream goes on. A line longer than
the limit is skipped to its end without being kept.
"""

import asyncio
import json
import time
from types import TracebackType
from typing import Any, Self, cast

import anyio
from mcp.shared.message import SessionMessage
from mcp_types import (
    INVALID_REQUEST,
    PARSE_ERROR,
    ErrorData,
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCNotification,
    jsonrpc_message_adapter,
)
from pydantic import ValidationError

LONGEST_LINE = 4 * 1024 * 1024
_CHUNK = 256 * 1024


class Incoming:
    """The lines a peer sends."""

    def __init__(self, reader: asyncio.StreamReader) -> None:
        self._reader = reader
        self._buffer = bytearray()
        self._looked = 0
        self._skipping = False
        self.last = time.monotonic()
        """When the peer last sent something."""

    async def line(self) -> bytes | None:
        """Give the next line; an empty one for a line that was too long, None at the end."""
        while (end := self._buffer.find(b"\n", self._looked)) < 0:
            self._looked = len(self._buffer)
            if self._looked > LONGEST_LINE:
                self._skipping, self._looked = True, 0
                self._buffer.clear()
            chunk = await self._reader.read(_CHUNK)
            if not chunk:
                return None
            self._buffer += chunk
            self.last = time.monotonic()
        found = bytes(self._buffer[: end + 1])
        del self._buffer[: end + 1]
        self._looked = 0
        if self._skipping or len(found) > LONGEST_LINE:
            self._skipping = False
            return b""
        return found


class _Closing:
    async def aclose(self) -> None:
        pass

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc_val: BaseException | None,
        exc_tb: TracebackType | None,
    ) -> None:
        await self.aclose()


class Outbox(_Closing):
    """Messages to the peer. A peer that does not read makes its own answers wait, nobody else's."""

    def __init__(self, writer: asyncio.StreamWriter) -> None:
        self._writer = writer
        self._turn = asyncio.Lock()

    async def send(self, item: SessionMessage, /) -> None:
        await self.write(item.message)

    async def write(self, message: JSONRPCMessage) -> None:
        if self._writer.is_closing():
            raise anyio.BrokenResourceError
        text = message.model_dump_json(by_alias=True, exclude_unset=True)
        self._writer.write(text.encode() + b"\n")
        try:
            async with self._turn:
                await self._writer.drain()
        except ConnectionError as error:
            raise anyio.BrokenResourceError from error


class Inbox(_Closing):
    """Messages from the peer."""

    def __init__(self, incoming: Incoming, outbox: Outbox, first: bytes | None = None) -> None:
        self._incoming = incoming
        self._outbox = outbox
        self._first = first

    async def receive(self) -> SessionMessage | Exception:
        while (line := await self._next_line()) is not None:
            if message := _message(line):
                return SessionMessage(message)
            await self._outbox.write(_objection(line))
        raise anyio.EndOfStream

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> SessionMessage | Exception:
        try:
            return await self.receive()
        except (anyio.EndOfStream, anyio.BrokenResourceError, ConnectionError):
            raise StopAsyncIteration from None

    async def _next_line(self) -> bytes | None:
        first, self._first = self._first, None
        return first if first is not None else await self._incoming.line()


def _message(line: bytes) -> JSONRPCMessage | None:
    try:
        message = jsonrpc_message_adapter.validate_json(line, by_name=False)
    except ValidationError:
        return None
    if isinstance(message, JSONRPCNotification) and b'"id"' in line and "id" in json.loads(line):
        return None  # a request whose id is none; somebody waits for its answer
    return message


def _objection(line: bytes) -> JSONRPCError:
    """Say what is wrong with a line, to whoever waits for its answer if that can be known."""
    if not line:
        return _error(None, INVALID_REQUEST, f"a message may have {LONGEST_LINE} bytes at most")
    try:
        document: Any = json.loads(line)
    except (ValueError, RecursionError):
        return _error(None, PARSE_ERROR, "this is not JSON, one message a line")
    if isinstance(document, list):
        return _error(
            None, INVALID_REQUEST, "batches are not part of the protocol; send one by one"
        )
    identifier: Any = None
    if isinstance(document, dict):
        identifier = cast("dict[str, Any]", document).get("id")
    known = type(identifier) is int or (isinstance(identifier, str) and identifier.isprintable())
    return _error(identifier if known else None, INVALID_REQUEST, "this is not a JSON-RPC message")


def _error(identifier: Any, code: int, message: str) -> JSONRPCError:
    return JSONRPCError(jsonrpc="2.0", id=identifier, error=ErrorData(code=code, message=message))
