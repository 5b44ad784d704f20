"""Measures the source: size, functions, names, the trusted core, and how many files a flow crosses.

python scripts/measure_code.py            # the numbers, as a table
python scripts/measure_code.py --write    # the same, into ARCHITECTURE.md
python scripts/measure_code.py --flow     # and the files a change crosses in a real daemon
"""

import argparse
import ast
import json
import re
import statistics
import subprocess
import sys
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src" / "astra"
PAGE = ROOT / "ARCHITECTURE.md"
CORE_PAGE = ROOT / "docs" / "explanation" / "trusted-core.md"
BEGIN, END = "<!-- numbers: begin -->", "<!-- numbers: end -->"
LONG_FUNCTION = 50
VAGUE_NAMES = frozenset(
    (  # noqa: SIM905 - words read better without quotes around each
        "asked begun both brought called carried chosen closed coming compared counted cut "
        "decided done each every expected fetched filled found free given gone heard held "
        "here kept known left listed looked lost made meant met missing moved named noted "
        "opened other others own passed planned promised proven put read refused rest run "
        "said seen sent served shown signed spent spoken spelt started stated stood taken "
        "that them then there these they this those thought tied told tried under wanted "
        "waiting what where which whole whose wished words worked written "
    ).split()
)
"""Bare participles and pronouns: names that say nothing of the thing they name."""


@dataclass
class Numbers:
    files: int = 0
    lines: int = 0
    code_lines: int = 0
    trusted_files: int = 0
    trusted_lines: int = 0
    trusted_code_lines: int = 0
    functions: list[int] = field(default_factory=list[int])
    function_names: list[str] = field(default_factory=list[str])
    local_names: list[str] = field(default_factory=list[str])

    @property
    def vague(self) -> int:
        return sum(name in VAGUE_NAMES for name in self.local_names)

    @property
    def one_word(self) -> float:
        count = sum("_" not in name for name in self.function_names)
        return count / len(self.function_names)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true", help="put the table into ARCHITECTURE.md")
    parser.add_argument("--flow", action="store_true", help="also trace a change in a real daemon")
    parser.add_argument("--names", action="store_true", help="list the vague local names")
    options = parser.parse_args()
    numbers = measure(SOURCE)
    crossed = trace_flow() if options.flow else read_flow()
    table = render(numbers, crossed)
    print(table)
    if options.names:
        print("\n".join(vague_places()))
    if options.write:
        write(PAGE, table)
        write(CORE_PAGE, describe_core(numbers))
    return 0


