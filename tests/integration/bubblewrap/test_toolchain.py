import shutil
import sys
import venv
from pathlib import Path
from typing import Any

import pytest

from astra.trusted.kernel.errors import NotFound
from astra.trusted.policy.manifest import Manifest
from astra.trusted.sandbox import toolchain
from astra.trusted.sandbox.toolchain import UnusableToolchain


def test_a_virtual_environment_in_a_home_folder_works_and_the_home_folder_stays_closed(
    yard: Any, tmp_path: Path
) -> None:
    home = tmp_path / "home"
    environment = home / "project" / ".venv"
    venv.create(environment, with_pip=False, symlinks=True)
    (home / "diary").write_text("private")
    python = environment / "bin" / "python"
    tools = toolchain.find(python, homes=(str(home),))
    script = f"import sys, os; print(sys.prefix); print(os.listdir({str(home)!r}))"
    outcome = yard.run("python", "-c", script, box={"toolchain": tools})
    assert outcome.stdout.decode().splitlines() == [str(environment), "['project']"], outcome


def test_the_interpreter_that_runs_these_tests_runs_pytest_inside(yard: Any) -> None:
    (yard.work / "test_it.py").write_text("def test_it():\n    assert 1 + 1 == 2\n")
    tools = toolchain.find(Path(sys.executable))
    outcome = yard.run(
        *("python", "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_it.py"),
        box={"toolchain": tools},
    )
    assert outcome.succeeded, outcome.stdout + outcome.stderr


def test_a_pyenv_shim_is_followed_to_the_version_it_starts(tmp_path: Path) -> None:
    root = tmp_path / ".pyenv"
    real = root / "versions" / "3.99.0" / "bin" / "python3"
    real.parent.mkdir(parents=True)
    (root / "versions/3.99.0/lib").mkdir()
    real.touch(mode=0o755)
    (root / "shims").mkdir()
    (root / "shims" / "python3").write_text("#!/bin/sh\n")
    with pytest.raises(UnusableToolchain, match="shim"):
        toolchain.find(root / "shims" / "python3")
    (root / "version").write_text("3.99.0\n")
    found = toolchain.find(root / "shims" / "python3")
    assert found.read_paths == (str(root / "versions" / "3.99.0"),)
    assert found.search == (str(real.parent),)


def test_a_link_in_a_shared_folder_is_made_again_and_the_folder_is_not_granted(
    tmp_path: Path,
) -> None:
    home = tmp_path / "home"
    real = home / ".local/share/uv/python/cpython-3.99/bin/python3.99"
    real.parent.mkdir(parents=True)
    (real.parent.parent / "lib").mkdir()
    real.touch(mode=0o755)
    shared = home / ".local" / "bin"
    shared.mkdir()
    (home / ".local/lib").mkdir()
    (shared / "python").symlink_to("../share/uv/python/cpython-3.99/bin/python3.99")
    found = toolchain.find(shared / "python", homes=(str(home),))
    assert found.read_paths == (str(real.parent.parent),)
    assert found.links == ((str(shared / "python"), str((shared / "python").readlink())),)


def test_a_lone_program_is_granted_alone(tmp_path: Path) -> None:
    tool = tmp_path / "home" / "bin" / "tool"
    tool.parent.mkdir(parents=True)
    tool.touch(mode=0o755)
    found = toolchain.find(tool, homes=(str(tmp_path / "home"),))
    assert found.read_paths == (str(tool),)


def test_a_system_interpreter_needs_nothing() -> None:
    assert toolchain.find(Path("/usr/bin/env")).read_paths == ()


def test_a_ring_of_links_and_a_missing_program_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    with pytest.raises((UnusableToolchain, NotFound)):
        toolchain.find(tmp_path / "a")
    with pytest.raises(NotFound):
        toolchain.find(tmp_path / "none")


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
def test_node_runs_inside(yard: Any) -> None:
    tools = toolchain.find(Path(shutil.which("node") or ""))
    outcome = yard.run("node", "-e", "console.log(1 + 1)", box={"toolchain": tools})
    assert outcome.stdout == b"2\n", outcome


def test_git_works_inside_on_a_repository_of_its_own(yard: Any) -> None:
    script = "git init -q here && cd here && git -c user.name=a -c user.email=a@b commit -q \
        --allow-empty -m x && git log --oneline | wc -l"
    assert yard.sh(script).stdout.strip() == b"1"


def test_two_toolchains_join(tmp_path: Path) -> None:
    one = toolchain.Toolchain(read_paths=("/a",), search=("/a/bin",), environment={"A": "1"})
    two = toolchain.Toolchain(read_paths=("/b", "/a"), environment={"B": "2"})
    joined = one | two
    assert joined.read_paths == ("/a", "/b")
    assert dict(joined.environment) == {"A": "1", "B": "2"}


def test_a_compiler_works_inside(yard: Any) -> None:
    if shutil.which("gcc") is None:
        pytest.skip("gcc is not installed")
    (yard.work / "x.c").write_text('#include <stdio.h>\nint main(){puts("hi");return 0;}\n')
    outcome = yard.sh("gcc x.c -o x && ./x", manifest=Manifest(write_paths=(str(yard.work),)))
    assert outcome.stdout == b"hi\n", outcome
