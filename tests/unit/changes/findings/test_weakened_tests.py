"""Each known way to make a Python test prove less is found; harmless edits are not."""

import textwrap

import pytest
from hypothesis import given
from hypothesis import strategies as st

from astra.changes.findings.examination import examine
from astra.changes.findings.source import Source
from astra.trusted.changes.evidence import Finding, Severity

BEFORE = """
import pytest
from shop import cart, prices


def test_total():
    basket = cart.make("apple", "pear")
    total = prices.total(basket)
    assert total == 7
    assert basket.names == ["apple", "pear"]


def test_refusal():
    with pytest.raises(ValueError, match="empty"):
        prices.total(cart.make())


def test_near():
    assert prices.tax(10) == pytest.approx(1.9, rel=1e-6)


@pytest.mark.parametrize("count", [1, 2, 3])
def test_counts(count):
    assert len(cart.make(*"abc"[:count]).names) == count


class TestBasket(TestCase):
    def test_sum(self):
        self.assertEqual(prices.total(cart.make("apple")), 3)
        self.assertAlmostEqual(prices.tax(1), 0.19, places=5)
"""
DANGERS = {
    "check-removed",
    "check-loosened",
    "check-guarded",
    "check-always-true",
    "skip-added",
    "test-removed",
    "test-not-collected",
    "test-empty",
    "test-shadowed",
    "test-conditional",
    "test-hook",
    "exit-in-tests",
    "code-replaced",
    "collection-changed",
    "cases-removed",
    "equal-to-everything",
    "test-file-deleted",
    "expectation-file-changed",
}


def weakening(old: str | None, new: str | None, path: str = "tests/test_cart.py") -> list[Finding]:
    source = Source(path=path, old=old, new=new, is_test=True)
    return [f for f in examine([source]) if f.rule in DANGERS or f.rule == "check-changed"]


