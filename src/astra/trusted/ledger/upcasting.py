"""How data that an earlier version wrote is read today: a ladder of pure functions for each type.

The chain is never rewritten, so a record keeps the shape it was written in, and says which (its
`schema`). Where the shape of a type changed, a step here turns data of one schema into data of the
next; reading climbs from the record's own schema to the newest. Projections and folds know only
the newest shape. What was signed is checked over the data as written (`Record.written`).

To change what an event's data holds in a way that older records do not satisfy, add a step at the
end of its ladder; never change or remove one. That raises the schema of the type, and the format
of every data root which this version opens (`astra.trusted.ledger.formats`).

>>> read_as_newest("code_modification_executed", 1, {"commit": "c0ffee"})
{'commit': 'c0ffee', 'deploy': False}
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

Data = dict[str, Any]
Upcaster = Callable[[Data], Data]


def _merged_without_deploying(data: Data) -> Data:
    """Say no where nobody could ask yet: schema 1 began before an approval could deploy."""
    return {**data, "deploy": bool(data.get("deploy", False))}


def _exported_at_no_version(data: Data) -> Data:
    """Give an export that does not say of which list it was the version that no list has.

    So the next look finds the file out of date, and writes it anew.
    """
    return {**data, "version": int(data.get("version", 0))}


def _said_with_text_inline(data: Data) -> Data:
    """Set apart the text that schema 1 wrote into the record; later ones name it by its digest."""
    inline_names = ("text", "chain", "calls", "suggestion", "trouble")
    inline = {name: data[name] for name in inline_names if name in data}
    facts = {name: value for name, value in data.items() if name not in inline}
    who = "persona" if "ended" in data else "person"
    length = len(str(data.get("text", "")))
    return {**facts, "who": who, "digest": "", "length": length, "inline": inline}


LADDERS: Mapping[str, tuple[Upcaster, ...]] = MappingProxyType(
    {
        "code_modification_executed": (_merged_without_deploying,),
        "agent_global_grants_exported": (_exported_at_no_version,),
        "chat_asked": (_said_with_text_inline,),
        "chat_answered": (_said_with_text_inline,),
    }
)
"""For each type whose data changed its shape: from schema 1 to 2, from 2 to 3, and so on."""


def schema_of(type_: str) -> int:
    """Give the schema in which records of a type are written today."""
    return 1 + len(LADDERS[type_]) if type_ in LADDERS else 1


def read_as_newest(type_: str, schema: int, data: Data) -> Data:
    """Turn data of some schema into data of the newest; a newer one is an error of the caller's."""
    for step in LADDERS.get(type_, ())[max(schema, 1) - 1 :]:
        data = step(data)
    return data
