r"""Faulty versions of a Python source: one small edit each, on lines that were asked for.

A mutant replaces a span of bytes and keeps every line where it is, so that coverage and failures
of the mutant and of the original speak of the same lines. The order is that of the source; nothing
is random.

>>> [mutant.kind for mutant in find_mutants("def f(a):\n    return a < 3\n", {2})]
['return_empty', 'return_none', 'comparison', 'constant']
>>> apply_mutant("x = a < 3\n", find_mutants("x = a < 3\n", {1})[0])
'x = a <= 3\n'
"""

from __future__ import annotations

import ast
import hashlib
import re
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_SWAPS = {
    "<": "<=",
    "<=": "<",
    ">": ">=",
    ">=": ">",
    "==": "!=",
    "!=": "==",
    "in": "not in",
    "not in": "in",
    "is": "is not",
    "is not": "is",
    "and": "or",
    "or": "and",
    "+": "-",
    "-": "+",
    "*": "/",
    "/": "*",
    "//": "/",
    "%": "*",
    "**": "*",
    "<<": ">>",
    ">>": "<<",
    "&": "|",
    "|": "&",
    "^": "&",
    "@": "*",
}
_OPERATOR = re.compile(
    rb"\bnot\s+in\b|\bis\s+not\b|\b(?:in|is|and|or)\b|<<|>>|\*\*|//|[<>=!]=|[-+*/%<>&|^@]"
)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_REMOVABLE = (ast.Raise, ast.Delete, ast.AugAssign, ast.Continue, ast.Break)
_GUARDS = frozenset({"TYPE_CHECKING", "__name__"})


@dataclass(frozen=True)
class Mutant:
    """`first` to `last` are the lines of the statement around it: whoever runs them reaches it."""

    kind: str
    line: int
    start: int
    end: int
    text: str
    first: int
    last: int
    in_function: bool


