r"""Whether a change can be taken into the running process, instead of starting a new one.

Safe is a change after which the process is the same as one that started with the new code: only the
bodies of plain functions and methods differ, so that the new code can be put into the functions
that are there, with every object, connection and variable as it is. Pages, styles and pictures may
differ too, since they are read when they are asked for. Everything else (another signature, base
class, decorator or constant; a file that came or went; settings, dependencies, data) is a restart.

>>> explain_restart({"a.py": (b"def f():\n    return 1\n", b"def f():\n    return 2\n")})
''
>>> explain_restart({"a.py": (b"X = 1\n", b"X = 2\n")})
'a.py: more than the bodies of functions differs'
"""

import ast
from collections.abc import Mapping
from posixpath import basename, splitext

from astra.trusted.kernel.text import one_line

Changes = Mapping[str, tuple[bytes | None, bytes | None]]
_READ_WHEN_ASKED = frozenset({".html", ".css", ".js", ".map", ".svg", ".png", ".ico", ".woff2"})
_ENTRY = "__main__.py"
_TRANSPARENT = frozenset({"staticmethod", "classmethod", "property"})


def explain_restart(changes: Changes, *, ignored: tuple[str, ...] = ()) -> str:
    """Say why a restart is needed, or nothing."""
    for path, (old, new) in sorted(changes.items()):
        if path.startswith(ignored) or splitext(path)[1] in _READ_WHEN_ASKED:
            continue
        if trouble := _find_restart_reason(path, old, new):
            return f"{one_line(path)}: {trouble}"
    return ""


def modules(changes: Changes, *, ignored: tuple[str, ...] = ()) -> list[str]:
    return [
        path for path in sorted(changes) if path.endswith(".py") and _is_relevant(path, ignored)
    ]


def _is_relevant(path: str, ignored: tuple[str, ...]) -> bool:
    return not (ignored and path.startswith(ignored))


def _find_restart_reason(path: str, old: bytes | None, new: bytes | None) -> str:
    if not path.endswith(".py"):
        return "is not Python"
    if not path.isprintable():
        return "has a name that no module can have"
    if old is None or new is None:
        return "came" if old is None else "went"
    if basename(path) == _ENTRY:
        return "is what the process started with"
    try:
        same = _dump_skeleton(old) == _dump_skeleton(new)
    except (SyntaxError, ValueError, RecursionError):
        return "cannot be parsed"
    return "" if same else "more than the bodies of functions differs"


def _dump_skeleton(source: bytes) -> str:
    return ast.dump(_WithoutBodies().visit(ast.parse(source)))


class _WithoutBodies(ast.NodeTransformer):
    """Empties the bodies of functions that can be given new code where they are."""

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        return self._empty_body(node)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> ast.AST:
        return self._empty_body(node)

    def _empty_body(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> ast.AST:
        names = {
            decorator.id for decorator in node.decorator_list if isinstance(decorator, ast.Name)
        }
        if len(names) == len(node.decorator_list) and names <= _TRANSPARENT:
            node.body = [ast.Pass()]
        return node
