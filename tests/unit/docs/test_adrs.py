"""Decisions have a status, and the one about dependencies names them all."""

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
PAGES = sorted((ROOT / "docs" / "adr").glob("*.md"))
STATUS = re.compile(
    r"^Status: (?:proposed|accepted|superseded by \[ADR \d+\]\(.+\))$", re.MULTILINE
)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_decision_has_a_status(page: Path) -> None:
    assert STATUS.search(page.read_text())


def test_numbers_are_used_once() -> None:
    numbers = [page.name[:4] for page in PAGES]
    assert len(numbers) == len(set(numbers))


def test_the_decision_about_dependencies_names_them_all() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    names = {re.split(r"[\[<>=]", line)[0] for line in project["dependencies"]}
    page = (ROOT / "docs" / "adr" / "0007-dependencies.md").read_text()
    assert not {name for name in names if f"`{name}`" not in page}