def find_mutants(source: str, lines: Iterable[int]) -> list[Mutant]:
    """Give every mutant on these lines; none if the source cannot be read as Python."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    finder = _Finder(source.encode("utf-8", "surrogatepass"), frozenset(lines))
    finder.visit_body(tree.body, in_function=False)
    return sorted(finder.mutants, key=lambda m: (m.line, m.start, -m.end, m.kind, m.text))


def apply_mutant(source: str, mutant: Mutant) -> str:
    data = source.encode("utf-8", "surrogatepass")
    edited = data[: mutant.start] + mutant.text.encode() + data[mutant.end :]
    return edited.decode("utf-8", "surrogatepass")


def stratify(mutants: dict[str, list[Mutant]]) -> list[tuple[str, Mutant]]:
    """Order mutants so that any beginning of the list is spread over files, lines and kinds.

    Every line has its first mutant before any line has its second; within a turn the order comes
    from a digest of the place, which is the same on every machine and favours no part of a file.
    """
    turns: list[tuple[int, bytes, str, Mutant]] = []
    for path, file_mutants in sorted(mutants.items()):
        by_line: dict[int, list[Mutant]] = {}
        for mutant in file_mutants:
            by_line.setdefault(mutant.line, []).append(mutant)
        for line, on_line in by_line.items():
            spread = sorted(on_line, key=lambda m, p=path: _digest_place(p, line, m.kind, m.start))
            turns += [
                (turn, _digest_place(path, line), path, mutant)
                for turn, mutant in enumerate(spread)
            ]
    turns.sort(key=lambda entry: entry[:3])
    return [(path, mutant) for _turn, _order, path, mutant in turns]


def _digest_place(*parts: object) -> bytes:
    return hashlib.sha256(repr(parts).encode("utf-8", "surrogatepass")).digest()


class _Finder:
    def __init__(self, data: bytes, lines: frozenset[int]) -> None:
        self.data = data
        self.lines = lines
        self.mutants: list[Mutant] = []
        self._starts: list[int] = [0]
        for line in data.splitlines(keepends=True):
            self._starts.append(self._starts[-1] + len(line))
        self._first = self._last = 0
        self._in_function = False

    def visit_body(self, body: list[ast.stmt], *, in_function: bool) -> None:
        for number, statement in enumerate(body):
            if number == 0 and _is_docstring(statement):
                continue
            self._visit_statement(statement, in_function=in_function)

    def _visit_statement(self, statement: ast.stmt, *, in_function: bool) -> None:
        """Mutate what a statement says itself, then the statements inside it."""
        inner = list(_inner_statements(statement))
        first_inside = min((part.lineno for part in inner), default=0)
        end = statement.end_lineno or statement.lineno
        self._first = statement.lineno
        self._last = max(statement.lineno, first_inside - 1) if inner else end
        self._in_function = in_function
        self._mutate_statement(statement)
        for expression in _own_expressions(statement):
            self._visit_expression(expression)
        if isinstance(statement, (*_FUNCTIONS, ast.ClassDef)):
            is_function = isinstance(statement, _FUNCTIONS)
            self.visit_body(inner, in_function=is_function or in_function)
        else:
            for part in inner:
                self._visit_statement(part, in_function=in_function)

    def _mutate_statement(self, node: ast.stmt) -> None:
        if isinstance(node, ast.Return) and node.value is not None and not _is_none(node.value):
            start, end = self._find_span(node.value)
            source = self.data[start:end].decode("utf-8", "surrogatepass")
            self._replace_node(node.value, "return_none", "None")
            self._replace_node(
                node.value, "return_empty", f"(lambda value: type(value)())({source})"
            )
        if isinstance(node, ast.If) and not _is_guard(node.test):
            self._replace_node(node.test, "condition_true", "True")
            self._replace_node(node.test, "condition_false", "False")
        if isinstance(node, ast.While):
            self._replace_node(node.test, "condition_false", "False")
        if isinstance(node, _REMOVABLE) or _is_effect(node):
            start, end = self._find_span(node)
            text = "pass" + "\n" * self.data[start:end].count(b"\n")
            self._add_mutant(node.lineno, "statement_removed", start, end, text)
        if isinstance(node, ast.AugAssign):
            self._swap_operator(node.target, node.value, "arithmetic")

    def _visit_expression(self, node: ast.AST) -> None:
        if isinstance(node, ast.JoinedStr | _TEMPLATE):
            return  # positions inside are not to be relied on
        mutate = _EXPRESSIONS.get(type(node))
        if mutate is not None:
            mutate(self, node)
        before = self._in_function
        if isinstance(node, ast.Lambda):
            self._in_function = True
            self._visit_expression(node.body)
            self._in_function = before
            return
        for child in ast.iter_child_nodes(node):
            self._visit_expression(child)

    def compare(self, node: ast.Compare) -> None:
        sides = [node.left, *node.comparators]
        for left_operand, right_operand in pairwise(sides):
            self._swap_operator(left_operand, right_operand, "comparison")

    def boolean(self, node: ast.BoolOp) -> None:
        for left_operand, right_operand in pairwise(node.values):
            self._swap_operator(left_operand, right_operand, "boolean")

    def arithmetic(self, node: ast.BinOp) -> None:
        self._swap_operator(node.left, node.right, "arithmetic")

    def negation(self, node: ast.UnaryOp) -> None:
        if isinstance(node.op, ast.Not):
            start, end = self._find_span(node.operand)
            source = self.data[start:end].decode("utf-8", "surrogatepass")
            self._replace_node(node, "negation_removed", f"bool({source})")

    def choice(self, node: ast.IfExp) -> None:
        self._replace_node(node.test, "condition_true", "True")
        self._replace_node(node.test, "condition_false", "False")

    def constant(self, node: ast.Constant) -> None:
        value = node.value
        if isinstance(value, bool):
            self._replace_node(node, "constant", str(not value))
        elif isinstance(value, int | float):
            text = repr(value + 1)
            if text not in {"inf", "nan"} and value + 1 != value:
                self._replace_node(node, "constant", text)
        elif isinstance(value, str):
            self._replace_node(node, "constant", repr("mutant" if not value else ""))

    def _swap_operator(self, left: ast.AST, right: ast.AST, kind: str) -> None:
        """Change the operator between two operands, wherever brackets or lines stand around it."""
        start, end = self._find_span(left)[1], self._find_span(right)[0]
        between = self.data[start:end]
        match = None if b"#" in between else _OPERATOR.search(between)
        if match is None:
            return
        name = b" ".join(match[0].split()).decode()
        swapped = _SWAPS.get(name)
        if swapped is not None:
            text = swapped + "\n" * match[0].count(b"\n")
            first, last = start + match.start(), start + match.end()
            self._add_mutant(_find_operator_line(left, right, self), kind, first, last, text)

    def _replace_node(self, node: ast.AST, kind: str, text: str) -> None:
        start, end = self._find_span(node)
        missing_lines = self.data[start:end].count(b"\n") - text.count("\n")
        padded_text = (
            f"({text}{chr(10) * missing_lines})"
            if missing_lines > 0 or text.startswith("-")
            else text
        )
        self._add_mutant(getattr(node, "lineno", 0), kind, start, end, padded_text)

    def _add_mutant(self, line: int, kind: str, start: int, end: int, text: str) -> None:
        if line in self.lines and self.data[start:end].decode("utf-8", "replace") != text:
            place = (self._first, self._last, self._in_function)
            self.mutants.append(Mutant(kind, line, start, end, text, *place))

    def _find_span(self, node: Any) -> tuple[int, int]:
        return (
            self._starts[int(node.lineno) - 1] + int(node.col_offset),
            self._starts[int(node.end_lineno) - 1] + int(node.end_col_offset),
        )


def _find_operator_line(left: Any, right: Any, finder: _Finder) -> int:
    """Name the line of an operator: one of its operands', whichever was asked for."""
    return left.end_lineno if left.end_lineno in finder.lines else right.lineno


