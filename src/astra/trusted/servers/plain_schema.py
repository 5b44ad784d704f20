r"""The schema of a server's tool, rewritten into a small language that nothing can be hidden in.

A server writes whatever it likes: references to itself or elsewhere, patterns that take for ever,
text that steers a terminal, a megabyte of description. What comes out of here has known keywords
only, no reference, no pattern, bounded depth, number and length, and text that can be looked at.

>>> rewrite_schema({"type": "object", "properties": {"n": {"$ref": "#/$defs/N"}},
...     "$defs": {"N": {"type": "integer", "pattern": "(a+)+$"}}})
{'type': 'object', 'properties': {'n': {'type': 'integer'}}}
"""

from collections.abc import Mapping
from typing import Any, cast

from astra.trusted.kernel.text import printable

DEEPEST, MOST_MEMBERS, LONGEST_TEXT = 8, 64, 500
_TYPES = frozenset({"string", "integer", "number", "boolean", "array", "object", "null"})
_NUMBERS = ("minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems")
_OPTIONS = ("anyOf", "oneOf", "allOf")
Schema = dict[str, Any]


def rewrite_schema(raw: object) -> Schema:
    """Give the plain form of a schema of arguments, which is always an object's."""
    members = _as_table(raw)
    definitions = _as_table(members.get("$defs", members.get("definitions")))
    plain = _Rewriting(definitions).rewrite(members, DEEPEST)
    return {**plain, "type": "object"} if plain.get("type") != "object" else plain


class _Rewriting:
    def __init__(self, definitions: Mapping[str, Any]) -> None:
        self._definitions = definitions
        self._left = 1_000  # schemas in all: references may multiply

    def rewrite(self, raw: object, depth: int) -> Schema:
        self._left -= 1
        if depth == 0 or self._left < 0:
            return {}
        members = self._follow_reference(_as_table(raw))
        plain = _plain_facts(members)
        if isinstance(members.get("properties"), dict):
            properties = list(_as_table(members["properties"]).items())[:MOST_MEMBERS]
            plain["properties"] = {
                printable(str(name))[:100]: self.rewrite(schema, depth - 1)
                for name, schema in properties
            }
        for key in ("items", "additionalProperties"):
            if isinstance(members.get(key), dict):
                plain[key] = self.rewrite(members[key], depth - 1)
        for key in _OPTIONS:
            if isinstance(members.get(key), list):
                options = cast("list[object]", members[key])[:MOST_MEMBERS]
                plain[key] = [self.rewrite(option, depth - 1) for option in options]
        return plain

    def _follow_reference(self, members: Mapping[str, Any]) -> Mapping[str, Any]:
        """Put a definition of the same schema in its place; what leads elsewhere means anything."""
        reference = members.get("$ref")
        if not isinstance(reference, str):
            return members
        name = reference.rpartition("/")[2] if reference.startswith("#/") else ""
        return {**_as_table(self._definitions.get(name)), **members}


def _plain_facts(members: Mapping[str, Any]) -> Schema:
    plain = _plain_type(members.get("type"))
    if isinstance(members.get("description"), str):
        plain["description"] = printable(members["description"])[:LONGEST_TEXT]
    if isinstance(members.get("required"), list):
        required = cast("list[object]", members["required"])[:MOST_MEMBERS]
        plain["required"] = [printable(name)[:100] for name in required if isinstance(name, str)]
    if isinstance(members.get("enum"), list):
        values = cast("list[object]", members["enum"])[:MOST_MEMBERS]
        plain["enum"] = [_plain_value(value) for value in values]
    if isinstance(members.get("default"), str | int | float | bool):
        plain["default"] = _plain_value(members["default"])
    for key in _NUMBERS:
        if isinstance(members.get(key), int | float) and not isinstance(members[key], bool):
            plain[key] = members[key]
    return plain


def _plain_type(kinds: object) -> Schema:
    if isinstance(kinds, str) and kinds in _TYPES:
        return {"type": kinds}
    if isinstance(kinds, list):
        names = [kind for kind in cast("list[object]", kinds) if isinstance(kind, str)]
        return {"type": [kind for kind in names if kind in _TYPES][:7]}
    return {}


def _plain_value(value: object) -> Any:
    if isinstance(value, bool | int | float) or value is None:
        return value
    return printable(str(value))[:LONGEST_TEXT]


def _as_table(raw: object) -> Mapping[str, Any]:
    return cast("dict[str, Any]", raw) if isinstance(raw, dict) else {}
