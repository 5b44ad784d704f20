"""Which interpreters `make check-versions` takes: those that really run, lowest and highest."""

import importlib.util
import os
import sys
from pathlib import Path
from types import ModuleType

import pytest

SCRIPT = Path(__file__).parents[3] / "scripts/check_versions.py"


@pytest.fixture
def script() -> ModuleType:
    specification = importlib.util.spec_from_file_location("check_versions", SCRIPT)
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


def program(folder: Path, version: str, text: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"python{version}"
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


def test_only_interpreters_that_run_and_are_what_they_are_called_are_found(
    script: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shims, real, pyenv = tmp_path / "shims", tmp_path / "bin", tmp_path / "pyenv"
    program(shims, "3.12", "echo command not found >&2; exit 127")
    program(shims, "3.13", "echo command not found >&2; exit 127")
    program(real, "3.11", "echo 3.9 final")
    program(real, "3.14", "echo 3.14 alpha")
    twelve = program(real, "3.12", "echo 3.12 final")
    thirteen = program(pyenv / "versions/3.13.1/bin", "3.13", "echo 3.13 final")
    monkeypatch.setenv("PATH", f"{shims}{os.pathsep}{real}")
    monkeypatch.setenv("PYENV_ROOT", str(pyenv))
    assert script.find_pythons() == {"3.12": twelve, "3.13": thirteen}


def test_where_there_is_no_other_python_that_is_said_and_passes(
    script: ModuleType,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path))
    assert script.main() == 0
    assert f"3.{sys.version_info.minor} is checked already" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("versions", "own", "chosen"),
    [
        (["3.11"], "3.11", []),
        ([], "3.12", []),
        (["3.11", "3.12", "3.13"], "3.11", ["3.13"]),
        (["3.12", "3.13", "3.14"], "3.13", ["3.12", "3.14"]),
    ],
)
def test_the_lowest_and_the_highest_are_chosen_besides_the_one_in_use(
    script: ModuleType, versions: list[str], own: str, chosen: list[str]
) -> None:
    assert script.choose(versions, own) == chosen
