"""Structured edits of a plan: a list of small changes, each to one place.

    {"op": "remove", "path": "manifest.network_domains", "value": "example.com"}
    {"op": "add", "path": "manifest.read_paths", "value": "docs"}
    {"op": "set", "path": "checkpoints.0.step_budget", "value": 10}
    {"op": "remove", "path": "checkpoints.2"}

They are applied in order to the plan's document; the result is checked like any other plan.
"""

import copy
import json
from typing import Any, NoReturn, cast

from astra.plans.reading import Reader
from astra.plans.schema import MOST_CHECKPOINTS, BadPlan
from astra.trusted.kernel.text import one_line

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


def differences(before: Any, after: Any, path: str = "") -> list[str]:
    """Say in words what is different, place by place, as edits name places.

    >>> differences({"a": [1, 2], "b": {"c": 3}}, {"a": [2], "b": {"c": 4}})
    ['a without 1', 'b.c is 4, was 3']
    """
    if isinstance(before, dict) and isinstance(after, dict):
        return _compare_tables(cast("dict[str, Any]", before), cast("dict[str, Any]", after), path)
    if isinstance(before, list) and isinstance(after, list):
        return _compare_lists(cast("list[Any]", before), cast("list[Any]", after), path)
    return (
        [] if before == after else [f"{path} is {_spell_value(after)}, was {_spell_value(before)}"]
    )


def _compare_tables(before: dict[str, Any], after: dict[str, Any], path: str) -> list[str]:
    return [
        difference
        for name in {**before, **after}
        if name != "id"  # worked out from the words beside it
        for difference in differences(
            before.get(name), after.get(name), f"{path}.{name}" if path else name
        )
    ]


def _compare_lists(before: list[Any], after: list[Any], path: str) -> list[str]:
    if len(before) == len(after) and all(isinstance(item, dict) for item in before):
        pairs = enumerate(zip(before, after, strict=True))
        return [difference for i, pair in pairs for difference in differences(*pair, f"{path}.{i}")]
    removed = [f"{path} without {_spell_value(item)}" for item in before if item not in after]
    return removed + [f"{path} with {_spell_value(item)}" for item in after if item not in before]


def _spell_value(value: Any) -> str:
    title = cast("dict[str, Any]", value).get("title") if isinstance(value, dict) else None
    return one_line(json.dumps(title or value, ensure_ascii=False), 80)


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
        holder = _find_member(holder, name, path)
    {"set": _set_member, "add": _add_item, "remove": _remove_item}[op](
        holder, last, change.get("value"), path
    )


def _set_member(holder: Any, name: str, value: Any, path: str) -> None:
    _find_member(holder, name, path)
    holder[int(name) if isinstance(holder, list) else name] = value


def _add_item(holder: Any, name: str, value: Any, path: str) -> None:
    member = _find_member(holder, name, path)
    if not isinstance(member, list):
        _refuse_path(path, "is no list")
    items = cast("list[Any]", member)
    if value not in items:
        items.append(value)


def _remove_item(holder: Any, name: str, value: Any, path: str) -> None:
    member = _find_member(holder, name, path)
    if value is None and isinstance(holder, list):
        del holder[int(name)]
    elif isinstance(member, list) and value in member:
        cast("list[Any]", member).remove(value)
    else:
        _refuse_path(path, f"does not hold {one_line(repr(value), 80)}")


def _find_member(holder: Any, name: str, path: str) -> Any:
    if isinstance(holder, list):
        items = cast("list[Any]", holder)
        if name.isascii() and name.isdigit() and int(name) < len(items):
            return items[int(name)]
    elif isinstance(holder, dict) and name in holder:
        return cast("dict[str, Any]", holder)[name]
    _refuse_path(path, "is not there")
    return None


def _refuse_path(path: str, why: str) -> NoReturn:
    raise BadPlan(
        f"{one_line(path, 100)!r} {why}", next_step="look at the plan: astra plans show ID --json"
    )