@pytest.mark.parametrize(
    ("words", "instead", "rule"),
    [
        ("    assert total == 7\n", "", "check-removed"),
        ("assert total == 7", "assert total", "check-loosened"),
        ("assert total == 7", "assert total >= 1", "check-loosened"),
        ("assert total == 7", "assert total in (7, 8)", "check-loosened"),
        ("assert total == 7", "assert total is not None", "check-loosened"),
        ("assert total == 7", "assert isinstance(total, int)", "check-loosened"),
        ("assert total == 7", "assert total == 7 or total == 8", "check-loosened"),
        ("assert total == 7", "assert total == pytest.approx(7)", "check-loosened"),
        ("assert total == 7", "assert True", "check-always-true"),
        ("assert total == 7", "assert total == 7 or True", "check-always-true"),
        ("assert total == 7", "assert total == total", "check-always-true"),
        ("assert total == 7", "assert (total == 7, 'why')", "check-always-true"),
        ("assert total == 7", "assert total or 1", "check-always-true"),
        ("    assert total == 7", "    if total:\n        assert total == 7", "check-guarded"),
        (
            "    assert total == 7",
            "    try:\n        assert total == 7\n    except AssertionError:\n        pass",
            "check-guarded",
        ),
        (
            "    assert total == 7",
            "    with contextlib.suppress(AssertionError):\n        assert total == 7",
            "check-guarded",
        ),
        ("    assert total == 7", "    return\n    assert total == 7", "check-guarded"),
        (
            "    assert total == 7",
            "    def later():\n        assert total == 7",
            "check-guarded",
        ),
        (', match="empty"', "", "check-loosened"),
        ("pytest.raises(ValueError, match", "pytest.raises(Exception, match", "check-loosened"),
        ("rel=1e-6", "rel=0.5", "check-loosened"),
        ("places=5", "places=0", "check-loosened"),
        ('self.assertEqual(prices.total(cart.make("apple")), 3)', "pass", "check-removed"),
        (
            'self.assertEqual(prices.total(cart.make("apple")), 3)',
            'self.assertTrue(prices.total(cart.make("apple")))',
            "check-loosened",
        ),
        (
            'self.assertEqual(prices.total(cart.make("apple")), 3)',
            'self.assertIn(prices.total(cart.make("apple")), [3, 4])',
            "check-loosened",
        ),
        ("[1, 2, 3]", "[1]", "cases-removed"),
        ("def test_near", "@pytest.mark.skip\ndef test_near", "skip-added"),
        ("def test_near", "@pytest.mark.flaky(reruns=9)\ndef test_near", "skip-added"),
        ("def test_near", "@pytest.mark.xfail(reason='x')\ndef test_near", "skip-added"),
        ("def test_near", "@pytest.mark.skipif(True, reason='')\ndef test_near", "skip-added"),
        ("def test_near():", "def test_near():\n    pytest.skip('later')", "skip-added"),
        ("    def test_sum", "    @unittest.skip('x')\n    def test_sum", "skip-added"),
        (
            "    def test_sum",
            "    @unittest.expectedFailure\n    def test_sum",
            "skip-added",
        ),
        ("def test_sum(self):", "def test_sum(self):\n        self.skipTest('x')", "skip-added"),
        ("class TestBasket", "pytestmark = pytest.mark.skip\nclass TestBasket", "skip-added"),
        ("def test_near", "def near", "test-not-collected"),
        ("class TestBasket(TestCase)", "class Basket", "test-not-collected"),
        (
            "def test_near():\n    assert prices.tax(10) == pytest.approx(1.9, rel=1e-6)\n",
            "",
            "test-removed",
        ),
        (
            "assert prices.tax(10) == pytest.approx(1.9, rel=1e-6)",
            "pass",
            "test-empty",
        ),
        (
            "class TestBasket",
            "def test_near():\n    assert cart\n\nclass TestBasket",
            "test-shadowed",
        ),
        (
            "def test_near():\n    assert",
            "if FAST:\n  def test_near():\n    assert",
            "test-conditional",
        ),
        ("class TestBasket", "del test_near\nclass TestBasket", "collection-changed"),
        (
            "class TestBasket(TestCase):",
            "class TestBasket(TestCase):\n    __test__ = False",
            "collection-changed",
        ),
        ("def test_near():", "def test_near():\n    sys.exit(0)", "exit-in-tests"),
        ("def test_near():", "def test_near():\n    os._exit(0)", "exit-in-tests"),
        (
            "def test_near():",
            "@mock.patch('shop.prices.tax', return_value=1.9)\ndef test_near():",
            "code-replaced",
        ),
        (
            "def test_near():",
            "def test_near(monkeypatch):\n    monkeypatch.setattr(prices, 'tax', lambda _: 1.9)",
            "code-replaced",
        ),
        ("def test_near():", "def test_near():\n    prices.tax = lambda _: 1.9", "code-replaced"),
        (
            "class TestBasket",
            "@pytest.fixture(autouse=True)\ndef calm(m):\n  m.patch('shop.cart')\nclass TestBasket",
            "code-replaced",
        ),
        (
            "class TestBasket",
            "def pytest_collection_modifyitems(items):\n    items.clear()\n\nclass TestBasket",
            "test-hook",
        ),
        (
            "class TestBasket",
            "class Any:\n    def __eq__(self, other):\n        return True\n\nclass TestBasket",
            "equal-to-everything",
        ),
    ],
)
def test_a_weakened_test_is_found_and_is_a_danger(words: str, instead: str, rule: str) -> None:
    assert BEFORE.count(words) == 1, "the case must change exactly one place"
    found = weakening(BEFORE, BEFORE.replace(words, instead))
    assert rule in {finding.rule for finding in found}, found
    assert {f.severity for f in found if f.rule == rule} == {Severity.DANGER}


@pytest.mark.parametrize(
    "hook",
    ["pytest_collection_modifyitems", "pytest_runtest_makereport", "pytest_sessionfinish"],
)
def test_a_hook_that_can_change_results_is_found_in_any_file(hook: str) -> None:
    for path in ("conftest.py", "src/shop/plugin.py"):
        source = Source(path=path, old="", new=f"def {hook}(session):\n    pass\n")
        assert "test-hook" in {finding.rule for finding in examine([source])}


@pytest.mark.parametrize(
    "text",
    [
        "@pytest.hookimpl(specname='pytest_runtest_makereport')\ndef harmless(item):\n    pass\n",
        "def setup(config):\n    config.pluginmanager.register(Quiet())\n",
    ],
)
def test_a_hook_under_another_name_is_found(text: str) -> None:
    source = Source(path="src/shop/setup.py", old="", new=text)
    assert "test-hook" in {finding.rule for finding in examine([source])}


