"""A granted place that is missing is made, below the agent's own folders and through no link."""

from pathlib import Path

import pytest

from astra.adapters.boxes.granted_places import can_be_made, make_missing


@pytest.fixture
def own(tmp_path: Path) -> Path:
    folder = tmp_path / "persona_space"
    folder.mkdir()
    return folder


def test_a_folder_and_a_file_are_made(own: Path) -> None:
    make_missing(f"{own}/reports/2026", [own])
    make_missing(f"{own}/notes/a.md", [own])
    assert (own / "reports" / "2026").is_dir()
    assert (own / "notes" / "a.md").read_bytes() == b""


def test_what_is_there_stays(own: Path) -> None:
    (own / "a.md").write_text("kept")
    make_missing(f"{own}/a.md", [own])
    assert (own / "a.md").read_text() == "kept"


def test_nothing_is_made_elsewhere(own: Path, tmp_path: Path) -> None:
    make_missing(f"{tmp_path}/elsewhere", [own])
    make_missing(f"{own}/../beside", [own])
    make_missing(f"{own}-beside/x", [own])
    assert [path.name for path in tmp_path.iterdir()] == ["persona_space"]
    assert not can_be_made(f"{own}/*.md", [own])


def test_no_symlink_is_followed(own: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (own / "link").symlink_to(outside)
    make_missing(f"{own}/link/made", [own])
    make_missing(f"{own}/link/made.txt", [own])
    assert list(outside.iterdir()) == []
