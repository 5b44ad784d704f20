"""A graph of typed nodes, what it may touch, and what it will still ask for.

The manifest is the union of what the kinds of its nodes call: it is derived, never written, so it
is never wider than its tasks.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from astra.goals.kinds import KINDS, Kind
from astra.trusted.kernel.text import one_line


@dataclass(frozen=True, kw_only=True)
class Node:
    id: str
    kind: Kind
    path: str
    method: str
    tool: str
    arguments: Mapping[str, Any]
    """Each a list of parts: text, `{"value": …}`, or `{"node": id, "output": name}`."""
    after: tuple[str, ...]
    on_failure: str
    attempts: int

    @property
    def gives(self) -> frozenset[str]:
        return KINDS[self.kind].gives

    @property
    def tools(self) -> tuple[str, ...]:
        return (self.tool,) if self.tool else KINDS[self.kind].tools

    @property
    def title(self) -> str:
        """Say in a line what it does, without what others have yet to give."""
        texts = [
            "".join(p for p in parts if isinstance(p, str)) for parts in self.arguments.values()
        ]
        text = " ".join(filter(None, texts))
        about = f": {one_line(text, 80)}" if text else ""
        return f"{self.path.rpartition('/')[2]} ({self.tool or self.kind}){about}"

    def needs(self) -> frozenset[tuple[str, str]]:
        """Name the outputs of other nodes that it takes."""
        parts: list[Any] = [part for parts in self.arguments.values() for part in parts]
        return frozenset(
            (str(part["node"]), str(part["output"]))
            for part in parts
            if not isinstance(part, str) and "node" in part
        )

    def as_dict(self) -> dict[str, Any]:
        return {**self.__dict__, "kind": str(self.kind), "after": list(self.after)}


@dataclass(frozen=True, kw_only=True)
class Graph:
    task: str
    method: str
    methods_digest: str
    nodes: tuple[Node, ...]
    proposed_by: str = "methods"

    def node(self, identifier: str) -> Node | None:
        return self._by_id.get(identifier)

    @cached_property
    def _by_id(self) -> Mapping[str, Node]:
        return {node.id: node for node in self.nodes}

    def manifest(self) -> dict[str, Any]:
        """Say what its nodes may call; anything else is refused to them."""
        return {
            "kinds": sorted({str(node.kind) for node in self.nodes}),
            "tools": sorted({tool for node in self.nodes for tool in node.tools}),
        }

    def questions(self) -> list[str]:
        """Say what will still ask the operator while it runs."""
        return [f"{node.path}: {asks}" for node in self.nodes if (asks := KINDS[node.kind].asks)]

    def as_dict(self) -> dict[str, Any]:
        return {
            "task": self.task,
            "method": self.method,
            "methods_digest": self.methods_digest,
            "proposed_by": self.proposed_by,
            "nodes": [node.as_dict() for node in self.nodes],
        }


def read_graph(document: Mapping[str, Any]) -> Graph:
    fields: dict[str, Any] = {**document, "nodes": tuple(map(_read_node, document["nodes"]))}
    return Graph(**fields)


def bind_arguments(node: Node, outputs: Mapping[tuple[str, str], Any]) -> dict[str, Any]:
    """Put what other nodes gave into a node's arguments; one value alone keeps its type."""
    return {name: _join_parts(parts, outputs) for name, parts in node.arguments.items()}


def _read_node(document: Mapping[str, Any]) -> Node:
    typed = {"kind": Kind(document["kind"]), "after": tuple(document["after"])}
    fields: dict[str, Any] = {**document, **typed}
    return Node(**fields)


def _join_parts(parts: list[Any], outputs: Mapping[tuple[str, str], Any]) -> Any:
    values = [_value_of(part, outputs) for part in parts]
    return values[0] if len(values) == 1 else "".join(str(value) for value in values)


def _value_of(part: Any, outputs: Mapping[tuple[str, str], Any]) -> Any:
    if isinstance(part, str):
        return part
    if "value" in part:
        return part["value"]
    return outputs.get((part["node"], part["output"]), "")