def test_a_new_configuration_file_that_leaves_tests_out_is_found() -> None:
    found = examine([Source(path="pytest.ini", new="[pytest]\naddopts = -k nothing\n")])
    assert "tests-left-out" in {finding.rule for finding in found}


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ("src/a.py", "if 'PYTEST_CURRENT_TEST' in os.environ:"),
        ("src/a.py", "if 'pytest' in sys.modules:"),
        ("src/a.py", "fast = os.path.exists('/workspace')"),
        ("src/a.ts", "if (process.env.JEST_WORKER_ID) {"),
        ("src/a.js", "const t = process.env.NODE_ENV === 'test'"),
    ],
)
def test_code_that_notices_its_tests_is_found_outside_of_tests(path: str, line: str) -> None:
    source = Source(path=path, old="", new=f"{line}\n    pass\n")
    found = [f for f in examine([source]) if f.rule == "notices-tests"]
    assert [(f.line, f.severity) for f in found] == [(1, Severity.DANGER)]
    inside = Source(path="tests/a.py", old="", new=f"{line}\n    pass\n", is_test=True)
    assert "notices-tests" not in {finding.rule for finding in examine([inside])}


def test_a_deleted_test_file_is_found_and_a_moved_one_is_only_noted() -> None:
    gone = Source(path="tests/test_a.py", old=BEFORE, is_test=True)
    assert "test-file-deleted" in {finding.rule for finding in examine([gone])}
    moved = Source(path="tests/unit/test_a.py", new=BEFORE, is_test=True)
    assert {f.rule for f in examine([gone, moved])} & DANGERS == set()
    hidden = Source(path="tests/old_a.py", new=BEFORE, is_test=True)
    assert "test-not-collected" in {finding.rule for finding in examine([gone, hidden])}


def test_a_test_that_moves_to_another_file_is_not_lost() -> None:
    case = "def test_near():\n    assert prices.tax(10) == pytest.approx(1.9, rel=1e-6)\n"
    source = Source(path="tests/test_a.py", old=BEFORE, new=BEFORE.replace(case, ""), is_test=True)
    other = Source(path="tests/test_b.py", old="", new=case, is_test=True)
    assert not [f for f in examine([source, other]) if f.rule in DANGERS]
    assert [f.rule for f in examine([source]) if f.rule in DANGERS] == ["test-removed"]


def test_a_renamed_test_is_not_lost() -> None:
    assert weakening(BEFORE, BEFORE.replace("def test_near", "def test_tax_is_near")) == []


def test_a_changed_snapshot_is_found() -> None:
    source = Source(path="tests/__snapshots__/a.ambr", old="1\n", new="2\n", is_test=True)
    assert "expectation-file-changed" in {finding.rule for finding in examine([source])}


def test_another_expected_value_is_a_warning_and_not_a_danger() -> None:
    (found,) = weakening(BEFORE, BEFORE.replace("== 7", "== 8"))
    assert (found.rule, found.severity) == ("check-changed", Severity.WARNING)


def test_a_stronger_check_is_no_weakening() -> None:
    old = "def test_a():\n    assert f()\n"
    found = weakening(old, "def test_a():\n    assert f() == 3\n    assert g() == 1\n")
    assert {f.rule for f in found} <= {"check-changed"}


LINES = BEFORE.splitlines(keepends=True)
STARTS = [n for n, line in enumerate(LINES) if line.strip() and not line.startswith("    self")]


@given(
    st.lists(st.sampled_from(STARTS), max_size=6),
    st.sampled_from(["# note", "#", "    # deep", ""]),
    st.booleans(),
)
def test_comments_and_blank_lines_are_no_weakening(
    places: list[int], comment: str, crlf: bool
) -> None:
    new = "".join(
        (f"{comment}\n" if number in places else "") + line for number, line in enumerate(LINES)
    )
    assert weakening(BEFORE, new.replace("\n", "\r\n") if crlf else new) == []


