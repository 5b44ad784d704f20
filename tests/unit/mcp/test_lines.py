"""Lines that are no messages, and lines that are too long."""

import asyncio

import pytest

from astra.interfaces.mcp.lines import LONGEST_LINE, Incoming, TooLong

pytestmark = pytest.mark.anyio
FILLING = b"y" * (LONGEST_LINE + 1_000_000)


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def incoming(*chunks: bytes) -> Incoming:
    reader = asyncio.StreamReader()
    for chunk in chunks:
        reader.feed_data(chunk)
    reader.feed_eof()
    return Incoming(reader)


@pytest.mark.parametrize(
    ("start", "end", "identifier"),
    [
        (b'{"jsonrpc":"2.0","id":7,"method":"ping","params":{"a":"', b'"}}\n', 7),
        (b'{"id": "seven", "params":{"a":"', b'"}}\n', "seven"),
        (b'{"method":"ping","params":{"a":"', b'"},"jsonrpc":"2.0","id":8}\n', 8),
        (b'{"params":{"id":1,"a":"', b'"}}\n', None),
        (b'{"params":{"a":"', b'","id":1}}\n', None),
        (b'{"id":[7],"params":{"a":"', b'"}}\n', None),
        (b"not JSON at all", b"\n", None),
    ],
)
async def test_a_line_that_is_too_long_names_its_request_where_it_can(
    start: bytes, end: bytes, identifier: int | str | None
) -> None:
    lines = incoming(start + FILLING + end, b'{"id":2}\n')
    too_long = await lines.read_line()
    assert isinstance(too_long, TooLong)
    assert too_long.find_id() == identifier
    assert await lines.read_line() == b'{"id":2}\n'


async def test_a_long_line_in_small_pieces_is_never_kept_whole() -> None:
    reader = asyncio.StreamReader()
    lines = Incoming(reader)
    reading = asyncio.create_task(lines.read_line())
    reader.feed_data(b'{"jsonrpc":"2.0","id":3,"params":"')
    for _ in range(40):
        reader.feed_data(b"z" * 1_000_000)
        await asyncio.sleep(0)
        assert len(lines._buffer) < 2 * LONGEST_LINE
    reader.feed_data(b'"}\n')
    too_long = await reading
    assert isinstance(too_long, TooLong)
    assert too_long.find_id() == 3
