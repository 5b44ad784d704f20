"""The records that are measured: stories of ten records about one task each, about 420 bytes."""

from collections.abc import Iterator
from hashlib import sha256
from itertools import islice
from pathlib import Path

from astra.trusted.ledger import chain
from astra.trusted.ledger.record import EMPTY, Event, Head

TIME = "2026-03-01T12:00:00.000000Z"
STORY = 10
NOTE = "the quick brown fox jumps over the lazy dog"


def events(first: int = 0) -> Iterator[Event]:
    """Give events without end; those of different `first` share no task."""
    number = first
    while True:
        story, step = divmod(number, STORY)
        name = sha256(b"%d" % story).hexdigest()
        yield Event(
            type="task_progressed",
            actor="agent",
            subject=f"tas_{name[:8]}",
            correlation=f"cor_{name[:16]}",
            data={"step": step, "note": NOTE},
        )
        number += 1


def write_chain(folder: Path, size: int) -> Head:
    """Write a chain of single-record appends without index or sync; returns its head."""
    folder.mkdir(parents=True, exist_ok=True)
    source, head = events(), EMPTY
    with (folder / f"{TIME[:7]}.ndjson").open("w", encoding="utf-8") as file:
        for event in islice(source, size):
            (record,) = chain.link([event], after=head, time=TIME)
            head = Head(record.sequence, record.hash, TIME)
            file.write(f"{record.line}\n")
    return head
