"""Plan files on a real disk: private, whole, and reached by id only."""

import os
import stat
from pathlib import Path

import pytest

from astra.adapters.plan_files import PlanFolder
from astra.trusted.kernel.errors import NotFound

ID = "plan_00000000000000aa"


@pytest.fixture
def folder(tmp_path: Path) -> PlanFolder:
    (tmp_path / "agents").mkdir()
    return PlanFolder(tmp_path)


def test_only_the_owner_may_read_them(folder: PlanFolder, tmp_path: Path) -> None:
    kept = os.umask(0)
    try:
        folder.write(ID, {"plan.json": "{}", "grants.json": "{}"})
        folder.write_allowlist("{}")
    finally:
        os.umask(kept)
    made = tmp_path / "agents" / ID
    assert stat.S_IMODE(made.stat().st_mode) == 0o700
    for path in (made / "plan.json", made / "grants.json", tmp_path / "agent_global_grants.json"):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_the_files_of_an_approval_appear_all_at_once(folder: PlanFolder, tmp_path: Path) -> None:
    class Full(dict[str, str]):
        def items(self) -> object:  # type: ignore[override]
            yield "plan.json", "{}"
            raise OSError(28, "No space left on device")

    with pytest.raises(OSError, match="No space"):
        folder.write(ID, Full())
    assert list((tmp_path / "agents").iterdir()) == []
    folder.write(ID, {"plan.json": "{}", "grants.json": "{}"})
    assert sorted(p.name for p in (tmp_path / "agents" / ID).iterdir()) == [
        "grants.json",
        "plan.json",
    ]


def test_a_planted_link_is_neither_followed_nor_believed(
    folder: PlanFolder, tmp_path: Path
) -> None:
    secret = tmp_path / "secret"
    secret.write_text("secret")
    folder.write(ID, {"plan.json": "{}", "grants.json": "{}"})
    path = tmp_path / "agents" / ID / "grants.json"
    path.unlink()
    path.symlink_to(secret)
    assert folder.read(ID, "grants.json") == ""
    folder.write(ID, {"grants.json": "new"})
    assert secret.read_text() == "secret"
    assert folder.read(ID, "grants.json") == "new"


def test_a_fifo_in_its_place_does_not_hang(folder: PlanFolder, tmp_path: Path) -> None:
    (tmp_path / "agents" / ID).mkdir()
    os.mkfifo(tmp_path / "agents" / ID / "plan.json")
    assert folder.read(ID, "plan.json") == ""


@pytest.mark.parametrize(
    "name", ["../var", "plan_1/../../x", "/etc", "", "plan_00000000000000aa/x"]
)
def test_nothing_but_an_id_names_a_folder(folder: PlanFolder, name: str) -> None:
    with pytest.raises(NotFound):
        folder.read(name, "plan.json")
    with pytest.raises(NotFound):
        folder.write(name, {"plan.json": "{}"})
