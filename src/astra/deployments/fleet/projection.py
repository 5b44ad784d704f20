"""What was last heard of each instance, as a row; what a rollout makes of it is its fold."""

from collections.abc import Callable, Iterator

from astra.deployments.fleet import events
from astra.trusted.ledger.projection import Projection, Statement
from astra.trusted.ledger.record import Record

_ADD = "INSERT OR IGNORE INTO fleet_instance VALUES (?, '', '', 'unknown', ?, '', 0, -1, 0, '', '')"


def _apply_rollout(record: Record) -> Iterator[Statement]:
    for number, wave in enumerate(record.data["waves"]):
        for label in wave:
            yield _ADD, (label, record.time)
            yield "UPDATE fleet_instance SET wave = ? WHERE label = ?", (number, label)


def _apply_order(record: Record) -> Iterator[Statement]:
    data = record.data
    state = "ordered" if record.type == events.INSTANCE_ORDERED else "passed_over"
    yield (
        (
            "UPDATE fleet_instance SET state = ?, since = ?, deployment = ?, attempt = ?,"
            " reason = '' WHERE label = ?"
        ),
        (state, record.time, data["deployment"], data["attempt"], data["instance"]),
    )


def _apply_release(record: Record) -> Iterator[Statement]:
    data = record.data
    yield _ADD, (data["instance"], record.time)
    yield (
        (
            "UPDATE fleet_instance SET state = 'released', since = ?, release = ?, digest = ?,"
            " deployment = ?, attempt = ?, epoch = ?, machine = ?, reason = '' WHERE label = ?"
        ),
        (
            record.time,
            data["release"],
            data["digest"],
            data["deployment"],
            data["attempt"],
            data["epoch"],
            data["machine"],
            data["instance"],
        ),
    )


def _apply_failure(record: Record) -> Iterator[Statement]:
    data = record.data
    yield _ADD, (data["instance"], record.time)
    yield (
        (
            "UPDATE fleet_instance SET state = 'failed', since = ?, deployment = ?, attempt = ?,"
            " reason = ? WHERE label = ?"
        ),
        (record.time, data["deployment"], data["attempt"], data["reason"], data["instance"]),
    )


_EFFECTS: dict[str, Callable[[Record], Iterator[Statement]]] = {
    events.ROLLOUT_BEGUN: _apply_rollout,
    events.INSTANCE_ORDERED: _apply_order,
    events.INSTANCE_PASSED_OVER: _apply_order,
    events.INSTANCE_RELEASED: _apply_release,
    events.INSTANCE_FAILED: _apply_failure,
}


def _apply_record(record: Record) -> Iterator[Statement]:
    yield from _EFFECTS[record.type](record)


PROJECTION = Projection(
    "fleet",
    (
        """CREATE TABLE fleet_instance (
            label TEXT PRIMARY KEY, release TEXT, digest TEXT, state TEXT, since TEXT,
            deployment TEXT, attempt INTEGER, wave INTEGER, epoch INTEGER, machine TEXT,
            reason TEXT
        ) WITHOUT ROWID""",
    ),
    _apply_record,
    types=frozenset(_EFFECTS),
)
