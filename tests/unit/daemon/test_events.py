"""One reader for all listeners; a slow one holds neither the others nor memory."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest

from astra.interfaces.daemon import events as streams
from astra.interfaces.daemon.events import Events, EventStream
from astra.testing import MemoryLedger
from astra.trusted.door.leases import Leases
from astra.trusted.ledger.record import Event
from astra.trusted.policy.access import Principal
from astra.trusted.policy.call import Role

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


class Listener:
    """The other end of a stream, which takes what is sent only while it is not held."""

    def __init__(self) -> None:
        self.heard: list[int] = []
        self.text = ""
        self.ended = False
        self.open = asyncio.Event()
        self.open.set()
        self._left = asyncio.Event()
        self._something = asyncio.Event()

    async def send(self, message: Any) -> None:
        await self.open.wait()
        text = message.get("body", b"").decode()
        self.text += text
        self.heard += [int(line[4:]) for line in text.splitlines() if line.startswith("id: ")]
        self.ended = message["type"].endswith("body") and not message["more_body"]
        self._something.set()

    async def receive(self) -> dict[str, str]:
        await self._left.wait()
        return {"type": "http.disconnect"}

    def leave(self) -> None:
        self._left.set()

    async def hears(self, last: int) -> None:
        await self._until(lambda: bool(self.heard) and self.heard[-1] >= last)

    async def sees(self, text: str) -> None:
        await self._until(lambda: text in self.text)

    async def _until(self, reached: Callable[[], bool]) -> None:
        async with asyncio.timeout(60):
            while not reached():
                self._something.clear()
                await self._something.wait()


@asynccontextmanager
async def listening(events: Events, listener: Listener, after: int) -> AsyncIterator[Any]:
    stream = EventStream(events, after)
    task = asyncio.create_task(stream({}, listener.receive, listener.send))
    try:
        yield task
    finally:
        listener.leave()
        listener.open.set()
        await task


def append(ledger: MemoryLedger, count: int = 1) -> int:
    records = ledger.append([Event(type="thing_done", actor="test") for _ in range(count)])
    return records[-1].sequence


@pytest.fixture
async def kept() -> AsyncIterator[tuple[MemoryLedger, Events]]:
    ledger = MemoryLedger()
    append(ledger, 3)
    events = Events(ledger, heartbeat=0.01)
    yield ledger, events
    events.stop()


Kept = tuple[MemoryLedger, Events]


async def test_everybody_hears_every_record_once_in_order(kept: Kept) -> None:
    ledger, events = kept
    first, second = Listener(), Listener()
    async with listening(events, first, 0), listening(events, second, 2):
        await first.hears(3)
        last = append(ledger, 300)
        await asyncio.gather(first.hears(last), second.hears(last))
    assert first.heard == list(range(1, last + 1))
    assert second.heard == list(range(3, last + 1))


async def test_a_slow_listener_holds_nobody_and_misses_nothing(
    kept: Kept, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(streams, "_MOST_KEPT", 50)
    ledger, events = kept
    slow, quick = Listener(), Listener()
    async with listening(events, slow, 3), listening(events, quick, 3):
        first = append(ledger)
        await asyncio.gather(slow.hears(first), quick.hears(first))
        slow.open.clear()
        for _ in range(20):
            last = append(ledger, 20)
            await quick.hears(last)
        assert len(events._frames) <= 50
        assert slow.heard[-1] < last - 100
        slow.open.set()
        await slow.hears(last)
    assert slow.heard == quick.heard == list(range(4, last + 1))


async def test_large_records_are_not_kept_beyond_a_number_of_bytes(
    kept: Kept, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(streams, "_MOST_BYTES", 10_000)
    ledger, events = kept
    listener = Listener()
    async with listening(events, listener, 3):
        for _ in range(10):
            data = {"text": "x" * 5_000}
            ledger.append([Event(type="thing_done", actor="test", data=data)])
            await listener.hears(ledger.head().sequence)
        assert events._bytes <= 20_000
    assert listener.heard == list(range(4, 14))


async def test_signs_of_life_come_while_nothing_happens(kept: Kept) -> None:
    _, events = kept
    listener = Listener()
    async with listening(events, listener, 3):
        await listener.sees(": still here")


async def test_leaving_ends_the_stream_on_both_sides(kept: Kept) -> None:
    _, events = kept
    gone, stays = Listener(), Listener()
    async with listening(events, gone, 3) as task, listening(events, stays, 3) as other:
        gone.leave()
        await asyncio.wait_for(task, 60)
        assert not gone.ended
        events.stop()
        await asyncio.wait_for(other, 60)
        assert stays.ended


async def test_a_lease_ends_when_its_holder_is_not_recognised_any_more(kept: Kept) -> None:
    ledger, events = kept
    gone: set[str] = set()
    leases = Leases(events, lambda who: who.id not in gone)
    one, two = (
        Principal(id=name, role=Role.VIEWER, by="link", expires_at="") for name in ("one", "two")
    )
    forever = asyncio.Event()

    async def wait() -> None:
        await forever.wait()

    first = asyncio.create_task(leases.run(one, wait()))
    second = asyncio.create_task(leases.run(two, wait()))
    await asyncio.sleep(0)
    gone.add("one")
    ledger.append([Event(type="session_closed", actor="test", data={})])
    assert await asyncio.wait_for(first, 60) is False
    assert not second.done()
    forever.set()
    assert await asyncio.wait_for(second, 60) is True