@given(st.sampled_from(["total", "basket"]), st.from_regex(r"[a-z]{3,8}_x", fullmatch=True))
def test_renaming_a_local_variable_is_no_weakening(name: str, other: str) -> None:
    body = BEFORE[BEFORE.index("def test_total") : BEFORE.index("def test_refusal")]
    renamed = body.replace(f"    {name} =", f"    {other} =").replace(
        f"assert {name}", f"assert {other}"
    )
    renamed = renamed.replace(
        "prices.total(basket)", f"prices.total({other if name == 'basket' else 'basket'})"
    )
    assert weakening(BEFORE, BEFORE.replace(body, renamed)) == []


@given(st.integers(min_value=0, max_value=3))
def test_layout_inside_a_statement_is_no_weakening(indent: int) -> None:
    spread = f'assert basket.names == [\n{" " * indent}"apple",  # first\n"pear",\n    ]'
    new = BEFORE.replace('assert basket.names == ["apple", "pear"]', spread)
    assert weakening(BEFORE, new) == []


@pytest.mark.parametrize(
    ("old", "new", "rule"),
    [
        ("it('adds', () => {})", "it.skip('adds', () => {})", "skip-added"),
        ("it('adds', () => {})", "xit('adds', () => {})", "skip-added"),
        ("test('adds', () => {})", "test.only('adds', () => {})", "skip-added"),
        ("test('adds', f)", "test('other', f)", "test-removed"),
        ("expect(a).toBe(1)\nexpect(b).toBe(2)", "expect(a).toBe(1)", "check-removed"),
        ("expect(a).toBe(1)", "expect(a).toBeTruthy()", "check-loosened"),
        ("expect(a).toBe(1)", "expect(true).toBe(true)", "check-always-true"),
        ("f()", "jest.mock('../src/cart')\nf()", "code-replaced"),
        ("f()", "process.exit(0)\nf()", "exit-in-tests"),
    ],
)
def test_a_weakened_script_test_is_found(old: str, new: str, rule: str) -> None:
    found = weakening(old + "\n", new + "\n", path="tests/cart.test.ts")
    assert rule in {finding.rule for finding in found}


def test_comments_in_script_tests_are_no_weakening() -> None:
    old = "test('adds', () => {\n  expect(a).toBe(1)\n})\n"
    new = textwrap.dedent(
        """\
        // a note about test.skip and process.exit
        test('adds', () => {

          expect(a).toBe(1)  // see jest.mock
        })
        """
    )
    assert weakening(old, new, path="tests/cart.test.ts") == []


@pytest.mark.parametrize(
    ("path", "old", "new", "rule"),
    [
        ("pyproject.toml", "fail_under = 90", "fail_under = 50", "threshold-lowered"),
        ("pyproject.toml", "fail_under = 90", "", "threshold-lowered"),
        (".coveragerc", "fail_under = 90", "fail_under = 89.5", "threshold-lowered"),
        ("tox.ini", "pytest --cov-fail-under=90", "pytest --cov-fail-under=9", "threshold-lowered"),
        ("package.json", '"branches": 80,', '"branches": 10,', "threshold-lowered"),
        ("jest.config.js", "lines: 80", "lines: 1", "threshold-lowered"),
        ("pytest.ini", "addopts = -q", "addopts = -q -k 'not slow'", "tests-left-out"),
        ("pytest.ini", "addopts = -q", "addopts = -q --ignore=tests/hard", "tests-left-out"),
        ("pytest.ini", "addopts = -q", "addopts = --deselect tests/a.py::b", "tests-left-out"),
        ("pytest.ini", "testpaths = tests", "testpaths = tests/easy", "collection-changed"),
        ("pyproject.toml", "xfail_strict = true", "", "demand-dropped"),
        ("setup.cfg", "max_failures = 1", "max_failures = 100", "threshold-lowered"),
        ("Makefile", "test:\n\tpytest", "test:\n\tpytest || true", "tests-left-out"),
    ],
)
def test_a_lowered_bar_is_found(path: str, old: str, new: str, rule: str) -> None:
    found = examine([Source(path=path, old=f"{old}\n", new=f"{new}\n")])
    assert (rule, Severity.DANGER) in {(finding.rule, finding.severity) for finding in found}


def test_a_raised_bar_is_not_a_finding() -> None:
    found = examine([Source(path=".coveragerc", old="fail_under = 80\n", new="fail_under = 90\n")])
    assert found == []
