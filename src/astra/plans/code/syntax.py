r"""What a Python file consists of, by its syntax tree, and whether a text is one at all.

Texts come from repositories and models: they are bounded before they are parsed, and whatever the
parser makes of them is a word and never an exception.

>>> [symbol.name for symbol in list_symbols("X = 1\n\ndef f():\n    pass\n")]
['X', 'f']
>>> find_syntax_error("a.py", "def f(:\n")
'line 1: invalid syntax'
"""

import ast
import json
import tomllib
import warnings
from collections.abc import Iterator
from dataclasses import dataclass

LARGEST_SOURCE = 200_000
_DEEPEST = 80
_OPENING, _CLOSING = frozenset("([{"), frozenset(")]}")
Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


@dataclass(frozen=True, kw_only=True)
class Symbol:
    """A definition in a file: lines `first` to `last`, counted from 0, decorators included."""

    name: str
    first: int
    last: int
    indent: str
    headline: str

    @property
    def short_name(self) -> str:
        return self.name.rpartition(".")[2]


def parse_source(text: str) -> ast.Module | None:
    """Parse Python, or say that it is none."""
    return None if isinstance(tree := _parse(text), str) else tree


def find_syntax_error(path: str, text: str) -> str:
    """Say why a file cannot be what its name says; nothing where it can, or where nobody knows."""
    if path.endswith(".py"):
        tree = _parse(text)
        return tree if isinstance(tree, str) else ""
    try:
        if path.endswith(".json"):
            json.loads(text)
        elif path.endswith(".toml"):
            tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        return str(error)[:200]
    return ""


def list_symbols(text: str) -> list[Symbol]:
    """List functions, classes, methods and constants, in the order of the file."""
    tree = parse_source(text)
    if tree is None:
        return []
    lines = text.splitlines()
    return [_make_symbol(name, node, lines) for name, node in _walk(tree)]


def _walk(tree: ast.Module) -> Iterator[tuple[str, ast.stmt]]:
    for node in tree.body:
        if isinstance(node, ast.Assign | ast.AnnAssign):
            target = node.targets[0] if isinstance(node, ast.Assign) else node.target
            if isinstance(target, ast.Name):
                yield target.id, node
        elif isinstance(node, DEFINITIONS):
            yield node.name, node
            if isinstance(node, ast.ClassDef):
                inner = (item for item in node.body if isinstance(item, DEFINITIONS))
                yield from ((f"{node.name}.{item.name}", item) for item in inner)


def _make_symbol(name: str, node: ast.stmt, lines: list[str]) -> Symbol:
    decorators = node.decorator_list if isinstance(node, DEFINITIONS) else []
    first = min([node.lineno, *(item.lineno for item in decorators)]) - 1
    headline = lines[node.lineno - 1].strip() if node.lineno <= len(lines) else name
    return Symbol(
        name=name,
        first=first,
        last=(node.end_lineno or node.lineno) - 1,
        indent=" " * node.col_offset,
        headline=headline,
    )


def _parse(text: str) -> ast.Module | str:
    if len(text) > LARGEST_SOURCE:
        return f"more than {LARGEST_SOURCE:,} characters"
    if _nests_too_deeply(text):
        return f"brackets nest deeper than {_DEEPEST}"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text)
    except SyntaxError as error:
        return f"line {error.lineno}: {error.msg}"
    except (ValueError, RecursionError, MemoryError) as error:
        return f"not Python: {type(error).__name__}"


def _nests_too_deeply(text: str) -> bool:
    depth = 0
    for character in text:
        if character in _OPENING:
            depth += 1
            if depth > _DEEPEST:
                return True
        elif character in _CLOSING:
            depth = max(0, depth - 1)
    return False
