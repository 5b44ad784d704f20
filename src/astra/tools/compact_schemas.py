"""Schemas as a model reads them: what pydantic writes, without what costs tokens and says nothing.

Generated titles go, `null` goes where leaving a member out means the same, definitions move to
where they are used, and no length is promised that a message cannot carry.

>>> from pydantic import BaseModel
>>> class Asked(BaseModel):
...     limit: int | None = None
>>> compact_input(Asked)
{'properties': {'limit': {'type': 'integer'}}, 'type': 'object'}
"""

from typing import Any, cast

from pydantic import BaseModel

Schema = dict[str, Any]
LONGEST_TEXT = 600_000
"""Characters of one member that fit a message of 4 MiB however JSON escapes them."""
ANSWER: Schema = {"type": "object"}
"""What every answer and every refusal is; docs/reference/tools.md has the members of each."""
_SHORT_TEXT = 2_000
_LARGE_NUMBER = 1_000_000
_NULL = {"type": "null"}


def compact_input(model: type[BaseModel]) -> Schema:
    """Give the schema of a tool's arguments."""
    schema = model.model_json_schema()
    compact = _Compaction(schema.pop("$defs", {})).rewrite_schema(schema)
    compact.pop("description", None)  # the model's doc string; the tool has a description
    return compact


class _Compaction:
    def __init__(self, definitions: Schema) -> None:
        self._definitions = definitions

    def rewrite_schema(self, schema: Schema) -> Schema:
        schema = self._inline_definition(schema)
        members = {
            key: self._rewrite_member(key, value)
            for key, value in schema.items()
            if not _says_nothing(key, value)
        }
        return _without_null(_within_message(members))

    def _inline_definition(self, schema: Schema) -> Schema:
        """Put a definition where it is named; none of ours names itself."""
        if "$ref" not in schema:
            return schema
        name = str(schema["$ref"]).rpartition("/")[2]
        beside = {key: value for key, value in schema.items() if key != "$ref"}
        return {**self._definitions[name], **beside}

    def _rewrite_member(self, key: str, value: Any) -> Any:
        if key == "properties":
            properties = cast("dict[str, Schema]", value)
            return {name: self.rewrite_schema(member) for name, member in properties.items()}
        if key in {"items", "additionalProperties"} and isinstance(value, dict):
            return self.rewrite_schema(cast("Schema", value))
        if key in {"anyOf", "oneOf", "allOf"}:
            return [self.rewrite_schema(option) for option in cast("list[Schema]", value)]
        return value


def _says_nothing(key: str, value: Any) -> bool:
    match key:
        case "title" | "maxItems":
            return True
        case "default":
            return value in (None, [], {}, "") or value is False
        case "additionalProperties":
            return isinstance(value, bool)  # what nobody knows is refused by name all the same
        case "minLength" | "minimum":
            return value in (0, 1)
        case "maximum" | "exclusiveMaximum":
            return value > _LARGE_NUMBER
        case _:
            return False


def _without_null(schema: Schema) -> Schema:
    """Leave `null` out of the options of a member that can be left out."""
    options: list[Schema] = schema.get("anyOf", [])
    remaining = [option for option in options if option != _NULL]
    if len(remaining) == len(options):
        return schema
    beside = {key: value for key, value in schema.items() if key != "anyOf"}
    return {**remaining[0], **beside} if len(remaining) == 1 else {**beside, "anyOf": remaining}


def _within_message(schema: Schema) -> Schema:
    """Promise no length that cannot be sent, and leave out limits that no honest call meets."""
    longest = schema.get("maxLength")
    if longest is None or _SHORT_TEXT < longest <= LONGEST_TEXT:
        return schema
    without = {key: value for key, value in schema.items() if key != "maxLength"}
    return {**without, "maxLength": LONGEST_TEXT} if longest > LONGEST_TEXT else without
