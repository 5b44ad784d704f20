"""A lint: permits are made in one place, and handlers are run in one place."""

import ast
import unicodedata
from pathlib import Path

SOURCE = Path(__file__).parents[3] / "src" / "astra"


def uses(*names: str) -> dict[str, set[str]]:
    """Find which modules call or touch these names.

    Only files that hold one are parsed. Python folds look-alike letters, and so does the search.
    """
    found: dict[str, set[str]] = {name: set() for name in names}
    for path in SOURCE.rglob("*.py"):
        text = path.read_text()
        if not any(name in unicodedata.normalize("NFKC", text) for name in names):
            continue
        for node in ast.walk(ast.parse(text)):
            name = getattr(node, "attr", None) or getattr(node, "id", None)
            if name in found:
                found[name].add(str(path.relative_to(SOURCE)))
    return found


def test_only_the_gate_mints_permits() -> None:
    found = uses("mint", "_MINT")
    assert found["mint"] == {"trusted/policy/gate.py", "trusted/policy/permit.py"}
    assert found["_MINT"] == {"trusted/policy/permit.py"}


def test_only_the_registry_reaches_a_handler_and_only_the_counter_runs_a_tool() -> None:
    tree = ast.parse((SOURCE / "trusted" / "calls" / "registry.py").read_text())
    reached = {
        node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and node.attr == "handler"
    }
    assert reached == {"handler"}
    assert uses("handler")["handler"] <= {"trusted/calls/registry.py"}
