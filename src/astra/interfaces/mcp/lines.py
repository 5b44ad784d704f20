"""JSON-RPC, one message a line, as the SDK's streams: what stdio speaks, over a socket.

Whatever is not a message is answered politely and forgotten; the stream goes on. Of a line longer
than the limit only its beginning and its end are kept, so that the answer can name the request.
"""

import asyncio
import json
import re
import time
from dataclasses import dataclass
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
_EDGE = 4096
_ID = rb'"id"\s*:\s*(-?\d{1,18}|"[^"\\\x00-\x1f\x80-\xff]{0,200}")'
_PLAIN_MEMBER = rb'\s*"[^"\\]{0,100}"\s*:\s*(?:"[^"\\]{0,200}"|-?[\d.]{1,30}|true|false|null)\s*,'
_FIRST_ID = re.compile(rb"\s*\{(?:" + _PLAIN_MEMBER + rb"){0,8}?\s*" + _ID + rb"\s*[,}]")
"""Members before the id are plain, so that no `id` inside another member is taken for it."""
_LAST_ID = re.compile(rb",\s*" + _ID + rb"\s*\}\s*$")


class Incoming:
    """The lines a peer sends."""

    def __init__(self, reader: asyncio.StreamReader) -> None:
        self._reader = reader
        self._buffer = bytearray()
        self._looked = 0
        self._skipped_start = b""
        self.last = time.monotonic()
        """When the peer last sent something."""

    async def read_line(self) -> "bytes | TooLong | None":
        """Give the next line, what is left of one that was too long, or None at the end."""
        while (end := self._buffer.find(b"\n", self._looked)) < 0:
            self._looked = len(self._buffer)
            if self._looked > LONGEST_LINE:
                self._skipped_start = self._skipped_start or bytes(self._buffer[:_EDGE])
                del self._buffer[:-_EDGE]
                self._looked = len(self._buffer)
            chunk = await self._reader.read(_CHUNK)
            if not chunk:
                return None
            self._buffer += chunk
            self.last = time.monotonic()
        raw_line = bytes(self._buffer[: end + 1])
        del self._buffer[: end + 1]
        self._looked = 0
        if self._skipped_start or len(raw_line) > LONGEST_LINE:
            too_long = TooLong(self._skipped_start or raw_line[:_EDGE], raw_line[-_EDGE:])
            self._skipped_start = b""
            return too_long
        return raw_line


@dataclass(frozen=True)
class TooLong:
    """How a line that is too long began and ended."""

    start: bytes
    end: bytes

    def find_id(self) -> int | str | None:
        """Find the request's id: the first member `id` of the message, or its last.

        >>> TooLong(b'{"jsonrpc":"2.0","id":7,"method":"x","params":{"a":"', b'').find_id()
        7
        >>> TooLong(b'{"params":{"id":1,"a":"', b'"},"id":"x"}').find_id()
        'x'
        """
        if match := _FIRST_ID.match(self.start) or _LAST_ID.search(self.end):
            return json.loads(match.group(1))
        return None


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

    def __init__(
        self, incoming: Incoming, outbox: Outbox, first: "bytes | TooLong | None" = None
    ) -> None:
        self._incoming = incoming
        self._outbox = outbox
        self._first = first

    async def receive(self) -> SessionMessage | Exception:
        while (line := await self._next_line()) is not None:
            message = None if isinstance(line, TooLong) else _parse_message(line)
            if message:
                return SessionMessage(message)
            await self._outbox.write(_build_objection(line))
        raise anyio.EndOfStream

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> SessionMessage | Exception:
        try:
            return await self.receive()
        except (anyio.EndOfStream, anyio.BrokenResourceError, ConnectionError):
            raise StopAsyncIteration from None

    async def _next_line(self) -> "bytes | TooLong | None":
        first, self._first = self._first, None
        return first if first is not None else await self._incoming.read_line()


def _parse_message(line: bytes) -> JSONRPCMessage | None:
    try:
        message = jsonrpc_message_adapter.validate_json(line, by_name=False)
    except ValidationError:
        return None
    if isinstance(message, JSONRPCNotification) and b'"id"' in line and "id" in json.loads(line):
        return None  # a request whose id is none; somebody waits for its answer
    return message


def _build_objection(line: bytes | TooLong) -> JSONRPCError:
    """Say what is wrong with a line, to whoever waits for its answer if that can be known."""
    if isinstance(line, TooLong):
        limit = f"a message may have {LONGEST_LINE} bytes at most; next: send it in parts"
        return _build_error(line.find_id(), INVALID_REQUEST, limit)
    try:
        document: Any = json.loads(line)
    except (ValueError, RecursionError):
        return _build_error(None, PARSE_ERROR, "this is not JSON, one message a line")
    if isinstance(document, list):
        return _build_error(
            None, INVALID_REQUEST, "batches are not part of the protocol; send one by one"
        )
    identifier: Any = None
    if isinstance(document, dict):
        identifier = cast("dict[str, Any]", document).get("id")
    is_valid_id = type(identifier) is int or (
        isinstance(identifier, str) and identifier.isprintable()
    )
    return _build_error(
        identifier if is_valid_id else None, INVALID_REQUEST, "this is not a JSON-RPC message"
    )


def _build_error(identifier: Any, code: int, message: str) -> JSONRPCError:
    return JSONRPCError(jsonrpc="2.0", id=identifier, error=ErrorData(code=code, message=message))
