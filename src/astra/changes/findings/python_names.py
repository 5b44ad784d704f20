"""Names in Python code, followed through its imports.

After `from os import system as s`, the name `s` stands for os.system.
"""

import ast
from collections.abc import Iterable, Iterator


def map_imported_names(nodes: Iterable[ast.AST]) -> dict[str, str]:
    """Map each name that an import binds, anywhere among the nodes, to what it stands for."""
    return {
        alias: stands_for for node in nodes for alias, stands_for in _list_import_bindings(node)
    }


def spell_dotted_name(node: ast.AST, names: dict[str, str]) -> str:
    """Spell `a.b.c` with its first name followed; empty when it starts with something else."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return ""
    return ".".join([names.get(node.id, node.id), *reversed(parts)])


def last_name(node: ast.AST) -> str:
    if isinstance(node, ast.Call):
        return last_name(node.func)
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def _list_import_bindings(node: ast.AST) -> Iterator[tuple[str, str]]:
    if isinstance(node, ast.Import):
        for alias in node.names:
            first = alias.name.partition(".")[0]
            yield (alias.asname, alias.name) if alias.asname else (first, first)
    elif isinstance(node, ast.ImportFrom):
        module = "." * node.level + (node.module or "")
        for alias in node.names:
            yield alias.asname or alias.name, f"{module}.{alias.name}"
