r"""Putting what a model wrote into a file: in place of a symbol, at the end, imports to the top.

A model answers with code and nothing about where it goes; indentation, imports and what else it
repeated around it are the server's business.

>>> text = "def f():\n    return 1\n\n\ndef g():\n    return 2\n"
>>> (symbol,) = [s for s in list_symbols(text) if s.name == "f"]
>>> print(replace_symbol(text, symbol, "import os\n\ndef f():\n    return os.name"))
import os
<BLANKLINE>
<BLANKLINE>
def f():
    return os.name
<BLANKLINE>
<BLANKLINE>
def g():
    return 2
<BLANKLINE>
"""

import ast
import textwrap

from astra.plans.code.extracting import isolate_symbol
from astra.plans.code.syntax import (
    DEFINITIONS,
    Symbol,
    find_syntax_error,
    list_symbols,
    parse_source,
)
from astra.trusted.kernel.errors import BadInput

_SHORTEST_BODY = 1


class CannotSplice(BadInput):
    code = "cannot_splice"


def replace_symbol(text: str, symbol: Symbol, code: str) -> str:
    """Give the file with a symbol rewritten; imports that the code brings go to the top."""
    code = isolate_symbol(_clean_code(code), symbol, text)
    imports, body = _split_imports(code, _parse_or_object(code))
    body = _take_out_method(body, symbol)
    _refuse_without(body, symbol)
    lines = text.splitlines()
    rewritten = textwrap.indent(textwrap.dedent(body).strip("\n"), symbol.indent).splitlines()
    lines[symbol.first : symbol.last + 1] = rewritten
    return add_imports("\n".join(lines) + "\n", imports)


def append_code(text: str, code: str) -> str:
    """Give the file with code at its end; what it defines must not be there yet."""
    code = _clean_code(code)
    imports, body = _split_imports(code, _parse_or_object(code))
    existing_names = {symbol.name for symbol in list_symbols(text)}
    again = [s.name for s in list_symbols(body) if s.name in existing_names]
    if again:
        raise CannotSplice(
            f"{again[0]} is in the file already", next_step="choose it as the place to rewrite"
        )
    return add_imports(f"{text.rstrip()}\n\n\n{body.strip()}\n", imports)


def add_imports(text: str, imports: list[str]) -> str:
    """Put import lines that are missing behind those that are there."""
    tree = parse_source(text)
    present = {line.strip() for line in text.splitlines()}
    new_imports = [line for line in dict.fromkeys(imports) if line not in present]
    if not new_imports or tree is None:
        return text
    lines = text.splitlines()
    places = [node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)]
    if places:
        at = places[-1].end_lineno or places[-1].lineno
        return "\n".join([*lines[:at], *new_imports, *lines[at:]]) + "\n"
    at = _end_of_docstring(tree)
    head = [*lines[:at], ""] if at else []
    body = "\n".join(lines[at:]).lstrip("\n")
    return "\n".join([*head, *new_imports, "", "", body]) + "\n"


def _clean_code(code: str) -> str:
    return textwrap.dedent(code.replace("\t", "    ").replace("\r", "")).strip("\n")


def _parse_or_object(code: str) -> ast.Module:
    tree = parse_source(code)
    if tree is None:
        raise CannotSplice(
            f"the code does not parse: {find_syntax_error('code.py', code)}",
            next_step="write it again, whole and correct",
        )
    return tree


def _split_imports(code: str, tree: ast.Module) -> tuple[list[str], str]:
    """Take the imports at the top of the code out of it."""
    lines = code.splitlines()
    imports: list[str] = []
    end = 0
    for node in tree.body:
        if not isinstance(node, ast.Import | ast.ImportFrom):
            break
        end = node.end_lineno or node.lineno
        imports.append(" ".join(line.strip() for line in lines[node.lineno - 1 : end]))
    return imports, "\n".join(lines[end:])


def _take_out_method(body: str, symbol: Symbol) -> str:
    """Take a method out of the class that a model repeated around it."""
    owner, _, name = symbol.name.rpartition(".")
    inside = [item for item in list_symbols(body) if item.name == f"{owner}.{name}"]
    if not owner or not inside:
        return body
    lines = body.splitlines()
    return textwrap.dedent("\n".join(lines[inside[0].first : inside[0].last + 1]))


def _refuse_without(body: str, symbol: Symbol) -> None:
    tree = parse_source(textwrap.dedent(body))
    names = [item.name for item in list_symbols(textwrap.dedent(body))]
    if tree is None or symbol.short_name not in names:
        raise CannotSplice(
            f"the code does not define {symbol.short_name}",
            next_step=f"give the whole of {symbol.short_name}, and nothing around it",
        )
    for node in tree.body:
        if isinstance(node, DEFINITIONS) and node.name == symbol.short_name:
            _refuse_ellipsis(node, symbol)


def _refuse_ellipsis(node: ast.stmt, symbol: Symbol) -> None:
    """Refuse a body that only says that there was one."""
    body = getattr(node, "body", [])
    statements = [item for item in body if not _is_constant_text(item)]
    only = statements[0] if len(statements) == _SHORTEST_BODY else None
    value = only.value if isinstance(only, ast.Expr) else None
    if isinstance(value, ast.Constant) and value.value is ...:
        raise CannotSplice(
            f"the body of {symbol.short_name} is left out", next_step="write all of it"
        )


def _is_constant_text(node: ast.AST) -> bool:
    value = node.value if isinstance(node, ast.Expr) else None
    return isinstance(value, ast.Constant) and isinstance(value.value, str)


def _end_of_docstring(tree: ast.Module) -> int:
    first = tree.body[0] if tree.body else None
    return (first.end_lineno or 0) if first is not None and _is_constant_text(first) else 0
