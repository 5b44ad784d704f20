"""Shared set-up: the same Hypothesis examples every time; which worker runs what, and when."""

import pytest
from _pytest.nodeid import NodeId
from hypothesis import settings

settings.register_profile("astra", derandomize=True, max_examples=50, deadline=None)
settings.load_profile("astra")

LONG = (
    "tests/browser/",
    "tests/integration/schedules/",
    "tests/acceptance/test_demo.py",
    "tests/acceptance/test_astra_on_astra.py",
    "tests/acceptance/test_benchmarks.py",
    "tests/integration/daemon/test_description.py",
    "tests/integration/reserve/",
    "tests/acceptance/test_autonomy.py",
    "tests/acceptance/test_adopting.py",
    "tests/acceptance/test_separate_users.py",
    "tests/acceptance/test_soak.py",
    "tests/acceptance/test_ordinary_day.py",
    "tests/acceptance/test_every_night.py",
    "tests/acceptance/test_torture.py",
    "tests/acceptance/test_plans_at_night.py",
    "tests/unit/git/",
    "tests/unit/plans/test_crashes.py",
)


def pytest_itemcollected(item: pytest.Item) -> None:
    """Give tests that share what their module sets up to one worker, which sets it up once."""
    if isinstance(item, pytest.Function) and _shares_with_module(item):
        item.add_marker(pytest.mark.xdist_group(f"{item.path.parent.name}/{item.path.stem}"))


def _shares_with_module(item: pytest.Function) -> bool:
    if item.get_closest_marker("xdist_group"):
        return False
    fixtures = item._fixtureinfo.name2fixturedefs
    return any(definition.scope == "module" for name in fixtures for definition in fixtures[name])


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Begin with groups that one worker runs alone and with what takes long.

    What begins last should be short, or one worker waits for the other at the end. Everything else
    stays in the order it has, which is random.
    """
    items.sort(key=_begins_late)
    if config.getoption("loadgroup", default=False):
        for item in items:
            _write_group_into_id(item)


def _write_group_into_id(item: pytest.Item) -> None:
    """Tell xdist the group of a test, as it does itself up to pytest 9.1.

    It writes the group into an attribute that pytest 9.2 no longer reads: every test is a group of
    its own then, and each worker sets up what one was to set up for all.
    """
    mark = item.get_closest_marker("xdist_group")
    if mark and not item.nodeid.endswith(f"@{mark.args[0]}"):
        item._id = NodeId.parse(f"{item.nodeid}@{mark.args[0]}")


def _begins_late(item: pytest.Item) -> int:
    if item.get_closest_marker("xdist_group"):
        return 0
    return 1 if item.nodeid.startswith(LONG) else 2
