"""Which version of Astra a data root needs: the highest format it was ever written with.

A root says it in its first record, and again (`ledger_format_raised`) when a version that knows a
higher format opens it, before it writes anything else. So whoever folds the chain meets the format
before the first record of a shape it does not know, and refuses with the version to use.
"""

from collections.abc import Iterator
from typing import Any

from astra.trusted.kernel.errors import LedgerDamaged
from astra.trusted.ledger.ports import Ledger
from astra.trusted.ledger.projection import Projection, Statement
from astra.trusted.ledger.record import Event, Record
from astra.trusted.ledger.upcasting import LADDERS

ROOT_CREATED, FORMAT_RAISED = "data_root_created", "ledger_format_raised"
_RULES_OF_THE_CHAIN = 4
"""How often what holds for the chain itself was changed: time may go back (`clock_accepted`), what
a signature is worth depends on roles and rules of several operators (`operator_enrolled`), a token
may be for less than its role (`token_created`), and months may be archived (`ledger_archived`)."""
FORMAT = 1 + _RULES_OF_THE_CHAIN + sum(map(len, LADDERS.values()))
"""Each step of each ladder raises it by one; nobody has to remember to."""


class RootTooNew(LedgerDamaged):
    """A newer version of Astra wrote to this data root."""

    code = "root_too_new"


def stated_format(record: Record) -> int:
    """Read the format that a record states; roots of the first format state none."""
    return int(record.raw_data.get("format", 1))


def format_of(ledger: Ledger) -> int:
    """Give the highest format that a data root was written with."""
    format_records = (ledger.record(1), ledger.newest(FORMAT_RAISED))
    return max((stated_format(record) for record in format_records if record), default=1)


def raise_format(ledger: Ledger, *, version: str) -> None:
    """Record the format of this version, unless the root states it already."""
    if format_of(ledger) < FORMAT:
        event = Event(
            type=FORMAT_RAISED,
            actor="daemon",
            data=statement(version),
            key=f"format:{FORMAT}",
        )
        ledger.append([event])


def statement(version: str) -> dict[str, Any]:
    """Give what a record says about the format that this version writes."""
    return {"format": FORMAT, "version": version}


def _refuse_if_newer(record: Record) -> Iterator[Statement]:
    if (new_format := stated_format(record)) > FORMAT:
        version = str(record.raw_data.get("version", "a newer version"))[:40]
        raise RootTooNew(
            f"record {record.sequence} says that this data root has format {new_format}, written by"
            f" Astra {version}; this Astra reads formats up to {FORMAT}",
            next_step=f"use Astra {version} or newer for this data root",
            sequence=record.sequence,
            format=new_format,
            version=version,
        )
    yield from ()


PROJECTION = Projection(
    "formats", (), _refuse_if_newer, types=frozenset({ROOT_CREATED, FORMAT_RAISED})
)
