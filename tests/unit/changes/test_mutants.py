"""Faulty versions of a source: which there are, and that each keeps its lines."""

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from astra.adapters.mutation_worker.mutants import apply_mutant, find_mutants, stratify

EXPECTED = {
    "a < b": {"a <= b"},
    "a not  in b": {"a in b"},
    "a is b": {"a is not b"},
    "a and b": {"a or b"},
    "not a": {"bool(a)"},
    "a + b": {"a - b"},
    "(a) // (b)": {"(a) / (b)"},
    "True": {"False"},
    "41": {"42"},
    "'text'": {"''"},
    "''": {"'mutant'"},
    "a if b else c": {"a if True else c", "a if False else c"},
}


@pytest.mark.parametrize("expression", EXPECTED)
def test_an_expression_has_its_faults(expression: str) -> None:
    source = f"x = {expression}\n"
    faulty = {apply_mutant(source, mutant) for mutant in find_mutants(source, {1})}
    assert faulty == {f"x = {text}\n" for text in EXPECTED[expression]}


@pytest.mark.parametrize(
    ("statement", "faulty"),
    [
        ("total += 1", "total -= 1"),
        ("total += 1", "pass"),
        ("save(total)", "pass"),
        ("self.x = total", "pass"),
        ("raise ValueError(total)", "pass"),
        ("return total", "return None"),
        ("return total", "return (lambda value: type(value)())(total)"),
        ("while total: break", "while False: break"),
    ],
)
def test_a_statement_has_its_faults(statement: str, faulty: str) -> None:
    source = f"def f(self, total):\n    {statement}\n"
    made = {apply_mutant(source, mutant) for mutant in find_mutants(source, {2})}
    assert f"def f(self, total):\n    {faulty}\n" in made


@pytest.mark.parametrize(
    "text",
    [
        '"""A docstring."""\n',
        "def f(x: 'int' = None) -> 'str': ...\n",
        "if TYPE_CHECKING:\n    import x\n",
        "raise ValueError('a message')\n",
        "x = f'{a + 1} words'\n",
        "def f(:\n",
    ],
)
def test_what_means_nothing_when_it_runs_is_left_alone(text: str) -> None:
    kinds = {mutant.kind for mutant in find_mutants(text, range(1, 9))}
    assert kinds <= {"statement_removed"}


def test_only_the_lines_that_were_asked_for_are_mutated() -> None:
    source = "x = 1\ny = 2\nz = 3\n"
    assert {mutant.line for mutant in find_mutants(source, {2})} == {2}


SOURCE = """# größe
def price(net, tax=0.2):
    if (net < 0
            and tax):
        raise ValueError("größe")
    match net:
        case 0:
            return [
                net,
            ]
    for part in range(3):
        net += part * 2
    return net if not tax else net * (1 + tax)
"""


def test_every_fault_compiles_and_keeps_every_line_where_it_is() -> None:
    mutants = find_mutants(SOURCE, range(1, 99))
    assert len(mutants) > 15
    for mutant in mutants:
        faulty = apply_mutant(SOURCE, mutant)
        assert faulty.count("\n") == SOURCE.count("\n")
        assert ast.dump(ast.parse(faulty)) != ast.dump(ast.parse(SOURCE))


@given(st.sets(st.integers(1, 14)))
def test_any_beginning_of_the_order_is_spread_over_the_lines(lines: set[int]) -> None:
    mutants = find_mutants(SOURCE, lines)
    ordered = stratify({"a.py": mutants})
    assert sorted(m.start for _path, m in ordered) == sorted(m.start for m in mutants)
    first = [mutant.line for _path, mutant in ordered][: len({m.line for m in mutants})]
    assert len(set(first)) == len(first)
    assert stratify({"a.py": list(reversed(mutants))}) == ordered
