"""Plan files, on disk and in memory: the same behaviour."""

from collections.abc import Callable
from pathlib import Path

import pytest

from astra.adapters.plan_files import PlanFolder
from astra.plans.ports import PlanFiles
from astra.testing_plans import MemoryPlanFiles

ID = "plan_00000000000000aa"
Make = Callable[[Path], PlanFiles]


def on_disk(folder: Path) -> PlanFolder:
    (folder / "agents").mkdir()
    return PlanFolder(folder)


@pytest.fixture(params=[on_disk, lambda _folder: MemoryPlanFiles()], ids=["disk", "memory"])
def files(request: pytest.FixtureRequest, tmp_path: Path) -> PlanFiles:
    make: Make = request.param
    return make(tmp_path)


def test_what_was_written_is_read(files: PlanFiles) -> None:
    files.write(ID, {"plan.json": "{}\n", "grants.json": "[é]\n"})
    assert files.read(ID, "plan.json") == "{}\n"
    assert files.read(ID, "grants.json") == "[é]\n"


def test_what_was_never_written_is_not_there(files: PlanFiles) -> None:
    assert files.read(ID, "plan.json") is None
    assert files.read_allowlist() is None


def test_writing_again_replaces(files: PlanFiles) -> None:
    files.write(ID, {"plan.json": "1", "grants.json": "1"})
    files.write(ID, {"grants.json": "2"})
    assert (files.read(ID, "plan.json"), files.read(ID, "grants.json")) == ("1", "2")


def test_the_allowlist_has_a_file_of_its_own(files: PlanFiles) -> None:
    files.write_allowlist("a")
    files.write_allowlist("b")
    assert files.read_allowlist() == "b"