def measure(folder: Path) -> Numbers:
    numbers = Numbers()
    for path in sorted(folder.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        tree = ast.parse(text)
        lines, code = len(text.splitlines()), count_code_lines(text, tree)
        numbers.files += 1
        numbers.lines += lines
        numbers.code_lines += code
        if path.relative_to(folder).parts[0] == "trusted":
            numbers.trusted_files += 1
            numbers.trusted_lines += lines
            numbers.trusted_code_lines += code
        for function in find_functions(tree):
            numbers.functions.append((function.end_lineno or 0) - function.lineno + 1)
            if not function.name.startswith("__"):
                numbers.function_names.append(function.name.strip("_"))
            numbers.local_names += sorted(find_local_names(function))
    return numbers


def count_code_lines(text: str, tree: ast.Module) -> int:
    """Count lines that are neither blank nor comment nor docstring."""
    prose: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            prose |= set(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return sum(
        bool(line.strip()) and not line.strip().startswith("#") and number not in prose
        for number, line in enumerate(text.splitlines(), start=1)
    )


Function = ast.FunctionDef | ast.AsyncFunctionDef


def find_functions(tree: ast.AST) -> Iterator[Function]:
    for node in ast.walk(tree):
        if isinstance(node, Function):
            yield node


def find_local_names(function: Function) -> set[str]:
    """Name what a function binds itself; its arguments and what is nested in it are not counted."""
    names: set[str] = set()
    queue: list[ast.AST] = list(function.body)
    while queue:
        node = queue.pop()
        if isinstance(node, Function | ast.ClassDef | ast.Lambda):
            continue
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        queue.extend(ast.iter_child_nodes(node))
    return names - {"_"}


def vague_places() -> Iterator[str]:
    for path in sorted(SOURCE.rglob("*.py")):
        for function in find_functions(ast.parse(path.read_text(encoding="utf-8"))):
            for name in sorted(find_local_names(function) & VAGUE_NAMES):
                yield f"{path.relative_to(ROOT)}:{function.lineno} {function.name}: {name}"


def render(numbers: Numbers, crossed: int | None) -> str:
    lengths = sorted(numbers.functions)
    long = sum(length > LONG_FUNCTION for length in lengths)
    vague = f"{numbers.vague:,} of {len(numbers.local_names):,}"
    trusted = f"{numbers.trusted_lines:,} ({numbers.trusted_code_lines:,} of code)"
    rows = [
        ("files in `src/astra`", f"{numbers.files:,}"),
        ("lines", f"{numbers.lines:,} ({numbers.code_lines:,} of code)"),
        ("files of the trusted core", f"{numbers.trusted_files:,}"),
        ("lines of the trusted core", trusted),
        ("functions", f"{len(lengths):,}"),
        ("lines a function, median", f"{statistics.median(lengths):g}"),
        ("lines a function, 90th percentile", str(lengths[len(lengths) * 9 // 10])),
        (f"functions over {LONG_FUNCTION} lines", f"{long}"),
        ("function names of one word", f"{numbers.one_word:.0%}"),
        ("vague local names (participles, pronouns)", vague),
        (
            "files a change crosses in the daemon, from MCP to a release",
            str(crossed or "not measured"),
        ),
    ]
    return "\n".join(
        ["| what | measured |", "| --- | --- |", *(f"| {name} | {value} |" for name, value in rows)]
    )


def describe_core(numbers: Numbers) -> str:
    rows = [
        f"| `{promise.folder}` | {promise.own:,} | {promise.reading:,} |"
        for promise in measure_promises()
    ]
    total = (
        f"It has {numbers.trusted_files} files and {numbers.trusted_lines:,} lines,"
        f" {numbers.trusted_code_lines:,} of them code."
    )
    head = ("| folder | its own lines | with all that it imports |", "| --- | --- | --- |")
    return "\n".join([total, "", *head, *rows])


@dataclass(frozen=True)
class Promise:
    """A folder of the trusted core: its own lines, and those of all that its files import."""

    folder: str
    own: int
    reading: int


def measure_promises() -> list[Promise]:
    """Count what one has to read to judge each folder, in the order of the page about the core."""
    paths = {name_module(path): path for path in (SOURCE / "trusted").rglob("*.py")}
    lines = {name: path.read_text(encoding="utf-8").count("\n") for name, path in paths.items()}
    imports = {name: find_imports(path, paths.keys()) for name, path in paths.items()}
    page = CORE_PAGE.read_text(encoding="utf-8")
    folders = re.findall(r"^\| `(\w+)` \|.*\|.*\|.*\|$", page, re.MULTILINE)
    return [
        Promise(
            folder,
            sum(lines[name] for name in own),
            sum(lines[name] for name in close_over(own, imports)),
        )
        for folder in folders
        if (own := {name for name in paths if name.startswith(f"astra.trusted.{folder}.")})
    ]


def name_module(path: Path) -> str:
    parts = path.relative_to(SOURCE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def find_imports(path: Path, modules: Collection[str]) -> set[str]:
    """Name the modules that a file imports; of a package, those of its names that are modules."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            submodules = {f"{node.module}.{alias.name}" for alias in node.names}
            names |= submodules | {node.module}
        elif isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
    return names & set(modules)


def close_over(start: set[str], imports: Mapping[str, set[str]]) -> set[str]:
    reached, queue = set(start), list(start)
    while queue:
        fresh = imports[queue.pop()] - reached
        reached |= fresh
        queue += fresh
    return reached


def write(page: Path, content: str) -> None:
    """Put measured content between the marks of a page."""
    text = page.read_text(encoding="utf-8")
    block = f"{BEGIN}\n{content}\n{END}"
    page.write_text(
        re.sub(f"{BEGIN}.*?{END}", lambda _match: block, text, flags=re.DOTALL), encoding="utf-8"
    )


def read_flow() -> int | None:
    """Give the number of files that was measured last, as the page has it."""
    row = re.search(r"from MCP to a release \| (\d+) \|", PAGE.read_text(encoding="utf-8"))
    return int(row.group(1)) if row else None


def trace_flow() -> int:
    """Run the flow in a process of its own, because it is traced from the start."""
    program = Path(__file__).with_name("trace_flow.py")
    done = subprocess.run([sys.executable, str(program)], stdout=subprocess.PIPE, check=True)
    files = json.loads(done.stdout)
    print("\n".join(files), file=sys.stderr)
    return len(files)


if __name__ == "__main__":
    sys.exit(main())
