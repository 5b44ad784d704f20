"""What is asked to be remembered (an event) and what was remembered (a record).

An event is a fact in the past tense with the people and things it concerns. Appending gives it a
sequence number, a time, its place in a batch and its place in the hash chain: then it is a record.

Every text in an event's data is masked when it becomes a record: the chain forgets nothing, and
agents, models and tests write into it. `signed` is set where the data is word for word what an
operator signed (`policy.authority`), and nowhere else: changing it would break the signature.

`correlation` names the story it belongs to: what follows from a desire carries the desire's.
`subject` names the entity whose version the event advances; `key` is claimed once and for all, by
whoever appends first.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

from astra.trusted.kernel.errors import LedgerDamaged
from astra.trusted.kernel.ids import random_id
from astra.trusted.ledger import upcasting

GENESIS = "0" * 64
ARCHIVED = "ledger_archived"
"""The record of which months lie in an archive: verifying and signing both go by it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Event:
    type: str
    actor: str
    data: Mapping[str, Any] = field(default_factory=dict[str, Any])
    correlation: str = field(default_factory=lambda: random_id("cor"))
    subject: str | None = None
    key: str | None = None
    signed: bool = False


class _Members(NamedTuple):
    """A record as it is written: `content` is the JSON text of its data, `line` all of it."""

    sequence: int
    time: str
    type: str
    actor: str
    correlation: str
    subject: str | None
    key: str | None
    schema: int
    batch: tuple[int, int]
    content: str
    previous: str
    hash: str
    line: str


class Record(_Members):
    @cached_property
    def data(self) -> dict[str, Any]:
        """Read the content in its newest shape, whichever version of Astra wrote it.

        It is read when somebody asks: most projections of most records never do.
        """
        return upcasting.read_as_newest(self.type, self.schema, self.raw_data)

    @cached_property
    def raw_data(self) -> dict[str, Any]:
        """Read the content as it stands in the chain: what was signed, exported and hashed."""
        try:
            return json.loads(self.content)
        except (ValueError, RecursionError) as error:
            raise LedgerDamaged(
                f"the content of record {self.sequence} is not JSON: {error}",
                next_step="astra ledger verify",
            ) from None

    def as_dict(self) -> dict[str, Any]:
        return {
            "sequence": self.sequence,
            "time": self.time,
            "type": self.type,
            "actor": self.actor,
            "correlation": self.correlation,
            "subject": self.subject,
            "key": self.key,
            "schema": self.schema,
            "batch": list(self.batch),
            "data": self.raw_data,
            "previous": self.previous,
            "hash": self.hash,
        }


class Head(NamedTuple):
    """The last record of a chain: where the next one links to."""

    sequence: int
    hash: str
    time: str

    @property
    def is_empty(self) -> bool:
        return self.sequence == 0


EMPTY = Head(sequence=0, hash=GENESIS, time="")
