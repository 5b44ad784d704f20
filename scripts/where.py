"""Writes docs/where-do-i.md: questions of somebody who carries on, each with a file and a line.

The table is here; lines are looked up, so that the page cannot point beside the thing. Run by
`make docs`; a test fails when the page is not current.
"""

import ast
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src" / "astra"
PAGE = ROOT / "docs" / "where-do-i.md"
QUESTIONS = (
    ("see what happens next, and why", "flow/__init__.py", ""),
    ("see how everything is put together", "bootstrap/build.py", "build_runtime"),
    ("find why a call was refused", "trusted/policy/gate.py", "decide"),
    ("add a reason code", "trusted/policy/decision.py", "Reason"),
    ("add a tool", "tools/catalogue.py", "make_registry"),
    ("see what a tool call passes", "trusted/calls/counter.py", "Counter.begin"),
    ("add an event", "bootstrap/events.py", "EVENTS"),
    ("say whether an event is recorded on a full disk", "bootstrap/directions.py", "Direction"),
    ("change the shape of a record", "trusted/ledger/upcasting.py", ""),
    ("ask the ledger something", "trusted/ledger/ports.py", "Ledger"),
    ("add a projection", "bootstrap/__init__.py", "PROJECTIONS"),
    ("see how a record is written", "trusted/file_ledger/indexed.py", "IndexedLedger.append"),
    ("see what a signature covers", "trusted/policy/statements.py", "draft"),
    ("see who may sign what, and how many it takes", "trusted/policy/authority.py", "judge"),
    ("see what an approval of a change binds", "trusted/changes/review.py", "Review.collect_parts"),
    ("change which paths a change may touch", "trusted/changes/admission.py", "admit"),
    ("see how a change is merged", "trusted/changes/merging.py", "Merges.merge"),
    ("change what is secret", "trusted/policy/secrets.py", "SecretRules"),
    ("see what a box is made of", "trusted/sandbox/profile.py", "compile_profile"),
    ("run something in a box", "trusted/sandbox/ports.py", "BoxRequest"),
    ("see which hosts a box reaches", "trusted/egress/egress_proxy.py", "EgressProxy"),
    ("see how stop finds what to end", "trusted/stop/stop.py", "stop_now"),
    ("add a route, and say who may use it", "trusted/door/rules.py", "RULES"),
    ("add a command", "interfaces/cli/main.py", "COMMANDS"),
    ("add a setting of the environment", "trusted/settings/environment.py", "Setting"),
    ("add a setting of astra.toml", "trusted/settings/configuration.py", "Configuration"),
    ("see the states of a change", "trusted/changes/model.py", "State"),
    ("see the states of a plan", "plans/states.py", ""),
    ("see how a release is proven", "deployments/watching.py", ""),
)


def main() -> int:
    PAGE.write_text(render(), encoding="utf-8")
    return 0


def render() -> str:
    rows = [f"| {question} | {link(path, symbol)} |" for question, path, symbol in QUESTIONS]
    return "\n".join(
        [
            "# Where do I …",
            "",
            "Written by `make docs` from `scripts/where.py`.",
            "",
            "| to … | look at |",
            "| --- | --- |",
            *rows,
            "",
        ]
    )


def link(path: str, symbol: str) -> str:
    line = find_line(SOURCE / path, symbol)
    text = f"`{path}`, `{symbol}`" if symbol else f"`{path}`"
    return f"[{text}](../src/astra/{path}), line {line}"


def find_line(path: Path, symbol: str) -> int:
    """Find where a module, class, method, function or constant is defined."""
    body, line = ast.parse(path.read_text(encoding="utf-8")).body, 1
    for name in symbol.split(".") if symbol else ():
        node = next((node for node in body if name in names(node)), None)
        if node is None:
            raise LookupError(f"{path} has no {symbol}")
        body, line = getattr(node, "body", []), node.lineno
    return line


def names(node: ast.stmt) -> set[str]:
    if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
        return {node.name}
    targets = node.targets if isinstance(node, ast.Assign) else []
    targets = [node.target] if isinstance(node, ast.AnnAssign) else targets
    return {target.id for target in targets if isinstance(target, ast.Name)}


if __name__ == "__main__":
    sys.exit(main())
