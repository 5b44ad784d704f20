r"""Taking a symbol out of an answer that repeats more of its file than it was asked for.

A small model likes to write the imports, the constants and the classes that it saw around a piece,
often without their bodies. What the file has already is left out, and a definition that stands in
text which does not parse is cut out by its indentation.

>>> print(cut_definition("class About:\nclass Api:\n    def greet():\n        return 1\n", "greet"))
def greet():
    return 1
"""

import ast
import re
import textwrap
from collections.abc import Collection, Iterator

from astra.plans.code.syntax import DEFINITIONS, Symbol, list_symbols, parse_source

_LONGEST_LINES = 2_000


def isolate_symbol(code: str, symbol: Symbol, text: str) -> str:
    """Give a symbol with its imports and what is new beside it, without what the file has."""
    tree = parse_source(code)
    names = [item.name for item in list_symbols(code)]
    if tree is None or not {symbol.name, symbol.short_name} & set(names):
        return cut_definition(code, symbol.short_name) or code
    symbol_names = {symbol.short_name, symbol.name.partition(".")[0]}
    in_file = {item.name for item in list_symbols(text)} - symbol_names
    lines = code.splitlines()
    pieces = (
        "\n".join(lines[_first_line(node) - 1 : node.end_lineno])
        for node in tree.body
        if _belongs(node, in_file)
    )
    return "\n\n\n".join(pieces)


def cut_definition(code: str, name: str) -> str:
    """Cut a definition out of text by its indentation; nothing where none of it parses."""
    lines = code.splitlines()[:_LONGEST_LINES]
    heading = re.compile(
        rf"\s*(?:(?:async\s+)?def|class)\s+{re.escape(name)}\b|{re.escape(name)}\b\s*[:=]"
    )
    for start, line in enumerate(lines):
        if heading.match(line):
            block = textwrap.dedent("\n".join(_take_block(lines, start)))
            if parse_source(block) is not None:
                return block.strip("\n")
    return ""


def _belongs(node: ast.stmt, in_file: Collection[str]) -> bool:
    """Tell an import or a definition that the file lacks from a repetition or an example."""
    if isinstance(node, ast.Import | ast.ImportFrom):
        return True
    if isinstance(node, DEFINITIONS):
        return node.name not in in_file
    if isinstance(node, ast.Assign | ast.AnnAssign):
        target = node.targets[0] if isinstance(node, ast.Assign) else node.target
        return isinstance(target, ast.Name) and target.id not in in_file
    return False


def _first_line(node: ast.stmt) -> int:
    decorators = node.decorator_list if isinstance(node, DEFINITIONS) else []
    return min([node.lineno, *(item.lineno for item in decorators)])


def _take_block(lines: list[str], start: int) -> Iterator[str]:
    """Give a heading, the decorators above it, and what stands deeper than it below."""
    depth = _measure_indent(lines[start])
    first = start
    while first and lines[first - 1].strip().startswith("@"):
        first -= 1
    yield from lines[first : start + 1]
    for line in lines[start + 1 :]:
        is_closing = line.strip().startswith((")", "]", "}"))
        if line.strip() and _measure_indent(line) <= depth and not is_closing:
            return
        yield line


def _measure_indent(line: str) -> int:
    return len(line) - len(line.lstrip())
