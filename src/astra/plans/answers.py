r"""Reading what models write: JSON wherever it stands, out of whatever it was wrapped in.

Nothing here trusts what it reads. A document that comes out is checked by its form and by the
server like any other; being generous only saves a question.

>>> find_document('Sure!\n```json\n{"kind": "done"}\n```\nAnything else?')
{'kind': 'done'}
>>> unwrap([{"name": "answer", "arguments": '{"kind": "done"}'}], {"kind"})
{'kind': 'done'}
"""

import json
import re
from collections.abc import Collection, Iterator
from typing import Any, cast

LONGEST_TEXT = 200_000
_MOST_PLACES, _LONGEST_GAP = 60, 30
_DEEPEST_WRAPPING = 4
_FENCE = re.compile(r"```[a-zA-Z0-9_+-]*[ \t]*\n(.*?)(?:\n[ \t]*```|\Z)", re.DOTALL)
_ARGUMENTS = ("arguments", "parameters", "input", "args")
_ACTIONS = ("done", "message", "code")
_DECODER = json.JSONDecoder()


def find_document(text: str) -> Any:
    """Find the JSON object, or the list that holds one, in a text; None where there is none."""
    return next((document for _raw, document in find_documents(text)), None)


def find_documents(text: str) -> Iterator[tuple[str, Any]]:
    """Find each JSON object or list of objects of a text, with how it was written."""
    if len(text) > LONGEST_TEXT:
        return
    places = 0
    position = 0
    while places < _MOST_PLACES and (start := _find_opening(text, position)) >= 0:
        places += 1
        document, end = _decode_at(text, start)
        if isinstance(document, dict) or _is_list_of_objects(document):
            yield text[start:end], document
        position = max(end, start + 1)


def find_fences(text: str) -> list[str]:
    r"""Give what stands between code fences, without them; an open fence goes to the end.

    >>> find_fences('Here:\n```python\nx = 1\n```\nand\n```\ny\n```')
    ['x = 1', 'y']
    """
    return [match.group(1) for match in _FENCE.finditer(text[:LONGEST_TEXT])]


def shorten_middle(text: str, most: int) -> str:
    r"""Keep the head and the tail of a text, and say how much is left out between them.

    >>> shorten_middle("a" * 10 + "b" * 90 + "c" * 10, 60)
    'aaaaaaaaaabbbbb\n… 80 characters left out …\nbbbbbcccccccccc'
    """
    if len(text) <= most:
        return text
    side = max(1, (most - _LONGEST_GAP) // 2)
    left_out = len(text) - 2 * side
    return f"{text[:side]}\n… {left_out} characters left out …\n{text[-side:]}"


def unwrap(document: Any, fields: Collection[str]) -> Any:
    """Take a document out of what a model wrapped it in: a list of one, a call, a single member.

    A document that has one of the fields it should have is left as it is.
    """
    for _ in range(_DEEPEST_WRAPPING):
        inner = _unwrap_once(document, fields)
        if inner is document:
            return document
        document = inner
    return document


def read_call(document: Any) -> tuple[str, dict[str, Any]] | None:
    """Read a call that was written as a document: its name and its arguments.

    >>> read_call({"function": {"name": "read_file", "parameters": {"path": "a"}}})
    ('read_file', {'path': 'a'})
    """
    table = _only_object(document)
    if table is not None and isinstance(table.get("function"), dict):
        table = cast("dict[str, Any]", table["function"])
    name = table.get("name") if table else None
    if table is None or not isinstance(name, str):
        return None
    for key in _ARGUMENTS:
        if key in table and (arguments := _read_arguments(table[key])) is not None:
            return name, arguments
    return None


def read_action(document: Any) -> Any:
    """Bring what a model wrote as an action nearer to the form: a bare call is a tool's.

    >>> read_action({"name": "read_file", "arguments": {"path": "a"}})
    {'kind': 'tool', 'tool': 'read_file', 'arguments': {'path': 'a'}}
    >>> read_action({"tool": "read_file", "arguments": {"path": "a"}})["kind"]
    'tool'
    """
    table = _only_object(document)
    if table is None or "kind" in table:
        return document if table is None else table
    if (call := read_call(table)) is not None:
        return _action_from_call(*call)
    if isinstance(table.get("tool"), str) and table["tool"]:
        return {**table, "kind": "tool"}
    return unwrap(table, {"kind"})


def _action_from_call(name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    if name in _ACTIONS and "kind" not in arguments:
        return {**arguments, "kind": name}
    if "kind" in arguments:
        return arguments
    return {"kind": "tool", "tool": name, "arguments": arguments}


def _unwrap_once(document: Any, fields: Collection[str]) -> Any:
    if isinstance(document, list):
        items = cast("list[Any]", document)
        only = _only_object(items)
        return items if only is None else only
    if not isinstance(document, dict):
        return document
    table = cast("dict[str, Any]", document)
    if any(name in table for name in fields):
        return table
    if (call := read_call(table)) is not None:
        return call[1]
    values = list(table.values())
    is_wrapper = len(values) == 1 and isinstance(values[0], dict | list)
    return cast("Any", values[0]) if is_wrapper else table


def _only_object(document: Any) -> dict[str, Any] | None:
    if isinstance(document, list):
        items = cast("list[Any]", document)
        return _only_object(items[0]) if len(items) == 1 else None
    return cast("dict[str, Any]", document) if isinstance(document, dict) else None


def _read_arguments(value: Any) -> dict[str, Any] | None:
    if isinstance(value, str):
        value = find_document(value) if value.strip() else {}
    return cast("dict[str, Any]", value) if isinstance(value, dict) else None


def _find_opening(text: str, position: int) -> int:
    places = [place for place in (text.find("{", position), text.find("[", position)) if place >= 0]
    return min(places, default=-1)


def _decode_at(text: str, start: int) -> tuple[Any, int]:
    try:
        return _DECODER.raw_decode(text, start)
    except (ValueError, RecursionError):
        return None, start + 1


def _is_list_of_objects(document: Any) -> bool:
    items = cast("list[Any]", document) if isinstance(document, list) else []
    return bool(items) and all(isinstance(item, dict) for item in items)
