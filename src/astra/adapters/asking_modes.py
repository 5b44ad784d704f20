"""How a model's server is asked for a form, found out once for each server and model.

    schema → tool → text

A server that constrains its output by a JSON schema is asked that way; one that refuses or ignores
`response_format` is asked for a tool call; one whose answers are neither is told the form in words.
What was found out is kept in memory and says nothing about trust: every answer is checked.
"""

import json
import threading
from enum import StrEnum
from typing import Any, cast

from pydantic import BaseModel

_LONGEST_ENUM = 6


class AskingMode(StrEnum):
    SCHEMA = "schema"
    TOOL = "tool"
    TEXT = "text"


LADDER = (AskingMode.SCHEMA, AskingMode.TOOL, AskingMode.TEXT)
UNSUPPORTED = frozenset({400, 415, 422, 501})
"""What servers answer to a parameter that they do not know."""


class AskingModes:
    """The mode that works for each server and model, as far as anybody has asked."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._modes: dict[tuple[str, str], AskingMode] = {}
        self._with_streams: set[tuple[str, str]] = set()
        self._without_streams: set[tuple[str, str]] = set()

    def find(self, url: str, model: str, first: AskingMode) -> AskingMode:
        with self._lock:
            return self._modes.get((url, model), first)

    def remember(self, url: str, model: str, mode: AskingMode) -> None:
        with self._lock:
            self._modes[url, model] = mode

    def streams(self, url: str, model: str) -> bool:
        with self._lock:
            return (url, model) not in self._without_streams

    def knows_streams(self, url: str, model: str) -> bool:
        """Tell whether it has sent a stream before."""
        with self._lock:
            return (url, model) in self._with_streams

    def remember_stream(self, url: str, model: str) -> None:
        with self._lock:
            self._with_streams.add((url, model))

    def remember_no_stream(self, url: str, model: str) -> None:
        with self._lock:
            self._without_streams.add((url, model))


EVERY_MODE = AskingModes()


def next_mode(mode: AskingMode) -> AskingMode | None:
    """Give the mode to try where this one is unknown to a server."""
    place = LADDER.index(mode) + 1
    return LADDER[place] if place < len(LADDER) else None


def ignores_schema(text: str) -> bool:
    """Tell an answer that no grammar shaped from one that was cut off in the middle."""
    return not text.lstrip().startswith("{")


def describe_form(form: type[BaseModel]) -> str:
    """Tell a model the form in words, for servers that do not.

    >>> class Note(BaseModel):
    ...     title: str
    ...     tags: list[str] = []
    >>> describe_form(Note)
    'Answer with one JSON object and nothing else: {"title": text, "tags": [text]}'
    """
    schema = form.model_json_schema()
    skeleton = _sketch(schema, cast("dict[str, Any]", schema.get("$defs", {})), depth=0)
    return f"Answer with one JSON object and nothing else: {skeleton}"


def _sketch(schema: dict[str, Any], definitions: dict[str, Any], *, depth: int) -> str:
    if "$ref" in schema:
        schema = definitions.get(str(schema["$ref"]).rpartition("/")[2], {})
    if "enum" in schema or "const" in schema:
        values = cast("list[Any]", schema.get("enum", [schema.get("const")]))
        if len(values) > _LONGEST_ENUM:  # the prompt has the list already
            return f"{json.dumps(values[0])} | …"
        return " | ".join(json.dumps(value) for value in values)
    for key in ("anyOf", "allOf", "oneOf"):
        if key in schema:
            return _sketch(cast("list[dict[str, Any]]", schema[key])[0], definitions, depth=depth)
    kind = schema.get("type")
    if kind == "array":
        return f"[{_sketch(schema.get('items', {}), definitions, depth=depth + 1)}]"
    if kind == "object" and schema.get("properties"):
        properties = cast("dict[str, dict[str, Any]]", schema["properties"])
        parts = (
            f'"{name}": {_sketch(inner, definitions, depth=depth + 1)}'
            for name, inner in properties.items()
        )
        return "{" + ", ".join(parts) + "}"
    names = {"string": "text", "integer": "number", "number": "number", "boolean": "true or false"}
    return names.get(str(kind), "{}")
