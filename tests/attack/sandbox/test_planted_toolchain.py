"""An interpreter that a box can write must not become a window into the host."""

from pathlib import Path
from typing import Any

import pytest

from astra.adapters.boxes.agent_boxes import AgentBoxes
from astra.adapters.boxes.sandbox import Sandbox
from astra.adapters.bubblewrap.preflight import Preflight
from astra.testing import MemoryLedger
from astra.trusted.files.data_root import DataRoot
from astra.trusted.sandbox import toolchain
from astra.trusted.sandbox.ports import request_for
from astra.trusted.sandbox.toolchain import UnusableToolchain


@pytest.fixture
def diary(tmp_path: Path) -> Path:
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "diary").write_text("private")
    return tmp_path / "home" / "diary"


@pytest.fixture
def root(tmp_path: Path) -> DataRoot:
    made = DataRoot(tmp_path / "data")
    made.path.mkdir()
    made.make_folders()
    return made


def agent_boxes(root: DataRoot, program: Path) -> AgentBoxes:
    return AgentBoxes(
        sandbox=Sandbox(root, MemoryLedger(), check=lambda: Preflight(problems=())),
        folder=root.path / "sandbox",
        code_repo=root.path / "code-repo",
        persona=root.path / "persona_space",
        may_write_code=lambda: True,
        tools=lambda: (program,),
    )


def refused(boxes: AgentBoxes, *command: str) -> UnusableToolchain:
    with pytest.raises(UnusableToolchain) as caught:
        boxes.run(request_for(command, 10, actor="agent", correlation="cor_0000000000000001"))
    return caught.value


def planted(folder: Path, leads_to: Path) -> Path:
    program = folder / "bin" / "python"
    program.parent.mkdir(parents=True)
    program.symlink_to(leads_to)
    return program


def test_a_link_planted_in_the_agents_clone_is_not_followed(root: DataRoot, diary: Path) -> None:
    diary.chmod(0o755)
    program = planted(root.path / "code-repo" / ".venv", diary)
    assert "can write" in refused(agent_boxes(root, program), "cat", str(diary)).detail


def test_a_folder_of_the_agent_reached_by_a_link_from_outside_is_refused_too(
    root: DataRoot, diary: Path, tmp_path: Path
) -> None:
    diary.chmod(0o755)
    planted(root.path / "sandbox" / "env", diary)
    (tmp_path / "env").symlink_to(root.path / "sandbox" / "env")
    program = tmp_path / "env" / "bin" / "python"
    assert "can write" in refused(agent_boxes(root, program), "true").detail


def test_an_environment_whose_base_the_agent_can_write_is_refused(
    root: DataRoot, tmp_path: Path
) -> None:
    base = root.path / "sandbox" / "base" / "bin"
    base.mkdir(parents=True)
    (base / "python").symlink_to("/usr/bin/python3")
    environment = tmp_path / "env"
    (environment / "bin").mkdir(parents=True)
    (environment / "bin" / "python").symlink_to("/usr/bin/python3")
    (environment / "pyvenv.cfg").write_text(f"home = {base}\n")
    boxes = agent_boxes(root, environment / "bin" / "python")
    assert str(base) in refused(boxes, "true").detail


def test_a_file_that_is_no_program_is_never_shown(diary: Path, tmp_path: Path) -> None:
    """Even where nobody thought that a box could write: keys and diaries are not executable."""
    diary.chmod(0o600)
    program = planted(tmp_path / "env", diary)
    with pytest.raises(UnusableToolchain, match="not executable"):
        toolchain.find(program)


def test_an_environment_in_a_folder_that_the_box_may_write_is_refused(
    diary: Path, yard: Any
) -> None:
    diary.chmod(0o755)
    program = planted(yard.work / "env", diary)
    with pytest.raises(UnusableToolchain, match="can write"):
        toolchain.find(program, theirs=(str(yard.work),))
