"""Structured edits of a plan: a list of small changes, each to one place.

    {"op": "remove", "path": "manifest.network_domains", "value": "example.com"}
    {"op": "add", "path": "manifest.read_paths", "value": "docs"}
    {"op": "set", "path": "checkpoints.0.step_budget", "value": 10}
    {"op": "remove", "path": "checkpoints.2"}

They are applied in order to the plan's document; the result is checked like any other plan.
"""

import copy
from typing import Any, NoReturn, cast

from astra.kernel.text import one_line
from astra.plans.reading import Reader
from astra.plans.schema import MOST_CHECKPOINTS, BadPlan

MOST_EDITS = 100
_LONGEST_PATH = 200
_OPS = ("set", "add", "remove")


def apply(document: dict[str, Any], changes: Any) -> dict[str, Any]:
    edited = copy.deepcopy(document)
    reader = Reader(BadPlan)
    for place, change in enumerate(reader.tables(changes, "edits", MOST_EDITS)):
        _apply_one(reader, edited, change, f"edits.{place}")
    for checkpoint in reader.tables(edited["checkpoints"], "checkpoints", MOST_CHECKPOINTS):
        checkpoint.pop("id", None)  # worked out anew from the edited words
    return edited


def _apply_one(
    reader: Reader, document: dict[str, Any], change: dict[str, Any], where: str
) -> None:
    op = reader.text(change.get("op"), f"{where}.op", 10)
    path = reader.text(change.get("path"), f"{where}.path", _LONGEST_PATH)
    if op not in _OPS:
        raise BadPlan(f"{where}.op is {op!r}", next_step=f"one of: {', '.join(_OPS)}")
    *parents, last = path.split(".")
    holder: Any = document
    for name in parents:
        holder = _inside(holder, name, path)
    {"set": _set, "add": _add, "remove": _remove}[op](holder, last, change.get("value"), path)


def _set(holder: Any, name: str, value: Any, path: str) -> None:
    _inside(holder, name, path)
    holder[int(name) if isinstance(holder, list) else name] = value


def _add(holder: Any, name: str, value: Any, path: str) -> None:
    found = _inside(holder, name, path)
    if not isinstance(found, list):
        _nothing_there(path, "is no list")
    items = cast("list[Any]", found)
    if value not in items:
        items.append(value)


def _remove(holder: Any, name: str, value: Any, path: str) -> None:
    found = _inside(holder, name, path)
    if value is None and isinstance(holder, list):
        del holder[int(name)]
    elif isinstance(found, list) and value in found:
        cast("list[Any]", found).remove(value)
    else:
        _nothing_there(path, f"does not hold {one_line(repr(value), 80)}")


def _inside(holder: Any, name: str, path: str) -> Any:
    if isinstance(holder, list):
        items = cast("list[Any]", holder)
        if name.isascii() and name.isdigit() and int(name) < len(items):
            return items[int(name)]
    elif isinstance(holder, dict) and name in holder:
        return cast("dict[str, Any]", holder)[name]
    _nothing_there(path, "is not there")
    return None


def _nothing_there(path: str, why: str) -> NoReturn:
    raise BadPlan(
        f"{one_line(path, 100)!r} {why}", next_step="look at the plan: astra plans show ID --json"
    )