def _own_expressions(statement: ast.stmt) -> Iterator[ast.AST]:
    """Give the expressions of a statement: no annotations, messages or statements inside it."""
    for name, value in ast.iter_fields(statement):
        if name in _NOT_MUTATED or isinstance(statement, ast.Raise):
            continue
        if isinstance(statement, ast.If) and _is_guard(statement.test) and name == "test":
            continue
        parts = cast("list[Any]", value) if isinstance(value, list) else [value]
        for part in parts:
            if isinstance(part, ast.arguments):
                yield from (d for d in (*part.defaults, *part.kw_defaults) if d is not None)
            elif isinstance(part, ast.AST):
                yield part


def _inner_statements(statement: ast.stmt) -> Iterator[ast.stmt]:
    """Give the statements right inside one, also those of its handlers and cases."""
    for name in _BODIES:
        for part in getattr(statement, name, ()):
            if isinstance(part, ast.stmt):
                yield part
            else:
                yield from part.body


def _is_docstring(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _is_guard(node: ast.expr) -> bool:
    names = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
    names |= {n.attr for n in ast.walk(node) if isinstance(n, ast.Attribute)}
    return not names.isdisjoint(_GUARDS)


def _is_effect(node: ast.stmt) -> bool:
    """Tell whether a statement only has an effect: a call, or storing into something."""
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Call | ast.Await)
    targets = node.targets if isinstance(node, ast.Assign) else []
    return any(isinstance(target, ast.Attribute | ast.Subscript) for target in targets)


_BODIES = ("body", "orelse", "finalbody", "handlers", "cases")
_NOT_MUTATED = frozenset({"annotation", "returns", "type_params", "type_comment", "msg", *_BODIES})
_TEMPLATE = getattr(ast, "TemplateStr", ast.JoinedStr)
_EXPRESSIONS: dict[type[ast.AST], Any] = {
    ast.Compare: _Finder.compare,
    ast.BoolOp: _Finder.boolean,
    ast.BinOp: _Finder.arithmetic,
    ast.UnaryOp: _Finder.negation,
    ast.IfExp: _Finder.choice,
    ast.Constant: _Finder.constant,
}
