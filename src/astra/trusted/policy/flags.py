"""Kill switches. Off wins.

- The environment can only turn a flag off.
- An operator's off is free; an operator's on is a signed record, checked whenever it is read.
- Without either, the default of the flag.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from astra.trusted.kernel.errors import BadInput
from astra.trusted.ledger import chain, unseen
from astra.trusted.ledger.ports import Ledger
from astra.trusted.ledger.projection import Projection, Statement
from astra.trusted.ledger.record import Event, Record
from astra.trusted.policy import authority
from astra.trusted.policy.authority import Signed
from astra.trusted.settings.flag_names import FLAGS

FLAG_SET = "flag_set"
SUBJECT = "flags"
Lines = tuple[tuple[str, str], ...]
"""Of each flag, the line of the record that set it last."""


@dataclass(frozen=True, kw_only=True)
class Flag:
    name: str
    on: bool
    source: str
    note: str
    sequence: int = 0
    """The record that set it last, or 0 where none did."""

    def as_dict(self) -> dict[str, Any]:
        """Give all of it, with what the flag is for in the words of the reference of settings."""
        fields = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return {**fields, "meaning": FLAGS[self.name][1]}


def read_flags(
    ledger: Ledger,
    *,
    off: frozenset[str] = frozenset(),
    asked_on: frozenset[str] = frozenset(),
    holds: Callable[[Record], bool] | None = None,
) -> dict[str, Flag]:
    """Work out every flag: `off` and `asked_on` are what the environment says.

    `holds` checks a record's signature. What it depends on lies before the record in the chain, so
    whoever asks often may remember its answer for exactly that line of exactly that ledger.
    """
    holds = holds or (lambda record: authority.is_signed_by_operator(ledger, record))
    return resolve_flags(read_lines(ledger), off=off, asked_on=asked_on, holds=holds)


def resolve_flags(
    lines: Lines,
    *,
    off: frozenset[str],
    asked_on: frozenset[str],
    holds: Callable[[Record], bool],
) -> dict[str, Flag]:
    """Work out every flag from the newest record of each: the same lines give the same flags."""
    latest = {name: chain.parse(line) for name, line in lines}
    return {
        name: replace(
            _resolve_flag(holds, name, latest.get(name), off=name in off, asked=name in asked_on),
            sequence=latest[name].sequence if name in latest else 0,
        )
        for name in FLAGS
    }


def refuse_if_changed(ledger: Ledger, name: str, seen: int) -> None:
    """Keep somebody from setting a flag over what they did not see; `seen` is its record."""
    line = dict(read_lines(ledger)).get(name)
    record = chain.parse(line) if line else None
    if record is not None and record.sequence > seen:
        on = "on" if record.data["on"] else "off"
        raise unseen.unseen_change_error(f"{name} is {on}; it", record, on=record.data["on"])


def read_lines(ledger: Ledger) -> Lines:
    """Read the newest record of each flag that was ever set, as it stands in the chain."""
    rows = ledger.query("SELECT name, line FROM flag JOIN record USING (sequence)")
    return tuple((name, line) for name, line in rows)


def version(ledger: Ledger) -> int:
    """Count the changes of flags so far, so that a decision can expect that none came since."""
    return ledger.version(SUBJECT)


def turn_off(name: str, *, actor: str) -> Event:
    return Event(type=FLAG_SET, actor=actor, data=content(name, on=False), subject=SUBJECT)


def turn_on(ledger: Ledger, name: str, signed: Signed, *, now: datetime) -> Event:
    event = Event(type=FLAG_SET, actor="operator", data=content(name, on=True), subject=SUBJECT)
    return authority.signed_event(ledger, event, signed, now=now)


def content(name: str, *, on: bool) -> dict[str, Any]:
    """Give what an operator signs to set a flag."""
    if name not in FLAGS:
        raise BadInput(f"{name} is not a flag", next_step=f"one of: {', '.join(FLAGS)}")
    return {"flag": name, "on": on}


def _resolve_flag(
    holds: Callable[[Record], bool], name: str, record: Record | None, *, off: bool, asked: bool
) -> Flag:
    default, _ = FLAGS[name]
    command = f"astra flags set {name} on"
    if off:
        return Flag(
            name=name,
            on=False,
            source="environment",
            note=f"{name} is off there, which no signature turns on",
        )
    if record is None:
        note = f"the environment cannot turn it on; `{command}` does" if asked else ""
        return Flag(name=name, on=default, source="default", note=note)
    if not record.data["on"]:
        return Flag(name=name, on=False, source="record", note=f"record {record.sequence}")
    if holds(record):
        return Flag(name=name, on=True, source="operator", note=f"record {record.sequence}")
    note = f"record {record.sequence} turns it on without a valid signature"
    return Flag(name=name, on=False, source="forged", note=note)


def _apply_record(record: Record) -> Iterator[Statement]:
    yield (
        (
            "INSERT INTO flag VALUES (?, ?)"
            " ON CONFLICT (name) DO UPDATE SET sequence = excluded.sequence"
        ),
        (record.data["flag"], record.sequence),
    )


PROJECTION = Projection(
    "flags",
    ("CREATE TABLE flag (name TEXT PRIMARY KEY, sequence INTEGER) WITHOUT ROWID",),
    _apply_record,
    types=frozenset({FLAG_SET}),
)


def code_access(effective: Mapping[str, Flag]) -> str:
    """Say in one word what the agent may do with the source."""
    if not effective["PERSONA_MODE_ENABLED"].on:
        return "off"
    return "write" if effective["ASTRA_CODE_WRITE_ENABLED"].on else "read"
