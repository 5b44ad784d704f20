r"""A tool as its server declares it: named by a digest of every word, shown in a plain form.

The digest covers name, title, description, both schemas and the annotations as they came. What is
shown and offered to a model is bounded and escaped; annotations are not shown at all, because what
a server says of its own tool lowers nothing.

>>> read_declaration({"name": "ls", "description": "Lists.\x1b[2J"}).description
'Lists.\\x1b[2J'
>>> read_declaration({"name": "ls; rm"}) is None
True
"""

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from astra.trusted.kernel import canonical
from astra.trusted.kernel.canonical import NotCanonical
from astra.trusted.kernel.text import printable
from astra.trusted.servers.plain_schema import rewrite_schema

LONGEST_DESCRIPTION, LARGEST_SCHEMA, MOST_TOOLS = 2_000, 16_000, 64
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_./-]{0,63}")
_DECLARED = ("name", "title", "description", "inputSchema", "outputSchema", "annotations")


@dataclass(frozen=True, kw_only=True)
class Declaration:
    name: str
    sha256: str
    description: str = ""
    schema: Mapping[str, Any] = field(default_factory=dict[str, Any])

    def as_content(self) -> dict[str, str]:
        """Give it as an operator signs it; its schema as text, whose numbers stay as they are."""
        schema = json.dumps(self.schema, ensure_ascii=True, sort_keys=True)
        return {
            "name": self.name,
            "sha256": self.sha256,
            "description": self.description,
            "input_schema": schema,
        }


def read_declaration(raw: object) -> Declaration | None:
    """Read one entry of a tool list; what has no plain name or is no JSON is no tool."""
    members = cast("dict[str, Any]", raw) if isinstance(raw, dict) else {}
    name, description = members.get("name"), members.get("description")
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        return None
    try:
        declared = canonical.encode({key: members.get(key) for key in _DECLARED})
    except NotCanonical:
        return None
    schema = rewrite_schema(members.get("inputSchema"))
    is_large = len(json.dumps(schema)) > LARGEST_SCHEMA
    text = printable(description) if isinstance(description, str) else ""
    return Declaration(
        name=name,
        sha256=hashlib.sha256(declared).hexdigest(),
        description=text[:LONGEST_DESCRIPTION],
        schema={"type": "object"} if is_large else schema,
    )


def read_declarations(raw: object) -> tuple[Declaration, ...]:
    """Read a tool list; a name that two tools share, in either spelling, is nobody's."""
    items = cast("list[object]", raw)[: MOST_TOOLS * 4] if isinstance(raw, list) else []
    declarations = [tool for tool in map(read_declaration, items) if tool]
    spellings = [spell_underscored(tool.name) for tool in declarations]
    unique = [tool for tool in declarations if spellings.count(spell_underscored(tool.name)) == 1]
    return tuple(sorted(unique, key=lambda tool: tool.name)[:MOST_TOOLS])


def read_content(content: Mapping[str, Any]) -> Declaration:
    """Read one tool of what was signed."""
    return Declaration(
        name=str(content["name"]),
        sha256=str(content["sha256"]),
        description=str(content["description"]),
        schema=json.loads(content["input_schema"]),
    )


def spell_underscored(name: str) -> str:
    return name.replace(".", "_").replace("/", "_")
