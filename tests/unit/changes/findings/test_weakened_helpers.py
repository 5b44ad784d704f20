"""Helpers and fixtures of Python tests that prove less are found; harmless edits are not."""

import pytest

from astra.changes.findings.examination import examine
from astra.changes.findings.source import Source
from astra.trusted.changes.evidence import Severity

BEFORE = """
import pytest
import shop
from shop import cart, prices


def compare(basket, total):
    assert prices.total(basket) == total
    assert basket.names


def is_free(basket):
    return prices.total(basket) == 0


def demand(total):
    if total != 7:
        raise AssertionError(total)


@pytest.fixture
def basket():
    made = cart.make("apple", "pear")
    assert made.names == ["apple", "pear"]
    return made


class Base:
    def verify(self, basket):
        self.assertEqual(len(basket.names), 2)


def test_total(basket):
    compare(basket, 7)
    assert not is_free(basket)
"""


def rules(after: str) -> set[tuple[str, Severity]]:
    source = Source(path="tests/conftest.py", old=BEFORE, new=after, is_test=True)
    weighty = [finding for finding in examine([source]) if finding.severity is not Severity.INFO]
    # Every new statement in a conftest.py is named, whatever it does.
    return {(f.rule, f.severity) for f in weighty if f.rule != "runs-around-tests"}


WEAKER = {
    "an assertion gone": ("    assert basket.names\n", "", "check-removed"),
    "an assertion loosened": (
        "assert prices.total(basket) == total",
        "assert prices.total(basket) >= total",
        "check-loosened",
    ),
    "an assertion that always holds": (
        "    assert basket.names\n",
        "    assert True\n",
        "check-always-true",
    ),
    "an early return": (
        "def compare(basket, total):\n",
        "def compare(basket, total):\n    return\n",
        "check-guarded",
    ),
    "a helper emptied": (
        "    assert prices.total(basket) == total\n    assert basket.names\n",
        "    pass\n",
        "helper-emptied",
    ),
    "an answer that is always the same": (
        "return prices.total(basket) == 0",
        "return False",
        "helper-constant",
    ),
    "a raise that never comes": ("if total != 7:", "if False:", "check-always-true"),
    "a raise gone": ("        raise AssertionError(total)\n", "        pass\n", "check-removed"),
    "a fixture that checks less": (
        '    assert made.names == ["apple", "pear"]\n',
        "",
        "check-removed",
    ),
    "a method of a base class": (
        "self.assertEqual(len(basket.names), 2)",
        "self.assertTrue(basket.names)",
        "check-loosened",
    ),
    "a helper under the name of something else": (
        "def compare(basket, total):",
        "compare = print\n\n\ndef other(basket, total):",
        "helper-removed",
    ),
    "a call of a helper gone from a test": ("    compare(basket, 7)\n", "", "check-removed"),
    "a fixture that patches the code": (
        '    made = cart.make("apple", "pear")\n',
        '    made = cart.make("apple", "pear")\n    setattr(prices, "total", lambda _basket: 7)\n',
        "code-replaced",
    ),
    "a patch in a context": (
        "def basket():\n",
        (
            "def basket(monkeypatch):\n    with monkeypatch.context() as inner:\n"
            '        inner.setattr(prices, "total", len)\n'
        ),
        "code-replaced",
    ),
    "a module replaced": (
        "import shop\n",
        'import shop\nimport sys\n\nsys.modules["shop.prices"] = object()\n',
        "code-replaced",
    ),
}


@pytest.mark.parametrize(("old", "new", "rule"), WEAKER.values(), ids=WEAKER)
def test_a_helper_that_proves_less_is_a_danger(old: str, new: str, rule: str) -> None:
    assert old in BEFORE
    assert (rule, Severity.DANGER) in rules(BEFORE.replace(old, new))


HARMLESS = {
    "nothing": ("", ""),
    "a local variable renamed": ("made", "prepared"),
    "a comment": ("def is_free", "# whether it costs nothing\ndef is_free"),
    "one more check": ("    assert basket.names\n", "    assert basket.names\n    assert total\n"),
    "another helper": (
        "class Base:",
        "def double(number):\n    return 2 * number\n\n\nclass Base:",
    ),
}


@pytest.mark.parametrize(("old", "new"), HARMLESS.values(), ids=HARMLESS)
def test_a_harmless_edit_of_a_helper_is_not_reported(old: str, new: str) -> None:
    assert rules(BEFORE.replace(old, new)) == set()


def test_a_fixture_that_acts_on_every_test_is_pointed_out() -> None:
    autouse = BEFORE.replace("@pytest.fixture\n", "@pytest.fixture(autouse=True)\n")
    assert rules(autouse) == {("fixture-everywhere", Severity.WARNING)}
    assert rules(BEFORE.replace("@pytest.fixture\n", "@pytest.fixture(autouse=False)\n")) == set()


def test_a_fixture_that_only_gives_a_constant_now_is_pointed_out() -> None:
    constant = BEFORE.replace("    return made\n", "    return None\n")
    assert ("helper-constant", Severity.WARNING) in rules(constant)


def test_a_helper_that_moves_to_another_file_is_compared_there() -> None:
    helper = "def compare(one, other):\n    assert one == other\n    assert other\n"
    moved = [
        Source(path="tests/conftest.py", old=helper, new="", is_test=True),
        Source(path="tests/helping.py", old=None, new=helper, is_test=True),
    ]
    assert [f for f in examine(moved) if f.severity is Severity.DANGER] == []
    weaker = helper.replace("    assert other\n", "")
    moved[1] = Source(path="tests/helping.py", old=None, new=weaker, is_test=True)
    assert {f.rule for f in examine(moved) if f.severity is Severity.DANGER} == {"check-removed"}


def test_code_outside_the_tests_is_not_taken_for_a_helper() -> None:
    source = Source(path="shop/checks.py", old=BEFORE, new="import shop\n")
    assert not [f for f in examine([source]) if f.rule.startswith(("check-", "helper-"))]
