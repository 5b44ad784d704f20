"""Find what source files define, in a process that may be killed at any moment.

Run as a script by `symbols`. Input: a line of JSON (`seconds`, `megabytes`, `libraries`: folders to
import from, and `files`: language and length in bytes of each), then the files. Output: JSON, for
each file its definitions (name, kind, first line, last line), or null where it cannot be read. A
parser that crashes takes nothing but this process with it.
"""

import ast
import json
import resource
import sys
import warnings
from collections.abc import Iterator
from typing import Any

_MOST = 2_000
_KINDS = {
    "function_declaration": "function",
    "generator_function_declaration": "function",
    "class_declaration": "class",
    "abstract_class_declaration": "class",
    "method_definition": "method",
    "interface_declaration": "interface",
    "type_alias_declaration": "type",
    "enum_declaration": "enum",
    "variable_declarator": "constant",
}
Definition = tuple[str, str, int, int]


def main() -> None:
    order = json.loads(sys.stdin.buffer.readline())
    resource.setrlimit(resource.RLIMIT_CPU, (order["seconds"], order["seconds"]))
    resource.setrlimit(resource.RLIMIT_AS, (order["megabytes"] << 20, order["megabytes"] << 20))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    sys.path += order["libraries"]
    warnings.simplefilter("ignore")
    answers = [_list_symbols(language, length) for language, length in order["files"]]
    print(json.dumps(answers))  # noqa: T201 - standard output is the answer


def _list_symbols(language: str, length: int) -> list[Definition] | None:
    text = sys.stdin.buffer.read(length).decode()
    reader = read_python if language == "Python" else read_script
    try:
        return list(reader(language, text))[:_MOST]
    except (SyntaxError, ValueError, RecursionError, MemoryError, ImportError):
        return None


def read_python(_language: str, text: str) -> Iterator[Definition]:
    pending: list[tuple[ast.AST, bool]] = [(ast.parse(text), False)]
    while pending:
        node, in_class = pending.pop()
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
                yield _describe(child, "method" if in_class else "function")
                pending.append((child, False))
            elif isinstance(child, ast.ClassDef):
                yield _describe(child, "class")
                pending.append((child, True))
            elif isinstance(child, ast.If | ast.Try | ast.With):
                pending.append((child, in_class))
            elif isinstance(node, ast.Module):
                yield from _list_constants(child)


def _describe(node: Any, kind: str) -> Definition:
    return str(node.name), kind, int(node.lineno), int(node.end_lineno or node.lineno)


def _list_constants(node: ast.AST) -> Iterator[Definition]:
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
    for target in targets:
        if isinstance(target, ast.Name):
            yield target.id, "constant", target.lineno, target.end_lineno or target.lineno


def read_script(language: str, text: str) -> Iterator[Definition]:
    from tree_sitter import Language, Parser

    tree = Parser(Language(_load_grammar(language))).parse(text.encode())  # pyright: ignore[reportDeprecated]
    pending = [tree.root_node]
    while pending:
        node = pending.pop()
        if kind := _KINDS.get(node.type):
            name = node.child_by_field_name("name")
            if name is not None and name.text is not None:
                lines = node.start_point[0] + 1, node.end_point[0] + 1
                yield name.text.decode(errors="replace"), kind, *lines
        pending.extend(node.named_children)


def _load_grammar(language: str) -> Any:
    if language == "JavaScript":
        import tree_sitter_javascript

        return tree_sitter_javascript.language()
    import tree_sitter_typescript

    return tree_sitter_typescript.language_tsx()


if __name__ == "__main__":
    main()
